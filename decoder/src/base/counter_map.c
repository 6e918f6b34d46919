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
static struct count *find(const struct counter_map *counts, const uint64_t *key)
{
	size_t at = hash(key) & (counts->nr_room - 1);

	while (counts->table[at].used &&
	       memcmp(counts->table[at].key, key, sizeof(counts->table[at].key)))
		at = (at + 1) & (counts->nr_room - 1);
	return &counts->table[at];
}

static bool grow(struct counter_map *counts)
{
	struct counter_map grown = {
		.nr = counts->nr,
		.nr_room = counts->nr_room ? 2 * counts->nr_room : MIN_ROOM,
	};

	grown.table = calloc(grown.nr_room, sizeof(*grown.table));
	if (!grown.table)
		return false;
	for (size_t i = 0; i < counts->nr_room; i++)
		if (counts->table[i].used)
			*find(&grown, counts->table[i].key) = counts->table[i];
	free(counts->table);
	*counts = grown;
	return true;
}

struct count *counter_map_get(struct counter_map *counts, const uint64_t *key)
{
	struct count *count;

	if (2 * counts->nr >= counts->nr_room && !grow(counts))
		return NULL;
	count = find(counts, key);
	if (!count->used) {
		memcpy(count->key, key, sizeof(count->key));
		count->used = true;
		counts->nr++;
	}
	return count;
}

struct count *counter_map_find(const struct counter_map *counts, const uint64_t *key)
{
	struct count *count = counts->nr_room ? find(counts, key) : NULL;

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

void counter_map_sort(struct counter_map *counts)
{
	size_t nr = 0;

	for (size_t i = 0; i < counts->nr_room; i++)
		if (counts->table[i].used)
			counts->table[nr++] = counts->table[i];
	if (nr)
		qsort(counts->table, nr, sizeof(*counts->table), compare);
}

void counter_map_fini(struct counter_map *counts)
{
	free(counts->table);
	memset(counts, 0, sizeof(*counts));
}
