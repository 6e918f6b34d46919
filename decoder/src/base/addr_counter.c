// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/addr_counter.h"

#include <stdlib.h>
#include <string.h>

#include "base/large.h"

/* Of the first table. */
#define FIRST_SHIFT	BOUND(54, 60)

/* An empty table of 2^(64 - @shift) places; false: out of memory. */
static bool make_table(struct addr_counter *counter, unsigned int shift)
{
	counter->shift = shift;
	counter->nr_room = (size_t)1 << (64 - shift);
	counter->table = large_table(counter->nr_room * sizeof(*counter->table));
	return counter->table;
}

bool addr_counter_init(struct addr_counter *counter, addr_counter_fn fn, void *arg)
{
	*counter = (struct addr_counter){ .fn = fn, .arg = arg };
	return make_table(counter, FIRST_SHIFT);
}

bool addr_counter_drain(struct addr_counter *counter)
{
	bool done = true;

	for (size_t i = 0; done && i < counter->nr_room; i++)
		if (counter->table[i].group)
			done = counter->fn(counter->arg, &counter->table[i]);
	memset(counter->table, 0, counter->nr_room * sizeof(*counter->table));
	counter->nr = 0;
	return done;
}

static bool grow(struct addr_counter *counter)
{
	struct addr_counter grown = *counter;

	if (counter->nr_room == ADDR_COUNTER_MAX_ROOM || !make_table(&grown, counter->shift - 1))
		return false;
	for (size_t i = 0; i < counter->nr_room; i++) {
		const struct addr_count *addr_count = &counter->table[i];

		if (addr_count->group)
			*addr_counter_find(&grown, addr_count->group, addr_count->space,
					   addr_count->va) = *addr_count;
	}
	free(counter->table);
	*counter = grown;
	return true;
}

struct addr_count *addr_counter_take(struct addr_counter *counter, struct addr_count *free,
				     uint32_t group, uint64_t space, uint64_t va)
{
	if (2 * counter->nr >= counter->nr_room) {
		if (!grow(counter) && !addr_counter_drain(counter))
			return NULL;
		free = addr_counter_find(counter, group, space, va);
	}
	free->va = va;
	free->space = space;
	free->group = group;
	counter->nr++;
	return free;
}

void addr_counter_fini(struct addr_counter *counter)
{
	free(counter->table);
	memset(counter, 0, sizeof(*counter));
}
