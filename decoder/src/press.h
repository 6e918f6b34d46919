/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many lines of branches at once, on several processors.  Whoever decodes puts branches
 * into batches; threads turn batches into text, and the text leaves for the sink in the
 * order of the batches.  What is no branch comes as text.
 *
 * Decoding, names and the dump stay with the one thread that owns the session: a batch
 * has everything that its text is made of.  Memory is bounded: when all batches are
 * waiting, the owner works on them, too.
 */
#ifndef BTSREC_PRESS_H
#define BTSREC_PRESS_H

#include "out.h"
#include "tails.h"

#define PRESS_MAX_THREADS	16

/** struct press_branch - a line; @tail: must stay until press_wait() */
struct press_branch {
	uint64_t n;
	struct btsrec_record record;
	const struct tail *tail;
};

/** press_head_fn - the line of a branch of @cpu up to its tail; knows nothing else */
typedef void (*press_head_fn)(struct out *out, unsigned int cpu, uint64_t n,
			      const struct btsrec_record *branch);

struct press;

/**
 * press_new() - lines for @sink
 * @sink: borrowed; with more than one thread it is called by all of them, one at a time.
 * @nr_threads: with the caller's; at most PRESS_MAX_THREADS are used, fewer if the system
 *	gives no more, and only the caller's for a few lines.
 *
 * Return: for press_free(); NULL: out of memory.
 */
struct press *press_new(const struct btsrec_sink *sink, press_head_fn head,
			unsigned int nr_threads);

/** press_sink() - takes text that is in order with the branches; the press's */
const struct btsrec_sink *press_sink(struct press *press);

/** press_room() - where to put the next branch, of @cpu; it is taken with the next call */
struct press_branch *press_room(struct press *press, unsigned int cpu);

/** press_stopped() - the sink returned false; everything after is dropped */
bool press_stopped(struct press *press);

/**
 * press_wait() - until everything has gone to the sink
 *
 * Return: BTSREC_OK or BTSREC_ERR_STOPPED.
 */
enum btsrec_status press_wait(struct press *press);

/** press_free() - end the threads; what has not gone to the sink is lost; NULL is allowed */
void press_free(struct press *press);

#endif /* BTSREC_PRESS_H */
