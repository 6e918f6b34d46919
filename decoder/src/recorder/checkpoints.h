/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places from which a history can go on.  Where its newest events begin is known only when all of
 * it was read.  Of a compressed dump that takes longer than all that is done with the events.  So a
 * reader of all of it leaves such places.
 */
#ifndef BTSREC_CHECKPOINTS_H
#define BTSREC_CHECKPOINTS_H

#include "recorder/history.h"

/* The newest events begin after one of them, if they are at most CHECKPOINTS_EACH distances. */
#define CHECKPOINTS_MAX 8
#define CHECKPOINTS_EACH      4
#define CHECKPOINTS_DISTANCE BOUND(16384, 512)

/**
 * struct checkpoints - the newest places of one way through a history
 * @places: @nr were added, number i is at i % CHECKPOINTS_MAX.
 * @distance: at least so many events are from one to the next.
 * @nr_events: of the whole history; 0: not at its end yet.
 */
struct checkpoints {
	struct history places[CHECKPOINTS_MAX];
	size_t nr;
	uint64_t distance;
	uint64_t nr_events;
};

/** checkpoints_new() - none yet, for free(); NULL: out of memory */
struct checkpoints *checkpoints_new(uint64_t distance);

/** checkpoints_add() - @history is between two runs */
void checkpoints_add(struct checkpoints *checkpoints, const struct history *history);

/**
 * checkpoints_restore() - let @history go on from the newest place that is not behind event @n
 *
 * Return: false: none is kept, @history is as it was.
 */
bool checkpoints_restore(const struct checkpoints *checkpoints, uint64_t n,
			 struct history *history);

/** checkpoints_keep() - @checkpoints, complete, are those of @cpu from now on; owned by @rec */
void checkpoints_keep(struct btsrec *rec, unsigned int cpu, struct checkpoints *checkpoints);

/** checkpoints_kept() - those of @cpu, if its ring still is as in @history; NULL: none */
const struct checkpoints *checkpoints_kept(struct btsrec *rec, unsigned int cpu,
					   const struct history *history);

#endif /* BTSREC_CHECKPOINTS_H */
