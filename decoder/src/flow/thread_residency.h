/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where threads were seen, by the switches of all CPUs: has a thread that comes back to
 * a CPU been on another one meanwhile?  Then its stack there is of another time.  Pure.
 */
#ifndef BTSREC_THREAD_RESIDENCY_H
#define BTSREC_THREAD_RESIDENCY_H

#include <btsrec/decoder.h>

/** struct residency - at @tsc thread @pid began or ceased to run on @cpu */
struct residency {
	uint32_t pid;
	unsigned int cpu;
	uint64_t tsc;
};

/**
 * struct residency_cpu - the part of a CPU's time that its history has without a hole
 * @from, @to: first and last time stamp; none if @from is the larger one.
 * @blind: it ran, but there is no history at all.
 * @named: since event @since_n, where the history or a part of it begins, an event
 *	has named the thread that runs.
 */
struct residency_cpu {
	uint64_t from;
	uint64_t to;
	bool blind;
	bool ran;
	bool named;
	uint64_t since_n;
};

/** struct residency_interval - thread not known on @cpu, events @first_n to before @end_n */
struct residency_interval {
	unsigned int cpu;
	uint64_t first_n;
	uint64_t end_n;
};

/**
 * struct residencies - of all CPUs
 * @list, @strangers: owned; sorted by residency_end().
 * @cpus: owned, @nr_cpus of them.
 */
struct residencies {
	struct residency *list;
	size_t nr;
	size_t nr_room;
	struct residency_interval *strangers;
	size_t nr_strangers;
	size_t nr_strangers_room;
	struct residency_cpu *cpus;
	unsigned int nr_cpus;
};

/** enum residence - where a thread has been */
enum residence {
	RESIDENCE_NOWHERE,	/* on no other CPU */
	RESIDENCE_ELSEWHERE,
	RESIDENCE_UNKNOWN,	/* one history does not reach back, or has a hole */
};

/** residency_init() - false: out of memory. */
bool residency_init(struct residencies *residencies, unsigned int nr_cpus);

/**
 * residency_feed() - the next event of its CPU, oldest first; false: out of memory
 *
 * Branches may be left out, see residency_ran().
 */
bool residency_feed(struct residencies *residencies, const struct btsrec_event *event);

/** residency_ran() - @cpu has a history; its branches were not fed */
void residency_ran(struct residencies *residencies, unsigned int cpu);

/** residency_is_known() - has an event of @cpu that was fed named the thread that runs? */
bool residency_is_known(const struct residencies *residencies, unsigned int cpu);

/**
 * residency_switched() - at event @n, @cpu changed to another thread's stack
 *
 * If no event named a thread before, the annotation of that switch is not there: it would name the
 * thread that ran from here on.  False: out of memory.
 */
bool residency_switched(struct residencies *residencies, unsigned int cpu, uint64_t n);

/** residency_stranger() - did a thread that no event names run at event @n of @cpu? */
bool residency_stranger(const struct residencies *residencies, unsigned int cpu, uint64_t n);

/** residency_blind() - @cpu has run, but its history cannot be read */
void residency_blind(struct residencies *residencies, unsigned int cpu);

/** residency_end() - there are no more events; before the first question */
void residency_end(struct residencies *residencies);

/**
 * residency_between() - was @pid elsewhere than on @cpu between two time stamps?
 * @ret_cpu: where, or the CPU with a history that is not enough; untouched if NOWHERE.
 *
 * Thread 0 is the idle thread; each CPU has its own.
 */
enum residence residency_between(const struct residencies *residencies, uint32_t pid,
				 unsigned int cpu, uint64_t from_tsc, uint64_t to_tsc,
				 unsigned int *ret_cpu);

/** residency_fini() - free; allowed after residency_init() failed. */
void residency_fini(struct residencies *residencies);

#endif /* BTSREC_THREAD_RESIDENCY_H */
