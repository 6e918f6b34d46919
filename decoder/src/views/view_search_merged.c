// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The calls of all CPUs as one tree, by time, oldest first; what they call has no lines.
 *
 *   CPU         N        FROM_FREEZE_MS THREAD           BRANCHES  CALL
 *     1     43601      -10.756..-10.601 99/99 "init"           12  f < caller+0x41 [module]
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/status.h"
#include "recorder/session.h"
#include "views/view_search.h"

#define COUNT_WIDTH	 8
#define BLANKS_PER_LEVEL 2
#define MAX_SHOWN_LEVELS 20

/**
 * struct merged_run - calls alike, one after the other
 * @first: number of the first line; @nr: of them.
 */
struct merged_run {
	size_t first;
	size_t nr;
};

/* Does @next only repeat @line? */
static bool is_repeated(const struct search_line *line, const struct search_line *next)
{
	const struct listed_call *a = line->call, *b = next->call;

	return line->cpu == next->cpu && a->side == b->side && a->depth == b->depth &&
	       a->from == b->from && a->to == b->to && a->kind == b->kind && a->last_n < b->n &&
	       b->last_n != UINT64_MAX;
}

static size_t make_runs(const struct search *view, struct merged_run *runs)
{
	uint32_t max_depth = view->opts->max_depth;
	size_t nr = 0, before = 0;

	for (size_t i = 0; i < view->nr_lines; i++) {
		if (max_depth && view->lines[i].call->depth >= max_depth)
			continue;
		if (nr && is_repeated(&view->lines[before], &view->lines[i]) && before + 1 == i) {
			runs[nr - 1].nr++;
		} else {
			runs[nr].first = i;
			runs[nr].nr = 1;
			nr++;
		}
		before = i;
	}
	return nr;
}

/* As one line: from the first to the last, with the branches of all. */
static struct search_line line_of(const struct search *view, const struct merged_run *run,
				  uint64_t *ret_branches)
{
	struct search_line line = view->lines[run->first];

	line.time.max_tsc = view->lines[run->first + run->nr - 1].time.max_tsc;
	*ret_branches = 0;
	for (size_t i = run->first; i < run->first + run->nr; i++)
		*ret_branches += view->lines[i].call->nr_branches;
	return line;
}

static void text_run(struct search *view, const struct merged_run *run, bool unordered)
{
	const struct search_line *last = &view->lines[run->first + run->nr - 1];
	struct out *out = &view->renderer.out;
	uint64_t nr_branches;
	struct search_line line = line_of(view, run, &nr_branches);
	uint32_t depth = line.call->depth;

	search_text_head(view, &line, unordered);
	out_dec(out, nr_branches, COUNT_WIDTH);
	out_char(out, last->call->last_n == UINT64_MAX || last->call->lost ? '+' : ' ');
	out_blanks(out,
		   1 + BLANKS_PER_LEVEL * (depth < MAX_SHOWN_LEVELS ? depth : MAX_SHOWN_LEVELS));
	search_text_function(view, line.call->to);
	if (!depth) {
		out_literal(out, " < ");
		search_text_function(view, line.call->from);
	}
	if (run->nr > 1) {
		out_literal(out, " x ");
		out_dec(out, run->nr, 0);
		out_literal(out, ", to ");
		out_dec(out, last->call->n, 0);
	}
	if (search_is_after_fault(view, &line))
		out_literal(out, ", after the fault");
	out_char(out, '\n');
}

static void put_run(struct search *view, const struct merged_run *run)
{
	for (size_t i = run->first; i < run->first + run->nr; i++)
		search_put(view, &view->lines[i],
			   &(struct btsrec_found){.level = view->lines[i].call->depth});
}

/* Is it certain that the one was before the other? */
static bool is_ordered(const struct search *view, const struct merged_run *before,
		       const struct merged_run *run)
{
	return search_before(&view->lines[before->first + before->nr - 1],
			     &view->lines[run->first]);
}

static void text_begin(struct search *view, size_t nr_runs, size_t nr_shown)
{
	struct out *out = &view->renderer.out;

	out_literal(out, "# ");
	out_dec(out, view->nr_lines, 0);
	out_str(out, view->nr_lines == 1 ? " call" : " calls");
	out_literal(out, " of all CPUs by time");
	if (nr_shown < nr_runs) {
		out_literal(out, ", the newest ");
		out_dec(out, nr_shown, 0);
		out_literal(out, " lines");
	}
	out_char(out, '\n');
	if (view->nr_lines)
		search_text_columns(view, "BRANCHES  CALL");
}

enum btsrec_status search_merged(struct search *view)
{
	_cleanup_free_ struct merged_run *runs = calloc(view->nr_lines + 1, sizeof(*runs));
	bool is_text = search_is_text(view);
	size_t nr, nr_shown, first;

	if (!runs)
		return msg_set(&view->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	nr = make_runs(view, runs);
	nr_shown = search_nr_shown(view, nr);
	first = nr - nr_shown;
	if (is_text)
		text_begin(view, nr, nr_shown);
	else
		search_put_begin(view, view->nr_lines);
	for (size_t i = first; i < nr && !view->renderer.out.stopped; i++) {
		if (is_text)
			text_run(view, &runs[i],
				 i > first && !is_ordered(view, &runs[i - 1], &runs[i]));
		else
			put_run(view, &runs[i]);
	}
	if (is_text)
		search_text_end(view);
	return BTSREC_OK;
}
