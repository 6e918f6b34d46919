// SPDX-License-Identifier: GPL-2.0-or-later
/* The call stack of one thread at its end, put together from the histories of all CPUs. */
#include <stdlib.h>

#include "views/view_stack.h"
#include "views/view_thread.h"

/**
 * struct thread_stack - under way
 * @event, @side: the last event and the thread that ran; valid if @any.
 */
struct thread_stack {
	struct stacks_view *view;
	struct view_thread followed;
	struct thread_places places;
	bool any;
	struct btsrec_event event;
	bool has_side;
	struct btsrec_side side;
};

uint64_t stack_n(const struct stack_printed *printed, uint64_t n, unsigned int *ret_cpu)
{
	const struct thread_place *place;
	uint64_t cpu_n;

	*ret_cpu = printed->cpu;
	if (!printed->places)
		return n;
	place = thread_place_of(printed->places, n, &cpu_n);
	*ret_cpu = place->cpu;
	return cpu_n;
}

/* What is not proven at the beginning of interval @i makes older frames unreliable. */
static bool begin_interval(void *arg, size_t i, struct frames *frames)
{
	struct thread_stack *all = arg;
	const struct interval *interval = &all->followed.thread.intervals.list[i];
	struct unreliable unreliable = { .n = all->places.list[all->places.nr - 1].n };

	(void)frames;
	if (interval->maybe) {
		unreliable.why = UNRELIABLE_UNKNOWN;
		unreliable.cpu = interval->maybe_cpu;
	} else if (i && (interval->order == INTERVAL_UNTIMED ||
			 interval->order == INTERVAL_CONTRADICTED)) {
		unreliable.why = UNRELIABLE_ORDER;
		unreliable.cpu = view_thread_before(&all->followed, i)->cpu;
	} else if (i && !interval->begins) {
		unreliable.why = UNRELIABLE_GAP;
	}
	if (unreliable.why != UNRELIABLE_NOT)
		frame_confidence_thread(&all->view->frame_confidence,
					all->followed.thread.intervals.pid, &unreliable);
	return !all->view->frame_confidence.nomem;
}

static bool follow_event(void *arg, const struct trace_event *traced,
			 const struct frames_step *step, struct frames *frames)
{
	struct thread_stack *all = arg;

	all->any = true;
	all->event = *traced->event;
	stacks_follow(all->view, traced, step, frames);
	if (traced->side && traced->side->pid == all->followed.thread.intervals.pid) {
		all->has_side = true;
		all->side = *traced->side;
	}
	return !all->view->frame_confidence.nomem;
}

static void print_stack(void *arg, struct frames *frames)
{
	struct thread_stack *all = arg;
	struct stack_printed printed = {
		.n = all->event.n,
		.side = all->has_side ? &all->side : NULL,
		.places = &all->places,
	};

	if (all->any)
		stacks_print(all->view, frames, &all->event, &printed);
}

enum btsrec_status stacks_thread(void *arg)
{
	struct stacks_view *view = arg;
	struct btsrec *rec = view->renderer.rec;
	struct thread_stack all = { .view = view };
	const struct thread_frames_fns fns = {begin_interval, follow_event, print_stack, &all};
	const struct btsrec_filter everything = { 0 };
	enum btsrec_status status;

	frame_confidence_init(&view->frame_confidence, &view->residencies);
	status = view_thread_open(&all.followed, rec, view->opts->thread, &everything, true);
	if (!status)
		status = thread_frames(&all.followed.thread, &all.places, &fns);
	if (view->frame_confidence.nomem)
		status = msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	frame_confidence_fini(&view->frame_confidence);
	thread_places_fini(&all.places);
	view_thread_close(&all.followed);
	return status;
}
