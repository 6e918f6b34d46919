/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many lines of branches at once, on several processors.  Whoever reads a history gives
 * its branches; threads turn them into text, which leaves for the sink in the order in
 * which the branches came.  What is no branch comes as text.
 *
 * The session belongs to whoever gives the branches, the owner; a thread that needs
 * something of it, as a name that is not read yet, has to wait for its turn, and
 * gets it while the owner is in the press.
 *
 * Memory is bounded: when all batches are waiting, the owner works on them, too.
 */
#ifndef BTSREC_PRESS_H
#define BTSREC_PRESS_H

#include "recorder/fetch.h"
#include "render/out.h"
#include "render/label_cache.h"

#define PRESS_MAX_THREADS	16

/* What was given and is not text yet: so many batches for each thread, of so many branches. */
#define PRESS_BATCHES_EACH	6
#define PRESS_MAX_TOGETHER	3584

struct aspace_span;

/**
 * struct press_run - @nr branches of @cpu in a row, at least one, from event @n on
 * @span: who ran, NULL: nobody knows; the caller's, must stay until press_settle().
 */
struct press_run {
	unsigned int cpu;
	uint64_t n;
	struct aspace_span *span;
	const struct btsrec_record *records;
	size_t nr;
};

/** press_tail() - the tail to @out */
static inline void press_tail(struct out *out, const struct tail *tail)
{
	/* What most tails are shorter than is copied whatever their size. */
	if (tail->nr_bytes > LABEL_CACHE_SPARE_BYTES) {
		out_long(out, tail->text, tail->nr_bytes);
		return;
	}
	out_room(out);
#ifdef __SANITIZE_THREAD__
	memcpy(out->at, tail->text, tail->nr_bytes);
#else
	/* Behind the text another thread may be writing the next one: that is never used. */
	memcpy(out->at, tail->text, 8);
	if (tail->nr_bytes > 8)
		memcpy(out->at, tail->text, LABEL_CACHE_SPARE_BYTES);
#endif
	out->at += tail->nr_bytes;
}

/** press_lines_fn - the lines of @run, each with one of @tails; knows nothing else */
typedef void (*press_lines_fn)(struct out *out, const struct press_run *run,
			       const struct tail *const *label_cache);

/** press_lines() - a press_lines_fn of a function that writes the line up to its tail */
static inline void press_lines(struct out *out, const struct press_run *run,
			       const struct tail *const *label_cache,
			       void (*head)(struct out *out, unsigned int cpu, uint64_t n,
					    const struct btsrec_record *branch))
{
	for (size_t i = 0; i < run->nr; i++) {
		head(out, run->cpu, run->n + i, &run->records[i]);
		press_tail(out, label_cache[i]);
	}
}

/**
 * struct press_work - what the threads do
 * @share: not only the owner is going to call @tell, but up to @nr_threads; false: it must.
 * @tell: the lines of @run to @out; @thread: 0 of the owner, below PRESS_MAX_THREADS of
 *	the others; false: failed, and the press is at its end.
 * @nr_together: branches of a batch, 256 to PRESS_MAX_TOGETHER: as many as have lines of
 *	OUT_WRITE_BYTES, for more has to wait for its turn.  What is handed from thread to
 *	thread costs as much whatever its size; but what a large batch holds up lasts longer.
 */
struct press_work {
	bool (*share)(void *arg, unsigned int nr_threads);
	bool (*print)(void *arg, unsigned int thread, struct out *out, const struct press_run *run);
	size_t nr_together;
	void *arg;
};

struct press;

/**
 * press_new() - lines for @sink
 * @sink: borrowed; with more than one thread it is called by all of them, one at a time.
 * @nr_threads: with the caller's; at most PRESS_MAX_THREADS are used, fewer if the system
 *	gives no more, and only the caller's for a few lines.
 *
 * Return: for press_free(); NULL: out of memory.
 */
struct press *press_new(const struct btsrec_sink *sink, const struct press_work *work,
			unsigned int nr_threads);

/** press_sink() - takes text that is in order with the branches; the press's */
const struct btsrec_sink *press_sink(struct press *press);

/**
 * press_ahead() - has windows of a ring read by who is going to word them; the press's
 *
 * For the owner, who gives the branches in them next, or only looks for what is none.
 */
const struct fetch_ahead *press_ahead(struct press *press);

/**
 * press_put() - the next branches
 * @run: borrowed during the call, but for its span, and for records of press_ahead().
 *
 * Return: false: the sink has stopped, or @tell has failed; everything after is dropped.
 */
bool press_put(struct press *press, const struct press_run *run);

/** press_settle() - until all branches have been told; their text may be on its way */
void press_settle(struct press *press);

/**
 * press_send() - press_settle(), and all text that is whole pages is on its way
 *
 * Return: BTSREC_OK; BTSREC_ERR_STOPPED: as far as is known by now.
 */
enum btsrec_status press_send(struct press *press);

/**
 * press_wait() - until everything has gone to the sink
 *
 * Return: BTSREC_OK or BTSREC_ERR_STOPPED.
 */
enum btsrec_status press_wait(struct press *press);

/** press_failed() - has @tell? */
bool press_failed(struct press *press);

/** press_enter(), press_leave() - around what @tell asks the session, which is the owner's */
void press_enter(struct press *press);
void press_leave(struct press *press);

/** press_free() - end the threads; what has not gone to the sink is lost; NULL is allowed */
void press_free(struct press *press);

#endif /* BTSREC_PRESS_H */
