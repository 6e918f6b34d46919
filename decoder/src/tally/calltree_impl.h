/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the stage calltree share; nobody else includes this. */
#ifndef BTSREC_CALLTREE_IMPL_H
#define BTSREC_CALLTREE_IMPL_H

#include "tally/calltree.h"
#include "tally/cycles.h"

/* --- Lines -------------------------------------------------------------- */

/*
 * What has no room for a line returns NULL or false, and says why in @complete or @nomem of
 * the tree; then the reading ends.
 */

/** calltree_list_segment() - segments up to @segment are listed */
bool calltree_list_segment(struct calltree *tree, uint32_t segment);

/** calltree_make_room() - room for one more line at the end of a chunk */
bool calltree_make_room(struct calltree *tree);

/** calltree_put() - one more line, @line; to be changed until there is another one */
struct calltree_line *calltree_put(struct calltree *tree, const struct calltree_line *line);

/** calltree_count() - the call of line @i, which has not ended, has @nr_branches */
void calltree_count(struct calltree *tree, size_t i, uint64_t nr_branches);

/** calltree_name() - the call of line @i is a system call with this handler */
void calltree_name(struct calltree *tree, size_t i, uint64_t handler);

/** calltree_put_whole_call(), calltree_end_whole_call() - if the line is whole, or must be */
void calltree_put_whole_call(struct calltree *tree, const struct frame *frame);
void calltree_end_whole_call(struct calltree *tree, const struct frame *frame, uint64_t n,
			     bool more);

/* So many lines take longer than to fetch one that was never used. */
#define CALLTREE_LINES_AHEAD 16

/** calltree_next_cell() - of one more line, not yet filled, at this level; NULL: no room */
static inline struct calltree_cell *calltree_next_cell(struct calltree *tree, int64_t level,
						       uint32_t segment)
{
	struct calltree_cell *cell;

	if (tree->nr_lines % CALLTREE_CHUNK_LINES == 0 && !calltree_make_room(tree))
		return NULL;
	if (segment >= tree->nr_segments && !calltree_list_segment(tree, segment))
		return NULL;
	if (level < tree->segments[segment].lowest)
		tree->segments[segment].lowest = level;
	cell = calltree_cell(tree, tree->nr_lines++);
	__builtin_prefetch(cell + CALLTREE_LINES_AHEAD, 1);
	return cell;
}

/* Is @va what calltree_va() makes of its lowest 48 bits? */
static inline bool calltree_is_va(uint64_t va)
{
	return !((va + (1ULL << 47)) >> 48);
}

/** calltree_fits() - has a cell room for what is known of @frame when it is entered? */
static inline bool calltree_fits(const struct frame *frame)
{
	return frame->n <= UINT32_MAX && calltree_is_va(frame->from) &&
	       calltree_is_va(frame->entered) && frame->level == (int16_t)frame->level &&
	       frame->segment <= UINT16_MAX;
}

/** calltree_known() - where the number of the pattern with @key is at hand, if it is */
static inline struct calltree_known *calltree_known(struct calltree *tree, uint64_t key)
{
	return &tree->known[(key * 0x9e3779b97f4a7c15ULL >> 32) % CALLTREE_NR_KNOWN];
}

/** calltree_add_pattern() - the number of the pattern with @key; 0: there are too many */
uint16_t calltree_add_pattern(struct calltree *tree, uint64_t key);

static inline uint16_t calltree_pattern(struct calltree *tree, const struct frame *frame)
{
	uint64_t key = (uint16_t)(frame->from >> 32) |
		       (uint64_t)(uint16_t)(frame->entered >> 32) << CALLTREE_KEY_TO_SHIFT |
		       (uint64_t)frame->segment << CALLTREE_KEY_SEGMENT_SHIFT |
		       (uint64_t)frame->kind << CALLTREE_KEY_FRAME_SHIFT |
		       ((uint64_t)frame->vector & 0x1ff) << CALLTREE_KEY_VECTOR_SHIFT |
		       CALLTREE_KEY_USED;
	const struct calltree_known *known = calltree_known(tree, key);

	return known->key == key ? known->pattern : calltree_add_pattern(tree, key);
}

/** calltree_pack() - what is known of @frame, which fits */
static inline void calltree_pack(const struct frame *frame, uint16_t pattern,
				 struct calltree_cell *ret)
{
	*ret = (struct calltree_cell){
		.from = (uint32_t)frame->from,
		.to = (uint32_t)frame->entered,
		.n = (uint32_t)frame->n,
		.pattern = pattern,
		.level = (int16_t)frame->level,
	};
}

/** calltree_put_call() - one more line about @frame, which gets its number, from 1, as cookie */
static inline void calltree_put_call(struct calltree *tree, struct frame *frame)
{
	uint16_t pattern = calltree_fits(frame) ? calltree_pattern(tree, frame) : 0;
	size_t nr_lines = tree->nr_lines;
	struct calltree_cell *cell;

	if (!pattern)
		calltree_put_whole_call(tree, frame);
	else if ((cell = calltree_next_cell(tree, frame->level, frame->segment)) != NULL)
		calltree_pack(frame, pattern, cell);
	if (tree->nr_lines > nr_lines)
		frame->cookie = tree->nr_lines;
}

/**
 * calltree_end_call() - @frame was left by event @n
 * @lost_n: before this event something is missing.
 */
static inline void calltree_end_call(struct calltree *tree, const struct frame *frame, uint64_t n,
				     uint64_t lost_n)
{
	uint64_t nr_others = n - frame->n - frame->nr_branches;
	bool more = frame->n < lost_n;
	struct calltree_cell *cell;

	if (!frame->cookie)
		return;
	cell = calltree_cell(tree, frame->cookie - 1);
	if (!cell->pattern || nr_others > CALLTREE_MAX_CELL_OTHERS ||
	    frame->nr_branches > CALLTREE_MAX_CELL_BRANCHES) {
		calltree_end_whole_call(tree, frame, n, more);
		return;
	}
	cell->nr_branches = frame->nr_branches & CALLTREE_MAX_CELL_BRANCHES;
	cell->nr_others = nr_others & CALLTREE_MAX_CELL_OTHERS;
	cell->ended = true;
	cell->more = more;
}

/* --- Reading ------------------------------------------------------------ */

/**
 * struct calltree_reader - lines that are being read
 * @plain_first_n, @plain_end_n: events that may be read as plain branches.
 * @next_n: after the newest event that has been read.
 * @was_gap: the last event that was no branch was a gap, or nothing was before.
 * @lost_n: before this event something is missing.
 * @spin: the branches; @spin_line: of the cycle that goes round; @spin_lines: how many
 *	lines there were when it began.
 */
struct calltree_reader {
	struct calltree *tree;
	struct btsrec *rec;
	uint64_t first_n;
	uint64_t last_n;
	uint64_t plain_first_n;
	uint64_t plain_end_n;
	uint64_t next_n;
	const struct fault *fault;
	bool started;
	bool was_gap;
	uint64_t lost_n;
	struct cycles spin;
	struct calltree_line spin_line;
	size_t spin_lines;
};

/** calltree_add_line() - a line about @event; NULL: no room, then the reading ends */
struct calltree_line *calltree_add_line(struct calltree_reader *r, enum calltree_kind kind,
					const struct btsrec_event *event,
					const struct frames_step *step);

/** calltree_end_spin() - event @n is the first that is none of a cycle that goes round */
void calltree_end_spin(struct calltree_reader *r, uint64_t n);

/** calltree_event() - the next event, a trace_frames_fn; @arg: the reader */
bool calltree_event(void *arg, const struct trace_event *traced, const struct frames_step *step,
		    struct frames *frames);

/** calltree_settle() - all lines are there: from now on calltree_indent() knows */
void calltree_settle(struct calltree *tree);

/** calltree_end() - there are no more events */
void calltree_end(struct calltree_reader *r, struct frames *frames);

#endif /* BTSREC_CALLTREE_IMPL_H */
