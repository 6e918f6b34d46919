// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The newest calls of a function; or thread by thread:
 *
 *   CPU         N        FROM_FREEZE_MS THREAD           CALL
 *     1     43601      -10.756..-10.601 99/99 "init"     f < caller+0x41 [module]
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/counter_map.h"
#include "base/status.h"
#include "recorder/session.h"
#include "render/json.h"
#include "views/view_search.h"

/* --- Each call ------------------------------------------------------------- */

static void text_call(struct search *view, const struct search_line *line, bool unordered)
{
	const struct listed_call *call = line->call;
	struct out *out = &view->renderer.out;

	search_text_head(view, line, unordered);
	search_text_function(view, call->to);
	if (!call->late) {
		out_literal(out, " < ");
		search_text_function(view, call->from);
	}
	search_text_state(view, line);
	out_char(out, '\n');
}

static void show_calls(struct search *view)
{
	size_t nr = search_nr_shown(view, view->nr_lines);

	for (size_t i = 0; i < nr && !view->renderer.out.stopped; i++) {
		const struct search_line *line = &view->lines[view->nr_lines - 1 - i];

		if (search_is_text(view))
			text_call(view, line, i && !search_before(line, line + 1));
		else
			search_put(view, line, &(struct btsrec_found){0});
	}
}

/* --- Thread by thread ------------------------------------------------------ */

/**
 * struct last_group - what one thread did on one CPU
 * @first, @last: its oldest and its newest call; numbers of lines.
 */
struct last_group {
	uint64_t nr_calls;
	size_t first;
	size_t last;
};

/* The number of the group of @line, from 1, is kept by thread and CPU; NULL: out of memory. */
static uint64_t *group_of(const struct search *view, struct counter_map *numbers,
			  const struct search_line *line)
{
	const struct btsrec_side *side = search_thread(view, line);
	const uint64_t key[COUNTER_MAP_KEY_WORDS] = {line->cpu, side != NULL, side ? side->pid : 0};
	struct count *count = counter_map_get(numbers, key);

	return count ? count->nr : NULL;
}

/* The groups, that of the newest call first; false: out of memory. */
static bool make_groups(const struct search *view, struct last_group *groups, size_t *ret_nr)
{
	struct counter_map numbers = {0};
	uint64_t *number = NULL;
	size_t nr = 0;

	for (size_t i = view->nr_lines; i--;) {
		number = group_of(view, &numbers, &view->lines[i]);
		if (!number)
			break;
		if (!*number) {
			*number = ++nr;
			groups[nr - 1] = (struct last_group){.last = i};
		}
		groups[*number - 1].nr_calls++;
		groups[*number - 1].first = i;
	}
	counter_map_fini(&numbers);
	*ret_nr = nr;
	return number || !view->nr_lines;
}

static void text_group(struct search *view, const struct last_group *group, bool unordered)
{
	const struct search_line *first = &view->lines[group->first];
	const struct search_line *last = &view->lines[group->last];
	struct out *out = &view->renderer.out;

	search_text_head(view, last, unordered);
	out_dec(out, group->nr_calls, 0);
	out_str(out, group->nr_calls == 1 ? " call" : " calls");
	if (group->first != group->last) {
		out_literal(out, ", first ");
		out_dec(out, first->call->n, 0);
		out_literal(out, " at ");
		search_text_time(view, &first->time);
	}
	search_text_state(view, last);
	out_char(out, '\n');
}

static void put_group(struct search *view, const struct last_group *group)
{
	const struct search_line *first = &view->lines[group->first];
	struct btsrec_found value = {
		.nr_calls = group->nr_calls,
		.first_n = first->call->n,
		.first_min_tsc = first->time.min_tsc,
		.first_max_tsc = first->time.max_tsc,
	};

	search_put(view, &view->lines[group->last], &value);
}

static enum btsrec_status show_groups(struct search *view)
{
	_cleanup_free_ struct last_group *groups = calloc(view->nr_lines + 1, sizeof(*groups));
	size_t nr = 0;

	if (!groups || !make_groups(view, groups, &nr))
		return msg_set(&view->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	nr = search_nr_shown(view, nr);
	for (size_t i = 0; i < nr && !view->renderer.out.stopped; i++) {
		if (!search_is_text(view))
			put_group(view, &groups[i]);
		else
			text_group(view, &groups[i],
				   i && !search_before(&view->lines[groups[i].last],
						       &view->lines[groups[i - 1].last]));
	}
	return BTSREC_OK;
}

/* --- All ------------------------------------------------------------------- */

static void text_begin(struct search *view)
{
	struct out *out = &view->renderer.out;
	size_t nr = search_nr_shown(view, view->nr_lines);

	out_literal(out, "# ");
	out_dec(out, view->nr_lines, 0);
	out_str(out, view->nr_lines == 1 ? " call of " : " calls of ");
	out_escaped(out, view->opts->what, strlen(view->opts->what));
	if (view->opts->by != BTSREC_BY_TASK && nr < view->nr_lines) {
		out_literal(out, ", the newest ");
		out_dec(out, nr, 0);
	}
	out_char(out, '\n');
	if (view->nr_lines)
		search_text_columns(view, view->opts->by == BTSREC_BY_TASK ? "CALLS" : "CALL");
}

enum btsrec_status search_last(struct search *view)
{
	bool is_text = search_is_text(view);
	enum btsrec_status status = BTSREC_OK;

	if (is_text)
		text_begin(view);
	else
		search_put_begin(view, view->nr_lines);
	if (view->opts->by == BTSREC_BY_TASK)
		status = show_groups(view);
	else
		show_calls(view);
	if (is_text)
		search_text_end(view);
	return status;
}
