/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view of events: what CPU by CPU and one thread over all CPUs share. */
#ifndef BTSREC_VIEW_SHOW_H
#define BTSREC_VIEW_SHOW_H

#include "render/reverse_buffer.h"
#include "tally/loops.h"
#include "render/render.h"
#include "flow/event_filter.h"
#include "flow/thread.h"
#include "recorder/history.h"
#include "render/labels.h"

/**
 * struct show - one btsrec_show() under way, or one worker's part of it
 * @labels: of lines of branches.
 * @nomem: a line was lost for lack of memory.
 * @fault, @event_filter: of the CPU being printed; borrowed.
 * @filter: that of @opts; without the level if that is @level_filtered.
 * @part: where a part of a history begins; borrowed.  NULL: the history is in one piece.
 * @first_n, @end_n: the part of a history that is printed, in events; if each event is a line as
 *	it is.
 * @counting: lines are counted in @nr_lines, not shown.
 * @nr_skip: so many lines are too old to be shown.
 * @nr_printed: so many were shown of this CPU.
 * @loops: what is not printed yet, of @loops_cpu; if @opts folds.
 * @interval: NULL, or to be printed in front of the next line; @interval_before: before it.
 */
struct show {
	struct renderer renderer;
	struct labels labels;
	bool nomem;
	const struct render_format *format;
	const struct btsrec_show *opts;
	const struct fault *fault;
	struct btsrec_filter filter;
	struct event_filter *event_filter;
	bool level_filtered;
	struct level_filter level_filter;
	struct history *part;
	uint64_t first_n;
	uint64_t end_n;
	bool counting;
	uint64_t nr_lines;
	uint64_t nr_skip;
	uint64_t nr_printed;
	struct loops loops;
	unsigned int loops_cpu;
	const struct interval *interval;
	const struct interval *interval_before;
	struct reverse_buffer reverse_buffer;
};

/** show_event() - the next event, if it is wanted; false: stop */
bool show_event(void *arg, const struct btsrec_event *event);

/** show_print() - the line of @event, or of @block, whatever was asked for; false: stop */
bool show_print(void *arg, const struct btsrec_event *event,
		const struct level_filter_block *block);

/** show_line() - print @event, if its line is wanted */
void show_line(struct show *show, const struct btsrec_event *event);

/**
 * show_takes_line() - is the next line shown?  If not, it was counted, or is too old
 * @event: NULL: it is not the line of one event.
 */
bool show_takes_line(struct show *show, const struct btsrec_event *event);

/** show_folded() - @event is the next line, unless it goes round; then it is held back */
void show_folded(struct show *show, const struct btsrec_event *event);

/** show_end_fold() - print what is kept; at the end of a part of a CPU's history */
void show_end_fold(struct show *show);

/** show_block() - what the other level did */
void show_block(struct show *show, const struct level_filter_block *block);

/** show_print_interval() - print @show->interval, once */
void show_print_interval(struct show *show);

/** show_branch() - the line of a branch, whatever was asked for */
void show_branch(struct show *show, const struct btsrec_event *event);

/** show_branches() - as show_branch(), of many; false: stop */
bool show_branches(struct show *show, unsigned int cpu, const struct timeline_branches *branches);

/** show_goes_on() - has nothing failed, and does the sink want more? */
bool show_goes_on(const struct show *show);

/** show_status() - @status, unless a line was lost for lack of memory; then that, with a message */
enum btsrec_status show_status(const struct show *show, enum btsrec_status status);

/**
 * struct show_first - what was printed of the first CPU before it was planned
 * @end_n: the events before this one; 0: nothing.
 * @nr_user: see struct renderer.
 */
struct show_first {
	uint64_t end_n;
	uint64_t nr_user[SYMBOL_NR_WHYS];
};

/**
 * show_first_of_cpu(), show_max_parts(), show_plan_cpu(), show_part_of_cpu(), show_end_cpu(),
 * show_drop_plan() - see struct cpu_tasks; @first is a struct show_first
 */
enum btsrec_status show_first_of_cpu(void *view, unsigned int cpu, void *first);
unsigned int show_max_parts(const struct btsrec *rec, unsigned int cpu);
enum btsrec_status show_plan_cpu(void *view, unsigned int cpu, const void *first,
				 unsigned int nr_parts, void **ret);
enum btsrec_status show_part_of_cpu(void *view, void *plan, unsigned int part,
				    unsigned int nr_parts);
enum btsrec_status show_end_cpu(void *view, void *plan);
void show_drop_plan(void *plan);

/** show_thread() - the thread of @show->opts over all CPUs; as btsrec_events() */
enum btsrec_status show_thread(struct show *show);

/**
 * show_to_nobody() - read all that is read to show every event with names and types
 * @nowhere: a sink that discards.
 *
 * Return: as btsrec_show() of a session with a located recorder.
 */
enum btsrec_status show_to_nobody(struct btsrec *rec, const struct btsrec_sink *nowhere);

#endif /* BTSREC_VIEW_SHOW_H */
