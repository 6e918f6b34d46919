/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One way through a history for several threads.  Where events begin is known of a window of the
 * ring only when those before it were passed by.  To read a window takes long, and to do something
 * with its events; to pass by them does not.  So each thread has a window, and one after the other
 * they pass by the events in it.  What a thread has read is still in its cache when it goes back.
 */
#ifndef BTSREC_RELAY_H
#define BTSREC_RELAY_H

#include <pthread.h>

#include "recorder/history.h"

/**
 * struct relay - of @cpu
 * @layout: of its ring.
 * @lock: of what follows.
 * @passed: @nr_passed has changed.
 * @nr_passed: so many windows were passed by.
 * @next: behind them.
 */
struct relay {
	unsigned int cpu;
	struct ring_layout layout;
	pthread_mutex_t lock;
	pthread_cond_t passed;
	unsigned int nr_passed;
	struct history next;
};

/**
 * relay_init() - before the first window
 *
 * Return: as history_init(); relay_fini() only after BTSREC_OK.
 */
enum btsrec_status relay_init(struct relay *relay, struct btsrec *rec, unsigned int cpu);

/** relay_fini() - nobody waits any more */
void relay_fini(struct relay *relay);

/** relay_max_windows() - how many windows there are in all at most, of a ring of @ring_bytes */
unsigned int relay_max_windows(uint64_t ring_bytes);

/**
 * relay_take() - take window @i, when those before it were passed by
 * @rec: a session of the calling thread.
 * @ret: before the events in it; for history_fini(), also after a failure.
 * @ret_end_n: behind them; UINT64_MAX: there is nothing more, or that could not be read.
 *
 * Each window has to be taken, in their order or at the same time.
 *
 * Return: as history_init().
 */
enum btsrec_status relay_take(struct relay *relay, struct btsrec *rec, unsigned int i,
			      struct history *ret, uint64_t *ret_end_n);

#endif /* BTSREC_RELAY_H */
