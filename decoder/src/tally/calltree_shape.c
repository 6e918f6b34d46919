// SPDX-License-Identifier: GPL-2.0-or-later
/* What needs no more than the lines that have been read, or a name. */
#include "tally/calltree_impl.h"
#include "base/sorted.h"

/* Where the levels of segment @i count; the shift to there is its own. */
static struct calltree_segment *joined_to(const struct calltree *tree, uint32_t i)
{
	return &tree->segments[tree->segments[i].joined ? tree->segments[i].to : i];
}

/* What is joined to a segment that is joined itself belongs where that belongs. */
static void join_on(struct calltree *tree)
{
	for (uint32_t i = 0; i < tree->nr_segments; i++) {
		struct calltree_segment *segment = &tree->segments[i];
		const struct calltree_segment *to = joined_to(tree, i);

		if (!to->joined)
			continue;
		segment->shift += to->shift;
		segment->to = to->to;
	}
}

void calltree_settle(struct calltree *tree)
{
	join_on(tree);
	for (uint32_t i = 0; i < tree->nr_segments; i++) {
		const struct calltree_segment *segment = &tree->segments[i];
		struct calltree_segment *to = joined_to(tree, i);

		if (segment->lowest != INT64_MAX && segment->lowest + segment->shift < to->lowest)
			to->lowest = segment->lowest + segment->shift;
	}
	for (uint32_t i = 0; i < tree->nr_segments; i++) {
		struct calltree_segment *segment = &tree->segments[i];

		if (segment->lowest != INT64_MAX)
			segment->base = joined_to(tree, i)->lowest - segment->shift;
	}
}

/* How many times are of events before @n; @near: a guess, which only costs time. */
static size_t nr_times_before(const struct calltree *tree, uint64_t n, size_t near)
{
	const struct calltree_time *times = tree->times;
	size_t least = near, most = near, step;

	for (step = 1; least && times[least - 1].n >= n; step *= 2) {
		most = least - 1;
		least = step < least ? least - step : 0;
	}
	for (step = 1; most < tree->nr_times && times[most].n < n; step *= 2) {
		least = most + 1;
		most = step < tree->nr_times - most ? most + step : tree->nr_times;
	}
	return n ? least + sorted_up_to(times + least, most - least, n, n - 1) : 0;
}

bool calltree_ticks(struct calltree *tree, const struct calltree_line *line, uint64_t *ret_min,
		    uint64_t *ret_max)
{
	const struct calltree_time *times = tree->times;
	size_t begin, end;

	if (line->kind != CALLTREE_CALL || line->last_n == UINT64_MAX)
		return false;
	begin = nr_times_before(tree, line->n + 1, tree->near);
	end = nr_times_before(tree, line->last_n, begin);
	tree->near = begin;
	if (!begin || end >= tree->nr_times || times[end].tsc < times[begin - 1].tsc)
		return false;
	*ret_max = times[end].tsc - times[begin - 1].tsc;
	*ret_min = 0;
	if (end > begin && times[end - 1].tsc > times[begin].tsc)
		*ret_min = times[end - 1].tsc - times[begin].tsc;
	return true;
}
