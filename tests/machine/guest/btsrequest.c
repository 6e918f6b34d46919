// SPDX-License-Identifier: GPL-2.0-only
/*
 * btsrequest: ask the recorder to freeze, and look at what it has left.
 *
 *   insmod btsrequest.ko root_pa=PA	/dev/btsrec has it
 *   echo one >/sys/module/btsrequest/parameters/do	asks, with interrupts off
 *   echo all >/sys/module/btsrequest/parameters/do	all CPUs ask at once
 *   echo copy >/sys/module/btsrequest/parameters/do	asks, and looks at the copy
 *   echo copies >/sys/module/btsrequest/parameters/do	all CPUs ask, of which one gets its copy
 *
 * The write fails, with a sentence in the kernel's log, if the asking was refused; if not every CPU
 * has a freeze of this moment; if not exactly one CPU is the one that asked first; if the others
 * that asked are not counted; or if the newest branch of any that asked leads to anything but the
 * asking.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <asm/msr.h>
#include <asm/processor.h>

#include "btsrec/abi.h"

#define WHY		"btsrequest: as wanted"
/* Of the function that is called, and what it calls, up to the stop. */
#define MAX_NEWER	8
#define FUNCTION_BYTES	1024

static ulong root_pa;
module_param(root_pa, ulong, 0444);
MODULE_PARM_DESC(root_pa, "Physical address of the recorder's root");

/* btsrec/freeze.h */
int btsrec_freeze_request(const char *why);

static int (*request)(const char *why);
static atomic_t nr_arrived, nr_done;
static int refused;

static const struct btsrec_root *root(void)
{
	return phys_to_virt(root_pa);
}

/* What to look at: @of is the root of the rings or of their copy. */
struct asked {
	const struct btsrec_root *of;
	u64 since_tsc;
	unsigned int nr, by;
	u64 missed_before;
};

static const struct btsrec_cpu *page_of(const struct btsrec_root *of, unsigned int cpu)
{
	const u64 *dir = phys_to_virt(of->cpu_dir_pa[cpu / BTSREC_PAS_PER_PAGE]);

	return phys_to_virt(dir[cpu % BTSREC_PAS_PER_PAGE]);
}

/* By physical addresses, as a copy has no other. */
static u64 ring_word(const struct btsrec_cpu *page, u64 offset)
{
	u64 i = offset / PAGE_SIZE;
	const u64 *list = phys_to_virt(page->list_pa[i / BTSREC_PAS_PER_PAGE]);

	return *(const u64 *)(phys_to_virt(list[i % BTSREC_PAS_PER_PAGE]) + offset % PAGE_SIZE);
}

static bool is_in_request(u64 address)
{
	return address - (u64)request < FUNCTION_BYTES;
}

/* @page's CPU asked, with interrupts off. */
static bool is_newest_the_request(const struct btsrec_cpu *page)
{
	u64 offset = page->freeze.index_kva - page->ring_kva, from, to;
	int i;

	for (i = 0; i < MAX_NEWER; i++) {
		offset = (offset ?: page->ring_bytes) - BTSREC_RECORD_BYTES;
		from = ring_word(page, offset);
		to = ring_word(page, offset + offsetof(struct btsrec_record, to));
		if (to == (u64)request)
			return true;
		if (!is_in_request(from) || !is_in_request(to))
			break;
	}
	pr_err("CPU %u: not the request is newest: %pS -> %pS\n", page->cpu, (void *)from,
	       (void *)to);
	return false;
}

/* The CPU that was first waits for 50 ms only; an emulated one may stand still for longer. */
static void wait_for_freeze(const struct btsrec_cpu *page)
{
	int i;

	for (i = 0; i < 500 && READ_ONCE(page->state) != BTSREC_CPU_FROZEN; i++)
		msleep(10);
}

/* Returns whether the freeze of @cpu is as it should be. */
static bool is_frozen_right(unsigned int cpu, const struct asked *asked)
{
	const struct btsrec_cpu *page = page_of(asked->of, cpu);
	bool is_first = cpu == asked->of->freeze_cpu;

	wait_for_freeze(page);
	if (page->state != BTSREC_CPU_FROZEN || page->freeze.tsc < asked->since_tsc) {
		pr_err("CPU %u: state %u, frozen at %llu, asked at %llu\n", cpu, page->state,
		       page->freeze.tsc, asked->since_tsc);
		return false;
	}
	if (page->freeze.reason != BTSREC_REASON_REQUEST || (is_first && page->freeze.via_nmi)) {
		pr_err("CPU %u: reason %u, by NMI %u\n", cpu, page->freeze.reason,
		       page->freeze.via_nmi);
		return false;
	}
	if (asked->nr == 1 && cpu != asked->by)
		return true;
	return page->freeze.via_nmi || is_newest_the_request(page);
}

/* One that asks when the copy is there is missed instead of late. */
static bool is_root_right(const struct asked *asked)
{
	const struct btsrec_root *of = asked->of;
	u64 nr_others = of->nr_late_triggers + root()->nr_missed_triggers - asked->missed_before;

	if (of->magic == BTSREC_ROOT_MAGIC && of->state == BTSREC_ROOT_FROZEN &&
	    of->freeze_reason == BTSREC_REASON_REQUEST && nr_others == asked->nr - 1 &&
	    !strcmp(of->freeze_trigger, WHY))
		return true;
	pr_err("the root: state %u, reason %u, %llu late or missed triggers of %u, '%s'\n",
	       of->state, of->freeze_reason, nr_others, asked->nr, of->freeze_trigger);
	return false;
}

static bool is_all_right(const struct asked *asked)
{
	unsigned int cpu;

	if (!is_root_right(asked))
		return false;
	for_each_online_cpu(cpu)
		if (!is_frozen_right(cpu, asked))
			return false;
	return true;
}

/* NULL: none was made. */
static const struct btsrec_root *wait_for_copy(void)
{
	int i;

	for (i = 0; i < 1000 && !READ_ONCE(root()->copy_pa); i++)
		msleep(10);
	return root()->copy_pa ? phys_to_virt(root()->copy_pa) : NULL;
}

static void ask_together(void *unused)
{
	atomic_inc(&nr_arrived);
	while (atomic_read(&nr_arrived) < num_online_cpus())
		cpu_relax();
	if (request(WHY))
		refused = 1;
	atomic_inc(&nr_done);
}

/* Returns whether each that asked was let. */
static bool ask(struct asked *asked)
{
	bool together = asked->nr > 1;
	unsigned long flags;

	refused = 0;
	asked->missed_before = root()->nr_missed_triggers;
	atomic_set(&nr_arrived, together ? 0 : num_online_cpus());
	atomic_set(&nr_done, 0);
	preempt_disable();
	asked->by = smp_processor_id();
	asked->since_tsc = rdtsc_ordered();
	/* Not on_each_cpu(): that of 5.10 waits for the other CPU of two, and then comes to this. */
	if (together)
		smp_call_function(ask_together, NULL, 0);
	local_irq_save(flags);
	ask_together(NULL);
	local_irq_restore(flags);
	while (atomic_read(&nr_done) < asked->nr)
		cpu_relax();
	preempt_enable();
	return !refused;
}

static bool is_copied_right(struct asked *asked)
{
	asked->of = wait_for_copy();
	if (asked->of)
		return is_all_right(asked);
	pr_err("no copy was made\n");
	return false;
}

static const char *const words[] = { "one", "all", "copy", "copies" };
enum { ONE, ALL, COPY, COPIES };

static int do_set(const char *what, const struct kernel_param *param)
{
	struct asked asked = { .of = root(), .nr = 1 };
	int word = __sysfs_match_string(words, ARRAY_SIZE(words), what);
	bool is_right;

	if (word < 0)
		return word;
	request = symbol_get(btsrec_freeze_request);
	if (!request)
		return -ENOENT;
	if (word == ALL || word == COPIES)
		asked.nr = num_online_cpus();
	is_right = ask(&asked);
	if (is_right)
		is_right = word >= COPY ? is_copied_right(&asked) : is_all_right(&asked);
	symbol_put(btsrec_freeze_request);
	return is_right ? 0 : -EINVAL;
}

static const struct kernel_param_ops do_ops = { .set = do_set };

module_param_cb(do, &do_ops, NULL, 0200);
MODULE_PARM_DESC(do, "one, all, copy or copies");

MODULE_DESCRIPTION("Asks the recorder to freeze, and looks at what it leaves");
MODULE_LICENSE("GPL");
