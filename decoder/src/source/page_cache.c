// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/page_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/large.h"

#define PIECE_BYTES ((size_t)PAGE_CACHE_EACH * BTSREC_PAGE_BYTES)
#define NR_CHAINS   PAGE_CACHE_MAX

/**
 * struct page_cache_index - places count from 1; 0: none
 * @first: of each chain of numbers with the same hash; @next: in it, by place.
 * @numbers: by place.
 */
struct page_cache_index {
	uint32_t first[NR_CHAINS];
	uint32_t next[PAGE_CACHE_MAX + 1];
	uint64_t numbers[PAGE_CACHE_MAX + 1];
};

/* Fibonacci hashing: the multiplier is 2^64 divided by the golden ratio. */
static size_t chain_of(uint64_t number)
{
	return (number * 0x9e3779b97f4a7c15ULL >> 32) % NR_CHAINS;
}

static uint8_t *page_at(const struct page_cache *kept, uint32_t place)
{
	return kept->pieces[(place - 1) / PAGE_CACHE_EACH] +
	       (size_t)((place - 1) % PAGE_CACHE_EACH) * BTSREC_PAGE_BYTES;
}

const uint8_t *page_cache_find(const struct page_cache *kept, uint64_t number)
{
	const struct page_cache_index *index = kept->index;
	uint32_t place = index ? index->first[chain_of(number)] : 0;

	while (place && index->numbers[place] != number)
		place = index->next[place];
	return place ? page_at(kept, place) : NULL;
}

/*
 * Rings that are a little larger than all room are gone through again and again.  If the oldest
 * page went, those that are wanted next would always have gone; so it is any page.
 */
static uint32_t next_place(const struct page_cache *kept)
{
	uint64_t nr = kept->nr;

	if (nr >= PAGE_CACHE_MAX)
		nr = nr * 0x9e3779b97f4a7c15ULL >> 32;
	return (uint32_t)(nr % PAGE_CACHE_MAX) + 1;
}

/* The page at @place is no longer kept. */
static void give_up(struct page_cache_index *index, uint32_t place)
{
	uint32_t *link = &index->first[chain_of(index->numbers[place])];

	while (*link && *link != place)
		link = &index->next[*link];
	if (*link)
		*link = index->next[place];
}

uint8_t *page_cache_room(struct page_cache *kept)
{
	uint32_t place = next_place(kept);
	uint8_t **piece = &kept->pieces[(place - 1) / PAGE_CACHE_EACH];

	if (!kept->index)
		kept->index = calloc(1, sizeof(*kept->index));
	if (!kept->index)
		return NULL;
	if (!*piece)
		*piece = large_or_small(PIECE_BYTES);
	if (!*piece)
		return NULL;
	if (kept->nr >= PAGE_CACHE_MAX)
		give_up(kept->index, place);
	return page_at(kept, place);
}

void page_cache_add(struct page_cache *kept, uint64_t number)
{
	uint32_t place = next_place(kept);
	uint32_t *first = &kept->index->first[chain_of(number)];

	kept->index->numbers[place] = number;
	kept->index->next[place] = *first;
	*first = place;
	kept->nr++;
}

void page_cache_fini(struct page_cache *kept)
{
	for (size_t i = 0; i < PAGE_CACHE_NR_PIECES; i++)
		free(kept->pieces[i]);
	free(kept->index);
	memset(kept, 0, sizeof(*kept));
}
