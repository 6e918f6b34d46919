/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view of calls: how each format words a line of the tree. */
#ifndef BTSREC_VIEW_CALLS_H
#define BTSREC_VIEW_CALLS_H

#include "tally/calltree.h"
#include "base/counter_map.h"
#include "render/name_cache.h"
#include "render/render.h"
#include "render/text_columns.h"
#include "views/view_args.h"
#include "views/view_thread.h"

#include <btsrec/values.h>

/**
 * struct calls_filter - which lines of a tree are wanted
 * @event_filter: of the CPU of the line; borrowed.
 * @thread: what the thread that runs does is wanted.
 * @scopes: by thread, owned: in which events a wanted function runs; @scope: of the
 *	thread that runs, NULL: none is known yet.
 */
struct calls_filter {
	struct event_filter *event_filter;
	bool thread;
	struct counter_map scopes;
	struct count *scope;
	bool nomem;
};

/** enum calls_wish - what to do with a line */
enum calls_wish {
	CALLS_SKIP,
	CALLS_TAKE,
	CALLS_TAKE_ALONE,	/* does not need the line of its thread */
	CALLS_KEEP,		/* only in front of the next one that is taken */
};

/**
 * struct calls - one view of calls under way
 * @tree, @fault: of @cpu.
 * @spaces: which thread ran when on @cpu; empty if user addresses have no names.
 * @followed: NULL, or the thread of the tree, over all CPUs; then numbers of events
 *	stand for @places, and @cpu changes with them.
 * @tsc_khz: 0: unknown.
 * @least: indent that is printed as 0, with all below.
 * @wanted: which lines; NULL: all.
 * @source: with the source line of each call, where it is known.
 * @args: of the calls of @cpu, owned; NULL: they are not wanted.
 * @fn, @arg: receive each line as a value; NULL: lines are printed.
 * @heads, @name_cache: what text lines have in common; the texts are owned, NULL: none are kept.
 */
struct calls {
	struct renderer renderer;
	const struct render_format *format;
	const struct calls_format *lines;
	const struct btsrec_calls *opts;
	struct calltree tree;
	struct fault fault;
	struct aspace spaces;
	unsigned int cpu;
	struct view_thread *followed;
	struct thread_places places;
	uint64_t tsc_khz;
	uint32_t least;
	struct calls_filter *wanted;
	bool source;
	struct args *args;
	btsrec_call_fn fn;
	void *arg;
	struct text_heads heads;
	struct name_cache_entry *name_cache;
};

/**
 * struct calls_format - how one format words the tree
 * @call: a CALLTREE_CALL, which most lines are; @indent: how deep.
 * @line: another line that is no event.
 * @other: of an event, a fault or an interval; NULL: as @format of the view prints it.
 * @fold: the @period lines before went round @nr_more times more, up to event @last_n;
 *	NULL: never fold.
 */
struct calls_format {
	void (*call)(struct calls *view, const struct calltree_line *line, uint32_t indent);
	void (*line)(struct calls *view, const struct calltree_line *line, uint32_t indent);
	void (*other)(struct calls *view, const struct calltree_line *line, uint64_t n);
	void (*fold)(struct calls *view, const struct calltree_line *first, uint32_t indent,
		     unsigned int period, uint64_t nr_more, uint64_t last_n);
};

extern const struct calls_format calls_text;
extern const struct calls_format calls_json;
extern const struct calls_format calls_values;

/**
 * calls_init() - a view of @rec in text or JSON lines
 * @view: cleared but for its struct out; its options are the caller's.
 */
void calls_init(struct calls *view, struct btsrec *rec, enum btsrec_format format);

/** calls_lines() - print lines @first to @end - 1 of the tree in view->cpu */
void calls_lines(struct calls *view, size_t first, size_t end, uint32_t max_depth);

/** calls_place_followed() - calls_place() of a thread that is followed */
uint64_t calls_place_followed(const struct calls *view, uint64_t n, unsigned int *ret_cpu);

/** calls_place() - the number that event @n of the tree has on its CPU, *@ret_cpu */
static inline uint64_t calls_place(const struct calls *view, uint64_t n, unsigned int *ret_cpu)
{
	if (view->followed)
		return calls_place_followed(view, n, ret_cpu);
	*ret_cpu = view->cpu;
	return n;
}

/** calls_thread() - for cpu_tasks_one(): of a struct calls, the tree of its options' thread */
enum btsrec_status calls_thread(void *arg);

/** calls_print_tree() - print all lines of the tree, as @view->opts wants them */
enum btsrec_status calls_print_tree(struct calls *view, struct btsrec *rec);

/** calls_wish() - is @line of @view wanted, by view->wanted?  All lines, in order. */
enum calls_wish calls_wish(struct calls *view, const struct calltree_line *line);

/** calls_function() - the name of @va as text, without offset at its start, or the address */
void calls_function(struct renderer *r, uint64_t va);

/** calls_syscall() - " (NAME)", if @handler_va is a system call's */
void calls_syscall(struct renderer *r, uint64_t handler_va);

/** calls_break() - the step of the proof that made the line @line a break */
struct proof_step calls_break(const struct calltree_line *line);

/** calls_duration_timed() - calls_duration() in a tree with times */
bool calls_duration_timed(struct calls *view, const struct calltree_line *line,
			  uint64_t *ret_min, uint64_t *ret_max);

/** calls_duration() - bounds of a call in ns, or in ticks; false: nothing to print */
static inline bool calls_duration(struct calls *view, const struct calltree_line *line,
				  uint64_t *ret_min, uint64_t *ret_max)
{
	return view->tree.nr_times && calls_duration_timed(view, line, ret_min, ret_max);
}

#endif /* BTSREC_VIEW_CALLS_H */
