/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events of a history are wanted: the texts of struct btsrec_filter turned
 * into tests.  They test one event, the thread that ran, and the names and the kind
 * of a branch.  Pure: names and kinds come from the caller, and only when a test
 * needs them.
 */
#ifndef BTSREC_FILTER_H
#define BTSREC_FILTER_H

#include "code/branch.h"
#include "flow/clock.h"
#include "base/status.h"

struct symbol_name;

/* btsrec-show(1) names them.  The numbers may be those of all processes of a program. */
#define FILTER_MAX_IDS			1024
#define FILTER_MAX_RANGES		16
#define FILTER_MAX_PATTERN_BYTES	255

/** struct filter_ids - any of @nr numbers, ascending; none: every */
struct filter_ids {
	size_t nr;
	uint32_t id[FILTER_MAX_IDS];
};

/** filter_compare_ids() - two of these numbers, as qsort() and bsearch() want it */
int filter_compare_ids(const void *a, const void *b);

/** struct filter_range - addresses, both ends included */
struct filter_range {
	uint64_t first;
	uint64_t last;
};

/**
 * struct filter_edge - where what is wanted begins or ends
 * @value: number of an event, or TSC.
 */
struct filter_edge {
	enum { FILTER_OPEN, FILTER_N, FILTER_TSC } kind;
	uint64_t value;
};

/**
 * struct filter - a filter ready for use
 * @any: something is filtered; else every event is wanted.
 * @by_branch: only branches can be wanted, because of their addresses, names or kind.
 * @user, @kernel: only this level.
 * @comm, @symbols, @modules: patterns, borrowed; NULL: any.
 * @types: a bit for each enum branch_type; 0: any.
 */
struct filter {
	bool any;
	bool by_branch;
	bool user;
	bool kernel;
	struct filter_ids pids;
	struct filter_ids tgids;
	const char *comm;
	const char *symbols;
	const char *modules;
	size_t nr_ranges;
	struct filter_range ranges[FILTER_MAX_RANGES];
	uint32_t types;
	struct filter_edge from;
	struct filter_edge to;
};

/**
 * filter_init() - understand @opts; its texts must live as long as @ret
 * @opts: NULL: nothing is filtered.
 *
 * Return: BTSREC_OK; BTSREC_ERR_INVAL with the text that is not understood, or if the dump has no
 * clock or no end to count from.
 */
enum btsrec_status filter_init(const struct btsrec_filter *opts, const struct clock *clock,
			       struct msg *msg, struct filter *ret);

/** filter_asks_branches() - does @opts ask for branches by their addresses, names or kind? */
bool filter_asks_branches(const struct btsrec_filter *opts);

/** filter_without_branches() - take that out of @opts */
void filter_without_branches(struct btsrec_filter *opts);

/**
 * struct filter_window - events of one CPU between the edges: [@first_n, @end_n)
 *
 * A branch has no time of its own, only that of the annotations before and after
 * it.  Events are inside unless they cannot be.
 */
struct filter_window {
	uint64_t first_n;
	uint64_t end_n;
};

/** filter_window() - the window while no time stamp is known */
struct filter_window filter_window(const struct filter *filter);

/** filter_window_feed() - narrow @window; every event of the CPU, oldest first */
void filter_window_feed(const struct filter *filter, const struct btsrec_event *event,
			struct filter_window *window);

/**
 * struct filter_lookup - what a filter may ask about a branch
 * @type: its kind.
 * @name: the name of an address as @side saw it; false: none.
 */
struct filter_lookup {
	struct branch (*type)(void *arg, const struct btsrec_event *event);
	bool (*name)(void *arg, const struct btsrec_side *side, uint64_t va, bool raw,
		     struct symbol_name *ret);
	void *arg;
};

/**
 * filter_wants() - is @event, inside its window, wanted?
 * @side: the thread that ran; NULL: unknown, which no thread matches.
 *
 * A gap always is: what is missing may have been wanted.  A switch is if either
 * thread is.  A branch is of the level that it leaves.
 */
bool filter_wants(const struct filter *filter, const struct btsrec_event *event,
		  const struct btsrec_side *side, const struct filter_lookup *lookup);

/** filter_names() - does @name match one of @patterns, which filter_init() has taken? */
bool filter_names(const char *patterns, const char *name);

/** filter_thread() - is @side wanted? NULL: unknown, which no thread matches */
bool filter_thread(const struct filter *filter, const struct btsrec_side *side);

/** filter_place() - is the address @va, as @side saw it, among the addresses and names? */
bool filter_place(const struct filter *filter, const struct btsrec_side *side, uint64_t va,
		  const struct filter_lookup *lookup);

/** filter_level() - is code at @va of a level that is wanted? */
bool filter_level(const struct filter *filter, uint64_t va);

#endif /* BTSREC_FILTER_H */
