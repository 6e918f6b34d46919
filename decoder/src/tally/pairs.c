// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/pairs.h"

#include <stdlib.h>
#include <string.h>

static void pair(size_t *other, size_t enter, size_t leave)
{
	other[enter] = leave;
	other[leave] = enter;
}

/* Which of @nr_open calls leaves @object: one that entered it, or else the newest that may have. */
static size_t find_open(const uint64_t *objects, const size_t *open, size_t nr_open,
			uint64_t object)
{
	size_t found = PAIRS_NONE;

	while (nr_open--) {
		uint64_t other = objects[open[nr_open]];

		if (object && object == other)
			return nr_open;
		if (found == PAIRS_NONE && (!object || !other))
			found = nr_open;
	}
	return found;
}

void pairs_match(const bool *enters, const uint64_t *objects, size_t nr, size_t *open,
		 size_t *ret_other)
{
	size_t nr_open = 0, found;

	for (size_t i = 0; i < nr; i++) {
		ret_other[i] = PAIRS_NONE;
		if (enters[i]) {
			open[nr_open++] = i;
			continue;
		}
		found = find_open(objects, open, nr_open, objects[i]);
		if (found == PAIRS_NONE)
			continue;
		pair(ret_other, open[found], i);
		nr_open--;
		memmove(open + found, open + found + 1, (nr_open - found) * sizeof(*open));
	}
}

static int compare_times(const void *left, const void *right)
{
	const struct pairs_time *a = left, *b = right;

	return a->from_tsc < b->from_tsc ? -1 : a->from_tsc > b->from_tsc;
}

void pairs_order_times(struct pairs_time *times, size_t nr)
{
	if (nr)
		qsort(times, nr, sizeof(*times), compare_times);
}

bool pairs_covered(const struct pairs_time *times, size_t nr, const struct pairs_time *wanted)
{
	uint64_t up_to_tsc = wanted->from_tsc;

	for (size_t i = 0; i < nr && up_to_tsc < wanted->to_tsc; i++) {
		if (times[i].from_tsc > up_to_tsc)
			return false;
		if (times[i].cpu != wanted->cpu && times[i].to_tsc > up_to_tsc)
			up_to_tsc = times[i].to_tsc;
	}
	return up_to_tsc >= wanted->to_tsc;
}
