// SPDX-License-Identifier: GPL-2.0-only
/*
 * btstables: what the page tables show of the cpu_entry_area, which is where the
 * recorder puts its rings under page-table isolation.
 *
 *   cat /sys/module/btstables/parameters/used	entries of its PUD table in use, and a hash of them
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sysfs.h>
#include <asm/pgtable.h>

#define CR3_BASE	GENMASK_ULL(51, 12)

static u64 cr3(void)
{
	u64 value;

	asm volatile("mov %%cr3, %0" : "=r" (value));
	return value;
}

static int used_get(char *buffer, const struct kernel_param *param)
{
	unsigned int i, nr_used = 0;
	u64 hash = 0;
	pud_t *puds;
	p4d_t *p4d;

	preempt_disable();
	p4d = p4d_offset(pgd_offset_pgd((pgd_t *)__va(cr3() & CR3_BASE), CPU_ENTRY_AREA_BASE),
			 CPU_ENTRY_AREA_BASE);
	puds = p4d_pgtable(*p4d);
	for (i = 0; i < PTRS_PER_PUD; i++) {
		/* The processor sets "accessed" when it likes. */
		u64 entry = pud_val(puds[i]) & ~(u64)_PAGE_ACCESSED;

		nr_used += !!entry;
		hash = hash_64(hash ^ entry ^ i, 64);
	}
	preempt_enable();
	return sysfs_emit(buffer, "%u %016llx\n", nr_used, hash);
}

static const struct kernel_param_ops used_ops = { .get = used_get };

module_param_cb(used, &used_ops, NULL, 0444);
MODULE_PARM_DESC(used, "entries of the cpu_entry_area's PUD table in use, and a hash of them");

MODULE_DESCRIPTION("Look at the page tables of the cpu_entry_area");
MODULE_LICENSE("GPL");
