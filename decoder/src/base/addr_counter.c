// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/addr_counter.h"

#include <stdlib.h>
#include <string.h>

#include "base/large.h"

/* Of the first table. */
#define FIRST_SHIFT	BOUND(54, 60)

/* An empty table of 2^(64 - @shift) places; false: out of memory. */
static bool make_table(struct addr_counter *hits, unsigned int shift)
{
	hits->shift = shift;
	hits->nr_room = (size_t)1 << (64 - shift);
	hits->table = large_table(hits->nr_room * sizeof(*hits->table));
	return hits->table;
}

bool addr_counter_init(struct addr_counter *hits, addr_counter_fn fn, void *arg)
{
	*hits = (struct addr_counter){ .fn = fn, .arg = arg };
	return make_table(hits, FIRST_SHIFT);
}

bool addr_counter_drain(struct addr_counter *hits)
{
	bool done = true;

	for (size_t i = 0; done && i < hits->nr_room; i++)
		if (hits->table[i].group)
			done = hits->fn(hits->arg, &hits->table[i]);
	memset(hits->table, 0, hits->nr_room * sizeof(*hits->table));
	hits->nr = 0;
	return done;
}

static bool grow(struct addr_counter *hits)
{
	struct addr_counter grown = *hits;

	if (hits->nr_room == ADDR_COUNTER_MAX_ROOM || !make_table(&grown, hits->shift - 1))
		return false;
	for (size_t i = 0; i < hits->nr_room; i++) {
		const struct addr_count *addr_count = &hits->table[i];

		if (addr_count->group)
			*addr_counter_find(&grown, addr_count->group, addr_count->space, addr_count->va) = *addr_count;
	}
	free(hits->table);
	*hits = grown;
	return true;
}

struct addr_count *addr_counter_take(struct addr_counter *hits, struct addr_count *free,
				     uint32_t group, uint64_t space, uint64_t va)
{
	if (2 * hits->nr >= hits->nr_room) {
		if (!grow(hits) && !addr_counter_drain(hits))
			return NULL;
		free = addr_counter_find(hits, group, space, va);
	}
	free->va = va;
	free->space = space;
	free->group = group;
	hits->nr++;
	return free;
}

void addr_counter_fini(struct addr_counter *hits)
{
	free(hits->table);
	memset(hits, 0, sizeof(*hits));
}
