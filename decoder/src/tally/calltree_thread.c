// SPDX-License-Identifier: GPL-2.0-or-later
/* The calls of one thread over all CPUs. */
#include "tally/calltree_impl.h"

/**
 * struct thread_reader - one calltree_read_thread() under way
 * @fault: of the CPU of this interval, with the number that its event has here.
 * @interval: the line of this interval is not there yet.
 */
struct thread_reader {
	struct calltree_reader reader;
	struct thread *thread;
	const struct thread_places *places;
	const struct calltree_part *part;
	struct fault fault;
	bool interval;
};

/* May the thread have run unseen before, or in another order? */
static bool is_unsure(const struct interval *interval)
{
	return interval->maybe || !interval->begins || interval->order == INTERVAL_UNTIMED ||
	       interval->order == INTERVAL_CONTRADICTED;
}

static bool read_interval(void *arg, size_t i, struct frames *frames)
{
	struct thread_reader *t = arg;
	const struct thread_place *place = &t->places->list[t->places->nr - 1];

	(void)frames;
	if (is_unsure(&t->thread->intervals.list[i]))
		t->reader.lost_n = place->n;
	t->fault = t->thread->lanes[place->cpu].fault;
	t->fault.n += place->n - place->cpu_n;
	t->reader.fault = &t->fault;
	t->reader.started = false;
	t->interval = true;
	return true;
}

static void add_interval(struct thread_reader *t, const struct btsrec_event *event,
			 const struct frames_step *step)
{
	const struct thread_place *place = &t->places->list[t->places->nr - 1];
	struct calltree_line *line;

	calltree_end_spin(&t->reader, event->n);
	line = calltree_add_line(&t->reader, CALLTREE_INTERVAL, event, step);
	if (line)
		line->interval = place->interval;
	t->interval = false;
}

static bool is_too_old(const struct thread_reader *t, const struct thread_place *place,
		       uint64_t cpu_n)
{
	const struct calltree_part *part = t->part;

	return cpu_n < part->windows[place->cpu].first_n ||
	       place->interval < part->first_interval ||
	       (place->interval == part->first_interval && cpu_n < part->first_cpu_n);
}

static bool read_of_thread(void *arg, const struct trace_event *traced,
			   const struct frames_step *step, struct frames *frames)
{
	struct thread_reader *t = arg;
	const struct thread_place *place = &t->places->list[t->places->nr - 1];
	uint64_t cpu_n = place->cpu_n + (traced->event->n - place->n);

	if (cpu_n >= t->part->windows[place->cpu].end_n)
		return false;
	if (t->reader.first_n == UINT64_MAX && !is_too_old(t, place, cpu_n))
		t->reader.first_n = traced->event->n;
	if (t->reader.first_n != UINT64_MAX && t->interval)
		add_interval(t, traced->event, step);
	/* Not one more: what is open would count it. */
	return calltree_event(&t->reader, traced, step, frames) &&
	       cpu_n + 1 < t->part->windows[place->cpu].end_n;
}

static void end_of_thread(void *arg, struct frames *frames)
{
	struct thread_reader *t = arg;

	calltree_end(&t->reader, frames);
}

enum btsrec_status calltree_read_thread(struct calltree *tree, struct thread *thread,
					struct thread_places *places,
					const struct calltree_part *part)
{
	struct thread_reader t = { .thread = thread, .places = places, .part = part };
	const struct thread_frames_fns fns = {read_interval, read_of_thread, end_of_thread, &t};
	enum btsrec_status status;

	t.reader = (struct calltree_reader){ .tree = tree, .rec = thread->rec,
					     .first_n = UINT64_MAX, .last_n = UINT64_MAX,
					     .was_gap = true };
	calltree_clear(tree);
	cycles_init(&t.reader.spin);
	status = thread_frames(thread, places, &fns);
	if (tree->nomem)
		return msg_set(&thread->rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	calltree_settle(tree);
	return status;
}
