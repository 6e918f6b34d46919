// SPDX-License-Identifier: GPL-2.0-only
/*
 * Living beside perf, which owns the DS area as long as it has any hardware
 * event.  With its first event it zeroes the area of every CPU and then writes
 * IA32_DS_AREA.  With its last one it gives the area back (reserve_ds_buffers() and
 * release_ds_buffers(), arch/x86/events/intel/ds.c).  With BTS on, the hardware
 * would meanwhile store records at address 0.  So while armed we hold one event,
 * disabled: then perf has neither a first nor a last one.
 *
 * perf also records with BTS itself.  Three ways to keep apart:
 *
 *  - Each recording CPU holds a disabled event of the PMU "intel_bts".  That is what perf asks
 *    before it gives out BTS or LBR (x86_add_exclusive(), arch/x86/events/core.c).  Two events of
 *    that PMU do not share a CPU: the second one gets EBUSY (exclusive_event_init() and
 *    exclusive_event_installable(), kernel/events/core.c).
 *  - Under page-table isolation the kernel has no such PMU, but still the older
 *    way (one branch per sample, "-e branches:u -c 1").  If perf switches BTS on nevertheless,
 *    this CPU stops and gives the area back first, until perf has switched it off and
 *    taken its records.  The next switch of threads sees that.
 *  - Of the last branch record (btsrec_lbr.h) perf lets any number of events share one CPU, so
 *    none would be refused.  Before perf adds one to a CPU, this CPU stops and gives it back, in
 *    the same way, until perf has switched it off.
 *  - What does neither is seen at the next pause, see btsrec_pause_foreign().
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include "btsrec_compat.h"
#include "btsrec_lbr.h"

static struct perf_event *held_event;
static DEFINE_PER_CPU(struct perf_event *, held_bts_event);

/* Of perf's PMU "intel_bts"; 0, which is another PMU's: there is none. */
static u32 bts_type;

static struct perf_event *hold(u32 type, u64 config, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = type,
		.config = config,
		.size = sizeof(attr),
		.disabled = 1,
		.exclude_guest = 1,	/* others would forbid KVM's mediated virtual PMU */
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

/* perf has no driver for this CPU's counters, so it leaves the DS area alone. */
static bool perf_is_absent(long err)
{
	return err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP;
}

/* PMUs are not exported, but all are devices of one bus. */
static u32 find_bts_type(const struct perf_event *event)
{
	struct device *one = event->pmu->dev;
	struct device *bts = one ? bus_find_device_by_name(one->bus, NULL, "intel_bts") : NULL;
	const struct pmu *pmu = bts ? dev_get_drvdata(bts) : NULL;
	u32 type = pmu ? pmu->type : 0;

	put_device(bts);
	return type;
}

BTSREC_HOOK_HANDLER(on_perf_begins, regs)
{
	btsrec_stop_this_cpu(BTSREC_REASON_FOREIGN);
}

/**
 * struct yield_hook - where perf begins to use what we record with
 * @name: the function; a kernel without it has nothing in perf that does
 * @is_of_lbr: only if the source is LBR
 * @registered: what to undo
 * @hook: what calls us
 */
struct yield_hook {
	const char *name;
	bool is_of_lbr;
	bool registered;
	struct btsrec_hook hook;
};

static struct yield_hook yield_hooks[] = {
	{ .name = "intel_pmu_enable_bts", .hook = BTSREC_HOOK(on_perf_begins) },
	{ .name = "intel_pmu_lbr_add", .is_of_lbr = true, .hook = BTSREC_HOOK(on_perf_begins) },
	{ .name = "amd_pmu_lbr_add", .is_of_lbr = true, .hook = BTSREC_HOOK(on_perf_begins) },
};

static void yield_unregister(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(yield_hooks); i++) {
		if (yield_hooks[i].registered)
			btsrec_hook_unregister(&yield_hooks[i].hook);
		yield_hooks[i].registered = false;
	}
}

static int yield_register(void)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(yield_hooks); i++) {
		struct yield_hook *yield = &yield_hooks[i];

		if (yield->is_of_lbr && !btsrec_uses_lbr)
			continue;
		err = btsrec_hook_register(&yield->hook, yield->name);
		yield->registered = !err;
		if (err && err != -EINVAL) {
			pr_err("Not armed: cannot hook %s() (error %d), so perf could take away what records the branches; %s.\n",
			       yield->name, err, btsrec_hook_remedy(err));
			yield_unregister();
			return err;
		}
	}
	return 0;
}

/**
 * btsrec_perf_hold() - keep perf from taking or giving back the DS area
 *
 * The last branch record is not there, so nothing is held for it.
 *
 * Return: 0, also where perf has no hardware events at all; else a negative
 * errno after a printed sentence, with nothing held.
 */
int btsrec_perf_hold(void)
{
	struct perf_event *event;
	int err;

	if (btsrec_uses_lbr)
		return yield_register();
	event = hold(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
		     cpumask_first(cpu_online_mask));
	if (IS_ERR(event)) {
		if (perf_is_absent(PTR_ERR(event)))
			return 0;
		pr_err("Not armed: cannot hold a perf event (error %ld), without which perf could take the DS area away while branches are recorded; %s.\n",
		       PTR_ERR(event),
		       btsrec_remedy(PTR_ERR(event),
				     "stop whatever else uses the performance counters"));
		return PTR_ERR(event);
	}
	held_event = event;
	bts_type = find_bts_type(event);
	err = yield_register();
	if (err)
		btsrec_perf_release();
	return err;
}

/**
 * btsrec_perf_release() - let perf do what it likes; no CPU may hold the area
 */
void btsrec_perf_release(void)
{
	yield_unregister();
	if (held_event)
		perf_event_release_kernel(held_event);
	held_event = NULL;
	bts_type = 0;
}

/**
 * btsrec_perf_exit() - give back what ftrace keeps for the hooks; see btsrec_hook_exit()
 */
void btsrec_perf_exit(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(yield_hooks); i++)
		btsrec_hook_exit(&yield_hooks[i].hook);
}

static int say_no_bts_event(unsigned int cpu, int err)
{
	if (err == -EBUSY)
		pr_err("Not armed: perf records branches already, so CPU %u cannot; stop \"perf record\" with -e intel_bts//, -b or --call-graph lbr, or whatever else uses Branch Trace Store, Last Branch Records or Processor Trace, and arm again.\n",
		       cpu);
	else
		pr_err("Not armed: cannot hold an event of the PMU intel_bts on CPU %u (error %d), without which perf could record with the same buffer; %s.\n",
		       cpu, err, btsrec_remedy(err, "try again"));
	return err;
}

/**
 * btsrec_perf_hold_cpu() - keep perf from recording branches on a CPU
 * @cpu: the CPU, online; holds nothing yet
 *
 * Between btsrec_perf_hold() and btsrec_perf_release().  May sleep.  Does
 * nothing where perf has no BTS.
 *
 * Return: 0; -EBUSY: perf records branches; or what else perf says; after a
 * printed sentence.
 */
int btsrec_perf_hold_cpu(unsigned int cpu)
{
	struct perf_event *event;

	if (!bts_type)
		return 0;
	event = hold(bts_type, 0, cpu);
	if (IS_ERR(event))
		return say_no_bts_event(cpu, PTR_ERR(event));
	per_cpu(held_bts_event, cpu) = event;
	return 0;
}

/**
 * btsrec_perf_release_cpu() - let perf record branches on a CPU
 * @cpu: the CPU, which does not record any more; may hold nothing
 */
void btsrec_perf_release_cpu(unsigned int cpu)
{
	struct perf_event *event = per_cpu(held_bts_event, cpu);

	per_cpu(held_bts_event, cpu) = NULL;
	if (event)
		perf_event_release_kernel(event);
}
