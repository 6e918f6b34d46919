// SPDX-License-Identifier: GPL-2.0-or-later
/* The history of one CPU: what must be known of all of it first, then its lines, part by part. */
#include "views/view_show.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "flow/trace_fault.h"
#include "recorder/relay.h"
#include "views/cpu_tasks.h"

/**
 * struct show_plan - what the parts of one CPU share; they only read it but for what has a lock
 * @first: of the first CPU, else NULL; borrowed.
 * @event_filter: with the threads that ran, where they are needed.
 * @has_parts: all events are lines as they are, and the ring does not change: each part is a window
 *	of @relay.  Else the last one is all.
 * @counting: of @nr_user, see struct renderer; of all parts.
 */
struct show_plan {
	unsigned int cpu;
	struct session_ring ring;
	struct fault fault;
	const struct show_first *first;
	struct event_filter event_filter;
	bool has_parts;
	struct relay relay;
	pthread_mutex_t counting;
	uint64_t nr_user[SYMBOL_NR_WHYS];
};

/* Is every event a line as it is? */
static bool is_plain(const struct show *show)
{
	return !show->event_filter->filter.any && !show->level_filtered && !show->opts->fold &&
	       !show->opts->newest_first;
}

/* --- Events ------------------------------------------------------------- */

/* From event @n on so far as to the fault, which stands in front of its branch. */
static uint64_t end_of_branches(const struct show *show, uint64_t n)
{
	if (n < show->first_n)
		return show->first_n;
	if (show->fault->kind && n <= show->fault->n && show->fault->n < show->end_n)
		return show->fault->n;
	return show->end_n;
}

/* False: the sink wants no more. */
static bool show_range(struct show *show, unsigned int cpu, struct history *history)
{
	struct timeline_branches branches;
	struct btsrec_event event;
	bool goes_on = true;

	while (!history->status && goes_on && history->timeline.n < show->end_n) {
		if (history_branches(history, end_of_branches(show, history->timeline.n),
				     &branches))
			goes_on = branches.n < show->first_n || show_branches(show, cpu, &branches);
		else if (history_next(history, &event))
			goes_on = event.n < show->first_n || show_event(show, &event);
		else
			break;
	}
	return goes_on;
}

/* What session_tail() does, with many branches at a time. */
static enum btsrec_status show_plain(struct show *show, const struct show_plan *plan)
{
	struct btsrec *rec = show->renderer.rec;
	struct history begun, *history = show->part;
	bool goes_on;

	if (!history) {
		history = &begun;
		history_init(history, rec, plan->cpu, show->event_filter->nr_tail);
	}
	goes_on = show_range(show, plan->cpu, history);
	if (history->status || !goes_on || show->end_n == UINT64_MAX)
		return history_end(history, rec, plan->cpu, goes_on);
	history_fini(history);
	return BTSREC_OK;
}

/* Its events once, to count lines or to show them. */
static enum btsrec_status show_pass(struct show *show, const struct show_plan *plan)
{
	struct btsrec *rec = show->renderer.rec;
	struct level_filter_block block;
	enum btsrec_status status;

	event_filter_again(show->event_filter);
	show->nr_printed = 0;
	loops_init(&show->loops);
	level_filter_init(&show->level_filter, show->opts->filter->kernel);
	if (is_plain(show))
		status = show_plain(show, plan);
	else
		status = session_tail(rec, plan->cpu, show->event_filter->nr_tail, show_event,
				      show);
	if (show->reverse_buffer.nomem || show->nomem)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (status)
		return status;
	show_end_fold(show);
	if (level_filter_end(&show->level_filter, &block))
		show_block(show, &block);
	return BTSREC_OK;
}

/* --- Lines -------------------------------------------------------------- */

static bool counts_lines(const struct show *show)
{
	return show->level_filtered || show->opts->fold;
}

/* How many lines a level_filtered or folded history has is known only at the end. */
static enum btsrec_status count_lines(struct show *show, const struct show_plan *plan)
{
	uint64_t max_lines = show->opts->max_events;
	enum btsrec_status status;

	show->counting = true;
	show->nr_lines = 0;
	status = show_pass(show, plan);
	show->counting = false;
	show->nr_skip = show->nr_lines > max_lines ? show->nr_lines - max_lines : 0;
	return status;
}

static enum btsrec_status show_lines(struct show *show, const struct show_plan *plan)
{
	enum btsrec_status status = BTSREC_OK;

	if (counts_lines(show) && show->opts->max_events)
		status = count_lines(show, plan);
	if (!status)
		status = show_pass(show, plan);
	if (!status)
		reverse_buffer_print(&show->reverse_buffer, plan->cpu, show_print, show);
	reverse_buffer_fini(&show->reverse_buffer);
	return status;
}

/* --- The first lines ---------------------------------------------------- */

/* Does @show->event_filter need no more of a history than the threads that ran? */
static bool may_begin(const struct show *show)
{
	return !show->opts->max_events &&
	       !event_filter_filter(show->renderer.rec, &show->filter,
				    &show->event_filter->filter) &&
	       is_plain(show);
}

static void print_head(struct show *show, unsigned int cpu, const struct session_ring *ring)
{
	struct renderer *r = &show->renderer;

	if (show->format->cpu)
		show->format->cpu(r, btsrec_cpu(r->rec, cpu), ring);
}

/* What the renderer has counted is of @nr_user. */
static void take_counts(struct show *show, uint64_t *nr_user)
{
	for (unsigned int why = 0; why < SYMBOL_NR_WHYS; why++) {
		nr_user[why] += show->renderer.nr_user[why];
		show->renderer.nr_user[why] = 0;
	}
}

/* The events before @show->end_n. */
static enum btsrec_status show_before(struct show *show, unsigned int cpu,
				      const struct session_ring *ring)
{
	static const struct fault no_fault = { .why = FAULT_NO_FAULT };
	const struct show_plan plan = { .cpu = cpu };
	struct renderer *r = &show->renderer;
	enum btsrec_status status, sent;

	show->fault = &no_fault;
	r->types = show->opts->types ? &show->event_filter->types : NULL;
	print_head(show, cpu, ring);
	status = show_plain(show, &plan);
	r->types = NULL;
	r->side = NULL;
	sent = out_pages(&r->out);
	return status ? status : sent;
}

/* *@ret: the end of what was printed. */
static enum btsrec_status show_first(struct show *show, unsigned int cpu,
				     const struct session_ring *ring, uint64_t *ret)
{
	struct event_filter event_filter = { .rec = show->renderer.rec };
	enum btsrec_status status = BTSREC_OK;

	show->event_filter = &event_filter;
	show->first_n = 0;
	if (may_begin(show) && trace_first_spaces(event_filter.rec, cpu, &event_filter.spaces,
						  &show->end_n)) {
		status = trace_types_init(&event_filter.types, event_filter.rec,
					  &event_filter.spaces);
		if (!status)
			status = show_before(show, cpu, ring);
		*ret = show->end_n;
	}
	show->event_filter = NULL;
	event_filter_fini(&event_filter);
	return status;
}

/*
 * Where the fault is, and which thread ran when, is known only when all of the ring was read.  That
 * takes time in a large ring.  The first lines come before, from what is known by then.
 */
enum btsrec_status show_first_of_cpu(void *view, unsigned int cpu, void *data)
{
	struct show_first *first = data;
	struct show *show = view;
	struct session_ring ring;
	enum btsrec_status status = session_ring(show->renderer.rec, cpu, &ring);

	/* The plan fails for the same reason. */
	if (status)
		return BTSREC_OK;
	status = show_first(show, cpu, &ring, &first->end_n);
	take_counts(show, first->nr_user);
	return show_status(show, status);
}

/* --- The plan ----------------------------------------------------------- */

unsigned int show_max_parts(const struct btsrec *rec, unsigned int cpu)
{
	return relay_max_windows(btsrec_cpu(rec, cpu)->ring_bytes);
}

static enum btsrec_status plan_filter(struct show *show, struct show_plan *plan)
{
	struct event_filter *event_filter = &plan->event_filter;
	struct btsrec *rec = show->renderer.rec;
	enum btsrec_status status;

	status = event_filter_init(event_filter, rec, plan->cpu, &show->filter,
				   counts_lines(show) ? 0 : show->opts->max_events);
	if (!status &&
	    (show->level_filtered || show->opts->types || symbols_user_present(rec)))
		status = event_filter_add_types(event_filter, plan->cpu);
	return status;
}

static bool has_parts(struct show *show, const struct show_plan *plan)
{
	const struct btsrec *rec = show->renderer.rec;

	return (rec->is_file || btsrec_cpu(rec, plan->cpu)->frozen) &&
	       !plan->event_filter.nr_tail && is_plain(show);
}

static enum btsrec_status make_plan(struct show *show, unsigned int nr_parts,
				    struct show_plan *plan)
{
	struct btsrec *rec = show->renderer.rec;
	enum btsrec_status status = session_ring(rec, plan->cpu, &plan->ring);

	if (!status)
		status = trace_fault(rec, plan->cpu, &plan->fault);
	if (!status)
		status = plan_filter(show, plan);
	show->event_filter = &plan->event_filter;
	if (!status && nr_parts > 1 && has_parts(show, plan)) {
		status = relay_init(&plan->relay, rec, plan->cpu);
		plan->has_parts = !status;
	}
	show->event_filter = NULL;
	return show_status(show, status);
}

enum btsrec_status show_plan_cpu(void *view, unsigned int cpu, const void *first,
				 unsigned int nr_parts, void **ret)
{
	struct show_plan *plan = calloc(1, sizeof(*plan));
	struct show *show = view;

	if (!plan)
		return msg_set(&show->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	pthread_mutex_init(&plan->counting, NULL);
	plan->cpu = cpu;
	plan->first = first;
	*ret = plan;
	return make_plan(show, nr_parts, plan);
}

void show_drop_plan(void *data)
{
	struct show_plan *plan = data;

	if (plan->has_parts)
		relay_fini(&plan->relay);
	event_filter_fini(&plan->event_filter);
	pthread_mutex_destroy(&plan->counting);
	free(plan);
}

/* --- Parts -------------------------------------------------------------- */

static enum btsrec_status show_selected(struct show *show, const struct show_plan *plan)
{
	struct event_filter *event_filter = show->event_filter;
	struct renderer *r = &show->renderer;
	enum btsrec_status status = BTSREC_OK;

	if (event_filter->types.code)
		status = trace_types_init(&event_filter->types, r->rec, &event_filter->spaces);
	r->types = show->opts->types ? &event_filter->types : NULL;
	if (!status)
		status = show_lines(show, plan);
	if (!status && event_filter->filter.any && show->format->filtered)
		show->format->filtered(r, plan->cpu, event_filter->nr_wanted,
				       event_filter->nr_seen);
	r->types = NULL;
	r->side = NULL;
	return status;
}

/* The events of @show->first_n up to @show->end_n, if there are any. */
static enum btsrec_status show_events(struct show *show, struct show_plan *plan)
{
	/* Shares what it points to, and has a place in it of its own. */
	struct event_filter event_filter = plan->event_filter;
	enum btsrec_status status = BTSREC_OK;

	event_filter.rec = show->renderer.rec;
	show->fault = &plan->fault;
	show->event_filter = &event_filter;
	if (show->first_n < show->end_n)
		status = show_selected(show, plan);
	show->fault = NULL;
	show->event_filter = NULL;
	pthread_mutex_lock(&plan->counting);
	take_counts(show, plan->nr_user);
	pthread_mutex_unlock(&plan->counting);
	return show_status(show, status);
}

static enum btsrec_status show_part(struct show *show, struct show_plan *plan, unsigned int part)
{
	uint64_t printed_n = plan->first ? plan->first->end_n : 0;
	enum btsrec_status status;
	struct history history;

	status = relay_take(&plan->relay, show->renderer.rec, part, &history, &show->end_n);
	show->first_n = history.timeline.n > printed_n ? history.timeline.n : printed_n;
	show->part = &history;
	if (!status)
		status = show_events(show, plan);
	show->part = NULL;
	history_fini(&history);
	return status;
}

enum btsrec_status show_part_of_cpu(void *view, void *data, unsigned int part,
				    unsigned int nr_parts)
{
	struct show_plan *plan = data;
	struct show *show = view;

	if (!part && !(plan->first && plan->first->end_n))
		print_head(show, plan->cpu, &plan->ring);
	if (plan->has_parts)
		return show_part(show, plan, part);
	if (part < nr_parts - 1)
		return BTSREC_OK;
	show->first_n = plan->first ? plan->first->end_n : 0;
	show->end_n = UINT64_MAX;
	return show_events(show, plan);
}

enum btsrec_status show_end_cpu(void *view, void *data)
{
	const struct show_plan *plan = data;
	struct show *show = view;

	for (unsigned int why = 0; why < SYMBOL_NR_WHYS; why++) {
		if (plan->first)
			show->renderer.nr_user[why] += plan->first->nr_user[why];
		show->renderer.nr_user[why] += plan->nr_user[why];
	}
	if (show->format->cpu_end)
		show->format->cpu_end(&show->renderer, plan->cpu);
	return show_status(show, BTSREC_OK);
}
