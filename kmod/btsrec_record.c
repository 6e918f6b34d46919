// SPDX-License-Identifier: GPL-2.0-only
/* How one CPU begins and ends to record, and goes on when perf is done. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "btsrec_annot.h"
#include "btsrec_compat.h"
#include "btsrec_limit.h"

/* Set at a reboot: nobody would switch BTS off before the next kernel. */
static bool leaving;

/* The index of a stopped or frozen CPU, and what the next ARM or GAP says. */
static u64 last_stop(const struct btsrec_pcpu *pc, u64 *index_kva, enum btsrec_reason *reason)
{
	const struct btsrec_cpu *page = pc->page;

	if (page->state == BTSREC_CPU_FROZEN) {
		*index_kva = page->freeze.index_kva;
		*reason = page->freeze.reason;
		return page->freeze.tsc;
	}
	*index_kva = page->stop_index_kva;
	*reason = page->stop_reason;
	return pc->stop_tsc;
}

/* An unbroken session has a GAP; ARM is for a new one. */
static enum btsrec_annot_kind resume_kind(enum btsrec_reason reason)
{
	return reason == BTSREC_REASON_CPU_OFFLINE || reason == BTSREC_REASON_SUSPEND ||
	       reason == BTSREC_REASON_FOREIGN || reason == BTSREC_REASON_LEFT_OUT ?
	       BTSREC_ANNOT_GAP : BTSREC_ANNOT_ARM;
}

static void publish_armed(struct btsrec_pcpu *pc)
{
	struct btsrec_cpu *page = pc->page;

	WRITE_ONCE(page->frozen, 0);
	page->survived = 0;
	smp_wmb();	/* no reader pairs the new state with the old freeze */
	WRITE_ONCE(page->state, BTSREC_CPU_ARMED);
	pc->foreign = false;
	pc->yielded = false;
	pc->suspect = BTSREC_REASON_NONE;
	pc->hold_tsc = 0;
	pc->stop_ip = 0;
	barrier();	/* an NMI that finds the CPU live may freeze it */
	WRITE_ONCE(pc->live, 1);
}

/* Claimed, interrupts off: writes the first annotations and switches BTS on. */
static void begin_recording(struct btsrec_pcpu *pc, const struct btsrec_time *time)
{
	bool first = pc->page->state == BTSREC_CPU_NEVER;
	enum btsrec_reason reason = BTSREC_REASON_NONE;
	u64 index_kva = pc->base_kva, stop_tsc = 0;
	u64 debugctl = bts_read_debugctl();

	if (!first) {
		stop_tsc = last_stop(pc, &index_kva, &reason);
		btsrec_recorded_until(pc, stop_tsc);	/* what was frozen has not counted it */
	}
	bts_point_at(pc, pc->base_kva, index_kva, pc->end_kva);
	pc->last_index_kva = index_kva;	/* what is recorded is counted from here */
	btsrec_annot_forget_torn(pc);
	btsrec_limit_begin(pc);
	publish_armed(pc);
	if (btsrec_freeze_missed())
		return;
	if (first)
		btsrec_annot_put(pc, BTSREC_ANNOT_TIME, time, sizeof(*time));
	btsrec_annot_resume(pc, resume_kind(reason), reason, stop_tsc);
	WRITE_ONCE(pc->page->since_tsc, time->tsc);
	debugctl = (debugctl & ~btsrec_filter_bits) | pc->on_bits;
	btsrec_limit(pc, current, &debugctl);
	btsrec_resume(pc, debugctl);
}

/**
 * btsrec_start_this_cpu() - begin to record on this CPU, which has a ring
 *
 * Return: 0, -ESHUTDOWN at a reboot, or an error of bts_claim(), which has said why.
 */
int btsrec_start_this_cpu(void)
{
	struct btsrec_pcpu *pc = this_cpu_ptr(&btsrec_pcpu);
	struct btsrec_time time;
	unsigned long flags;
	int err;

	local_irq_save(flags);
	if (READ_ONCE(leaving)) {
		local_irq_restore(flags);
		return -ESHUTDOWN;
	}
	time = (struct btsrec_time){
		.tsc = rdtsc_ordered(),
		.realtime_ns = ktime_get_real_fast_ns(),
		.boottime_ns = ktime_get_boot_fast_ns(),
	};
	err = bts_claim(pc, smp_processor_id(), btsrec_root_page->mode);
	if (!err)
		begin_recording(pc, &time);
	local_irq_restore(flags);
	return err;
}

/**
 * btsrec_can_record_on() - can btsrec_record_on() begin on a CPU?
 * @pc: the CPU's
 *
 * Not on one that came online, or whose DS area was taken, since the freeze.
 */
bool btsrec_can_record_on(const struct btsrec_pcpu *pc)
{
	return pc->page && READ_ONCE(pc->page->state) == BTSREC_CPU_FROZEN &&
	       !READ_ONCE(pc->live) && bts_fields_are_held(pc);
}

/**
 * btsrec_record_on() - record again on this CPU, whose freeze is over
 * @unused: for on_each_cpu()
 *
 * On each CPU, with interrupts off.  The area is claimed still, so that this takes no thread of the
 * CPU: one that is locked up has none.
 */
void btsrec_record_on(void *unused)
{
	struct btsrec_pcpu *pc = this_cpu_ptr(&btsrec_pcpu);
	struct btsrec_time now = { .tsc = rdtsc_ordered() };

	if (READ_ONCE(leaving) || !btsrec_can_record_on(pc))
		return;
	bts_switch_off();
	begin_recording(pc, &now);
}

static void publish_stopped(struct btsrec_pcpu *pc, enum btsrec_reason reason)
{
	struct btsrec_cpu *page = pc->page;

	pc->stop_tsc = rdtsc_ordered();
	btsrec_recorded_until(pc, pc->stop_tsc);
	if (pc->off_reason)
		pc->stop_tsc = pc->off_tsc;
	page->stop_reason = reason;
	page->stop_index_kva = bts_last_index(pc);
	smp_wmb();	/* the state after what it stands for */
	WRITE_ONCE(page->state, BTSREC_CPU_STOPPED);
}

/**
 * btsrec_stop_this_cpu() - end the recording on this CPU in order
 * @reason: why
 *
 * In any context.  A frozen CPU keeps its freeze; only the DS area goes back.  If
 * perf wants it (FOREIGN), recording goes on when that is done.
 */
void btsrec_stop_this_cpu(enum btsrec_reason reason)
{
	struct btsrec_pcpu *pc = this_cpu_ptr(&btsrec_pcpu);
	unsigned long flags;
	bool yields;

	local_irq_save(flags);
	yields = pc->yielded;
	if (xchg(&pc->live, 0)) {
		if (bts_fields_are_ours(pc))
			bts_write_debugctl(bts_read_debugctl() & ~btsrec_record_bits);
		publish_stopped(pc, reason);
		yields = true;
	}
	pc->yielded = yields && reason == BTSREC_REASON_FOREIGN;
	bts_release(pc);
	local_irq_restore(flags);
}

static void stop_for_reboot(void *unused)
{
	btsrec_stop_this_cpu(BTSREC_REASON_REBOOT);
}

/** btsrec_stop_for_reboot() - end the recording on all CPUs; none begins again */
void btsrec_stop_for_reboot(void)
{
	WRITE_ONCE(leaving, true);
	on_each_cpu(stop_for_reboot, NULL, 1);
}

/* Not initialised here: the loader relocates no pointers in a module's per-CPU data. */
static DEFINE_PER_CPU(struct irq_work, yield_end);

/* Not again if it fails: a sentence has been printed. */
static void on_yield_end(struct irq_work *unused)
{
	struct btsrec_pcpu *pc = this_cpu_ptr(&btsrec_pcpu);

	if (!pc->yielded || btsrec_is_frozen() || !bts_is_unused(pc))
		return;
	if (btsrec_start_this_cpu())
		pc->yielded = false;
}

/**
 * btsrec_yield_ends() - record again if perf is done
 * @pc: this CPU's, yielded; interrupts are off
 *
 * The caller may hold the scheduler's locks, so that nothing can be printed.
 */
void btsrec_yield_ends(struct btsrec_pcpu *pc)
{
	if (bts_is_unused(pc))
		irq_work_queue(this_cpu_ptr(&yield_end));
}

/** btsrec_yield_ends_init() - before the first CPU records */
void __init btsrec_yield_ends_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		*per_cpu_ptr(&yield_end, cpu) = IRQ_WORK_INIT_HARD(on_yield_end);
}

/** btsrec_yield_ends_sync() - no CPU is yielded any more: what is under way does nothing */
void btsrec_yield_ends_sync(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(per_cpu_ptr(&yield_end, cpu));
}
