// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * By which chains of calls one function reached another one.  Chains through the same places are
 * one; of each the newest is printed, and how often it was taken:
 *
 *   # 4 calls, 2 of them times 3 links, the shortest
 *   CPU         N        FROM_FREEZE_MS THREAD           CALL
 *     1     43601      -10.756..-10.601 99/99 "init"     g < f+0x12
 *     1     43606      -10.756..-10.601 99/99 "init"       h < g+0x1
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/status.h"
#include "recorder/session.h"
#include "views/values.h"
#include "views/view_search.h"

/**
 * struct path - chains through the same places
 * @line: the newest of them.
 * @nr: of them.
 */
struct path {
	size_t line;
	uint64_t nr;
};

static const struct call_link *links_of(const struct search *view, const struct search_line *line)
{
	return &search_list(view, line)->links[line->call->chain];
}

/* Whose user addresses are meant. */
static uint64_t space_of(const struct search *view, const struct search_line *line, uint64_t va)
{
	const struct btsrec_side *side = search_thread(view, line);

	return code_is_kernel(va) || !side ? 0 : side->cr3;
}

static int compare_links(const struct search *view, const struct search_line *a,
			 const struct search_line *b)
{
	const struct call_link *left = links_of(view, a), *right = links_of(view, b);
	int order = search_compare(a->call->nr_chain, b->call->nr_chain);

	for (uint32_t i = 0; !order && i < a->call->nr_chain; i++) {
		order = search_compare(left[i].from, right[i].from);
		if (!order)
			order = search_compare(left[i].to, right[i].to);
		if (!order)
			order = search_compare(space_of(view, a, left[i].from),
						space_of(view, b, right[i].from));
	}
	return order;
}

/* The shortest first, alike ones together, of those the newest first. */
static int compare_chains(const void *left, const void *right, void *arg)
{
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	const struct search *view = arg;
	int order = compare_links(view, &view->lines[a], &view->lines[b]);

	return order ? order : -search_compare(a, b);
}

/* The shortest first; of those the newest. */
static int compare_paths(const void *left, const void *right, void *arg)
{
	const struct path *a = left, *b = right;
	const struct search *view = arg;
	int order = search_compare(view->lines[a->line].call->nr_chain,
				    view->lines[b->line].call->nr_chain);

	return order ? order : -search_compare(a->line, b->line);
}

static size_t make_paths(struct search *view, size_t *order, struct path *paths)
{
	size_t nr = 0;

	for (size_t i = 0; i < view->nr_lines; i++)
		order[i] = i;
	qsort_r(order, view->nr_lines, sizeof(*order), compare_chains, view);
	for (size_t i = 0; i < view->nr_lines; i++) {
		if (!nr ||
		    compare_links(view, &view->lines[paths[nr - 1].line], &view->lines[order[i]]))
			paths[nr++] = (struct path){.line = order[i]};
		paths[nr - 1].nr++;
	}
	qsort_r(paths, nr, sizeof(*paths), compare_paths, view);
	return nr;
}

/* A link as if it were a line of its own. */
static void text_link(struct search *view, const struct search_line *line,
		      const struct call_link *link, uint32_t depth)
{
	struct listed_call call = *line->call;
	struct out *out = &view->renderer.out;
	struct search_line one = {
		.time = search_when(search_list(view, line), link->n),
		.cpu = line->cpu,
		.call = &call,
	};

	call.n = link->n;
	search_text_head(view, &one, false);
	out_blanks(out, 2 * (depth < 16 ? depth : 16));
	search_text_function(view, link->to);
	out_literal(out, " < ");
	search_text_function(view, link->from);
	if (search_is_after_fault(view, &one))
		out_literal(out, ", after the fault");
	out_char(out, '\n');
}

static void text_path(struct search *view, const struct path *path)
{
	const struct search_line *line = &view->lines[path->line];
	const struct call_link *links = links_of(view, line);
	struct out *out = &view->renderer.out;

	out_literal(out, "# ");
	out_dec(out, line->call->nr_chain, 0);
	out_str(out, line->call->nr_chain == 1 ? " call" : " calls");
	out_literal(out, ", taken ");
	out_dec(out, path->nr, 0);
	out_str(out, path->nr == 1 ? " time" : " times, here the newest");
	out_char(out, '\n');
	for (uint32_t i = 0; i < line->call->nr_chain && !out->stopped; i++)
		text_link(view, line, &links[i], i);
}

/* false: out of memory */
static bool put_path(struct search *view, const struct path *path)
{
	const struct search_line *line = &view->lines[path->line];
	const struct call_link *links = links_of(view, line);
	uint32_t nr = line->call->nr_chain;
	_cleanup_free_ struct btsrec_chain_link *values = calloc(nr + 1, sizeof(*values));
	_cleanup_free_ struct symbol_name *names = calloc(2 * (size_t)nr + 1, sizeof(*names));
	struct btsrec_found value = {.nr_times = path->nr, .links = values, .nr_links = nr};

	if (!values || !names)
		return false;
	(void)search_side(view, line);
	for (uint32_t i = 0; i < nr; i++) {
		values[i].n = links[i].n;
		values[i].how = frame_kind_str(links[i].kind);
		values[i].from_va = links[i].from;
		values[i].to_va = links[i].to;
		if (!view->fn)
			continue;
		values_name(&view->renderer, links[i].from, &names[2 * i], &values[i].from);
		values_name(&view->renderer, links[i].to, &names[2 * i + 1], &values[i].to);
	}
	search_put(view, line, &value);
	return true;
}

static void text_begin(struct search *view, size_t nr_paths, size_t nr_shown)
{
	struct out *out = &view->renderer.out;

	out_literal(out, "# ");
	out_dec(out, nr_paths, 0);
	out_str(out, nr_paths == 1 ? " path" : " paths");
	out_literal(out, " from ");
	out_escaped(out, view->opts->what, strlen(view->opts->what));
	out_literal(out, " to ");
	out_escaped(out, view->opts->second, strlen(view->opts->second));
	if (nr_shown < nr_paths) {
		out_literal(out, ", the shortest ");
		out_dec(out, nr_shown, 0);
	}
	out_char(out, '\n');
	if (nr_paths)
		search_text_columns(view, "CALL");
}

enum btsrec_status search_path(struct search *view)
{
	_cleanup_free_ size_t *order = calloc(view->nr_lines + 1, sizeof(*order));
	_cleanup_free_ struct path *paths = calloc(view->nr_lines + 1, sizeof(*paths));
	bool is_text = search_is_text(view);
	size_t nr, nr_shown;

	if (!order || !paths)
		return msg_set(&view->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	nr = make_paths(view, order, paths);
	nr_shown = search_nr_shown(view, nr);
	if (is_text)
		text_begin(view, nr, nr_shown);
	else
		search_put_begin(view, nr);
	for (size_t i = 0; i < nr_shown && !view->renderer.out.stopped; i++) {
		if (is_text)
			text_path(view, &paths[i]);
		else if (!put_path(view, &paths[i]))
			return msg_set(&view->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	}
	if (is_text)
		search_text_end(view);
	return BTSREC_OK;
}
