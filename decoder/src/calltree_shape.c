// SPDX-License-Identifier: GPL-2.0-or-later
/* What needs no more than the lines that have been read, or a name. */
#include "calltree_impl.h"

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

bool calltree_ticks(const struct calltree *tree, const struct calltree_line *line,
		    uint64_t *ret_min, uint64_t *ret_max)
{
	size_t begin = line->nr_times_begin, end = line->call.nr_times_end;
	const struct calltree_time *times = tree->times;

	if (line->kind != CALLTREE_CALL || line->last_n == UINT64_MAX || !begin ||
	    end >= tree->nr_times || times[end].tsc < times[begin - 1].tsc)
		return false;
	*ret_max = times[end].tsc - times[begin - 1].tsc;
	*ret_min = 0;
	if (end > begin && times[end - 1].tsc > times[begin].tsc)
		*ret_min = times[end - 1].tsc - times[begin].tsc;
	return true;
}
