/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Views CPU by CPU: each CPU is a task of the pool, or several.  Each worker has a session and a
 * view of its own, so that workers share nothing but what never changes.
 */
#ifndef BTSREC_CPU_TASKS_H
#define BTSREC_CPU_TASKS_H

#include <btsrec/decoder.h>

/**
 * struct cpu_tasks - a view over CPUs
 * @view_bytes: of a view, which is cleared, and freed after @close.
 * @out_at: where in it its struct out is.
 * @open: the rest of @view, of @rec; false: out of memory, and @close is not called.
 * @begin: before the first CPU, by one view; NULL: nothing.
 * @cpu: print @cpu; anything but BTSREC_OK ends it all, with a message in the session.  NULL:
 *	there are @first, @max_parts, @plan, @part, @end and @drop.
 * @first: print the first lines of the first CPU, @cpu, while others plan.  What the parts have to
 *	know of it goes to @first, which has @first_bytes bytes, cleared.
 * @max_parts: how many parts @cpu has at most.  The text of a part is kept until its turn, so they
 *	are small.
 * @plan: before the @nr_parts parts of @cpu: what they share goes to *@ret, also on failure.
 *	Prints nothing.  @first is for the parts of the first CPU, which come after; else NULL.
 * @part: print part @part of @nr_parts of what @plan planned, which no part changes but in a
 *	place that is its own.
 * @end: behind the text of all parts, when they are done.
 * @drop: free what @plan planned.
 * @close: no more CPUs: add what was counted to @arg, print the last words, free what @view
 *	has; NULL: nothing of that.
 *
 * @open and @close are called by the caller of cpu_tasks_print(), the others by several threads at
 * once, of different views.  One worker alone has one part of each CPU.
 */
struct cpu_tasks {
	size_t view_bytes;
	size_t out_at;
	bool (*open)(void *arg, void *view, struct btsrec *rec);
	void (*begin)(void *view);
	enum btsrec_status (*cpu)(void *view, unsigned int cpu);
	size_t first_bytes;
	enum btsrec_status (*first)(void *view, unsigned int cpu, void *first);
	unsigned int (*max_parts)(const struct btsrec *rec, unsigned int cpu);
	enum btsrec_status (*plan)(void *view, unsigned int cpu, const void *first,
				   unsigned int nr_parts, void **ret);
	enum btsrec_status (*part)(void *view, void *plan, unsigned int part,
				   unsigned int nr_parts);
	enum btsrec_status (*end)(void *view, void *plan);
	void (*drop)(void *plan);
	enum btsrec_status (*close)(void *arg, void *view);
};

/**
 * cpu_tasks_one() - what one view prints of all CPUs
 * @print: all that there is, in place of @tasks->begin and of what prints a CPU.
 *
 * Return: that of @print, if it is not BTSREC_OK, else of @close; BTSREC_ERR_STOPPED: the sink
 * wanted no more; BTSREC_ERR_NOMEM.
 */
enum btsrec_status cpu_tasks_one(struct btsrec *rec, const struct cpu_tasks *tasks,
				 enum btsrec_status (*print)(void *view), void *arg,
				 const struct btsrec_sink *sink);

/**
 * cpu_tasks_print() - print each of @cpus
 * @cpus: @nr_cpus numbers that cpus_check() has passed; NULL: all that have a usable ring.
 * @alone: one worker, with @rec itself, whatever btsrec_set_threads() has said.
 * @sink: borrowed; called by all workers, one at a time.
 *
 * There is also one worker where the source reads no whole pages, and where there is a resolver.
 *
 * Return: the first status of a CPU that is not BTSREC_OK, else that of @close;
 * BTSREC_ERR_STOPPED: the sink wanted no more; BTSREC_ERR_NOMEM.
 */
enum btsrec_status cpu_tasks_print(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus,
				   bool alone, const struct cpu_tasks *tasks, void *arg,
				   const struct btsrec_sink *sink);

#endif /* BTSREC_CPU_TASKS_H */
