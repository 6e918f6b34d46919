// SPDX-License-Identifier: GPL-2.0-or-later
#include "backlog.h"

#include <stdlib.h>
#include <string.h>

#include "grow.h"

void backlog_fini(struct backlog *backlog)
{
	free(backlog->branches);
	free(backlog->others);
	memset(backlog, 0, sizeof(*backlog));
}

static void add_branch(struct backlog *backlog, const struct btsrec_event *event)
{
	if (!grow(&backlog->branches, sizeof(*backlog->branches), backlog->nr_branches,
		  &backlog->nr_branches_room)) {
		backlog->nomem = true;
		return;
	}
	backlog->branches[backlog->nr_branches++] =
		(struct backlog_branch){ event->n, event->branch };
}

/* A line to be filled in; NULL: out of memory. */
static struct backlog_other *add_other(struct backlog *backlog)
{
	struct backlog_other *other;

	if (!grow(&backlog->others, sizeof(*backlog->others), backlog->nr_others,
		  &backlog->nr_others_room)) {
		backlog->nomem = true;
		return NULL;
	}
	other = &backlog->others[backlog->nr_others];
	memset(other, 0, sizeof(*other));
	other->line = backlog->nr_branches + backlog->nr_others++;
	return other;
}

void backlog_event(struct backlog *backlog, const struct btsrec_event *event)
{
	struct backlog_other *other;

	if (event->kind == BTSREC_EVENT_BRANCH) {
		add_branch(backlog, event);
		return;
	}
	other = add_other(backlog);
	if (other)
		other->event = *event;
}

void backlog_block(struct backlog *backlog, const struct splay_block *block)
{
	struct backlog_other *other = add_other(backlog);

	if (!other)
		return;
	other->is_block = true;
	other->block = *block;
}

void backlog_tell(const struct backlog *backlog, unsigned int cpu, backlog_fn fn, void *arg)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .cpu = cpu };
	size_t nr_branches = backlog->nr_branches, nr_others = backlog->nr_others;
	bool more = true;

	while (more && (nr_branches || nr_others)) {
		const struct backlog_other *other;

		other = nr_others ? &backlog->others[nr_others - 1] : NULL;
		if (other && other->line == nr_branches + nr_others - 1) {
			more = other->is_block ? fn(arg, NULL, &other->block) :
						 fn(arg, &other->event, NULL);
			nr_others--;
			continue;
		}
		event.n = backlog->branches[--nr_branches].n;
		event.branch = backlog->branches[nr_branches].record;
		more = fn(arg, &event, NULL);
	}
}
