// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sorted.h"

static uint64_t end_of(const struct range *range)
{
	return range->begin + range->nr_bytes;
}

bool ranges_add(struct ranges *ranges, uint64_t begin, uint64_t nr_bytes, uint64_t at,
		uint64_t rank)
{
	if (!nr_bytes || begin > UINT64_MAX - nr_bytes)
		return true;
	if (!grow(&ranges->list, sizeof(*ranges->list), ranges->nr, &ranges->nr_room))
		return false;
	ranges->list[ranges->nr++] = (struct range){ begin, nr_bytes, at, rank };
	return true;
}

/* --- Settling ----------------------------------------------------------- */

/**
 * struct sweep - a way through all ranges in the order of their begins
 * @heap: @nr_open that have begun; each is greater in rank than the two at 2i + 1 and 2i + 2.
 *	Of those that have ended only the greatest is sure to be gone.
 * @from: up to there each address has its range.
 */
struct sweep {
	const struct range **heap;
	size_t nr_open;
	size_t nr_room;
	uint64_t from;
	struct ranges settled;
};

static bool open_range(struct sweep *sweep, const struct range *range)
{
	const struct range **heap;
	size_t i = sweep->nr_open;

	if (!grow(&sweep->heap, sizeof(*sweep->heap), sweep->nr_open, &sweep->nr_room))
		return false;
	sweep->nr_open++;
	heap = sweep->heap;
	for (; i && heap[(i - 1) / 2]->rank < range->rank; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = range;
	return true;
}

/* The one of the greatest rank goes. */
static void close_range(struct sweep *sweep)
{
	const struct range **heap = sweep->heap, *last = heap[--sweep->nr_open];
	size_t i = 0, next;

	while ((next = 2 * i + 1) < sweep->nr_open) {
		if (next + 1 < sweep->nr_open && heap[next + 1]->rank > heap[next]->rank)
			next++;
		if (heap[next]->rank < last->rank)
			break;
		heap[i] = heap[next];
		i = next;
	}
	heap[i] = last;
}

/* @range has the next @nr_bytes; perhaps one of a smaller rank has only begun meanwhile. */
static bool give(struct sweep *sweep, const struct range *range, uint64_t nr_bytes)
{
	struct range *last = sweep->settled.nr ? &sweep->settled.list[sweep->settled.nr - 1] : NULL;
	uint64_t begin = sweep->from;

	sweep->from += nr_bytes;
	if (last && last->rank == range->rank && end_of(last) == begin) {
		last->nr_bytes += nr_bytes;
		return true;
	}
	return ranges_add(&sweep->settled, begin, nr_bytes, range->at + (begin - range->begin),
			  range->rank);
}

/* Before @end none begins that has not yet. */
static bool settle_up_to(struct sweep *sweep, uint64_t end)
{
	bool good = true;

	while (good && sweep->nr_open && sweep->from < end) {
		const struct range *range = sweep->heap[0];
		uint64_t to = end_of(range) < end ? end_of(range) : end;

		if (end_of(range) <= sweep->from)
			close_range(sweep);
		else
			good = give(sweep, range, to - sweep->from);
	}
	sweep->from = end;
	return good;
}

static bool settle(struct sweep *sweep, const struct ranges *ranges)
{
	bool good = true;

	for (size_t i = 0; good && i < ranges->nr; i++)
		good = settle_up_to(sweep, ranges->list[i].begin) &&
		       open_range(sweep, &ranges->list[i]);
	return good && settle_up_to(sweep, UINT64_MAX);
}

static int compare(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	return (a->begin > b->begin) - (a->begin < b->begin);
}

/* Of most files none do, and then nothing has to be made. */
static bool do_overlap(const struct ranges *ranges)
{
	for (size_t i = 1; i < ranges->nr; i++)
		if (end_of(&ranges->list[i - 1]) > ranges->list[i].begin)
			return true;
	return false;
}

bool ranges_settle(struct ranges *ranges)
{
	struct sweep sweep = { 0 };
	bool good;

	if (ranges->nr)
		qsort(ranges->list, ranges->nr, sizeof(*ranges->list), compare);
	if (!do_overlap(ranges))
		return true;
	good = settle(&sweep, ranges);
	free(sweep.heap);
	ranges_fini(ranges);
	*ranges = sweep.settled;
	return good;
}

/* --- Asking ------------------------------------------------------------- */

const struct range *ranges_find(const struct ranges *ranges, uint64_t number)
{
	const struct range *range = ranges_next(ranges, number);

	return range && range->begin <= number ? range : NULL;
}

const struct range *ranges_next(const struct ranges *ranges, uint64_t number)
{
	size_t nr = sorted_up_to(ranges->list, ranges->nr, begin, number);

	if (nr && number < end_of(&ranges->list[nr - 1]))
		return &ranges->list[nr - 1];
	return nr < ranges->nr ? &ranges->list[nr] : NULL;
}

void ranges_fini(struct ranges *ranges)
{
	free(ranges->list);
	memset(ranges, 0, sizeof(*ranges));
}
