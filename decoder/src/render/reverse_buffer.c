// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/reverse_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void reverse_buffer_fini(struct reverse_buffer *reverse_buffer)
{
	free(reverse_buffer->branches);
	free(reverse_buffer->others);
	memset(reverse_buffer, 0, sizeof(*reverse_buffer));
}

static void add_branch(struct reverse_buffer *reverse_buffer, const struct btsrec_event *event)
{
	if (!grow(&reverse_buffer->branches, sizeof(*reverse_buffer->branches),
		  reverse_buffer->nr_branches, &reverse_buffer->nr_branches_room)) {
		reverse_buffer->nomem = true;
		return;
	}
	reverse_buffer->branches[reverse_buffer->nr_branches++] =
		(struct reverse_buffer_branch){event->n, event->branch};
}

/* A line to be filled in; NULL: out of memory. */
static struct reverse_buffer_other *add_other(struct reverse_buffer *reverse_buffer)
{
	struct reverse_buffer_other *other;

	if (!grow(&reverse_buffer->others, sizeof(*reverse_buffer->others),
		  reverse_buffer->nr_others, &reverse_buffer->nr_others_room)) {
		reverse_buffer->nomem = true;
		return NULL;
	}
	other = &reverse_buffer->others[reverse_buffer->nr_others];
	memset(other, 0, sizeof(*other));
	other->line = reverse_buffer->nr_branches + reverse_buffer->nr_others++;
	return other;
}

void reverse_buffer_event(struct reverse_buffer *reverse_buffer, const struct btsrec_event *event)
{
	struct reverse_buffer_other *other;

	if (event->kind == BTSREC_EVENT_BRANCH) {
		add_branch(reverse_buffer, event);
		return;
	}
	other = add_other(reverse_buffer);
	if (other)
		other->event = *event;
}

void reverse_buffer_block(struct reverse_buffer *reverse_buffer,
			  const struct level_filter_block *block)
{
	struct reverse_buffer_other *other = add_other(reverse_buffer);

	if (!other)
		return;
	other->is_block = true;
	other->block = *block;
}

void reverse_buffer_print(const struct reverse_buffer *reverse_buffer, unsigned int cpu,
			  reverse_buffer_fn fn, void *arg)
{
	struct btsrec_event event = {.kind = BTSREC_EVENT_BRANCH, .cpu = cpu};
	size_t nr_branches = reverse_buffer->nr_branches, nr_others = reverse_buffer->nr_others;
	bool more = true;

	while (more && (nr_branches || nr_others)) {
		const struct reverse_buffer_other *other;

		other = nr_others ? &reverse_buffer->others[nr_others - 1] : NULL;
		if (other && other->line == nr_branches + nr_others - 1) {
			more = other->is_block ? fn(arg, NULL, &other->block) :
						 fn(arg, &other->event, NULL);
			nr_others--;
			continue;
		}
		event.n = reverse_buffer->branches[--nr_branches].n;
		event.branch = reverse_buffer->branches[nr_branches].record;
		more = fn(arg, &event, NULL);
	}
}
