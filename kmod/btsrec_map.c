// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the hardware sees rings and scratch pages.
 *
 * Without page-table isolation, and where the processor does not store (LBR): in the vmalloc
 * area.  Every page table has it from boot on (preallocate_vmalloc_pages(),
 * arch/x86/mm/init_64.c).
 *
 * With it, branches of user mode and of the entry code are stored through the user
 * page tables.  Those have next to nothing of the kernel.  One thing they have is
 * the cpu_entry_area.  pti_clone_p4d() (arch/x86/mm/pti.c) gives all page tables,
 * kernel and user, one PUD table for its 512 GiB, most never used.  So rings go
 * into free entries of that PUD table, 1 GiB each.  Below are page tables of our
 * own.
 *
 *	PGD of each mm, kernel and user --> PUD table of the cpu_entry_area
 *	    entry that was free --> our PMD page --> our PTE pages --> ring, scratch
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <asm/cpufeature.h>
#include <asm/io.h>
#include <asm/pgtable.h>
#include <asm/processor-flags.h>

#include "btsrec_lbr.h"

/* Not present after a ring and a scratch page: what overruns shall not hit the next. */
#define GUARD_PAGES	1

/*
 * @table: the shared PUD table; NULL: not asked for yet.  @pmds: what is
 * after its entries that are ours.  What is not present there is free.
 * Changed by CPU hotplug callbacks, or under the device's command mutex while there are none: one
 * at a time.  And at unload.
 */
static struct {
	pud_t *table;
	pmd_t *pmds[PTRS_PER_PUD];
} shared;

static bool maps_shared(void)
{
	return boot_cpu_has(X86_FEATURE_PTI) && !btsrec_uses_lbr;
}

static p4d_t *p4d_of_entry_area(u64 pgd_pa)
{
	pgd_t *pgd = pgd_offset_pgd((pgd_t *)__va(pgd_pa), CPU_ENTRY_AREA_BASE);

	return pgd_none(*pgd) ? NULL : p4d_offset(pgd, CPU_ENTRY_AREA_BASE);
}

/* The loaded page table stays loaded, so it stays allocated, without preemption. */
static pud_t *find_shared_table(void)
{
	p4d_t *kernel, *user;
	pud_t *table = NULL;
	u64 pgd_pa;

	preempt_disable();
	pgd_pa = bts_cr3() & CR3_BASE_MASK;
	kernel = p4d_of_entry_area(pgd_pa);
	/* With PTI a PGD is two pages, the second for user mode. */
	user = p4d_of_entry_area(pgd_pa | PAGE_SIZE);
	if (kernel && user && p4d_present(*kernel) && p4d_present(*user) &&
	    p4d_pgtable(*kernel) == p4d_pgtable(*user))
		table = p4d_pgtable(*kernel);
	preempt_enable();
	return table;
}

static void *table_new(void)
{
	return (void *)get_zeroed_page(GFP_KERNEL | __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
}

static u64 table_entry(const void *table)
{
	return __pa(table) | _KERNPG_TABLE;
}

static u64 slot_kva(unsigned int slot)
{
	return CPU_ENTRY_AREA_BASE + (u64)slot * PUD_SIZE;
}

/* Takes a free entry; the exchange refuses one that somebody else has just taken. */
static int slot_take(u64 *ret_kva)
{
	unsigned int slot = PTRS_PER_PUD;
	pmd_t *pmds = table_new();

	if (!pmds)
		return -ENOMEM;
	while (slot--) {
		if (pud_val(shared.table[slot]) ||
		    cmpxchg(&shared.table[slot].pud, 0, table_entry(pmds)))
			continue;
		shared.pmds[slot] = pmds;
		*ret_kva = slot_kva(slot);
		return 0;
	}
	free_page((unsigned long)pmds);
	return -ENOSPC;
}

static pmd_t *our_pmd(u64 kva)
{
	return &shared.pmds[pud_index(kva)][pmd_index(kva)];
}

static int tables_new(u64 kva, u64 end_kva)
{
	for (; kva < end_kva; kva = ALIGN_DOWN(kva, PMD_SIZE) + PMD_SIZE) {
		pmd_t *pmd = our_pmd(kva);
		void *ptes;

		if (!pmd_none(*pmd))
			continue;
		ptes = table_new();
		if (!ptes)
			return -ENOMEM;
		WRITE_ONCE(pmd->pmd, table_entry(ptes));
	}
	return 0;
}

static pte_t *our_pte(u64 kva)
{
	return &((pte_t *)pmd_page_vaddr(*our_pmd(kva)))[pte_index(kva)];
}

/* The first place in an entry of ours; 0: there is none. */
static u64 free_in_slot(unsigned int slot, u64 bytes)
{
	u64 kva = slot_kva(slot), end_kva = kva + PUD_SIZE, begin_kva = kva;

	while (kva < end_kva && kva - begin_kva < bytes) {
		if (pmd_none(*our_pmd(kva))) {
			kva = ALIGN_DOWN(kva, PMD_SIZE) + PMD_SIZE;
			continue;
		}
		if (!pte_none(*our_pte(kva)))
			begin_kva = kva + PAGE_SIZE;
		kva += PAGE_SIZE;
	}
	return kva - begin_kva >= bytes ? begin_kva : 0;
}

static int find_free(u64 bytes, u64 *ret_kva)
{
	unsigned int slot;

	for (slot = 0; slot < PTRS_PER_PUD; slot++) {
		*ret_kva = shared.pmds[slot] ? free_in_slot(slot, bytes) : 0;
		if (*ret_kva)
			return 0;
	}
	return slot_take(ret_kva);
}

/*
 * Tables for so many pages in a row, none of them mapped yet.  What a failure
 * has allocated goes with the rest at unload.
 */
static int reserve(u32 nr_pages, u64 *ret_kva)
{
	u64 bytes = (u64)nr_pages * PAGE_SIZE;
	int err;

	if (!shared.table)
		shared.table = find_shared_table();
	if (!shared.table)
		return -ENOSPC;
	err = find_free(bytes, ret_kva);
	return err ?: tables_new(*ret_kva, *ret_kva + bytes);
}

/*
 * Supervisor, not executable, accessed and dirty already.  Not global, as the
 * kernel's own pages with PTI: user mode need not keep them in the TLB.
 */
static void map_page(u64 kva, struct page *page)
{
	pgprot_t prot = __pgprot(pgprot_val(PAGE_KERNEL) & ~_PAGE_GLOBAL);

	WRITE_ONCE(our_pte(kva)->pte, pte_val(pfn_pte(page_to_pfn(page), prot)));
}

static int map_shared(struct btsrec_pcpu *pc)
{
	u32 i, nr_pages = pc->page->nr_ring_pages;
	u64 kva;
	int err = reserve(nr_pages + 1 + 3 * GUARD_PAGES, &kva);

	if (err)
		return err;
	kva += GUARD_PAGES * PAGE_SIZE;		/* what is before may be a scratch page */
	for (i = 0; i < nr_pages; i++)
		map_page(kva + i * PAGE_SIZE, pc->pages[i]);
	pc->base_kva = kva;
	pc->scratch_kva = kva + (nr_pages + GUARD_PAGES) * PAGE_SIZE;
	map_page(pc->scratch_kva, virt_to_page(pc->scratch));
	return 0;
}

/**
 * btsrec_map() - give a ring and its scratch page their linear addresses
 * @pc: the CPU's, with its pages; sets @base_kva and @scratch_kva
 *
 * May sleep.  Under page-table isolation every page table shows them from now
 * on: no translation is cached for what is not present, or was taken away by btsrec_unmap().
 *
 * Return: 0; -ENOMEM; -ENOSPC: page-table isolation is on and the page tables
 * have no free place that they share.
 */
int btsrec_map(struct btsrec_pcpu *pc)
{
	if (maps_shared())
		return map_shared(pc);
	pc->base_kva = (u64)vmap(pc->pages, pc->page->nr_ring_pages, VM_MAP, PAGE_KERNEL);
	pc->scratch_kva = (u64)pc->scratch;
	return pc->base_kva ? 0 : -ENOMEM;
}

/*
 * Changing CR4.PGE drops all translations of all PCIDs and all paging-structure
 * caches (SDM vol. 3A, "Operations that Invalidate TLBs and Paging-Structure
 * Caches"); a write of CR3 would drop those of one PCID.  flush_tlb_all() is
 * not exported.  Runs with interrupts off, as the kernel's own does it.
 */
static void flush_this_cpu(void *unused)
{
	unsigned long cr4;

	asm volatile("mov %%cr4, %0" : "=r" (cr4) : : "memory");
	asm volatile("mov %0, %%cr4" : : "r" (cr4 ^ X86_CR4_PGE) : "memory");
	asm volatile("mov %0, %%cr4" : : "r" (cr4) : "memory");
}

static void unmap_shared(const struct btsrec_pcpu *pc)
{
	u32 i;

	for (i = 0; i < pc->page->nr_ring_pages; i++)
		WRITE_ONCE(our_pte(pc->base_kva + i * PAGE_SIZE)->pte, 0);
	WRITE_ONCE(our_pte(pc->scratch_kva)->pte, 0);
}

/**
 * btsrec_unmap() - take one ring and its scratch page out of the page tables
 * @pc: a ring that no CPU is pointed at any more
 *
 * May sleep.  When this returns, no CPU has a translation of it, as after btsrec_map_free().
 */
void btsrec_unmap(struct btsrec_pcpu *pc)
{
	if (maps_shared())
		unmap_shared(pc);
	else
		vunmap((void *)pc->base_kva);
	pc->base_kva = 0;
	on_each_cpu(flush_this_cpu, NULL, 1);
}

static void slot_tables_free(pmd_t *pmds)
{
	unsigned int i;

	for (i = 0; pmds && i < PTRS_PER_PMD; i++) {
		if (!pmd_none(pmds[i]))
			free_page(pmd_page_vaddr(pmds[i]));
	}
	free_page((unsigned long)pmds);
}

/* vunmap() leaves the translations to a flush that comes when many have gathered. */
static bool unmap_vmalloc(void)
{
	bool any = false;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct btsrec_pcpu *pc = per_cpu_ptr(&btsrec_pcpu, cpu);

		if (!pc->base_kva || maps_shared())
			continue;
		vunmap((void *)pc->base_kva);
		any = true;
	}
	return any;
}

/**
 * btsrec_map_free() - take all rings out of the page tables
 *
 * Before their pages are freed; every CPU must be released.  May sleep.  When
 * this returns, no CPU has a translation of them: an offline CPU has paging
 * off on its way back, which empties its TLB.
 */
void btsrec_map_free(void)
{
	bool any = unmap_vmalloc();
	unsigned int slot;

	for (slot = 0; slot < PTRS_PER_PUD; slot++) {
		if (!shared.pmds[slot])
			continue;
		WRITE_ONCE(shared.table[slot].pud, 0);
		any = true;
	}
	if (any)
		on_each_cpu(flush_this_cpu, NULL, 1);
	for (slot = 0; slot < PTRS_PER_PUD; slot++)
		slot_tables_free(shared.pmds[slot]);
	memset(&shared, 0, sizeof(shared));
}
