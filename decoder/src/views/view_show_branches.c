// SPDX-License-Identifier: GPL-2.0-or-later
/* Branches: what their lines have in common is made once. */
#include "recorder/session.h"
#include "symbols/symbol.h"
#include "views/view_show.h"

/* Nothing is known of any address, so all lines end alike. */
static bool all_alike(const struct show *show)
{
	struct btsrec *rec = show->renderer.rec;

	return !show->opts->types && !show->opts->lines && !symbols_present(rec) &&
	       !symbols_user_present(rec) && !rec->located->nr_modules;
}

/* Names are read for it, if there are any: not before they are needed. */
static bool has_labels(struct show *show)
{
	return show->labels.to ||
	       labels_init(&show->labels, &show->renderer, show->format, all_alike(show));
}

bool show_branches(struct show *show, unsigned int cpu, const struct timeline_branches *branches)
{
	/* There is an event in front of the first branch of another thread. */
	const struct branch_run run = {
		.cpu = cpu,
		.n = branches->n,
		.span = aspace_span(&show->event_filter->spaces, branches->n),
		.records = branches->records,
		.nr = branches->nr,
	};

	show->nomem |= !has_labels(show) || !labels_put(&show->labels, &run);
	return !show->nomem && !show->renderer.out.stopped;
}

void show_branch(struct show *show, const struct btsrec_event *event)
{
	const struct timeline_branches branches = { &event->branch, 1, event->n, event->slot };

	(void)show_branches(show, event->cpu, &branches);
}
