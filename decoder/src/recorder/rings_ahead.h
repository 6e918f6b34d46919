/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rings of a packed dump, unpacked by another thread while the session is busy with names, or
 * with the ring before.
 * The dump keeps what was unpacked, see page_cache.h, so that who reads the ring next finds it.
 */
#ifndef BTSREC_RINGS_AHEAD_H
#define BTSREC_RINGS_AHEAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include <btsrec/decoder.h>

#include "base/bounds.h"

/* So far is read ahead, half of what a dump keeps: the other half is for what is in use. */
#define RINGS_AHEAD_MAX_PAGES	BOUND(8192, 8)

/**
 * struct rings_ahead - of a session; all zero: no ring was asked for
 * @first_cpu, @end_cpu: whose rings the session is going to read.
 * @cpu, @page: where reading goes on; @page is of the ring.
 * @thread: valid if @running; it has all of the above, until @ended.
 * @at_pa: the first of the pages that it is reading; 0: none.
 * @met_pa: where it was when the session came there: the rest of that ring is the session's.
 */
struct rings_ahead {
	unsigned int first_cpu;
	unsigned int end_cpu;
	unsigned int cpu;
	size_t page;
	pthread_t thread;
	bool running;
	bool ended;
	uint64_t at_pa;
	uint64_t met_pa;
};

/** rings_ahead_want() - a view is going to read the rings of @cpus, NULL: of all, in this order */
void rings_ahead_want(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus);

/**
 * rings_ahead_begin() - another thread may read rings, until rings_ahead_end()
 *
 * If btsrec_set_threads() allows it, and the source keeps what it has read.
 */
void rings_ahead_begin(struct btsrec *rec);

/** rings_ahead_behind() - the same for rings behind that of @cpu, which was read once */
void rings_ahead_behind(struct btsrec *rec, unsigned int cpu);

/**
 * rings_ahead_meet() - the session is going to read the @nr pages at @page_pa
 *
 * By any thread of the session but that one.
 */
void rings_ahead_meet(struct btsrec *rec, const uint64_t *page_pa, size_t nr);

/** rings_ahead_end() - it is over, whether it has begun or not; it may begin again */
void rings_ahead_end(struct btsrec *rec);

/** rings_ahead_forget() - it is over, and no ring is wanted: the view ends */
void rings_ahead_forget(struct btsrec *rec);

#endif /* BTSREC_RINGS_AHEAD_H */
