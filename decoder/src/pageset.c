// SPDX-License-Identifier: GPL-2.0-or-later
#include "pageset.h"

#include <stdlib.h>
#include <string.h>

#define PAGESET_MIN_SLOTS 1024

void pageset_fini(struct pageset *set)
{
	free(set->slots);
	memset(set, 0, sizeof(*set));
}

/* Open addressing: the slot that holds @pa, or the free one where it belongs. */
static uint64_t *pageset_slot(const struct pageset *set, uint64_t pa)
{
	/* Fibonacci hashing: neighbouring pages must not crowd together. */
	size_t i = pa / BTSREC_PAGE_BYTES * 0x9e3779b97f4a7c15ULL >> 32;

	while (set->slots[i & (set->nr_slots - 1)] && set->slots[i & (set->nr_slots - 1)] != pa)
		i++;
	return &set->slots[i & (set->nr_slots - 1)];
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
		if (set->slots[i])
			*pageset_slot(&grown, set->slots[i]) = set->slots[i];
	}
	free(set->slots);
	*set = grown;
	return BTSREC_OK;
}

enum btsrec_status pageset_claim(struct pageset *set, uint64_t pa)
{
	enum btsrec_status status = pageset_reserve(set);
	uint64_t *slot;

	if (status != BTSREC_OK)
		return status;
	slot = pageset_slot(set, pa);
	if (*slot)
		return BTSREC_ERR_CORRUPT;
	*slot = pa;
	set->nr++;
	return BTSREC_OK;
}
