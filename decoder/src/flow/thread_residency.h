/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where threads were seen, by the switches of all CPUs: has a thread that comes back to
 * a CPU been on another one meanwhile?  Then its stack there is of another time.  Pure.
 */
#ifndef BTSREC_THREAD_RESIDENCY_H
#define BTSREC_THREAD_RESIDENCY_H

#include <btsrec/decoder.h>

/** struct sighting - at @tsc thread @pid began or ceased to run on @cpu */
struct residency {
	uint32_t pid;
	unsigned int cpu;
	uint64_t tsc;
};

/**
 * struct residency_cpu - what of a CPU's time its history tells without a hole
 * @from, @to: first and last time stamp; none if @from is the larger one.
 * @blind: it ran, but there is no history at all.
 * @told: since event @since_n, where the history or a part of it begins, something has
 *	said who runs.
 */
struct residency_cpu {
	uint64_t from;
	uint64_t to;
	bool blind;
	bool ran;
	bool printed;
	uint64_t since_n;
};

/** struct residency_interval - who ran on @cpu from event @first_n until @end_n is not known */
struct residency_interval {
	unsigned int cpu;
	uint64_t first_n;
	uint64_t end_n;
};

/**
 * struct sightings - of all CPUs
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

/** enum sighted - where a thread has been */
enum sighted {
	SIGHTED_NOWHERE,	/* on no other CPU */
	SIGHTED_ELSEWHERE,
	SIGHTED_UNKNOWN,	/* one history does not reach back, or has a hole */
};

/** residency_init() - false: out of memory. */
bool residency_init(struct residencies *residencies, unsigned int nr_cpus);

/**
 * residency_feed() - the next event of its CPU, oldest first; false: out of memory
 *
 * Branches may be left out, see residency_ran().
 */
bool residency_feed(struct residencies *residencies, const struct btsrec_event *event);

/** residency_ran() - @cpu has a history, of which branches were not fed */
void residency_ran(struct residencies *residencies, unsigned int cpu);

/** residency_is_known() - has the history of @cpu said who runs, in what was fed? */
bool residency_is_known(const struct residencies *residencies, unsigned int cpu);

/**
 * residency_switched() - at event @n, @cpu changed to another thread's stack
 *
 * If nothing was told before, the annotation of that switch is not there: it names the
 * thread that ran from here on.  False: out of memory.
 */
bool residency_switched(struct residencies *residencies, unsigned int cpu, uint64_t n);

/** residency_stranger() - did a thread run at event @n of @cpu of which nothing tells? */
bool residency_stranger(const struct residencies *residencies, unsigned int cpu, uint64_t n);

/** residency_blind() - @cpu has run, but its history cannot be read */
void residency_blind(struct residencies *residencies, unsigned int cpu);

/** residency_end() - there are no more events; before the first question */
void residency_end(struct residencies *residencies);

/**
 * residency_between() - was @pid elsewhere than on @cpu between two time stamps?
 * @ret_cpu: where, or whose history is not enough; untouched if NOWHERE.
 *
 * Thread 0 is the idle thread, of which each CPU has its own.
 */
enum sighted residency_between(const struct residencies *residencies, uint32_t pid,
			       unsigned int cpu, uint64_t from_tsc, uint64_t to_tsc,
			       unsigned int *ret_cpu);

/** residency_fini() - free; allowed after residency_init() failed. */
void residency_fini(struct residencies *residencies);

#endif /* BTSREC_THREAD_RESIDENCY_H */
