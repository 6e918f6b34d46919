// SPDX-License-Identifier: GPL-2.0-or-later
/* Events as values. */
#include "base/options.h"
#include "flow/event_filter.h"
#include "recorder/cpus.h"
#include "views/values.h"

/**
 * struct shown - one btsrec_show_each() under way
 * @event_filter: of the CPU that is read.
 */
struct shown {
	struct btsrec *rec;
	const struct btsrec_show *opts;
	btsrec_shown_fn fn;
	void *arg;
	struct event_filter event_filter;
};

static bool put_event(void *arg, const struct btsrec_event *event)
{
	struct shown *shown = arg;
	struct btsrec_shown value = { .size = sizeof(value), .event = event };

	if (!event_filter_wants(&shown->event_filter, event))
		return true;
	value.has_task = values_task(aspace_at(&shown->event_filter.spaces, event->n),
				     &value.task);
	if (shown->opts->types && event->kind == BTSREC_EVENT_BRANCH) {
		struct branch branch = trace_type(&shown->event_filter.types, event);

		value.type = branch_type_str(branch.type);
	}
	return shown->fn(shown->arg, &value);
}

static enum btsrec_status put_cpu(void *arg, unsigned int cpu)
{
	struct shown *shown = arg;
	struct event_filter *event_filter = &shown->event_filter;
	enum btsrec_status status;

	status = event_filter_init(event_filter, shown->rec, cpu, shown->opts->filter,
				   shown->opts->max_events);
	/* With them it is known which threads ran. */
	if (!status)
		status = event_filter_add_types(event_filter, cpu);
	if (!status)
		status = session_tail(shown->rec, cpu, event_filter->nr_tail, put_event, shown);
	event_filter_fini(event_filter);
	return status;
}

static enum btsrec_status check(struct btsrec *rec, const struct btsrec_show *opts)
{
	enum btsrec_status status = values_check(&rec->msg, opts->format);

	if (status)
		return status;
	if (opts->thread || opts->newest_first || opts->fold)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "events as values are those of CPUs, oldest first, each one");
	status = event_filter_check(rec, opts->filter);
	return status ? status : cpus_check(rec, opts->cpus, opts->nr_cpus);
}

enum btsrec_status btsrec_show_each(struct btsrec *rec, const struct btsrec_show *given,
				    btsrec_shown_fn fn, void *arg)
{
	struct btsrec_show opts;
	struct btsrec_filter filter;
	struct shown shown = { .rec = rec, .opts = &opts, .fn = fn, .arg = arg };
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	if (!status)
		status = check(rec, &opts);
	if (status)
		return status;
	status = cpus_for_each(rec, opts.cpus, opts.nr_cpus, put_cpu, &shown);
	return cpus_end(rec, opts.cpus, status);
}
