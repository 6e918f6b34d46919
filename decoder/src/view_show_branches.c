// SPDX-License-Identifier: GPL-2.0-or-later
/* Branches, by way of the press: what they have in common is worded once. */
#include "session.h"
#include "symbol.h"
#include "view_show.h"

/* Nothing is known of any address, so all lines end alike. */
static bool says_nothing(const struct show *show)
{
	struct btsrec *rec = show->renderer.rec;

	return !show->opts->types && !show->opts->lines && !symbols_present(rec) &&
	       !symbols_user_present(rec) && !rec->located->nr_modules;
}

bool show_begin_branches(struct show *show, const struct btsrec_sink *sink)
{
	show->words.like = &show->renderer;
	show->words.format = show->format;
	show->words.alike = says_nothing(show);
	if (!words_open(&show->words, sink, show->opts->nr_threads))
		return false;
	out_init(&show->renderer.out, press_sink(show->words.press));
	show->renderer.rec->ahead = press_ahead(show->words.press);
	return true;
}

enum btsrec_status show_send(struct show *show)
{
	(void)out_flush(&show->renderer.out);
	show_settle(show);
	return press_send(show->words.press);
}

enum btsrec_status show_end_branches(struct show *show)
{
	enum btsrec_status status = BTSREC_OK;

	show->renderer.rec->ahead = NULL;
	if (show->words.press) {
		(void)out_flush(&show->renderer.out);
		status = press_wait(show->words.press);
		show->nomem |= press_failed(show->words.press);
	}
	words_close(&show->words);
	return status;
}

void show_settle(struct show *show)
{
	words_settle(&show->words, show->renderer.nr_user);
}

bool show_branches(struct show *show, unsigned int cpu, const struct timeline_branches *branches)
{
	/* Whoever runs next has an event in front of the next branch. */
	struct press_run run = { cpu, branches->n, NULL, branches->records, branches->nr };

	run.span = aspace_span(&show->selector->spaces, branches->n);
	(void)out_flush(&show->renderer.out);
	if (words_put(&show->words, &run))
		return true;
	show->nomem |= press_failed(show->words.press);
	return false;
}

void show_branch(struct show *show, const struct btsrec_event *event)
{
	const struct timeline_branches branches = { &event->branch, 1, event->n, event->slot };

	(void)show_branches(show, event->cpu, &branches);
}
