// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/walk.h"

#include <string.h>

/* SDM vol. 3A, "4-Level Paging and 5-Level Paging": bits of an entry. */
#define PTE_PRESENT	(1ULL << 0)
#define PTE_WRITE	(1ULL << 1)
#define PTE_LARGE	(1ULL << 7)
#define PTE_NO_EXECUTE	(1ULL << 63)
#define PTE_PA_MASK	(((1ULL << 52) - 1) & ~(uint64_t)(BTSREC_PAGE_BYTES - 1))

#define PAGE_SHIFT	12
#define LEVEL_BITS	9
#define LARGE_1G_LEVEL	3	/* the highest level at which an entry can map a page */

void walk_init(struct walk *walk, const struct btsrec_image *image, bool la57)
{
	memset(walk, 0, sizeof(*walk));
	walk->image = image;
	walk->la57 = la57;
}

const char *walk_result_str(enum walk_result result)
{
	switch (result) {
	case WALK_OK:
		return "mapped";
	case WALK_NO_ROOT:
		return "no page table is known";
	case WALK_BAD_VA:
		return "not a canonical address";
	case WALK_NOT_PRESENT:
		return "not mapped";
	case WALK_NO_TABLE:
		return "page table not in the dump";
	case WALK_FAILED:
		return "read error";
	}
	return "unknown";
}

static bool is_canonical(uint64_t va, bool la57)
{
	unsigned int unused_bits = la57 ? 64 - 57 : 64 - 48;

	return (uint64_t)((int64_t)(va << unused_bits) >> unused_bits) == va;
}

static enum walk_result read_entry(const struct walk *walk, uint64_t table_pa, uint64_t va,
				   unsigned int level, uint64_t *ret)
{
	unsigned int shift = PAGE_SHIFT + (level - 1) * LEVEL_BITS;
	uint64_t index = (va >> shift) & ((1U << LEVEL_BITS) - 1);

	switch (image_read(walk->image, table_pa + index * sizeof(*ret), ret, sizeof(*ret))) {
	case BTSREC_OK:
		return *ret & PTE_PRESENT ? WALK_OK : WALK_NOT_PRESENT;
	case BTSREC_ERR_NODATA:
		return WALK_NO_TABLE;
	default:
		return WALK_FAILED;
	}
}

/*
 * Code is executed where no level forbids it, and memory is written where every level allows it
 * (SDM vol. 3A, "Access Rights").
 */
static enum walk_result walk_tables(const struct walk *walk, uint64_t pgd_pa, uint64_t va,
				    struct walk_tlb *ret)
{
	uint64_t entry, table_pa = pgd_pa;
	enum walk_result result;
	unsigned int level;

	ret->no_execute = false;
	ret->read_only = false;
	for (level = walk->la57 ? 5 : 4; level; level--) {
		uint64_t page_bytes = 1ULL << (PAGE_SHIFT + (level - 1) * LEVEL_BITS);

		result = read_entry(walk, table_pa, va, level, &entry);
		if (result)
			return result;
		ret->no_execute |= entry & PTE_NO_EXECUTE;
		ret->read_only |= !(entry & PTE_WRITE);
		table_pa = entry & PTE_PA_MASK;
		if (level == 1 || (level <= LARGE_1G_LEVEL && entry & PTE_LARGE)) {
			ret->pa = (table_pa & ~(page_bytes - 1)) | (va & (page_bytes - 1));
			return WALK_OK;
		}
	}
	return WALK_NOT_PRESENT;
}

/* NULL: why not is *@ret. */
static const struct walk_tlb *walk_page(struct walk *walk, uint64_t pgd_pa, uint64_t va,
					enum walk_result *ret)
{
	uint64_t page_va = va & ~(uint64_t)(BTSREC_PAGE_BYTES - 1);
	struct walk_tlb *tlb;

	pgd_pa &= PTE_PA_MASK;
	*ret = !pgd_pa ? WALK_NO_ROOT : is_canonical(va, walk->la57) ? WALK_OK : WALK_BAD_VA;
	if (*ret)
		return NULL;
	tlb = &walk->tlb[((va ^ pgd_pa) >> PAGE_SHIFT) % WALK_TLB_ENTRIES];
	if (tlb->pgd_pa != pgd_pa || tlb->va != page_va) {
		tlb->result = walk_tables(walk, pgd_pa, page_va, tlb);
		tlb->pgd_pa = pgd_pa;
		tlb->va = page_va;
	}
	*ret = tlb->result;
	return *ret ? NULL : tlb;
}

enum walk_result walk_pa(struct walk *walk, uint64_t pgd_pa, uint64_t va, uint64_t *ret_pa)
{
	enum walk_result result;
	const struct walk_tlb *tlb = walk_page(walk, pgd_pa, va, &result);

	if (tlb)
		*ret_pa = tlb->pa + va % BTSREC_PAGE_BYTES;
	return result;
}

bool walk_forbids(struct walk *walk, uint64_t pgd_pa, uint64_t va)
{
	enum walk_result result;
	const struct walk_tlb *tlb = walk_page(walk, pgd_pa, va, &result);

	if (tlb)
		return tlb->no_execute;
	return result == WALK_BAD_VA || result == WALK_NOT_PRESENT;
}

enum walk_access walk_access(struct walk *walk, uint64_t pgd_pa, uint64_t va)
{
	enum walk_result result;
	const struct walk_tlb *tlb = walk_page(walk, pgd_pa, va, &result);

	if (tlb)
		return tlb->read_only ? WALK_ACCESS_READ : WALK_ACCESS_WRITE;
	return result == WALK_BAD_VA || result == WALK_NOT_PRESENT ? WALK_ACCESS_NONE :
								     WALK_ACCESS_UNKNOWN;
}
