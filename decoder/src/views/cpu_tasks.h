/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Views CPU by CPU: each CPU is a task of the pool.  Each worker has a session and a view of its
 * own, so that workers share nothing but what never changes.
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
 * @cpu: print @cpu; anything but BTSREC_OK ends it all, with a message in the session.
 * @close: no more CPUs: add what was counted to @arg, print the last words, free what @view
 *	has; NULL: nothing of that.
 *
 * @cpu and @begin are called by several threads at once, of different views; the others by the
 * caller of cpu_tasks_print().
 */
struct cpu_tasks {
	size_t view_bytes;
	size_t out_at;
	bool (*open)(void *arg, void *view, struct btsrec *rec);
	void (*begin)(void *view);
	enum btsrec_status (*cpu)(void *view, unsigned int cpu);
	enum btsrec_status (*close)(void *arg, void *view);
};

/**
 * cpu_tasks_one() - what one view prints of all CPUs
 * @print: all that there is, in place of @tasks->begin and @tasks->cpu.
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
 * Return: the first status of @cpu that is not BTSREC_OK, else that of @close;
 * BTSREC_ERR_STOPPED: the sink wanted no more; BTSREC_ERR_NOMEM.
 */
enum btsrec_status cpu_tasks_print(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus,
				   bool alone, const struct cpu_tasks *tasks, void *arg,
				   const struct btsrec_sink *sink);

#endif /* BTSREC_CPU_TASKS_H */
