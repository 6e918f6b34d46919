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

/** press_tail() - the tail to @out */
static inline void press_tail(struct out *out, const struct tail *tail)
{
	/* What most tails are shorter than is copied whatever their size. */
	if (tail->nr_bytes > TAILS_SPARE_BYTES) {
		out_long(out, tail->text, tail->nr_bytes);
		return;
	}
	out_room(out);
	memcpy(out->at, tail->text, 8);
	if (tail->nr_bytes > 8)
		memcpy(out->at, tail->text, TAILS_SPARE_BYTES);
	out->at += tail->nr_bytes;
}

/** press_lines_fn - the lines of @nr branches of @cpu, at least one; knows nothing else */
typedef void (*press_lines_fn)(struct out *out, unsigned int cpu,
			       const struct press_branch *branches, size_t nr);

/* A tail is somewhere in memory; so many lines before it is needed it is asked for. */
#define PRESS_TAILS_AHEAD	6

/** press_expect() - the tail of @branches[@i], of @nr, is needed PRESS_TAILS_AHEAD lines later */
static inline void press_expect(const struct press_branch *branches, size_t i, size_t nr)
{
	if (i < nr)
		tails_expect(branches[i].tail);
}

/** press_lines() - a press_lines_fn of a function that writes the line up to its tail */
static inline void press_lines(struct out *out, unsigned int cpu,
			       const struct press_branch *branches, size_t nr,
			       void (*head)(struct out *out, unsigned int cpu, uint64_t n,
					    const struct btsrec_record *branch))
{
	for (size_t i = 0; i < PRESS_TAILS_AHEAD; i++)
		press_expect(branches, i, nr);
	for (size_t i = 0; i < nr; i++) {
		const struct press_branch *branch = &branches[i];

		press_expect(branches, i + PRESS_TAILS_AHEAD, nr);
		head(out, cpu, branch->n, &branch->record);
		press_tail(out, branch->tail);
	}
}

struct press;

/**
 * press_new() - lines for @sink
 * @sink: borrowed; with more than one thread it is called by all of them, one at a time.
 * @nr_threads: with the caller's; at most PRESS_MAX_THREADS are used, fewer if the system
 *	gives no more, and only the caller's for a few lines.
 *
 * Return: for press_free(); NULL: out of memory.
 */
struct press *press_new(const struct btsrec_sink *sink, press_lines_fn lines,
			unsigned int nr_threads);

/** press_sink() - takes text that is in order with the branches; the press's */
const struct btsrec_sink *press_sink(struct press *press);

/**
 * press_room() - where to put the next branches, of @cpu
 * @ret_nr: how many at most, at least one.
 */
struct press_branch *press_room(struct press *press, unsigned int cpu, size_t *ret_nr);

/** press_filled() - @nr branches have been put where press_room() said */
void press_filled(struct press *press, size_t nr);

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
