/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions about single calls of all CPUs.  What is asked for is listed CPU by CPU and put in the
 * order of time.  Each question then has a file of its own.
 */
#ifndef BTSREC_VIEW_SEARCH_H
#define BTSREC_VIEW_SEARCH_H

#include "flow/event_filter.h"
#include "flow/trace_onoff.h"
#include "render/render.h"
#include "tally/call_list.h"

#include <btsrec/values.h>

/* Bits of struct listed_call.tags; of BTSREC_LOCKS these are numbers of lock_function_at(). */
enum {
	SEARCH_WHAT = 1 << 0,
	SEARCH_SECOND = 1 << 1,
};

/**
 * struct search_target - which functions an operand means
 * @start: of the function that an address is in, if @by_start.
 * @filter: else; its texts are in @text.
 * @unknown: the kernel and its modules have no function of that name; a program may.
 */
struct search_target {
	bool by_start;
	bool unknown;
	uint64_t start;
	struct filter filter;
	char text[FILTER_MAX_PATTERN_BYTES + 1];
};

/**
 * struct search_time - when an event was, within bounds
 * @min_tsc, @max_tsc: 0 and UINT64_MAX where nothing bounds it.
 */
struct search_time {
	uint64_t min_tsc;
	uint64_t max_tsc;
};

/** struct search_line - call @call of @cpu, and when it was entered */
struct search_line {
	struct search_time time;
	unsigned int cpu;
	const struct listed_call *call;
};

/**
 * struct search - one question under way
 * @targets: of the operands of @opts; not @has_targets: all functions are meant.
 * @events: what of the filter is asked of an event; @places: the rest, asked of a function.
 * @lists: by CPU, @nr_lists of them; of those that were not read all zero.
 * @onoff: of BTSREC_LOCKS: likewise, whether interrupts and preemption were on at the fault or the
 *	end; else NULL.
 * @lines: calls that are wanted, the oldest first; @nr_lines of them.
 * @fn: gets values, with @arg, and nothing is printed; else NULL.
 */
struct search {
	struct renderer renderer;
	const struct btsrec_search *opts;
	struct search_target targets[2];
	bool has_targets;
	struct btsrec_filter events;
	struct filter places;
	struct clock clock;
	struct call_list *lists;
	struct trace_onoff *onoff;
	unsigned int nr_lists;
	struct search_line *lines;
	size_t nr_lines;
	btsrec_found_fn fn;
	void *arg;
};

/** search_is_text() - else values are handed out or printed as JSON */
static inline bool search_is_text(const struct search *view)
{
	return !view->fn && view->opts->format == BTSREC_FORMAT_TEXT;
}

/** search_when() - when event @n of @list was */
struct search_time search_when(const struct call_list *list, uint64_t n);

/** search_before() - is it certain that @a was before @b, or at the same moment? */
static inline bool search_before(const struct search_line *a, const struct search_line *b)
{
	if (a->cpu == b->cpu)
		return a->call->n <= b->call->n;
	return a->time.max_tsc <= b->time.min_tsc;
}

/** search_list() - of the CPU of @line */
static inline const struct call_list *search_list(const struct search *view,
						  const struct search_line *line)
{
	return &view->lists[line->cpu];
}

/** search_thread() - the one that made the call; NULL: not known */
static inline const struct btsrec_side *search_thread(const struct search *view,
						      const struct search_line *line)
{
	return call_list_side(search_list(view, line), line->call->side);
}

/** search_compare() - the order of two numbers, for qsort() */
static inline int search_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/** search_side() - search_thread(), and names are looked up as it */
const struct btsrec_side *search_side(struct search *view, const struct search_line *line);

/** search_start() - where the function begins that @va is in; @va itself if that is not known */
uint64_t search_start(struct search *view, const struct btsrec_side *side, uint64_t va);

/** search_is_after_fault() - did @line deal with the fault, as far as that is known? */
bool search_is_after_fault(const struct search *view, const struct search_line *line);

/**
 * search_is_open() - does the thread that runs at the end of the history run in it?
 *
 * Without an end, the call of another thread may have ended where that went on.
 */
bool search_is_open(const struct search *view, const struct search_line *line);

/** search_nr_shown() - how many of @nr lines the question wants */
static inline size_t search_nr_shown(const struct search *view, size_t nr)
{
	uint64_t max_lines = view->opts->max_lines;

	return max_lines && max_lines < nr ? (size_t)max_lines : nr;
}

/* --- Parts of lines ------------------------------------------------------ */

/** search_text_head() - CPU, event, time and thread; @unordered: nothing proves the order */
void search_text_head(struct search *view, const struct search_line *line, bool unordered);

/** search_text_time() - both bounds, in ms from the freeze */
void search_text_time(struct search *view, const struct search_time *time);

/** search_text_span() - how long something took, in ms; @max_ticks: UINT64_MAX: no bound */
void search_text_span(struct search *view, uint64_t min_ticks, uint64_t max_ticks,
		      unsigned int width);

/** search_text_columns() - the comment that names these columns; @what: of the rest */
void search_text_columns(struct search *view, const char *what);

/** search_text_function() - the function at @va, with an offset if that is not its start */
void search_text_function(struct search *view, uint64_t va);

/** search_text_state() - what is to be known of a call besides: open, after the fault ... */
void search_text_state(struct search *view, const struct search_line *line);

/** search_text_end() - what is missing in the histories, and names that nobody knows */
void search_text_end(struct search *view);

/**
 * search_newest_begin() - when the newest history begins that has forgotten something
 *
 * Return: the latest moment; UINT64_MAX: it has no time stamp; 0: none has forgotten anything,
 * and *@ret_cpu is left alone.
 */
uint64_t search_newest_begin(const struct search *view, unsigned int *ret_cpu);

/** search_nr_gaps() - of all histories that were read */
uint64_t search_nr_gaps(const struct search *view);

/* --- Values, and JSON lines of them -------------------------------------- */

/** search_put_begin() - in front of all others; @nr_lines: how many there are */
void search_put_begin(struct search *view, size_t nr_lines);

/** search_put() - @line; @value has what the question adds to it, and gets the rest */
void search_put(struct search *view, const struct search_line *line, struct btsrec_found *value);

/**
 * search_put_onoff() - whether they are on: of @line only times and events are valid
 * @kind: BTSREC_FOUND_INTERRUPTS or BTSREC_FOUND_PREEMPTION.
 * @value: has the rest.
 */
void search_put_onoff(struct search *view, enum btsrec_found_kind kind,
		      const struct search_line *line, struct btsrec_found *value);

/** search_put_stay() - a thread runs: of @line only times and events are valid */
void search_put_stay(struct search *view, const struct search_line *line);

/* --- Questions ----------------------------------------------------------- */

/** search_last() - the calls that were asked for, the newest first */
enum btsrec_status search_last(struct search *view);

/** search_merged() - all calls in the order of time, the oldest first */
enum btsrec_status search_merged(struct search *view);

/** search_pairs() - the calls of one operand that have none of the other in their thread */
enum btsrec_status search_pairs(struct search *view);

/** search_slow() - the calls whose duration has bounds, the longest first */
enum btsrec_status search_slow(struct search *view);

/** search_path() - the chains of calls from one operand to the other */
enum btsrec_status search_path(struct search *view);

/** search_locks() - which locks are held or waited for, and where interrupts are off */
enum btsrec_status search_locks(struct search *view);

/** search_around_check() - is @event one of some CPU?  BTSREC_OK, BTSREC_ERR_INVAL */
enum btsrec_status search_around_check(struct btsrec *rec, const char *event);

/** search_around() - what all CPUs did at the time of an event */
enum btsrec_status search_around(struct search *view);

#endif /* BTSREC_VIEW_SEARCH_H */
