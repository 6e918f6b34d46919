// SPDX-License-Identifier: GPL-2.0-or-later
/* The calls of one thread over all CPUs as a tree. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "views/view_calls.h"

/* The events of @interval that its window leaves. */
static struct filter_window wanted_of(const struct interval *interval,
				      const struct filter_window *windows)
{
	struct filter_window wanted = windows[interval->cpu];

	if (wanted.first_n < interval->first_n)
		wanted.first_n = interval->first_n;
	if (wanted.end_n > interval->last_n)
		wanted.end_n = interval->last_n + 1;
	return wanted;
}

/* Where the newest events begin, as many as are wanted; with the first if there are no more. */
static void find_newest(const struct view_thread *followed, uint64_t max_events,
			struct calltree_part *part)
{
	const struct intervals *intervals = &followed->thread.intervals;
	size_t i = intervals->nr;

	while (max_events && i--) {
		struct filter_window wanted = wanted_of(&intervals->list[i], part->windows);
		uint64_t nr = 0;

		if (wanted.first_n < wanted.end_n &&
		    view_thread_wants(followed, intervals->list[i].cpu))
			nr = wanted.end_n - wanted.first_n;
		if (nr >= max_events) {
			part->first_interval = i;
			part->first_cpu_n = wanted.end_n - max_events;
			return;
		}
		max_events -= nr;
	}
}

static enum btsrec_status find_windows(struct view_thread *followed,
				       struct filter_window *windows)
{
	const struct intervals *intervals = &followed->thread.intervals;
	enum btsrec_status status = BTSREC_OK;
	struct event_filter *event_filter;
	const struct fault *fault;

	for (size_t i = 0; i < intervals->nr && !status; i++) {
		unsigned int cpu = intervals->list[i].cpu;

		status = view_thread_select(followed, cpu, &event_filter, &fault);
		if (!status)
			windows[cpu] = event_filter->window;
	}
	return status;
}

static enum btsrec_status read_tree(struct calls *view, struct view_thread *followed)
{
	struct btsrec *rec = view->renderer.rec;
	_cleanup_free_ struct filter_window *windows = NULL;
	struct calltree_part part = { 0 };
	enum btsrec_status status;

	windows = calloc(btsrec_nr_cpu_ids(rec) + 1, sizeof(*windows));
	if (!windows)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	part.windows = windows;
	status = find_windows(followed, windows);
	if (status)
		return status;
	find_newest(followed, view->opts->max_events, &part);
	return calltree_read_thread(&view->tree, &followed->thread, &view->places, &part);
}

enum btsrec_status calls_thread(void *arg)
{
	struct calls *view = arg;
	struct btsrec *rec = view->renderer.rec;
	struct calls_filter wanted = { 0 };
	struct view_thread followed;
	enum btsrec_status status;

	status = view_thread_open(&followed, rec, view->opts->thread, view->opts->filter, true);
	if (!status)
		status = view_thread_choose(&followed, view->opts->cpus, view->opts->nr_cpus);
	if (!status)
		status = view_thread_rings(&followed, &view->renderer, view->format);
	if (!status)
		status = read_tree(view, &followed);
	view->followed = &followed;
	view->wanted = &wanted;
	if (!status)
		status = calls_print_tree(view, rec);
	if (!status)
		view_thread_end(&followed, &view->renderer, view->format);
	view->followed = NULL;
	view->wanted = NULL;
	thread_places_fini(&view->places);
	view_thread_close(&followed);
	return status;
}
