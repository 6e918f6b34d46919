// SPDX-License-Identifier: GPL-2.0-only
/*
 * btsrequest: ask the recorder to freeze, and look at what it has left.
 *
 *   insmod btsrequest.ko root_pa=PA	/dev/btsrec has it
 *   echo one >/sys/module/btsrequest/parameters/do	asks, with interrupts off
 *   echo all >/sys/module/btsrequest/parameters/do	all CPUs ask at once
 *   echo unseen >/sys/module/btsrequest/parameters/do	the same, and nobody looks
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
static atomic_t nr_arrived;
static int refused;

static const struct btsrec_root *root(void)
{
	return phys_to_virt(root_pa);
}

static const struct btsrec_cpu *page_of(unsigned int cpu)
{
	const u64 *dir = phys_to_virt(root()->cpu_dir_pa[cpu / BTSREC_PAS_PER_PAGE]);

	return phys_to_virt(dir[cpu % BTSREC_PAS_PER_PAGE]);
}

static const struct btsrec_record *before(const struct btsrec_cpu *page,
					  const struct btsrec_record *slot)
{
	u64 kva = (u64)slot;

	if (kva == page->ring_kva)
		kva += page->ring_bytes;
	return (const struct btsrec_record *)(kva - BTSREC_RECORD_BYTES);
}

static bool is_in_request(u64 address)
{
	return address - (u64)request < FUNCTION_BYTES;
}

/* @page's CPU asked, with interrupts off. */
static bool is_newest_the_request(const struct btsrec_cpu *page)
{
	const struct btsrec_record *slot = (void *)page->freeze.index_kva;
	int i;

	for (i = 0; i < MAX_NEWER; i++) {
		slot = before(page, slot);
		if (slot->to == (u64)request)
			return true;
		if (!is_in_request(slot->from) || !is_in_request(slot->to))
			break;
	}
	pr_err("CPU %u: not the request is newest: %pS -> %pS\n", page->cpu, (void *)slot->from,
	       (void *)slot->to);
	return false;
}

/* The CPU that was first waits for 50 ms only; an emulated one may stand still for longer. */
static void wait_for_freeze(const struct btsrec_cpu *page)
{
	int i;

	for (i = 0; i < 500 && READ_ONCE(page->state) != BTSREC_CPU_FROZEN; i++)
		msleep(10);
}

/* Returns whether the freeze of @cpu, which has asked if @asked, is as it should be. */
static bool is_frozen_right(unsigned int cpu, u64 since_tsc, bool asked)
{
	const struct btsrec_cpu *page = page_of(cpu);
	bool is_first = cpu == root()->freeze_cpu;

	wait_for_freeze(page);
	if (page->state != BTSREC_CPU_FROZEN || page->freeze.tsc < since_tsc) {
		pr_err("CPU %u: state %u, frozen at %llu, asked at %llu\n", cpu, page->state,
		       page->freeze.tsc, since_tsc);
		return false;
	}
	if (page->freeze.reason != BTSREC_REASON_REQUEST || (is_first && page->freeze.via_nmi)) {
		pr_err("CPU %u: reason %u, by NMI %u\n", cpu, page->freeze.reason,
		       page->freeze.via_nmi);
		return false;
	}
	return !asked || page->freeze.via_nmi || is_newest_the_request(page);
}

static bool is_root_right(unsigned int nr_asked)
{
	if (root()->state == BTSREC_ROOT_FROZEN && root()->freeze_reason == BTSREC_REASON_REQUEST &&
	    root()->nr_late_triggers == nr_asked - 1 && !strcmp(root()->freeze_trigger, WHY))
		return true;
	pr_err("the root: state %u, reason %u, %llu late triggers of %u, '%s'\n", root()->state,
	       root()->freeze_reason, root()->nr_late_triggers, nr_asked, root()->freeze_trigger);
	return false;
}

static void ask_together(void *unused)
{
	atomic_inc(&nr_arrived);
	while (atomic_read(&nr_arrived) < num_online_cpus())
		cpu_relax();
	if (request(WHY))
		refused = 1;
}

static int ask(bool together, bool looks)
{
	unsigned int cpu, asker, nr_asked = together ? num_online_cpus() : 1;
	unsigned long flags;
	u64 since_tsc;

	refused = 0;
	atomic_set(&nr_arrived, together ? 0 : num_online_cpus());
	preempt_disable();
	asker = smp_processor_id();
	since_tsc = rdtsc_ordered();
	if (together) {
		on_each_cpu(ask_together, NULL, 1);
	} else {
		local_irq_save(flags);
		ask_together(NULL);
		local_irq_restore(flags);
	}
	preempt_enable();
	if (!looks)
		return refused ? -EINVAL : 0;
	if (refused || !is_root_right(nr_asked))
		return -EINVAL;
	for_each_online_cpu(cpu)
		if (!is_frozen_right(cpu, since_tsc, together || cpu == asker))
			return -EINVAL;
	return 0;
}

static int do_set(const char *what, const struct kernel_param *param)
{
	bool is_one = sysfs_streq(what, "one"), is_unseen = sysfs_streq(what, "unseen");
	int err;

	if (!is_one && !is_unseen && !sysfs_streq(what, "all"))
		return -EINVAL;
	request = symbol_get(btsrec_freeze_request);
	if (!request)
		return -ENOENT;
	err = ask(!is_one, !is_unseen);
	symbol_put(btsrec_freeze_request);
	return err;
}

static const struct kernel_param_ops do_ops = { .set = do_set };

module_param_cb(do, &do_ops, NULL, 0200);
MODULE_PARM_DESC(do, "one, all or unseen");

MODULE_DESCRIPTION("Asks the recorder to freeze, and looks at what it leaves");
MODULE_LICENSE("GPL");
