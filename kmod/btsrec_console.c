// SPDX-License-Identifier: GPL-2.0-only
/*
 * What there is after a crash, as a line of the kernel log, and on request the end
 * of the faulting CPU's history.  It is for machines with nothing but a serial
 * line, netconsole or pstore.  It is printed after the freeze of all CPUs and never
 * on its way: after the text of an oops (oops_exit()), or from the panic notifiers.
 * These run where no capture kernel takes over before them; where one does, the
 * dump has the whole history.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/notifier.h>
#include <linux/printk.h>

#include "btsrec.h"
#include "btsrec_compat.h"

static unsigned int nr_wanted;
static bool registered;

/* The freeze that has been printed, by its TSC. */
static u64 printed_tsc;

/**
 * btsrec_console_set() - how many branches to print
 * @nr_records: 0: print none
 */
void btsrec_console_set(unsigned int nr_records)
{
	nr_wanted = nr_records;
}

static bool is_annotation(const struct btsrec_record *record)
{
	return record->from >> BTSREC_TAG_SHIFT == BTSREC_TAG;
}

static void print_branches(const struct btsrec_pcpu *pc)
{
	const struct btsrec_record *ring = (const struct btsrec_record *)pc->base_kva;
	u64 nr_slots = (pc->end_kva - pc->base_kva) / BTSREC_RECORD_BYTES;
	u64 slot = (pc->page->freeze.index_kva - pc->base_kva) / BTSREC_RECORD_BYTES;
	u64 back, found = 0;

	for (back = 1; back <= nr_slots && found < nr_wanted; back++) {
		const struct btsrec_record *record = &ring[(slot + nr_slots - back) % nr_slots];

		if (record->from == BTSREC_POISON)
			break;
		found += !is_annotation(record);
	}
	pr_emerg("The last %llu branches of CPU %u before its freeze, oldest first:\n", found,
		 pc->page->cpu);
	while (--back > 0) {
		const struct btsrec_record *record = &ring[(slot + nr_slots - back) % nr_slots];

		if (!is_annotation(record))
			pr_emerg(" %pS -> %pS\n", (void *)record->from, (void *)record->to);
	}
}

static unsigned int nr_frozen_cpus(u64 *ret_bytes)
{
	unsigned int cpu, nr = 0;

	*ret_bytes = 0;
	for_each_possible_cpu(cpu) {
		const struct btsrec_cpu *page = per_cpu(btsrec_pcpu, cpu).page;

		if (!page || !READ_ONCE(page->frozen))
			continue;
		nr++;
		*ret_bytes += page->ring_bytes;
	}
	return nr;
}

/**
 * btsrec_console_print() - say what there is, print the tail, once per freeze
 *
 * Where printk() may be called.  Does nothing before the freeze is complete.
 */
void btsrec_console_print(void)
{
	const struct btsrec_root *root = btsrec_root_page;
	u32 reason = smp_load_acquire(&root->freeze_reason);
	const struct btsrec_pcpu *pc;
	unsigned int nr_cpus;
	u64 bytes;

	if (reason == BTSREC_REASON_NONE || reason == BTSREC_REASON_MANUAL)
		return;
	if (xchg(&printed_tsc, root->freeze_tsc) == root->freeze_tsc)
		return;
	pc = per_cpu_ptr(&btsrec_pcpu, root->freeze_cpu);
	nr_cpus = nr_frozen_cpus(&bytes);
	pr_emerg("Recording stopped at the fault on CPU %u; the newest branches of %u CPUs, %llu bytes, are in memory, root_pa=0x%llx.\n",
		 root->freeze_cpu, nr_cpus, bytes, root->self_pa);
	if (nr_wanted && pc->page && READ_ONCE(pc->page->frozen))
		print_branches(pc);
}

static int on_panic_notifier(struct notifier_block *nb, unsigned long unused, void *message)
{
	btsrec_console_print();
	return NOTIFY_DONE;
}

static struct notifier_block panic_notifier = {
	.notifier_call = on_panic_notifier,
};

/**
 * btsrec_console_register() - be called at a panic
 */
void btsrec_console_register(void)
{
	int err = atomic_notifier_chain_register(&panic_notifier_list, &panic_notifier);

	registered = !err;
	if (err)
		btsrec_hook_missing("panic_notifier_list", err,
				    "after a panic the kernel log will not say where the history is");
}

/**
 * btsrec_console_unregister() - no longer; does nothing if not registered
 */
void btsrec_console_unregister(void)
{
	if (registered)
		atomic_notifier_chain_unregister(&panic_notifier_list, &panic_notifier);
	registered = false;
}
