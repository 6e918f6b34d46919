/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of one thread over all CPUs: its stack goes with it from CPU to CPU.
 *
 * Events are numbered anew, in the order in which they are printed, so that a number stands for one
 * event whatever its CPU.
 */
#ifndef BTSREC_THREAD_FRAMES_H
#define BTSREC_THREAD_FRAMES_H

#include "flow/thread.h"
#include "flow/trace_frames.h"

/**
 * struct thread_place - from number @n on, events are those of @cpu from @cpu_n on
 * @interval: number of the interval.
 */
struct thread_place {
	uint64_t n;
	unsigned int cpu;
	uint64_t cpu_n;
	size_t interval;
};

/** struct thread_places - ascending; owned */
struct thread_places {
	struct thread_place *list;
	size_t nr;
	size_t nr_room;
};

/** thread_place_of() - where event @n is; its own number on that CPU is @ret_n */
const struct thread_place *thread_place_of(const struct thread_places *places, uint64_t n,
					   uint64_t *ret_n);

/** thread_places_fini() - free them and leave none */
void thread_places_fini(struct thread_places *places);

/**
 * struct thread_frames_fns - the receiver
 * @interval: an interval begins; valid in places is its number.  The lane of its CPU is open.
 * @event: as in trace_frames().  Branches are passed on while the stack is that of the thread,
 *	other events in its intervals.
 * @end: after the last event, with what is open then.
 *
 * @interval and @event return false to stop.
 */
struct thread_frames_fns {
	bool (*interval)(void *arg, size_t i, struct frames *frames);
	trace_frames_fn event;
	void (*end)(void *arg, struct frames *frames);
	void *arg;
};

/**
 * thread_frames() - all events of the thread with the calls that they are
 * @places: empty; filled, and the caller's to free in every case.
 *
 * Return: as btsrec_events(), but BTSREC_OK if a function returned false.
 */
enum btsrec_status thread_frames(struct thread *thread, struct thread_places *places,
				 const struct thread_frames_fns *fns);

#endif /* BTSREC_THREAD_FRAMES_H */
