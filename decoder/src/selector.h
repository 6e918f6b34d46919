/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A filter at work on the history of one CPU.  A view asks selector_wants() about
 * every event, oldest first; whatever it has to keep up with (levels, proofs) it does
 * for the others, too.
 */
#ifndef BTSREC_SELECTOR_H
#define BTSREC_SELECTOR_H

#include "filter.h"
#include "trace.h"

/**
 * struct selector - which events of one CPU are wanted
 * @spaces, @types: who ran, and kinds of branches; valid if @filter.any, or added.
 * @nr_tail: so many of the newest events have all that are wanted; 0: all.
 * @nr_old: of the wanted ones so many are too old.
 * @nr_seen, @nr_wanted: events that selector_wants() was asked about, and those that
 *	the filter lets through.
 */
struct selector {
	struct btsrec *rec;
	struct filter filter;
	struct filter_window window;
	struct aspace spaces;
	struct trace_types types;
	uint64_t nr_tail;
	uint64_t nr_old;
	uint64_t nr_seen;
	uint64_t nr_wanted;
};

/**
 * selector_check() - is @opts understood? Before the first byte of output
 *
 * Return: BTSREC_OK, BTSREC_ERR_INVAL.
 */
enum btsrec_status selector_check(struct btsrec *rec, const struct btsrec_filter *opts);

/**
 * selector_filter() - @opts as a filter, for who asks it itself
 * @ret: borrows the texts of @opts.
 *
 * Return: BTSREC_OK, BTSREC_ERR_INVAL.
 */
enum btsrec_status selector_filter(struct btsrec *rec, const struct btsrec_filter *opts,
				   struct filter *ret);

/**
 * selector_init() - before the oldest event of @cpu
 * @opts: borrowed until selector_fini(), which is allowed after a failure, too.
 * @max_events: only the newest so many wanted events; 0: all.
 *
 * Return: as btsrec_events(); BTSREC_ERR_INVAL also for @opts.
 */
enum btsrec_status selector_init(struct selector *selector, struct btsrec *rec, unsigned int cpu,
				 const struct btsrec_filter *opts, uint64_t max_events);

/**
 * selector_add_types() - make @selector->types valid if it is not
 *
 * Return: as btsrec_events().
 */
enum btsrec_status selector_add_types(struct selector *selector, unsigned int cpu);

/** selector_wants() - about each of the newest @nr_tail events once, oldest first */
bool selector_wants(struct selector *selector, const struct btsrec_event *event);

/** selector_event() - is @event, which is no branch, wanted wherever it is? */
bool selector_event(struct selector *selector, const struct btsrec_event *event);

/** selector_place() - filter_place() at event @n */
bool selector_place(struct selector *selector, uint64_t n, uint64_t va);

/** selector_again() - begin once more with the oldest of these events */
void selector_again(struct selector *selector);

/** selector_fini() - free what selector_init() allocated */
void selector_fini(struct selector *selector);

#endif /* BTSREC_SELECTOR_H */
