/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages that took long to get, so many of them as fit: walks through page tables go back and forth,
 * and rings are gone through more than once.  A container.
 */
#ifndef BTSREC_PAGE_CACHE_H
#define BTSREC_PAGE_CACHE_H

#include <stdbool.h>

#include "base/bounds.h"
#include <btsrec/decoder.h>

/* 128 MiB at most, in pieces of the size of a large page. */
#define PAGE_CACHE_EACH	     BOUND(512, 4)
#define PAGE_CACHE_NR_PIECES BOUND(64, 4)
#define PAGE_CACHE_MAX	     (PAGE_CACHE_EACH * PAGE_CACHE_NR_PIECES)

/**
 * struct page_cache - what is kept; all zero: nothing
 * @index: of where pages are; owned.
 * @pieces: of memory, PAGE_CACHE_EACH pages each; owned.
 * @nr: so many pages were kept; PAGE_CACHE_MAX of them still are.
 */
struct page_cache {
	struct page_cache_index *index;
	uint8_t *pieces[PAGE_CACHE_NR_PIECES];
	uint64_t nr;
};

/** page_cache_find() - the page of that number, until page_cache_room(); NULL: it is not kept */
const uint8_t *page_cache_find(const struct page_cache *kept, uint64_t number);

/**
 * page_cache_room() - where the next page that is kept will be, for page_cache_add()
 *
 * If all room is taken, it is that of some page, which is no longer kept.
 *
 * Return: BTSREC_PAGE_BYTES; NULL: out of memory.
 */
uint8_t *page_cache_room(struct page_cache *kept);

/** page_cache_add() - what is in page_cache_room() now is page @number, which is not kept yet */
void page_cache_add(struct page_cache *kept, uint64_t number);

/** page_cache_fini() - free all and keep nothing */
void page_cache_fini(struct page_cache *kept);

#endif /* BTSREC_PAGE_CACHE_H */
