/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that belong together as brackets do, and what of a thread's time all histories show.  Pure:
 * the caller has the calls in order.
 */
#ifndef BTSREC_PAIRS_H
#define BTSREC_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIRS_NONE SIZE_MAX

/**
 * pairs_match() - which call that leaves belongs to which call that enters
 * @enters: of each of @nr calls, the oldest first: does it enter?  Else it leaves.
 * @objects: of each call, what it is for; 0: not known.
 * @open: room for @nr numbers.
 * @ret_other: of each call the number of the other one; PAIRS_NONE: it has none.
 *
 * What leaves belongs to the newest call before it that entered and is not left yet.  One for the
 * same object comes first, because that is not entered twice.  One for another never does.
 */
void pairs_match(const bool *enters, const uint64_t *objects, size_t nr, size_t *open,
		 size_t *ret_other);

/** struct pairs_time - on @cpu, from one time stamp to another, @from_tsc below @to_tsc */
struct pairs_time {
	uint64_t from_tsc;
	uint64_t to_tsc;
	unsigned int cpu;
};

/** pairs_order_times() - sort @nr of @times by their beginning */
void pairs_order_times(struct pairs_time *times, size_t nr);

/** pairs_covered() - do @nr of @times, sorted, on other CPUs together have all of @wanted? */
bool pairs_covered(const struct pairs_time *times, size_t nr, const struct pairs_time *wanted);

#endif /* BTSREC_PAIRS_H */
