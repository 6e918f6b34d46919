/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The intervals in which one thread ran, of all CPUs, in the order of time.
 *
 * A thread runs on one CPU at a time.  Take two intervals, each with a known time in
 * it.  The one with the earlier time was over before the other began.  That is how far
 * the order of intervals on two CPUs can be proven.  Where it cannot be, or where the
 * thread may have run in between unrecorded, the interval says so.  Pure.
 */
#ifndef BTSREC_SCHED_INTERVALS_H
#define BTSREC_SCHED_INTERVALS_H

#include <btsrec/decoder.h>

/** enum interval_order - how an interval follows the one before it in the list */
enum interval_order {
	INTERVAL_FIRST,	       /* there is none before */
	INTERVAL_PROVEN,       /* later than it */
	INTERVAL_UNTIMED,      /* not known: one of both has no time stamp */
	INTERVAL_CONTRADICTED, /* by their time stamps they overlap, or begin at once */
};

/**
 * struct interval - events @first_n to @last_n of @cpu, all of one thread
 * @begins: the first event is the switch to the thread; else it may have run before.
 * @ends: the last event is the switch away from it, or the stop of the CPU; else it may
 *	have gone on.
 * @timed: it has time stamps, the first of them @first_tsc, the last @last_tsc; if it
 *	@begins and @ends these are its bounds.
 * @maybe: between the interval before and this one the thread may have run on
 *	@maybe_cpu; the history of that CPU does not say.
 */
struct interval {
	unsigned int cpu;
	uint64_t first_n;
	uint64_t last_n;
	bool begins;
	bool ends;
	bool timed;
	uint64_t first_tsc;
	uint64_t last_tsc;
	enum interval_order order;
	bool maybe;
	unsigned int maybe_cpu;
};

/** struct intervals_hole - of @cpu nothing is known between two time stamps */
struct intervals_hole {
	uint64_t from_tsc;
	uint64_t to_tsc;
	unsigned int cpu;
};

/**
 * struct intervals - of thread @pid
 * @list: owned, @nr of them; in order after intervals_end().
 * @holes: owned; of all CPUs.
 * @open: the newest of @list goes on, on the CPU that is being fed.
 * @cpu_tsc: newest time stamp of that CPU; @nr_timed: so many of its events had one.
 * @hole_open: since @cpu_tsc its history has a hole.
 */
struct intervals {
	uint32_t pid;
	struct interval *list;
	size_t nr;
	size_t nr_room;
	struct intervals_hole *holes;
	size_t nr_holes;
	size_t nr_holes_room;
	bool open;
	bool fed;
	unsigned int cpu;
	uint64_t cpu_tsc;
	bool hole_open;
	bool nomem;
};

/** intervals_init() - none yet of thread @pid */
void intervals_init(struct intervals *intervals, uint32_t pid);

/**
 * intervals_feed() - the next event of a CPU, oldest first; one CPU after the other
 * @side: the thread that ran up to @event; NULL: unknown.
 */
void intervals_feed(struct intervals *intervals, const struct btsrec_event *event,
		    const struct btsrec_side *side);

/** intervals_cpu_end() - there are no more events of the CPU that was fed */
void intervals_cpu_end(struct intervals *intervals);

/** intervals_blind() - @cpu ran, but its history cannot be read */
void intervals_blind(struct intervals *intervals, unsigned int cpu);

/** intervals_end() - there are no more CPUs; puts the intervals in order */
void intervals_end(struct intervals *intervals);

/** intervals_fini() - free all and leave none */
void intervals_fini(struct intervals *intervals);

#endif /* BTSREC_SCHED_INTERVALS_H */
