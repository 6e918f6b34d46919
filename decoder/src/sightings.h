/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where threads were seen, by the switches of all CPUs: has a thread that comes back to
 * a CPU been on another one meanwhile?  Then its stack there is of another time.  Pure.
 */
#ifndef BTSREC_SIGHTINGS_H
#define BTSREC_SIGHTINGS_H

#include <btsrec/decoder.h>

/** struct sighting - at @tsc thread @pid began or ceased to run on @cpu */
struct sighting {
	uint32_t pid;
	unsigned int cpu;
	uint64_t tsc;
};

/**
 * struct sightings_cpu - what of a CPU's time its history tells without a hole
 * @from, @to: first and last time stamp; none if @from is the larger one.
 * @blind: it ran, but there is no history at all.
 * @told: since event @since_n, where the history or a part of it begins, something has
 *	said who runs.
 */
struct sightings_cpu {
	uint64_t from;
	uint64_t to;
	bool blind;
	bool ran;
	bool told;
	uint64_t since_n;
};

/** struct sightings_stretch - who ran on @cpu from event @first_n until @end_n is not known */
struct sightings_stretch {
	unsigned int cpu;
	uint64_t first_n;
	uint64_t end_n;
};

/**
 * struct sightings - of all CPUs
 * @list, @strangers: owned; sorted by sightings_end().
 * @cpus: owned, @nr_cpus of them.
 */
struct sightings {
	struct sighting *list;
	size_t nr;
	size_t nr_room;
	struct sightings_stretch *strangers;
	size_t nr_strangers;
	size_t nr_strangers_room;
	struct sightings_cpu *cpus;
	unsigned int nr_cpus;
};

/** enum sighted - where a thread has been */
enum sighted {
	SIGHTED_NOWHERE,	/* on no other CPU */
	SIGHTED_ELSEWHERE,
	SIGHTED_UNKNOWN,	/* one history does not reach back, or has a hole */
};

/** sightings_init() - false: out of memory. */
bool sightings_init(struct sightings *sightings, unsigned int nr_cpus);

/**
 * sightings_feed() - the next event of its CPU, oldest first; false: out of memory
 *
 * Branches may be left out, see sightings_ran().
 */
bool sightings_feed(struct sightings *sightings, const struct btsrec_event *event);

/** sightings_ran() - @cpu has a history, of which branches were not fed */
void sightings_ran(struct sightings *sightings, unsigned int cpu);

/** sightings_is_told() - has the history of @cpu said who runs, in what was fed? */
bool sightings_is_told(const struct sightings *sightings, unsigned int cpu);

/**
 * sightings_switched() - at event @n, @cpu changed to another thread's stack
 *
 * If nothing was told before, the annotation of that switch is not there: it names the
 * thread that ran from here on.  False: out of memory.
 */
bool sightings_switched(struct sightings *sightings, unsigned int cpu, uint64_t n);

/** sightings_stranger() - did a thread run at event @n of @cpu of which nothing tells? */
bool sightings_stranger(const struct sightings *sightings, unsigned int cpu, uint64_t n);

/** sightings_blind() - @cpu has run, but its history cannot be read */
void sightings_blind(struct sightings *sightings, unsigned int cpu);

/** sightings_end() - there are no more events; before the first question */
void sightings_end(struct sightings *sightings);

/**
 * sightings_between() - was @pid elsewhere than on @cpu between two time stamps?
 * @ret_cpu: where, or whose history is not enough; untouched if NOWHERE.
 *
 * Thread 0 is the idle thread, of which each CPU has its own.
 */
enum sighted sightings_between(const struct sightings *sightings, uint32_t pid, unsigned int cpu,
			       uint64_t from_tsc, uint64_t to_tsc, unsigned int *ret_cpu);

/** sightings_fini() - free; allowed after sightings_init() failed. */
void sightings_fini(struct sightings *sightings);

#endif /* BTSREC_SIGHTINGS_H */
