// SPDX-License-Identifier: GPL-2.0-or-later
#include "walk.h"

#define PTE_PRESENT	(1ULL << 0)
#define PTE_WRITE	(1ULL << 1)
#define PTE_HUGE	(1ULL << 7)
#define PTE_PA_MASK	0x000ffffffffff000ULL
#define LOWEST_LEVEL_SHIFT	12
#define LEVEL_BITS		9
#define LEVEL_MASK		0x1ffULL
#define PML4_SHIFT		39
#define PML5_SHIFT		48
#define PUD_SHIFT		30

/* Bits of a PTE that a processor changes by itself: accessed and dirty. */
#define PTE_VOLATILE	((1ULL << 5) | (1ULL << 6))

/** walk_canonical() - does @addr repeat its highest bit? */
bool walk_canonical(uint64_t addr, bool la57)
{
	int64_t top = (int64_t)addr >> ((la57 ? 57 : 48) - 1);

	return top == 0 || top == -1;
}

static uint64_t leaf_to_pa(uint64_t leaf, uint64_t addr, unsigned int shift)
{
	uint64_t offset_mask = (1ULL << shift) - 1;

	return ((leaf & PTE_PA_MASK & ~offset_mask) | (addr & offset_mask)) &
		~(uint64_t)(WALK_PAGE_BYTES - 1);
}

static bool walk_levels(const struct walk_space *space, uint64_t addr, struct walk_cache *cache)
{
	unsigned int shift = space->la57 ? PML5_SHIFT : PML4_SHIFT;
	uint64_t table = space->cr3 & PTE_PA_MASK;
	uint64_t entry, entry_pa;

	for (;; shift -= LEVEL_BITS) {
		entry_pa = table + ((addr >> shift) & LEVEL_MASK) * sizeof(entry);
		if (!space->read(space->arg, entry_pa, &entry))
			return false;
		if (!(entry & PTE_PRESENT) || !(entry & PTE_WRITE))
			return false;
		if (shift == LOWEST_LEVEL_SHIFT || (shift <= PUD_SHIFT && entry & PTE_HUGE))
			break;
		table = entry & PTE_PA_MASK;
	}
	cache->leaf_pa = entry_pa;
	cache->leaf = entry;
	cache->pa = leaf_to_pa(entry, addr, shift);
	cache->trust = WALK_MAX_TRUST;
	return true;
}

static bool leaf_unchanged(const struct walk_space *space, const struct walk_cache *cache)
{
	uint64_t leaf;

	return space->read(space->arg, cache->leaf_pa, &leaf) &&
		!((leaf ^ cache->leaf) & ~PTE_VOLATILE);
}

static bool cache_holds(const struct walk_space *space, struct walk_cache *cache, uint64_t page)
{
	if (!cache->valid || cache->page != page)
		return false;
	if (cache->trust--)
		return true;
	cache->trust = WALK_MAX_TRUST;
	return leaf_unchanged(space, cache);
}

/**
 * walk_store() - translate an address for a store at CPL 0 with CR0.WP set
 * @space: the page tables; 4-level or 5-level paging
 * @addr: linear address
 * @cache: result of an earlier walk of the same @space.cr3, or invalid; updated.
 *	The last-level entry is read again after WALK_MAX_TRUST uses, so a page that
 *	was unmapped or write-protected is noticed soon, even before the TLB flush
 *	that real hardware may wait for.  The caller invalidates it when CR3 is written.
 * @pa_ret: physical address
 *
 * Return: false if a processor would fault: not canonical, not present or read-only
 * at any level.
 */
bool walk_store(const struct walk_space *space, uint64_t addr, struct walk_cache *cache,
		uint64_t *pa_ret)
{
	uint64_t offset = addr & (WALK_PAGE_BYTES - 1);
	uint64_t page = addr - offset;

	if (!walk_canonical(addr, space->la57))
		return false;
	if (!cache_holds(space, cache, page)) {
		cache->valid = walk_levels(space, addr, cache);
		cache->page = page;
	}
	if (!cache->valid)
		return false;
	*pa_ret = cache->pa + offset;
	return true;
}
