// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/pageset.h"

#include <stdlib.h>
#include <string.h>

#define PAGESET_MIN_SLOTS 1024

void pageset_fini(struct pageset *set)
{
	free(set->slots);
	memset(set, 0, sizeof(*set));
}

/* Open addressing: the slot that holds @pa, or the free one where it belongs. */
static struct pageset_page *pageset_slot(const struct pageset *set, uint64_t pa)
{
	/* Fibonacci hashing: neighbouring pages must not crowd together. */
	size_t i = pa / BTSREC_PAGE_BYTES * 0x9e3779b97f4a7c15ULL >> 32;
	size_t mask = set->nr_slots - 1;

	while (set->slots[i & mask].pa && set->slots[i & mask].pa != pa)
		i++;
	return &set->slots[i & mask];
}

/* Keep a quarter free, so that searches are short and always end. */
static enum btsrec_status pageset_reserve(struct pageset *set)
{
	struct pageset grown = { .nr = set->nr };

	if (set->nr + 1 <= set->nr_slots / 4 * 3)
		return BTSREC_OK;
	grown.nr_slots = set->nr_slots ? set->nr_slots * 2 : PAGESET_MIN_SLOTS;
	grown.slots = calloc(grown.nr_slots, sizeof(*grown.slots));
	if (!grown.slots)
		return BTSREC_ERR_NOMEM;
	for (size_t i = 0; i < set->nr_slots; i++) {
		if (set->slots[i].pa)
			*pageset_slot(&grown, set->slots[i].pa) = set->slots[i];
	}
	free(set->slots);
	*set = grown;
	return BTSREC_OK;
}

struct pageset_page *pageset_get(struct pageset *set, uint64_t pa)
{
	struct pageset_page *page;

	if (pageset_reserve(set) != BTSREC_OK)
		return NULL;
	page = pageset_slot(set, pa);
	if (!page->pa)
		set->nr++;
	page->pa = pa;
	return page;
}

enum btsrec_status pageset_put(struct pageset *set, uint64_t pa, uint64_t bits)
{
	struct pageset_page *page;

	if (!pa)
		return BTSREC_OK;
	page = pageset_get(set, pa);
	if (!page)
		return BTSREC_ERR_NOMEM;
	page->bits = bits;
	return BTSREC_OK;
}

const struct pageset_page *pageset_find(const struct pageset *set, uint64_t pa)
{
	const struct pageset_page *page;

	if (!set->nr)
		return NULL;
	page = pageset_slot(set, pa);
	return page->pa ? page : NULL;
}

struct pageset_page *pageset_group(struct pageset *set, uint64_t pfn)
{
	set->last = pageset_get(set, pageset_group_pa(pfn));
	return set->last;
}

enum btsrec_status pageset_merge(struct pageset *set, const struct pageset *other)
{
	for (size_t i = 0; i < other->nr_slots; i++) {
		struct pageset_page *page;

		if (!other->slots[i].pa)
			continue;
		page = pageset_get(set, other->slots[i].pa);
		if (!page)
			return BTSREC_ERR_NOMEM;
		page->bits |= other->slots[i].bits;
	}
	return BTSREC_OK;
}

static int compare_pages(const void *a, const void *b)
{
	const struct pageset_page *page_a = a, *page_b = b;

	return page_a->pa < page_b->pa ? -1 : page_a->pa > page_b->pa;
}

void pageset_sort(struct pageset *set)
{
	size_t i, nr = 0;

	for (i = 0; i < set->nr_slots; i++)
		if (set->slots[i].pa)
			set->slots[nr++] = set->slots[i];
	if (nr)
		qsort(set->slots, nr, sizeof(*set->slots), compare_pages);
}
