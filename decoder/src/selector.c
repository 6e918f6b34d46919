// SPDX-License-Identifier: GPL-2.0-or-later
#include "selector.h"

#include <string.h>

#include "symbol.h"

static struct branch look_up_type(void *arg, const struct btsrec_event *event)
{
	struct selector *selector = arg;

	return trace_type(&selector->types, event);
}

static bool look_up_name(void *arg, const struct btsrec_side *side, uint64_t va,
			 struct symbol_name *ret)
{
	struct selector *selector = arg;
	enum symbol_why why;

	return symbol_find_in(selector->rec, side, va, ret, &why);
}

static bool passes(struct selector *selector, const struct btsrec_event *event)
{
	const struct filter_lookup lookup = { look_up_type, look_up_name, selector };

	return event->n >= selector->window.first_n && event->n < selector->window.end_n &&
	       filter_wants(&selector->filter, event,
			    aspace_at(&selector->spaces, event->n), &lookup);
}

static bool count(void *arg, const struct btsrec_event *event)
{
	struct selector *selector = arg;

	selector->nr_old += passes(selector, event);
	return true;
}

enum btsrec_status selector_filter(struct btsrec *rec, const struct btsrec_filter *opts,
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

enum btsrec_status selector_check(struct btsrec *rec, const struct btsrec_filter *opts)
{
	struct filter filter;

	return selector_filter(rec, opts, &filter);
}

enum btsrec_status selector_init(struct selector *selector, struct btsrec *rec, unsigned int cpu,
				 const struct btsrec_filter *opts, uint64_t max_events)
{
	enum btsrec_status status;

	memset(selector, 0, sizeof(*selector));
	selector->rec = rec;
	status = selector_filter(rec, opts, &selector->filter);
	if (status)
		return status;
	if (!selector->filter.any) {
		selector->nr_tail = max_events;
		return BTSREC_OK;
	}
	status = selector_add_types(selector, cpu);
	if (!status)
		status = find_window(rec, cpu, &selector->filter, &selector->window);
	if (!status && max_events)
		status = btsrec_events(rec, cpu, count, selector);
	selector->nr_old = selector->nr_old > max_events ? selector->nr_old - max_events : 0;
	return status;
}

enum btsrec_status selector_add_types(struct selector *selector, unsigned int cpu)
{
	enum btsrec_status status;

	if (selector->types.code)
		return BTSREC_OK;
	status = trace_spaces(selector->rec, cpu, &selector->spaces);
	if (!status)
		status = trace_types_init(&selector->types, selector->rec, &selector->spaces);
	return status;
}

bool selector_wants(struct selector *selector, const struct btsrec_event *event)
{
	if (!selector->filter.any)
		return true;
	selector->nr_seen++;
	if (!passes(selector, event))
		return false;
	return ++selector->nr_wanted > selector->nr_old;
}

bool selector_event(struct selector *selector, const struct btsrec_event *event)
{
	const struct filter_lookup lookup = { look_up_type, look_up_name, selector };

	return filter_wants(&selector->filter, event, aspace_at(&selector->spaces, event->n),
			    &lookup);
}

bool selector_place(struct selector *selector, uint64_t n, uint64_t va)
{
	const struct filter_lookup lookup = { look_up_type, look_up_name, selector };

	return filter_place(&selector->filter, aspace_at(&selector->spaces, n), va, &lookup);
}

void selector_again(struct selector *selector)
{
	selector->nr_seen = 0;
	selector->nr_wanted = 0;
}

void selector_fini(struct selector *selector)
{
	aspace_fini(&selector->spaces);
}
