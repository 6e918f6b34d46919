// SPDX-License-Identifier: GPL-2.0-only
/*
 * btstlb: does a CPU still reach a ring of the recorder when its memory is free?
 *
 *   insmod btstlb.ko					while the recorder is armed
 *   cat /sys/module/btstlb/parameters/seen		reads, of freed memory, that succeeded
 *
 * A thread on the last CPU reads the first word of each ring, for as long as the module is
 * loaded.  Once the memory is free no page table has it: a read that succeeds has used a
 * translation that the TLB kept.  The thread is one of the kernel, so nobody loads CR3 on
 * that CPU unless something else runs there.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>
#include <asm/cpu_entry_area.h>
#include <asm/io.h>
#include <asm/pgtable_types.h>

#define MAX_RINGS	32

static struct {
	void *kva;
	struct page *page;
} rings[MAX_RINGS];

static unsigned int nr_rings;
static unsigned long nr_reads, nr_of_freed, nr_stale;
static struct task_struct *thread;

static int seen_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "reads=%lu freed=%lu stale=%lu\n", READ_ONCE(nr_reads),
			  READ_ONCE(nr_of_freed), READ_ONCE(nr_stale));
}

static const struct kernel_param_ops seen_ops = { .get = seen_get };

module_param_cb(seen, &seen_ops, NULL, 0444);
MODULE_PARM_DESC(seen, "reads, reads of memory that is free, and those that succeeded");

/* "Free" is asked first: what is free then was out of the page tables before. */
static void read_ring(unsigned int ring)
{
	bool is_free = !page_ref_count(rings[ring].page);
	u64 word;
	bool is_read;

	smp_rmb();	/* the read comes after the question */
	is_read = !copy_from_kernel_nofault(&word, rings[ring].kva, sizeof(word));
	nr_reads++;
	nr_of_freed += is_free;
	nr_stale += is_free && is_read;
}

static int watch(void *unused)
{
	unsigned int ring;

	while (!kthread_should_stop()) {
		for (ring = 0; ring < nr_rings; ring++)
			read_ring(ring);
		schedule();	/* RCU waits for it while the recorder is unloaded */
	}
	return 0;
}

static int __init btstlb_init(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		u64 base = get_cpu_entry_area(cpu)->cpu_debug_store.bts_buffer_base;

		if (nr_rings == MAX_RINGS)
			break;
		rings[nr_rings].kva = (void *)base;
		rings[nr_rings].page = pfn_to_page(PHYS_PFN(slow_virt_to_phys((void *)base)));
		nr_rings++;
	}
	thread = kthread_create(watch, NULL, "btstlb");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	kthread_bind(thread, cpumask_last(cpu_online_mask));
	wake_up_process(thread);
	return 0;
}

static void __exit btstlb_exit(void)
{
	kthread_stop(thread);
}

module_init(btstlb_init);
module_exit(btstlb_exit);
MODULE_DESCRIPTION("Read the recorder's rings until and after they are freed");
MODULE_LICENSE("GPL");
