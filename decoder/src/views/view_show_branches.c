// SPDX-License-Identifier: GPL-2.0-or-later
/* Branches, by way of the press: what they have in common is worded once. */
#include "recorder/session.h"
#include "symbols/symbol.h"
#include "views/view_show.h"

/* Nothing is known of any address, so all lines end alike. */
static bool says_nothing(const struct show *show)
{
	struct btsrec *rec = show->renderer.rec;

	return !show->opts->types && !show->opts->lines && !symbols_present(rec) &&
	       !symbols_user_present(rec) && !rec->located->nr_modules;
}

bool show_begin_branches(struct show *show, const struct btsrec_sink *sink)
{
	show->labels.like = &show->renderer;
	show->labels.format = show->format;
	show->labels.alike = says_nothing(show);
	if (!labels_open(&show->labels, sink, show->opts->nr_threads))
		return false;
	out_init(&show->renderer.out, press_sink(show->labels.press));
	show->renderer.rec->ahead = press_ahead(show->labels.press);
	return true;
}

enum btsrec_status show_send(struct show *show)
{
	(void)out_flush(&show->renderer.out);
	show_settle(show);
	return press_send(show->labels.press);
}

enum btsrec_status show_end_branches(struct show *show)
{
	enum btsrec_status status = BTSREC_OK;

	show->renderer.rec->ahead = NULL;
	if (show->labels.press) {
		(void)out_flush(&show->renderer.out);
		status = press_wait(show->labels.press);
		show->nomem |= press_failed(show->labels.press);
	}
	labels_close(&show->labels);
	return status;
}

void show_settle(struct show *show)
{
	labels_settle(&show->labels, show->renderer.nr_user);
}

bool show_branches(struct show *show, unsigned int cpu, const struct timeline_branches *branches)
{
	/* Whoever runs next has an event in front of the next branch. */
	struct press_run run = { cpu, branches->n, NULL, branches->records, branches->nr };

	run.span = aspace_span(&show->event_filter->spaces, branches->n);
	(void)out_flush(&show->renderer.out);
	if (labels_put(&show->labels, &run))
		return true;
	show->nomem |= press_failed(show->labels.press);
	return false;
}

void show_branch(struct show *show, const struct btsrec_event *event)
{
	const struct timeline_branches branches = { &event->branch, 1, event->n, event->slot };

	(void)show_branches(show, event->cpu, &branches);
}
