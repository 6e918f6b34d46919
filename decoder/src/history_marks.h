/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places from which a history can go on.  Where its newest events begin is known only
 * when all of it was read, which of a compressed dump takes longer than all that is done
 * with them: so whoever has read all of it leaves such places behind.
 */
#ifndef BTSREC_HISTORY_MARKS_H
#define BTSREC_HISTORY_MARKS_H

#include "history.h"

/* The newest events begin behind one of them, if they are at most HISTORY_MARKS_EACH distances. */
#define HISTORY_NR_MARKS 8
#define HISTORY_MARKS_EACH 4
#define HISTORY_MARK_DISTANCE BOUND(16384, 512)

/**
 * struct history_marks - the newest places of one way through a history
 * @places: @nr were added, number i is at i % HISTORY_NR_MARKS.
 * @distance: at least so many events are from one to the next.
 * @nr_events: of the whole history; 0: not at its end yet.
 */
struct history_marks {
	struct history places[HISTORY_NR_MARKS];
	size_t nr;
	uint64_t distance;
	uint64_t nr_events;
};

/** history_marks_new() - none yet, for free(); NULL: out of memory */
struct history_marks *history_marks_new(uint64_t distance);

/** history_marks_add() - @history is between two runs */
void history_marks_add(struct history_marks *marks, const struct history *history);

/**
 * history_marks_restore() - let @history go on from the newest place that is not behind event @n
 *
 * Return: false: none is kept, @history is as it was.
 */
bool history_marks_restore(const struct history_marks *marks, uint64_t n,
			   struct history *history);

/** history_marks_keep() - @marks, complete, are those of @cpu from now on; owned by @rec */
void history_marks_keep(struct btsrec *rec, unsigned int cpu, struct history_marks *marks);

/** history_marks_kept() - those of @cpu, if its ring still is as in @history; NULL: none */
const struct history_marks *history_marks_kept(struct btsrec *rec, unsigned int cpu,
					       const struct history *history);

#endif /* BTSREC_HISTORY_MARKS_H */
