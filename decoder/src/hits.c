// SPDX-License-Identifier: GPL-2.0-or-later
#include "hits.h"

#include <stdlib.h>
#include <string.h>

#include "large.h"

/* Of the first table. */
#define FIRST_SHIFT	BOUND(54, 60)

/* An empty table of 2^(64 - @shift) places; false: out of memory. */
static bool make_table(struct hits *hits, unsigned int shift)
{
	hits->shift = shift;
	hits->nr_room = (size_t)1 << (64 - shift);
	hits->table = large_table(hits->nr_room * sizeof(*hits->table));
	return hits->table;
}

bool hits_init(struct hits *hits, hits_fn fn, void *arg)
{
	*hits = (struct hits){ .fn = fn, .arg = arg };
	return make_table(hits, FIRST_SHIFT);
}

bool hits_drain(struct hits *hits)
{
	bool done = true;

	for (size_t i = 0; done && i < hits->nr_room; i++)
		if (hits->table[i].group)
			done = hits->fn(hits->arg, &hits->table[i]);
	memset(hits->table, 0, hits->nr_room * sizeof(*hits->table));
	hits->nr = 0;
	return done;
}

static bool grow(struct hits *hits)
{
	struct hits grown = *hits;

	if (hits->nr_room == HITS_MAX_ROOM || !make_table(&grown, hits->shift - 1))
		return false;
	for (size_t i = 0; i < hits->nr_room; i++) {
		const struct hit *hit = &hits->table[i];

		if (hit->group)
			*hits_find(&grown, hit->group, hit->space, hit->va) = *hit;
	}
	free(hits->table);
	*hits = grown;
	return true;
}

struct hit *hits_take(struct hits *hits, struct hit *free, uint32_t group, uint64_t space,
		      uint64_t va)
{
	if (2 * hits->nr >= hits->nr_room) {
		if (!grow(hits) && !hits_drain(hits))
			return NULL;
		free = hits_find(hits, group, space, va);
	}
	free->va = va;
	free->space = space;
	free->group = group;
	hits->nr++;
	return free;
}

void hits_fini(struct hits *hits)
{
	free(hits->table);
	memset(hits, 0, sizeof(*hits));
}
