/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the stage calltree share; nobody else includes this. */
#ifndef BTSREC_CALLTREE_IMPL_H
#define BTSREC_CALLTREE_IMPL_H

#include "calltree.h"
#include "cycles.h"

/**
 * struct calltree_reader - lines that are being read
 * @plain_first_n, @plain_end_n: events that may be read as plain branches.
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
	const struct fault *fault;
	bool started;
	bool was_gap;
	bool nomem;
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

/** calltree_settle() - all lines are there: from now on calltree_indent() can tell */
void calltree_settle(struct calltree *tree);

/** calltree_end() - there are no more events */
void calltree_end(struct calltree_reader *r, struct frames *frames);

#endif /* BTSREC_CALLTREE_IMPL_H */
