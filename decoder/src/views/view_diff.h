/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where two histories part: what was found, in each format. */
#ifndef BTSREC_VIEW_DIFF_H
#define BTSREC_VIEW_DIFF_H

#include <btsrec/values.h>

#include "flow/trace.h"
#include "tally/calltree.h"
#include "tally/signature.h"
#include "render/out.h"

/**
 * struct diff_side - one of the two histories
 * @letter: 'A' or 'B'.
 * @calls: lines of @tree that are compared, @nr_calls of them, oldest first; owned.
 * @least: of what is shown in text, no indent is below.
 * @thread: it made the calls, if @has_thread.
 */
struct diff_side {
	char letter;
	struct btsrec *rec;
	unsigned int cpu;
	struct fault fault;
	struct calltree tree;
	uint32_t least;
	size_t *calls;
	size_t nr_calls;
	size_t nr_room;
	bool has_thread;
	struct btsrec_side thread;
};

/**
 * struct diff - both, and how many of the newest calls are the same
 * @fn, @arg: receive values; NULL: they are printed.
 */
struct diff {
	struct out out;
	btsrec_compared_fn fn;
	void *arg;
	struct diff_side a;
	struct diff_side b;
	size_t nr_same;
};

/** diff_name() - what call @call of @side, an index of its calls, is called; "-": no name */
void diff_name(const struct diff_side *side, size_t call, char ret[SIGNATURE_NAME_BYTES]);

/** diff_differs() - has each history a call before the newest ones, which are the same? */
bool diff_differs(const struct diff *diff);

void diff_text(struct diff *diff);
void diff_json(struct diff *diff);
void diff_values(struct diff *diff);

#endif /* BTSREC_VIEW_DIFF_H */
