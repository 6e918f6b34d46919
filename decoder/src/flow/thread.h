/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The history of one thread, put together from those of all CPUs. */
#ifndef BTSREC_THREAD_H
#define BTSREC_THREAD_H

#include "flow/sched_intervals.h"
#include "flow/trace.h"
#include "flow/trace_fault.h"

/**
 * struct thread_lane - one CPU
 * @opened: the rest is valid.
 * @pending, @has_pending: an event that was read too early.
 * @fault: of the CPU.
 */
struct thread_lane {
	bool opened;
	struct trace trace;
	bool has_pending;
	struct trace_event pending;
	struct fault fault;
};

/**
 * struct thread - thread @intervals.pid
 * @intervals: when it ran, in order.
 * @lanes: by CPU; owned.
 * @prove: events come with the steps of the proof.
 */
struct thread {
	struct btsrec *rec;
	struct intervals intervals;
	struct thread_lane *lanes;
	unsigned int nr_lanes;
	bool prove;
};

/**
 * thread_check() - is @pid, a text, a thread that can be followed?  Before any output
 * @filter: what else is wanted; NULL: nothing.
 *
 * Return: BTSREC_OK; BTSREC_ERR_INVAL: no number, the idle thread, since each CPU has its own; or
 * with a choice of threads or of event numbers.
 */
enum btsrec_status thread_check(struct btsrec *rec, const char *pid,
				const struct btsrec_filter *filter, uint32_t *ret_pid);

/**
 * thread_open() - find out when thread @pid ran
 *
 * Return: as btsrec_events(); thread_close() is allowed after all of them.
 */
enum btsrec_status thread_open(struct thread *thread, struct btsrec *rec, uint32_t pid,
			       bool prove);

/** thread_rewind() - begin once more with the first interval */
void thread_rewind(struct thread *thread);

/**
 * thread_lane() - that of a CPU on which the thread ran
 *
 * Return: as btsrec_events().
 */
enum btsrec_status thread_lane(struct thread *thread, unsigned int cpu,
			       struct thread_lane **ret);

/**
 * thread_interval() - the events of an interval
 * @i: of the list; ascending from call to call.
 *
 * Return: as btsrec_events(); BTSREC_ERR_STOPPED: @fn returned false.
 */
enum btsrec_status thread_interval(struct thread *thread, size_t i, trace_fn fn, void *arg);

/**
 * thread_tail() - the branches after an interval, up to the next annotation
 *
 * Between the annotation of a switch and the switch itself the thread still runs.
 *
 * Return: as thread_interval(), but BTSREC_OK if @fn returned false.
 */
enum btsrec_status thread_tail(struct thread *thread, size_t i, trace_fn fn, void *arg);

/** thread_close() - free what thread_open() allocated */
void thread_close(struct thread *thread);

#endif /* BTSREC_THREAD_H */
