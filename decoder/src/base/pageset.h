/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of pages of the dump, with 64 bits of knowledge about each: whether they serve a purpose
 * already, or which parts of them were read.  A page that is claimed twice proves that one of the
 * claims is wrong.
 */
#ifndef BTSREC_PAGESET_H
#define BTSREC_PAGESET_H

#include <btsrec/decoder.h>

/**
 * struct pageset_page - one page
 * @pa: its address; 0: a free slot.
 * @bits: the caller's.
 */
struct pageset_page {
	uint64_t pa;
	uint64_t bits;
};

/**
 * struct pageset - a set of page addresses; all zero: empty
 * @slots: owned; @nr_slots of them, a power of two.
 * @last: of pageset_claim(): most pages are neighbours of the last one; or NULL.
 */
struct pageset {
	struct pageset_page *slots;
	size_t nr_slots;
	size_t nr;
	struct pageset_page *last;
};

/** pageset_fini() - free it and leave an empty one. */
void pageset_fini(struct pageset *set);

/**
 * pageset_get() - the page at @pa (not 0), which is added with no bit set if it is new
 *
 * Return: valid until the next call; NULL: out of memory.
 */
struct pageset_page *pageset_get(struct pageset *set, uint64_t pa);

/** pageset_put() - give the page at @pa these @bits alone; 0 is no page.  BTSREC_ERR_NOMEM. */
enum btsrec_status pageset_put(struct pageset *set, uint64_t pa, uint64_t bits);

/** pageset_find() - the page at @pa, or NULL; valid until a page is added. */
const struct pageset_page *pageset_find(const struct pageset *set, uint64_t pa);

/* What a slot of claims holds. */
#define PAGESET_GROUP	64

/* None has the address 0, which is a free slot. */
static inline uint64_t pageset_group_pa(uint64_t pfn)
{
	return (pfn / PAGESET_GROUP + 1) * BTSREC_PAGE_BYTES;
}

/** pageset_group() - the slot of page frame @pfn in a set of claims; NULL: out of memory */
struct pageset_page *pageset_group(struct pageset *set, uint64_t pfn);

/**
 * pageset_claim() - add the page at @pa
 * @set: of nothing but claims: a slot holds 64 pages that are neighbours, a bit each
 *
 * Return: BTSREC_OK; BTSREC_ERR_CORRUPT: it is there already; BTSREC_ERR_NOMEM.
 */
static inline enum btsrec_status pageset_claim(struct pageset *set, uint64_t pa)
{
	uint64_t pfn = pa / BTSREC_PAGE_BYTES, bit = 1ULL << pfn % PAGESET_GROUP;
	struct pageset_page *group = set->last;

	if (!group || group->pa != pageset_group_pa(pfn))
		group = pageset_group(set, pfn);
	if (!group)
		return BTSREC_ERR_NOMEM;
	if (group->bits & bit)
		return BTSREC_ERR_CORRUPT;
	group->bits |= bit;
	return BTSREC_OK;
}

/**
 * pageset_merge() - add all pages and bits of @other
 *
 * Return: BTSREC_OK; BTSREC_ERR_NOMEM: some are missing.
 */
enum btsrec_status pageset_merge(struct pageset *set, const struct pageset *other);

/**
 * pageset_sort() - put all pages in ascending order into the first @set->nr slots
 *
 * Nothing but pageset_fini() may follow.
 */
void pageset_sort(struct pageset *set);

#endif /* BTSREC_PAGESET_H */
