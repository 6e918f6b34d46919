// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/event_filter.h"

#include <string.h>

#include "symbols/symbol.h"

static struct branch look_up_type(void *arg, const struct btsrec_event *event)
{
	struct event_filter *event_filter = arg;

	return trace_type(&event_filter->types, event);
}

static bool look_up_name(void *arg, const struct btsrec_side *side, uint64_t va, bool raw,
			 struct symbol_name *ret)
{
	struct event_filter *event_filter = arg;
	enum symbol_why why;

	return symbol_find_in_as(event_filter->rec, side, va, raw, ret, &why);
}

static bool passes(struct event_filter *event_filter, const struct btsrec_event *event)
{
	const struct filter_lookup lookup = {look_up_type, look_up_name, event_filter};

	return event->n >= event_filter->window.first_n && event->n < event_filter->window.end_n &&
	       filter_wants(&event_filter->filter, event,
			    aspace_at(&event_filter->spaces, event->n), &lookup);
}

bool event_filter_counts(const struct event_filter *event_filter, const struct btsrec_event *event)
{
	return !event_filter->filter.any || event->kind != BTSREC_EVENT_GAP;
}

static bool count(void *arg, const struct btsrec_event *event)
{
	struct event_filter *event_filter = arg;

	event_filter->nr_old += event_filter_counts(event_filter, event) &&
				passes(event_filter, event);
	return true;
}

enum btsrec_status event_filter_filter(struct btsrec *rec, const struct btsrec_filter *opts,
				       struct filter *ret)
{
	const struct btsrec_root *root = btsrec_root(rec);
	struct clock clock;

	if (!root)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no recorder located yet");
	clock = clock_of(root, btsrec_cpu(rec, root->freeze_cpu));
	return filter_init(opts, &clock, &rec->msg, ret);
}

/* A window under way. */
struct windowing {
	const struct filter *filter;
	struct filter_window window;
};

static bool feed_window(void *arg, const struct btsrec_event *event)
{
	struct windowing *windowing = arg;

	filter_window_feed(windowing->filter, event, &windowing->window);
	return true;
}

static enum btsrec_status find_window(struct btsrec *rec, unsigned int cpu,
				      const struct filter *filter, struct filter_window *ret)
{
	struct windowing windowing = { filter, filter_window(filter) };
	enum btsrec_status status = BTSREC_OK;

	if (filter->from.kind == FILTER_TSC || filter->to.kind == FILTER_TSC)
		status = btsrec_other_events(rec, cpu, feed_window, &windowing, NULL);
	if (!status)
		*ret = windowing.window;
	return status;
}

enum btsrec_status event_filter_check(struct btsrec *rec, const struct btsrec_filter *opts)
{
	struct filter filter;

	return event_filter_filter(rec, opts, &filter);
}

enum btsrec_status event_filter_init(struct event_filter *event_filter, struct btsrec *rec,
				     unsigned int cpu, const struct btsrec_filter *opts,
				     uint64_t max_events)
{
	enum btsrec_status status;

	memset(event_filter, 0, sizeof(*event_filter));
	event_filter->rec = rec;
	status = event_filter_filter(rec, opts, &event_filter->filter);
	if (status)
		return status;
	if (!event_filter->filter.any) {
		event_filter->nr_tail = max_events;
		return BTSREC_OK;
	}
	status = event_filter_add_types(event_filter, cpu);
	if (!status)
		status = find_window(rec, cpu, &event_filter->filter, &event_filter->window);
	if (!status && max_events)
		status = btsrec_events(rec, cpu, count, event_filter);
	event_filter->nr_old =
		event_filter->nr_old > max_events ? event_filter->nr_old - max_events : 0;
	return status;
}

enum btsrec_status event_filter_add_types(struct event_filter *event_filter, unsigned int cpu)
{
	enum btsrec_status status;

	if (event_filter->types.code)
		return BTSREC_OK;
	status = trace_spaces(event_filter->rec, cpu, &event_filter->spaces);
	if (!status)
		status = trace_types_init(&event_filter->types, event_filter->rec,
					  &event_filter->spaces);
	return status;
}

bool event_filter_shows(const struct event_filter *event_filter, const struct btsrec_event *event)
{
	const struct filter *filter = &event_filter->filter;

	return event->kind == BTSREC_EVENT_BRANCH ||
	       (event->kind != BTSREC_EVENT_GAP && filter->user == filter->kernel);
}

bool event_filter_wants(struct event_filter *event_filter, const struct btsrec_event *event)
{
	if (!event_filter->filter.any)
		return true;
	event_filter->nr_seen++;
	if (!passes(event_filter, event))
		return false;
	event_filter->nr_wanted++;
	if (!event_filter_counts(event_filter, event))
		return event_filter->nr_matched >= event_filter->nr_old;
	event_filter->rec->matched |= event_filter_shows(event_filter, event);
	return ++event_filter->nr_matched > event_filter->nr_old;
}

bool event_filter_event(struct event_filter *event_filter, const struct btsrec_event *event)
{
	const struct filter_lookup lookup = {look_up_type, look_up_name, event_filter};

	return filter_wants(&event_filter->filter, event,
			    aspace_at(&event_filter->spaces, event->n), &lookup);
}

bool event_filter_place(struct event_filter *event_filter, uint64_t n, uint64_t va)
{
	const struct filter_lookup lookup = {look_up_type, look_up_name, event_filter};

	return filter_place(&event_filter->filter, aspace_at(&event_filter->spaces, n), va,
			    &lookup);
}

void event_filter_again(struct event_filter *event_filter)
{
	event_filter->nr_seen = 0;
	event_filter->nr_wanted = 0;
	event_filter->nr_matched = 0;
}

void event_filter_fini(struct event_filter *event_filter)
{
	aspace_fini(&event_filter->spaces);
}
