/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often what was seen: counters by a key of four numbers.  Pure. */
#ifndef BTSREC_COUNTER_MAP_H
#define BTSREC_COUNTER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTER_MAP_KEY_WORDS 4
#define COUNTER_MAP_NR	      3

/** struct count - @nr: what the caller map for @key */
struct count {
	uint64_t key[COUNTER_MAP_KEY_WORDS];
	uint64_t nr[COUNTER_MAP_NR];
	bool used;
};

/**
 * struct counter_map - all zero is an empty one
 * @table: owned, a hash table of @nr_room places; after counter_map_sort() a list.
 * @nr: keys.
 */
struct counter_map {
	struct count *table;
	size_t nr;
	size_t nr_room;
};

/**
 * counter_map_get() - the counters of @key, 0 at first
 *
 * Return: valid until the next call; NULL: out of memory.  Not after counter_map_sort().
 */
struct count *counter_map_get(struct counter_map *map, const uint64_t *key);

/** counter_map_find() - the counters of @key; NULL: none.  Not after counter_map_sort(). */
struct count *counter_map_find(const struct counter_map *map, const uint64_t *key);

/** counter_map_sort() - make @table a list of @nr entries, ascending by key */
void counter_map_sort(struct counter_map *map);

/** counter_map_sort_by() - the same, ascending by @order of two struct count */
void counter_map_sort_by(struct counter_map *map, int (*order)(const void *, const void *));

/** counter_map_fini() - free; leaves an empty one */
void counter_map_fini(struct counter_map *map);

#endif /* BTSREC_COUNTER_MAP_H */
