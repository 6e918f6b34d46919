/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts of addresses that come again, each in the one place that the hash of its address
 * has: what came last is kept.  Of constant size.
 */
#ifndef BTSREC_NAME_CACHE_H
#define BTSREC_NAME_CACHE_H

#include <string.h>

#include "base/bounds.h"
#include "base/large.h"

/* 4 MiB; a power of two. */
#define NAME_CACHE_NR BOUND(1U << 16, 1U << 4)
/* Most names of functions, followed by a module; a place is a line of the cache. */
#define NAME_CACHE_MAX_BYTES 55

/** struct name_cache_entry - @nr_bytes of @text for @va, which is not 0; else the place is free */
struct name_cache_entry {
	_Alignas(64) uint64_t va;
	uint8_t nr_bytes;
	char text[NAME_CACHE_MAX_BYTES];
};

_Static_assert(sizeof(struct name_cache_entry) == 64, "a place is a line of the cache");

/** name_cache_new() - NAME_CACHE_NR free places, for free(); NULL: out of memory */
static inline struct name_cache_entry *name_cache_new(void)
{
	return large_table(NAME_CACHE_NR * sizeof(struct name_cache_entry));
}

/** name_cache_place() - where the text of @va is, if it is kept */
static inline struct name_cache_entry *name_cache_place(struct name_cache_entry *texts, uint64_t va)
{
	/* Fibonacci hashing: the highest bits spread what lies evenly. */
	return &texts[(va * 0x9e3779b97f4a7c15ULL >> 40) * NAME_CACHE_NR >> 24];
}

/** name_cache_keep() - @text for @va, if it is short enough */
static inline void name_cache_keep(struct name_cache_entry *place, uint64_t va, const char *text,
				   size_t nr_bytes)
{
	if (nr_bytes > NAME_CACHE_MAX_BYTES)
		return;
	place->va = va;
	place->nr_bytes = (uint8_t)nr_bytes;
	memcpy(place->text, text, nr_bytes);
}

#endif /* BTSREC_NAME_CACHE_H */
