// SPDX-License-Identifier: GPL-2.0-or-later
/* Loops that are printed once. */
#include "flow/fault.h"
#include "views/view_show.h"

static struct btsrec_event event_of(const struct show *show, const struct loops_branch *branch)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .cpu = show->loops_cpu };

	event.n = branch->n;
	event.branch = branch->record;
	return event;
}

/* The lines that the loop's own refers to must be there, also if -n cuts them off. */
static void print_round(struct show *show, struct loop *loop)
{
	for (unsigned int i = 0; i < loop->period; i++) {
		struct btsrec_event event = event_of(show, &loop->round[i]);

		show_print_interval(show);
		show_print(show, &event, NULL);
	}
	loop_peel(loop);
}

static void print_loop(struct show *show, struct loop *loop)
{
	uint64_t nr_printed = show->nr_printed;

	if (!show_takes_line(show, NULL))
		return;
	if (nr_printed < loop->period)
		print_round(show, loop);
	if (!loop->nr_rounds)
		return;
	show->renderer.side = aspace_at(&show->event_filter->spaces, loop->round[0].n);
	show->format->loop(&show->renderer, show->loops_cpu, loop);
}

void show_end_fold(struct show *show)
{
	struct loops_branch rest[CYCLES_MAX_PERIOD];
	unsigned int nr_rest;
	struct loop loop;

	if (!show->opts->fold)
		return;
	nr_rest = loops_end(&show->loops, &loop, rest);
	if (loop.nr_rounds)
		print_loop(show, &loop);
	for (unsigned int i = 0; i < nr_rest; i++) {
		struct btsrec_event event = event_of(show, &rest[i]);

		show_line(show, &event);
	}
}

/* Has a line of its own in front of it. */
static bool is_marked(const struct show *show, const struct btsrec_event *event)
{
	return event->kind != BTSREC_EVENT_BRANCH || fault_is_here(show->fault, event);
}

static bool goes_round(struct show *show, const struct btsrec_event *event)
{
	show->loops_cpu = event->cpu;
	return loops_add(&show->loops, event, aspace_at(&show->event_filter->spaces, event->n));
}

void show_folded(struct show *show, const struct btsrec_event *event)
{
	if (is_marked(show, event)) {
		show_end_fold(show);
		show_line(show, event);
		loops_pass(&show->loops, event);
		return;
	}
	if (goes_round(show, event))
		return;
	if (show->loops.cycles.period) {
		show_end_fold(show);
		if (goes_round(show, event))
			return;
	}
	show_line(show, event);
}
