// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/counter_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"

#define MIN_ROOM BOUND(1024, 16)

static uint64_t hash(const uint64_t *key)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < COUNTER_MAP_KEY_WORDS; i++) {
		sum = (sum ^ key[i]) * 0x9e3779b97f4a7c15ULL;
		sum ^= sum >> 29;
	}
	return sum;
}

/* The place of @key, or the free one where it belongs. */
static struct count *find(const struct counter_map *map, const uint64_t *key)
{
	size_t at = hash(key) & (map->nr_room - 1);

	while (map->table[at].used &&
	       memcmp(map->table[at].key, key, sizeof(map->table[at].key)))
		at = (at + 1) & (map->nr_room - 1);
	return &map->table[at];
}

static bool grow(struct counter_map *map)
{
	struct counter_map grown = {
		.nr = map->nr,
		.nr_room = map->nr_room ? 2 * map->nr_room : MIN_ROOM,
	};

	grown.table = calloc(grown.nr_room, sizeof(*grown.table));
	if (!grown.table)
		return false;
	for (size_t i = 0; i < map->nr_room; i++)
		if (map->table[i].used)
			*find(&grown, map->table[i].key) = map->table[i];
	free(map->table);
	*map = grown;
	return true;
}

struct count *counter_map_get(struct counter_map *map, const uint64_t *key)
{
	struct count *count;

	if (2 * map->nr >= map->nr_room && !grow(map))
		return NULL;
	count = find(map, key);
	if (!count->used) {
		memcpy(count->key, key, sizeof(count->key));
		count->used = true;
		map->nr++;
	}
	return count;
}

struct count *counter_map_find(const struct counter_map *map, const uint64_t *key)
{
	struct count *count = map->nr_room ? find(map, key) : NULL;

	return count && count->used ? count : NULL;
}

static int compare(const void *left, const void *right)
{
	const struct count *a = left, *b = right;

	for (unsigned int i = 0; i < COUNTER_MAP_KEY_WORDS; i++)
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	return 0;
}

void counter_map_sort_by(struct counter_map *map, int (*order)(const void *, const void *))
{
	size_t nr = 0;

	for (size_t i = 0; i < map->nr_room; i++)
		if (map->table[i].used)
			map->table[nr++] = map->table[i];
	if (nr)
		qsort(map->table, nr, sizeof(*map->table), order);
}

void counter_map_sort(struct counter_map *map)
{
	counter_map_sort_by(map, compare);
}

void counter_map_fini(struct counter_map *map)
{
	free(map->table);
	memset(map, 0, sizeof(*map));
}
