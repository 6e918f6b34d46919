// SPDX-License-Identifier: GPL-2.0-or-later
/* The events of one thread, over all CPUs in the order of time. */
#include "symbol.h"
#include "view_show.h"
#include "view_thread.h"

void show_tell_stretch(struct show *show)
{
	if (!show->stretch)
		return;
	show->format->stretch(&show->renderer, show->stretch_before, show->stretch);
	show->stretch = NULL;
}

static bool thread_event(void *arg, const struct trace_event *event)
{
	return show_event(arg, event->event);
}

static enum btsrec_status show_stretch(struct show *show, struct view_thread *view, size_t i)
{
	const struct stretch *stretch = &view->thread.stretches.list[i];
	struct splay_block block;
	enum btsrec_status status;

	status = view_thread_select(view, stretch->cpu, &show->selector, &show->fault);
	if (status)
		return status;
	show->renderer.types = show->opts->types ? &show->selector->types : NULL;
	show->stretch = stretch;
	show->stretch_before = view_thread_before(view, i);
	loops_init(&show->loops);
	splay_init(&show->splay, show->opts->filter.kernel);
	status = thread_stretch(&view->thread, i, thread_event, show);
	if (status)
		return status;
	show_end_fold(show);
	if (splay_end(&show->splay, &block))
		show_block(show, &block);
	return BTSREC_OK;
}

static enum btsrec_status show_pass(struct show *show, struct view_thread *view)
{
	enum btsrec_status status = BTSREC_OK;

	thread_rewind(&view->thread);
	for (size_t i = 0; i < view->thread.stretches.nr && !status; i++)
		status = show_stretch(show, view, i);
	return status;
}

/* Which lines are the newest ones is known only when all were told. */
static enum btsrec_status count_lines(struct show *show, struct view_thread *view)
{
	uint64_t max_lines = show->opts->max_events;
	enum btsrec_status status;

	show->counting = true;
	status = show_pass(show, view);
	show->counting = false;
	show->nr_skip = show->nr_lines > max_lines ? show->nr_lines - max_lines : 0;
	return status;
}

enum btsrec_status show_thread(struct show *show)
{
	struct view_thread view;
	enum btsrec_status status;

	status = view_thread_open(&view, show->renderer.rec, show->opts->thread, &show->filter,
				  false);
	if (!status)
		status = view_thread_rings(&view, &show->renderer, show->format);
	if (!status && show->opts->max_events)
		status = count_lines(show, &view);
	if (!status)
		status = show_pass(show, &view);
	show_settle(show);
	if (!status)
		view_thread_end(&view, &show->renderer, show->format);
	show->renderer.types = NULL;
	show->renderer.side = NULL;
	view_thread_close(&view);
	return status;
}
