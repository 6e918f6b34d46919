// SPDX-License-Identifier: GPL-2.0-or-later
/* How a tree keeps its lines. */
#include <stdlib.h>
#include <string.h>

#include "tally/calltree_impl.h"
#include "base/grow.h"
#include "base/large.h"

#define CHUNK_BYTES	(((size_t)CALLTREE_CHUNK_LINES * sizeof(struct calltree_cell) + \
			  LARGE_PAGE_BYTES - 1) / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES)

/* --- Room --------------------------------------------------------------- */

bool calltree_list_segment(struct calltree *tree, uint32_t segment)
{
	while (tree->nr_segments <= segment) {
		if (!grow(&tree->segments, sizeof(*tree->segments), tree->nr_segments,
			  &tree->nr_segments_room)) {
			tree->nomem = true;
			return false;
		}
		tree->segments[tree->nr_segments++] = (struct calltree_segment){
			.lowest = INT64_MAX,
		};
	}
	return true;
}

bool calltree_make_room(struct calltree *tree)
{
	size_t number = tree->nr_lines / CALLTREE_CHUNK_LINES;

	if (tree->nr_lines == CALLTREE_MAX_LINES) {
		tree->complete = false;
		return false;
	}
	if (tree->chunks[number])
		return true;
	tree->chunks[number] = large_alloc(CHUNK_BYTES);
	if (!tree->chunks[number])
		tree->nomem = true;
	return tree->chunks[number];
}

/* Room for one more line that is whole; false: as calltree_make_room(). */
static bool make_room_whole(struct calltree *tree)
{
	if (tree->nr_whole == CALLTREE_MAX_WHOLE) {
		tree->complete = false;
		return false;
	}
	if (!grow(&tree->whole, sizeof(*tree->whole), tree->nr_whole, &tree->nr_whole_room))
		tree->nomem = true;
	return !tree->nomem;
}

/* --- Patterns ----------------------------------------------------------- */

static bool list_pattern(struct calltree *tree, uint64_t key)
{
	if (!grow(&tree->patterns, sizeof(*tree->patterns), tree->nr_patterns,
		  &tree->nr_patterns_room))
		return false;
	tree->patterns[tree->nr_patterns++] = key;
	return true;
}

uint16_t calltree_add_pattern(struct calltree *tree, uint64_t key)
{
	const uint64_t labels[COUNTER_MAP_KEY_WORDS] = {key};
	/* Of what gets no number nothing is kept: a dump can have as many kinds as lines. */
	bool full = tree->nr_patterns == UINT16_MAX;
	struct count *number = full ? counter_map_find(&tree->pattern_numbers, labels) :
				      counter_map_get(&tree->pattern_numbers, labels);

	if (full && !number)
		return 0;
	if (number && !number->nr[0] && list_pattern(tree, key))
		number->nr[0] = tree->nr_patterns;
	if (!number || !number->nr[0]) {
		tree->nomem = true;
		return 0;
	}
	*calltree_known(tree, key) = (struct calltree_known){ key, (uint16_t)number->nr[0] };
	return (uint16_t)number->nr[0];
}

/* --- Whole lines -------------------------------------------------------- */

/* What @cell stands for is @line from now on; there is room. */
static struct calltree_line *put_whole(struct calltree *tree, struct calltree_cell *cell,
				       const struct calltree_line *line)
{
	struct calltree_line *whole = &tree->whole[tree->nr_whole];

	*whole = *line;
	cell->pattern = 0;
	cell->at = (uint32_t)tree->nr_whole++;
	return whole;
}

/* To say of a line what its cell has no room for; NULL: no room for that either. */
static struct calltree_line *make_whole(struct calltree *tree, struct calltree_cell *cell)
{
	struct calltree_line line;

	if (!cell->pattern)
		return &tree->whole[cell->at];
	if (!make_room_whole(tree))
		return NULL;
	line = calltree_unpack(tree, cell);
	return put_whole(tree, cell, &line);
}

struct calltree_line *calltree_put(struct calltree *tree, const struct calltree_line *line)
{
	struct calltree_cell *cell;

	if (!make_room_whole(tree))
		return NULL;
	cell = calltree_next_cell(tree, line->level, line->segment);
	return cell ? put_whole(tree, cell, line) : NULL;
}

void calltree_put_whole_call(struct calltree *tree, const struct frame *frame)
{
	struct calltree_line line = {
		.n = frame->n,
		.last_n = UINT64_MAX,
		.from = frame->from,
		.to = frame->entered,
		.level = (int32_t)frame->level,
		.segment = frame->segment,
		.kind = CALLTREE_CALL,
		.frame = frame->kind,
		.vector = (int16_t)frame->vector,
	};

	(void)calltree_put(tree, &line);
}

void calltree_end_whole_call(struct calltree *tree, const struct frame *frame, uint64_t n,
			     bool more)
{
	struct calltree_line *line = make_whole(tree, calltree_cell(tree, frame->cookie - 1));

	if (!line)
		return;
	line->last_n = n;
	line->call.nr_branches = frame->nr_branches;
	line->more = more;
}

void calltree_count(struct calltree *tree, size_t i, uint64_t nr_branches)
{
	struct calltree_cell *cell = calltree_cell(tree, i);
	struct calltree_line *line;

	if (cell->pattern && nr_branches <= CALLTREE_MAX_CELL_BRANCHES) {
		cell->nr_branches = nr_branches & CALLTREE_MAX_CELL_BRANCHES;
		return;
	}
	line = make_whole(tree, cell);
	if (line)
		line->call.nr_branches = nr_branches;
}

void calltree_name(struct calltree *tree, size_t i, uint64_t handler)
{
	struct calltree_line *line = make_whole(tree, calltree_cell(tree, i));

	if (line)
		line->call.handler = handler;
}

/* --- All lines ---------------------------------------------------------- */

void calltree_clear(struct calltree *tree)
{
	tree->nr_lines = 0;
	tree->nr_whole = 0;
	tree->nr_patterns = 0;
	counter_map_fini(&tree->pattern_numbers);
	memset(tree->known, 0, sizeof(tree->known));
	tree->nr_events = 0;
	tree->nr_sides = 0;
	tree->nr_times = 0;
	tree->near = 0;
	tree->nr_segments = 0;
	tree->nr_open = 0;
	tree->complete = true;
	tree->nomem = false;
}

void calltree_fini(struct calltree *tree)
{
	for (size_t i = 0; i < sizeof(tree->chunks) / sizeof(tree->chunks[0]); i++)
		free(tree->chunks[i]);
	free(tree->whole);
	free(tree->patterns);
	counter_map_fini(&tree->pattern_numbers);
	free(tree->events);
	free(tree->sides);
	free(tree->times);
	free(tree->segments);
	free(tree->open);
	memset(tree, 0, sizeof(*tree));
}
