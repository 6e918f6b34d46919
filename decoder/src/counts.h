/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often what was seen: counters by a key of four numbers.  Pure. */
#ifndef BTSREC_COUNTS_H
#define BTSREC_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTS_KEY_WORDS	4
#define COUNTS_NR		3

/** struct count - @nr: what the caller counts for @key */
struct count {
	uint64_t key[COUNTS_KEY_WORDS];
	uint64_t nr[COUNTS_NR];
	bool used;
};

/**
 * struct counts - all zero is an empty one
 * @table: owned, a hash table of @nr_room places; after counts_sort() a list.
 * @nr: keys.
 */
struct counts {
	struct count *table;
	size_t nr;
	size_t nr_room;
};

/**
 * counts_get() - the counters of @key, 0 at first
 *
 * Return: valid until the next call; NULL: out of memory.  Not after counts_sort().
 */
struct count *counts_get(struct counts *counts, const uint64_t *key);

/** counts_find() - the counters of @key; NULL: there are none.  Not after counts_sort(). */
struct count *counts_find(const struct counts *counts, const uint64_t *key);

/** counts_sort() - make @table a list of @nr entries, ascending by key */
void counts_sort(struct counts *counts);

/** counts_fini() - free; leaves an empty one */
void counts_fini(struct counts *counts);

#endif /* BTSREC_COUNTS_H */
