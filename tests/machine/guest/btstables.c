// SPDX-License-Identifier: GPL-2.0-only
/*
 * btstables: what the page tables show of the cpu_entry_area, which is where the
 * recorder puts its rings under page-table isolation.
 *
 *   cat /sys/module/btstables/parameters/used	entries of its PUD table in use, and a hash of them
 *   insmod btstables.ko full=1			leaves no entry free, until it is unloaded
 */
#include <linux/atomic.h>
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

/* It stays valid: every page table has it, from boot on. */
static pud_t *entry_area_puds(void)
{
	pud_t *puds;
	p4d_t *p4d;

	preempt_disable();
	p4d = p4d_offset(pgd_offset_pgd((pgd_t *)__va(cr3() & CR3_BASE), CPU_ENTRY_AREA_BASE),
			 CPU_ENTRY_AREA_BASE);
	puds = p4d_pgtable(*p4d);
	preempt_enable();
	return puds;
}

static int used_get(char *buffer, const struct kernel_param *param)
{
	unsigned int i, nr_used = 0;
	u64 hash = 0;
	pud_t *puds = entry_area_puds();

	for (i = 0; i < PTRS_PER_PUD; i++) {
		/* The processor sets "accessed" when it likes. */
		u64 entry = pud_val(puds[i]) & ~(u64)_PAGE_ACCESSED;

		nr_used += !!entry;
		hash = hash_64(hash ^ entry ^ i, 64);
	}
	return sysfs_emit(buffer, "%u %016llx\n", nr_used, hash);
}

static const struct kernel_param_ops used_ops = { .get = used_get };

module_param_cb(used, &used_ops, NULL, 0444);
MODULE_PARM_DESC(used, "entries of the cpu_entry_area's PUD table in use, and a hash of them");

static bool full;
module_param(full, bool, 0444);
MODULE_PARM_DESC(full, "leave no entry free");

/* Not present, and not free: a bit that the processor ignores. */
static const u64 taken = _PAGE_SOFTW1;

static void replace(u64 old, u64 new)
{
	pud_t *puds = entry_area_puds();
	unsigned int i;

	for (i = 0; i < PTRS_PER_PUD; i++)
		cmpxchg(&puds[i].pud, old, new);
}

static int __init btstables_init(void)
{
	if (full)
		replace(0, taken);
	return 0;
}

static void __exit btstables_exit(void)
{
	if (full)
		replace(taken, 0);
}

module_init(btstables_init);
module_exit(btstables_exit);
MODULE_DESCRIPTION("Look at the page tables of the cpu_entry_area");
MODULE_LICENSE("GPL");
