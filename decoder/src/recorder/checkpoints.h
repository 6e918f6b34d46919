/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places from which a history can go on.  Where its newest events begin is known only
 * when all of it was read, which of a compressed dump takes longer than all that is done
 * with them: so a reader of all of it leaves such places.
 */
#ifndef BTSREC_CHECKPOINTS_H
#define BTSREC_CHECKPOINTS_H

#include "recorder/history.h"

/* The newest events begin behind one of them, if they are at most CHECKPOINTS_EACH distances. */
#define HISTORY_NR_MARKS 8
#define CHECKPOINTS_EACH      4
#define HISTORY_MARK_DISTANCE BOUND(16384, 512)

/**
 * struct checkpoints - the newest places of one way through a history
 * @places: @nr were added, number i is at i % HISTORY_NR_MARKS.
 * @distance: at least so many events are from one to the next.
 * @nr_events: of the whole history; 0: not at its end yet.
 */
struct checkpoints {
	struct history places[HISTORY_NR_MARKS];
	size_t nr;
	uint64_t distance;
	uint64_t nr_events;
};

/** checkpoints_new() - none yet, for free(); NULL: out of memory */
struct checkpoints *checkpoints_new(uint64_t distance);

/** checkpoints_add() - @history is between two runs */
void checkpoints_add(struct checkpoints *marks, const struct history *history);

/**
 * checkpoints_restore() - let @history go on from the newest place that is not behind event @n
 *
 * Return: false: none is kept, @history is as it was.
 */
bool checkpoints_restore(const struct checkpoints *marks, uint64_t n, struct history *history);

/** checkpoints_keep() - @marks, complete, are those of @cpu from now on; owned by @rec */
void checkpoints_keep(struct btsrec *rec, unsigned int cpu, struct checkpoints *marks);

/** checkpoints_kept() - those of @cpu, if its ring still is as in @history; NULL: none */
const struct checkpoints *checkpoints_kept(struct btsrec *rec, unsigned int cpu,
					   const struct history *history);

#endif /* BTSREC_CHECKPOINTS_H */
