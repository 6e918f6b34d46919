/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A filter at work on the history of one CPU.  A view asks event_filter_wants() about
 * every event, oldest first; whatever it has to keep up with (levels, proofs) it does
 * for the others, too.
 */
#ifndef BTSREC_EVENT_FILTER_H
#define BTSREC_EVENT_FILTER_H

#include "flow/filter.h"
#include "flow/trace.h"

/**
 * struct event_filter - which events of one CPU are wanted
 * @spaces, @types: threads that ran, and kinds of branches; valid if @filter.any, or added.
 * @nr_tail: so many of the newest events have all that are wanted; 0: all.
 * @nr_old: of those that match so many are too old.
 * @nr_seen, @nr_wanted: events that event_filter_wants() was asked about, and those that
 *	the filter lets through; @nr_matched: without gaps, which it lets through unseen.
 */
struct event_filter {
	struct btsrec *rec;
	struct filter filter;
	struct filter_window window;
	struct aspace spaces;
	struct trace_types types;
	uint64_t nr_tail;
	uint64_t nr_old;
	uint64_t nr_seen;
	uint64_t nr_wanted;
	uint64_t nr_matched;
};

/**
 * event_filter_check() - is @opts understood? Before the first byte of output
 *
 * Return: BTSREC_OK, BTSREC_ERR_INVAL.
 */
enum btsrec_status event_filter_check(struct btsrec *rec, const struct btsrec_filter *opts);

/**
 * event_filter_filter() - @opts as a filter, for a caller that asks it itself
 * @ret: borrows the texts of @opts.
 *
 * Return: BTSREC_OK, BTSREC_ERR_INVAL.
 */
enum btsrec_status event_filter_filter(struct btsrec *rec, const struct btsrec_filter *opts,
				       struct filter *ret);

/**
 * event_filter_init() - before the oldest event of @cpu
 * @opts: borrowed until event_filter_fini(), which is allowed after a failure, too.
 * @max_events: only the newest so many wanted events, and the gaps between them; 0: all.
 *	A gap counts if nothing is filtered.
 *
 * Return: as btsrec_events(); BTSREC_ERR_INVAL also for @opts.
 */
enum btsrec_status event_filter_init(struct event_filter *event_filter, struct btsrec *rec,
				     unsigned int cpu, const struct btsrec_filter *opts,
				     uint64_t max_events);

/**
 * event_filter_add_types() - make @event_filter->types valid if it is not
 *
 * Return: as btsrec_events().
 */
enum btsrec_status event_filter_add_types(struct event_filter *event_filter, unsigned int cpu);

/** event_filter_wants() - about each of the newest @nr_tail events once, oldest first */
bool event_filter_wants(struct event_filter *event_filter, const struct btsrec_event *event);

/**
 * event_filter_counts() - is @event one of the newest that were asked for?
 *
 * A gap passes every filter, so that it would stand for the match that was asked for.
 */
bool event_filter_counts(const struct event_filter *event_filter, const struct btsrec_event *event);

/**
 * event_filter_shows() - does @event, which passes, stand for more than that it is there?
 *
 * A gap passes every filter, and annotations pass that of a level.
 */
bool event_filter_shows(const struct event_filter *event_filter, const struct btsrec_event *event);

/** event_filter_event() - is @event, which is no branch, wanted wherever it is? */
bool event_filter_event(struct event_filter *event_filter, const struct btsrec_event *event);

/** event_filter_place() - filter_place() at event @n */
bool event_filter_place(struct event_filter *event_filter, uint64_t n, uint64_t va);

/** event_filter_again() - begin once more with the oldest of these events */
void event_filter_again(struct event_filter *event_filter);

/** event_filter_fini() - free what event_filter_init() allocated */
void event_filter_fini(struct event_filter *event_filter);

#endif /* BTSREC_EVENT_FILTER_H */
