// SPDX-License-Identifier: GPL-2.0-or-later
/* The events of one thread, over all CPUs in the order of time. */
#include "symbols/symbol.h"
#include "views/view_show.h"
#include "views/view_thread.h"

void show_print_interval(struct show *show)
{
	if (!show->interval)
		return;
	show->format->interval(&show->renderer, show->interval_before, show->interval);
	show->interval = NULL;
}

static bool thread_event(void *arg, const struct trace_event *event)
{
	return show_event(arg, event->event);
}

static enum btsrec_status show_interval(struct show *show, struct view_thread *view, size_t i)
{
	const struct interval *interval = &view->thread.intervals.list[i];
	struct level_filter_block block;
	enum btsrec_status status;

	status = view_thread_select(view, interval->cpu, &show->event_filter, &show->fault);
	if (status)
		return status;
	show->renderer.types = show->opts->types ? &show->event_filter->types : NULL;
	show->interval = interval;
	show->interval_before = view_thread_before(view, i);
	loops_init(&show->loops);
	level_filter_init(&show->level_filter, show->opts->filter->kernel);
	status = thread_interval(&view->thread, i, thread_event, show);
	if (status)
		return status;
	show_end_fold(show);
	if (level_filter_end(&show->level_filter, &block))
		show_block(show, &block);
	return BTSREC_OK;
}

static enum btsrec_status show_pass(struct show *show, struct view_thread *view)
{
	enum btsrec_status status = BTSREC_OK;

	thread_rewind(&view->thread);
	for (size_t i = 0; i < view->thread.intervals.nr && !status; i++)
		if (view_thread_wants(view, view->thread.intervals.list[i].cpu))
			status = show_interval(show, view, i);
	return status;
}

/* Which lines are the newest ones is known only at the end. */
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
		status = view_thread_choose(&view, show->opts->cpus, show->opts->nr_cpus);
	if (!status)
		status = view_thread_rings(&view, &show->renderer, show->format);
	if (!status && show->opts->max_events)
		status = count_lines(show, &view);
	if (!status)
		status = show_pass(show, &view);
	if (!status)
		view_thread_end(&view, &show->renderer, show->format);
	show->renderer.types = NULL;
	show->renderer.side = NULL;
	view_thread_close(&view);
	return status;
}
