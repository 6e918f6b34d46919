/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the views of one thread over all CPUs have in common. */
#ifndef BTSREC_VIEW_THREAD_H
#define BTSREC_VIEW_THREAD_H

#include "render/render.h"
#include "flow/event_filter.h"
#include "flow/thread.h"
#include "recorder/cpus.h"

/**
 * struct view_thread - a thread that is followed
 * @event_filters: by CPU; valid where @ready.  Both owned.
 * @filter: what else is wanted; its texts are the caller's.
 * @cpus: NULL: all CPUs; else @nr_cpus of them, whose events are printed; borrowed.
 */
struct view_thread {
	struct thread thread;
	struct event_filter *event_filters;
	bool *ready;
	struct btsrec_filter filter;
	const unsigned int *cpus;
	size_t nr_cpus;
};

/**
 * view_thread_check() - what is asked of a view that can also follow a thread
 * @cpus: NULL: all CPUs; else @nr_cpus of them.
 * @thread: as for thread_check(); NULL: no thread is followed.
 *
 * Return: BTSREC_OK, or as cpus_check(), event_filter_check() and thread_check(), in that order.
 */
enum btsrec_status view_thread_check(struct btsrec *rec, const unsigned int *cpus,
				     size_t nr_cpus, const struct btsrec_filter *filter,
				     const char *thread);

/**
 * view_thread_open() - thread @pid, a text that thread_check() has passed
 * @prove: as in struct thread.
 *
 * Return: as btsrec_events(); BTSREC_ERR_INVAL also if it is in no history.
 * view_thread_close() is allowed after all of them.
 */
enum btsrec_status view_thread_open(struct view_thread *view, struct btsrec *rec,
				    const char *pid, const struct btsrec_filter *filter,
				    bool prove);

/**
 * view_thread_choose() - print only what ran on these CPUs
 * @cpus: NULL: all CPUs; else @nr_cpus of them; borrowed.
 *
 * The thread is followed over all of them nevertheless.
 *
 * Return: BTSREC_ERR_INVAL: it ran on none of them, as far as the histories show.
 */
enum btsrec_status view_thread_choose(struct view_thread *view, const unsigned int *cpus,
				      size_t nr_cpus);

/** view_thread_wants() - is what ran on @cpu to be printed? */
static inline bool view_thread_wants(const struct view_thread *view, unsigned int cpu)
{
	return !view->cpus || cpus_has(view->cpus, view->nr_cpus, cpu);
}

/**
 * view_thread_select() - the filter and the fault of @cpu, on which the thread ran
 *
 * The filter has types.  Return: as event_filter_init().
 */
enum btsrec_status view_thread_select(struct view_thread *view, unsigned int cpu,
				      struct event_filter **ret, const struct fault **ret_fault);

/** view_thread_before() - the interval before number @i; NULL: it is the first */
static inline const struct interval *view_thread_before(const struct view_thread *view, size_t i)
{
	return i ? &view->thread.intervals.list[i - 1] : NULL;
}

/**
 * view_thread_rings() - the part of @format about a CPU, for those of the thread
 *
 * Return: as btsrec_events().
 */
enum btsrec_status view_thread_rings(const struct view_thread *view, struct renderer *r,
				     const struct render_format *format);

/** view_thread_end() - the part of @format that ends the thread */
void view_thread_end(const struct view_thread *view, struct renderer *r,
		     const struct render_format *format);

/** view_thread_close() - free what view_thread_open() allocated */
void view_thread_close(struct view_thread *view);

#endif /* BTSREC_VIEW_THREAD_H */
