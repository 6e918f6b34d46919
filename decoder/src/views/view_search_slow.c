// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The longest calls whose duration is known within bounds.  Calls that the same time stamps bound
 * are one line, the innermost first:
 *
 *   CPU         N        FROM_FREEZE_MS THREAD                DURATION_MS CALL
 *     1     43601      -10.756..-10.601 99/99 "init"        4.144..17.001 schedule < 9 more (read)
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/status.h"
#include "recorder/session.h"
#include "symbols/symbol.h"
#include "views/view_search.h"

#define DURATION_WIDTH 19

/**
 * struct slow_call - a call that took at least @min_tsc, and at most @max_tsc ticks
 * @max_tsc: UINT64_MAX: nothing bounds it.
 */
struct slow_call {
	uint64_t min_tsc;
	uint64_t max_tsc;
	struct search_line line;
};

/* The newest event of the thread of @line in its history. */
static uint64_t last_seen(const struct search *view, const struct search_line *line)
{
	const struct call_list *list = search_list(view, line);
	const struct btsrec_side *side = search_thread(view, line);

	for (size_t i = list->nr_stays; side && i--;)
		if (list->stays[i].known && list->stays[i].side.pid == side->pid)
			return list->stays[i].last_n;
	return line->call->n;
}

/* From the latest moment of its beginning to the earliest of its end; false: nothing is known. */
static bool duration(const struct search *view, const struct search_line *line,
		     struct slow_call *ret)
{
	const struct call_list *list = search_list(view, line);
	bool ended = line->call->last_n != UINT64_MAX;
	uint64_t last_n = ended ? line->call->last_n : last_seen(view, line);
	const struct btsrec_side *side = search_thread(view, line);
	struct search_time last;

	/* The idle threads are called once, and never come back. */
	if ((!ended && line->call->lost) || !side || !side->pid)
		return false;
	last = search_when(list, last_n);
	if (last.min_tsc <= line->time.max_tsc)
		return false;
	*ret = (struct slow_call){last.min_tsc - line->time.max_tsc, UINT64_MAX, *line};
	if (ended && line->time.min_tsc && last.max_tsc != UINT64_MAX)
		ret->max_tsc = last.max_tsc - line->time.min_tsc;
	return true;
}

/* The longest first; of equals the newest, and the innermost. */
static int compare_slow(const void *left, const void *right)
{
	const struct slow_call *a = left, *b = right;
	int order = search_compare(b->min_tsc, a->min_tsc);

	if (!order)
		order = search_compare(b->line.time.max_tsc, a->line.time.max_tsc);
	if (!order)
		order = search_compare(b->max_tsc, a->max_tsc);
	if (!order)
		order = search_compare(b->line.cpu, a->line.cpu);
	return order ? order : search_compare(b->line.call->n, a->line.call->n);
}

/* Do the same time stamps bound both? */
static bool is_alike(const struct slow_call *a, const struct slow_call *b)
{
	return a->line.cpu == b->line.cpu && a->min_tsc == b->min_tsc && a->max_tsc == b->max_tsc &&
	       a->line.time.min_tsc == b->line.time.min_tsc &&
	       a->line.time.max_tsc == b->line.time.max_tsc;
}

static size_t end_of_group(const struct slow_call *slow, size_t nr, size_t i)
{
	size_t end = i + 1;

	while (end < nr && is_alike(&slow[i], &slow[end]))
		end++;
	return end;
}

/* The name of the system call, of its handler. */
static void text_syscall(struct search *view, const struct listed_call *call)
{
	struct out *out = &view->renderer.out;
	struct symbol_name name;
	size_t nr_bytes;
	const char *text;

	if (!code_is_kernel(call->to) || !symbol_find(view->renderer.rec, call->to, &name))
		return;
	text = trace_syscall(&name, &nr_bytes);
	if (!text)
		return;
	out_literal(out, " (");
	out_bytes(out, text, nr_bytes);
	out_char(out, ')');
}

static void text_group(struct search *view, const struct slow_call *slow, size_t nr)
{
	struct out *out = &view->renderer.out;

	search_text_head(view, &slow->line, false);
	search_text_span(view, slow->min_tsc, slow->max_tsc, DURATION_WIDTH);
	out_char(out, ' ');
	search_text_function(view, slow->line.call->to);
	if (nr > 1) {
		out_literal(out, " < ");
		out_dec(out, nr - 1, 0);
		out_literal(out, " more");
	}
	for (size_t i = 0; i < nr; i++)
		text_syscall(view, slow[i].line.call);
	if (search_is_open(view, &slow->line))
		out_literal(out, ", open");
	out_char(out, '\n');
}

static void put_group(struct search *view, const struct slow_call *slow, size_t nr)
{
	const struct clock *clock = &view->clock;
	struct btsrec_found value = {
		.in_ns = clock->tsc_khz,
		.min_duration = slow->min_tsc,
		.max_duration = slow->max_tsc,
	};

	if (value.in_ns) {
		value.min_duration = clock_ns(clock, slow->min_tsc);
		if (slow->max_tsc != UINT64_MAX)
			value.max_duration = clock_ns(clock, slow->max_tsc);
	}
	for (size_t i = 0; i < nr; i++)
		search_put(view, &slow[i].line, &value);
}

static void show_groups(struct search *view, const struct slow_call *slow, size_t nr)
{
	bool is_text = search_is_text(view);
	uint64_t max_lines = view->opts->max_lines, nr_lines = 0;
	size_t end;

	for (size_t i = 0; i < nr && !view->renderer.out.stopped; i = end) {
		end = end_of_group(slow, nr, i);
		if (max_lines && nr_lines++ == max_lines)
			break;
		if (is_text)
			text_group(view, &slow[i], end - i);
		else
			put_group(view, &slow[i], end - i);
	}
}

enum btsrec_status search_slow(struct search *view)
{
	_cleanup_free_ struct slow_call *slow = calloc(view->nr_lines + 1, sizeof(*slow));
	bool is_text = search_is_text(view);
	struct out *out = &view->renderer.out;
	size_t nr = 0;

	if (!slow)
		return msg_set(&view->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < view->nr_lines; i++)
		nr += duration(view, &view->lines[i], &slow[nr]);
	qsort(slow, nr, sizeof(*slow), compare_slow);
	if (is_text) {
		out_literal(out, "# ");
		out_dec(out, nr, 0);
		out_literal(out, " calls took a time that is known, the longest first\n");
		if (nr)
			search_text_columns(view, "       DURATION_MS CALL");
	} else {
		search_put_begin(view, nr);
	}
	show_groups(view, slow, nr);
	if (is_text)
		search_text_end(view);
	return BTSREC_OK;
}
