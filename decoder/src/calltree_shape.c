// SPDX-License-Identifier: GPL-2.0-or-later
/* What needs no more than the lines that have been read, or a name. */
#include "calltree.h"

#include <stdlib.h>
#include <string.h>

#include "symbol.h"

/* The level of @line in the segment that its own was joined to, *@ret_segment. */
static int64_t joined_level(const struct calltree *tree, const struct calltree_line *line,
			    uint32_t *ret_segment)
{
	uint32_t segment = line->segment;
	int64_t level = line->level;

	while (segment < tree->nr_segments && tree->segments[segment].joined) {
		level += tree->segments[segment].shift;
		segment = tree->segments[segment].to;
	}
	*ret_segment = segment;
	return level;
}

static int64_t *lowest_levels(const struct calltree *tree)
{
	int64_t *lowest = calloc(tree->nr_segments + 1, sizeof(*lowest));
	uint32_t segment;

	for (size_t i = 0; lowest && i < tree->nr_segments; i++)
		lowest[i] = INT64_MAX;
	for (size_t i = 0; lowest && i < tree->nr_lines; i++) {
		int64_t level = joined_level(tree, &tree->lines[i], &segment);

		if (segment < tree->nr_segments && level < lowest[segment])
			lowest[segment] = level;
	}
	return lowest;
}

uint32_t *calltree_indents(const struct calltree *tree)
{
	uint32_t *indents = calloc(tree->nr_lines + 1, sizeof(*indents)), segment;
	int64_t *lowest = lowest_levels(tree);

	for (size_t i = 0; indents && lowest && i < tree->nr_lines; i++) {
		int64_t level = joined_level(tree, &tree->lines[i], &segment);

		if (segment < tree->nr_segments)
			indents[i] = (uint32_t)(level - lowest[segment]);
	}
	if (!lowest) {
		free(indents);
		indents = NULL;
	}
	free(lowest);
	return indents;
}

bool calltree_ticks(const struct calltree *tree, const struct calltree_line *line,
		    uint64_t *ret_min, uint64_t *ret_max)
{
	size_t begin = line->call.nr_times_begin, end = line->call.nr_times_end;
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
