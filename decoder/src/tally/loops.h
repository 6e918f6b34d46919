/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loops in a listing of branches: what goes round again is kept and printed at its
 * end.  The listing can be had back from it: a round is the same only if its events
 * have the same distances.  Of the predictions only their number is kept.  Pure and
 * of constant size.
 */
#ifndef BTSREC_LOOPS_H
#define BTSREC_LOOPS_H

#include <btsrec/decoder.h>

#include "tally/cycles.h"

/* Fewer lines are not worth one that stands for them. */
#define LOOPS_MIN_FOLDED 3

/** struct loops_branch - a branch that was held back */
struct loops_branch {
	uint64_t n;
	struct btsrec_record record;
};

/**
 * struct loops - the listing of one CPU under way
 * @next_n: after the newest branch; @before_n: after the one before @first.
 * @first: the first round that was held back; @newest: the newest branches of them.
 * @place: in the round, of the next branch.
 * @nr_predicted: of the branches held back, by their place in the round.
 */
struct loops {
	struct cycles cycles;
	uint64_t next_n;
	uint64_t before_n;
	unsigned int place;
	struct loops_branch first[CYCLES_MAX_PERIOD];
	struct loops_branch newest[CYCLES_MAX_PERIOD];
	uint64_t nr_predicted[CYCLES_MAX_PERIOD];
};

/**
 * struct loop - the @period branches before were taken @nr_rounds times more
 * @round: the first of these rounds.
 * @round_events: from a branch to the same one a round later; in all rounds alike.
 * @last_n: the last branch of the last round.
 * @nr_predicted: in how many rounds each branch of @round was predicted.
 */
struct loop {
	unsigned int period;
	uint64_t nr_rounds;
	uint64_t round_events;
	uint64_t last_n;
	struct loops_branch round[CYCLES_MAX_PERIOD];
	uint64_t nr_predicted[CYCLES_MAX_PERIOD];
};

/** loops_init() - before the first branch */
void loops_init(struct loops *loops);

/**
 * loops_add() - is this branch part of a loop, and printed with it later?
 * @side: the thread that ran, compared by address; NULL: unknown.
 *
 * Return: true: it is.  False: it is not.  If loops->cycles.period is not 0 it is the end of a
 * loop.  The loop must be printed with loops_end() and the branch asked for again.
 */
bool loops_add(struct loops *loops, const struct btsrec_event *branch,
	       const struct btsrec_side *side);

/** loops_pass() - @event is printed as it is; after loops_end() */
void loops_pass(struct loops *loops, const struct btsrec_event *event);

/**
 * loops_end() - end the loop that is kept
 * @ret: nr_rounds is 0 if there is no loop.
 * @ret_rest: CYCLES_MAX_PERIOD of room; branches after it that are to be printed one by one.
 *
 * Return: how many these are.
 */
unsigned int loops_end(struct loops *loops, struct loop *ret, struct loops_branch *ret_rest);

/** loop_peel() - take the first round off, to be printed branch by branch */
void loop_peel(struct loop *loop);

/** loop_nr_predicted() - how many branches of all rounds were predicted */
uint64_t loop_nr_predicted(const struct loop *loop);

#endif /* BTSREC_LOOPS_H */
