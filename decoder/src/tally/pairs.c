// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/pairs.h"

#include <stdlib.h>

void pairs_match(const bool *enters, size_t nr, size_t *open, size_t *ret_other)
{
	size_t nr_open = 0;

	for (size_t i = 0; i < nr; i++) {
		ret_other[i] = PAIRS_NONE;
		if (enters[i]) {
			open[nr_open++] = i;
		} else if (nr_open) {
			ret_other[i] = open[--nr_open];
			ret_other[open[nr_open]] = i;
		}
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
