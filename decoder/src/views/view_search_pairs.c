// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which calls of one function have no call of another one behind them, thread by thread: locks,
 * references, busy bits.  What the histories do not show is no reason to call a call unpaired.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/status.h"
#include "recorder/session.h"
#include "views/pairing.h"

static void text_pair(struct search *view, const struct pair_item *item)
{
	const struct search_line *line = &view->lines[item->line];
	struct out *out = &view->renderer.out;

	search_text_head(view, line, false);
	search_text_function(view, line->call->to);
	out_literal(out, " < ");
	search_text_function(view, line->call->from);
	out_literal(out, ": ");
	out_str(out, pair_state_str(item->state));
	if (item->state == PAIR_UNSEEN) {
		out_literal(out, " on CPU ");
		out_dec(out, item->cpu, 0);
	}
	if (search_is_after_fault(view, line))
		out_literal(out, ", after the fault");
	out_char(out, '\n');
}

static void put_pair(struct search *view, const struct pair_item *item)
{
	struct btsrec_found value = {
		.state = pair_state_str(item->state),
		.has_unseen = item->state == PAIR_UNSEEN,
		.unseen_cpu = item->cpu,
	};

	search_put(view, &view->lines[item->line], &value);
}

static void text_begin(struct search *view, size_t nr_enters, size_t nr_alone)
{
	struct out *out = &view->renderer.out;

	out_literal(out, "# ");
	out_dec(out, nr_enters, 0);
	out_str(out, nr_enters == 1 ? " call of " : " calls of ");
	out_escaped(out, view->opts->what, strlen(view->opts->what));
	out_literal(out, ", ");
	out_dec(out, view->nr_lines - nr_enters, 0);
	out_literal(out, " of ");
	out_escaped(out, view->opts->second, strlen(view->opts->second));
	out_literal(out, "; without the other: ");
	out_dec(out, nr_alone, 0);
	out_char(out, '\n');
	if (nr_alone)
		search_text_columns(view, "CALL");
}

static void show_pairs(struct search *view, const struct pair_item *items, const size_t *item_of,
		       size_t nr_alone)
{
	size_t nr_left = search_nr_shown(view, nr_alone);

	for (size_t i = view->nr_lines; i-- && nr_left && !view->renderer.out.stopped;) {
		const struct pair_item *item = &items[item_of[i]];

		if (item->state == PAIR_PAIRED)
			continue;
		nr_left--;
		if (search_is_text(view))
			text_pair(view, item);
		else
			put_pair(view, item);
	}
}

/* The newest first, whatever the order of @items; @item_of: room for the item of each line. */
static void show_all(struct search *view, const struct pair_item *items, size_t *item_of)
{
	bool is_text = search_is_text(view);
	size_t nr_enters = 0, nr_alone = 0;

	for (size_t i = 0; i < view->nr_lines; i++) {
		item_of[items[i].line] = i;
		nr_enters += items[i].enters;
		nr_alone += items[i].state != PAIR_PAIRED;
	}
	if (is_text)
		text_begin(view, nr_enters, nr_alone);
	else
		search_put_begin(view, nr_alone);
	show_pairs(view, items, item_of, nr_alone);
	if (is_text)
		search_text_end(view);
}

enum btsrec_status search_pairs(struct search *view)
{
	size_t nr = view->nr_lines;
	_cleanup_free_ struct pair_item *items = calloc(nr + 1, sizeof(*items));
	_cleanup_free_ size_t *item_of = calloc(nr + 1, sizeof(*item_of));

	for (size_t i = 0; items && i < nr; i++)
		items[i] = (struct pair_item){
			.scope = view->opts->any_thread ? PAIR_OF_ALL : PAIR_OF_THREAD,
			.line = i,
			.enters = view->lines[i].call->tags & SEARCH_WHAT,
		};
	if (!items || !item_of || !pairing_judge(view, items, nr))
		return msg_set(&view->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	show_all(view, items, item_of);
	return BTSREC_OK;
}
