/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places from which a history can go on.  Where its newest events begin is known only when all of
 * it was read.  Of a compressed dump that takes longer than all that is done with the events.  So a
 * reader of all of it leaves such places.
 */
#ifndef BTSREC_CHECKPOINTS_H
#define BTSREC_CHECKPOINTS_H

#include "recorder/history.h"

#define CHECKPOINTS_MAX		64
/* Events from one place to the next, as long as no more than CHECKPOINTS_MAX are needed. */
#define CHECKPOINTS_DISTANCE	BOUND(16384, 512)

/**
 * struct checkpoints - places all along one way through a history
 * @places: @nr of them, oldest first; the first one is before event 0.
 * @distance: at least so many events are from one to the next.
 * @nr_events: of the whole history; 0: not at its end yet.
 */
struct checkpoints {
	size_t nr;
	uint64_t distance;
	uint64_t nr_events;
	struct history places[CHECKPOINTS_MAX];
};

/** checkpoints_new() - none yet, for free(); NULL: out of memory */
struct checkpoints *checkpoints_new(void);

/** checkpoints_add() - @history is between two runs */
void checkpoints_add(struct checkpoints *checkpoints, const struct history *history);

/**
 * checkpoints_restore() - let @history go on from the newest place that is not behind event @n
 *
 * Return: false: there is none, @history is as it was.
 */
bool checkpoints_restore(const struct checkpoints *checkpoints, uint64_t n,
			 struct history *history);

/** checkpoints_keep() - @checkpoints, complete, are those of @cpu from now on; owned by @rec */
void checkpoints_keep(struct btsrec *rec, unsigned int cpu, struct checkpoints *checkpoints);

/** checkpoints_kept() - those of @cpu, if its ring still is @ring, until kept anew; NULL: none */
const struct checkpoints *checkpoints_kept(struct btsrec *rec, unsigned int cpu,
					   const struct session_ring *ring);

#endif /* BTSREC_CHECKPOINTS_H */
