/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the press.  One thread writes lines where it is given branches.  From MIN_LINES
 * on, others help:
 *
 *           nr_written                   nr_filled
 *               v                            v
 *   ... written | waiting, in work, done ... | being filled | free ...
 *
 * Batches are numbered, and written in this order.  One whose records a thread has read
 * ahead is worded by this thread, others by any: of what waits for it, each thread takes
 * the oldest, and writes it when it is its turn.  So neither records nor text leave the
 * cache of a processor; to fetch them from another's took longer than to word them.
 *
 * A batch whose text does not fit into its buffer waits for its turn and writes what it
 * has.  The oldest batch in work never waits, so there always is one that goes on.
 */
#ifndef BTSREC_PRESS_WORKERS_H
#define BTSREC_PRESS_WORKERS_H

#include <limits.h>
#include <pthread.h>

#include "recorder/ahead.h"
#include "render/press.h"

/* Of a listing of what a filter wants, each may be of one branch. */
#define BATCH_RUNS	128

/* Of a batch that any thread may word. */
#define ANY_THREAD	UINT_MAX

enum batch_state {
	BATCH_FREE,
	BATCH_FILLING,
	BATCH_WAITING,
	BATCH_IN_WORK,
	BATCH_DONE,	/* nothing is to be added to its text */
};

/**
 * struct batch - branches, and the lines before and of them
 * @sink: of @out: to the press's, in turn.
 * @thread: who words it.
 * @runs: @nr_runs of them; their @records are in @window, or if that is NULL, the batch's.
 * @due: whoever words it knows that its turn has come.
 * @fresh: @out begins with OUT_PAGE_BYTES for the end of the batch before.
 * @populated: the memory of @out has been used.
 * @out: text that comes before the branches, then all of it.
 */
struct batch {
	struct press *press;
	struct btsrec_sink sink;
	uint64_t number;
	enum batch_state state;
	unsigned int thread;
	struct ahead_window *window;
	bool due;
	bool fresh;
	bool populated;
	size_t nr_runs;
	size_t nr_records;
	struct press_run runs[BATCH_RUNS];
	struct btsrec_record records[PRESS_MAX_TOGETHER];
	struct out out;
};

/**
 * struct worker - a thread, number @number; the owner is number 0
 * @nr_wakes: how often there was something to do; signalled by @woken.
 * @idle: a helper that has found nothing to do.
 * @apart: from what another thread waits for.
 */
struct worker {
	struct press *press;
	unsigned int number;
	pthread_t thread;
	pthread_cond_t woken;
	unsigned int nr_wakes;
	bool idle;
	char apart[HELPER_LINE_BYTES];
};

/**
 * struct press - see above; what several threads change is under @lock
 * @text: see press_sink().
 * @out: before there are batches.
 * @nr_threads: wanted, with the owner; @nr_helpers: without it; in @workers.
 * @has_processors: one for each thread.
 * @has_help: helpers were asked for, and @ahead is there; @alone: it is the owner that words.
 * @nr_lines: given before there are batches; @nr_slots: asked for before there are helpers.
 * @batches: @nr_batches of them, 0 before others word: PRESS_BATCHES_EACH of each thread, in
 *	whose cache their buffers are.
 * @order: batch number i is at i % @nr_batches, up to @nr_filled.
 * @filling: number @nr_filled, or NULL; the owner's.
 * @read_ahead: into windows of @ahead, for @reader, or NULL; the owner's.
 * @turn_at: the owner is woken when batches up to this one are written.
 * @writing: somebody writes the oldest batch, which is done.
 * @stopped, @failed: see press_is_over(); any thread may set them.
 * @page: of whose turn it is: @page_bytes that are less than a page.
 * @session: held by who may ask the session; the owner, but in here.
 */
struct press {
	struct btsrec_sink sink;
	struct btsrec_sink text;
	struct press_work print;
	struct out out;
	unsigned int nr_threads;
	unsigned int nr_helpers;
	struct worker workers[PRESS_MAX_THREADS];
	bool has_processors;
	bool has_help;
	bool alone;
	uint64_t nr_lines;
	uint64_t nr_slots;
	size_t nr_batches;
	struct batch *batches;
	struct batch **order;
	struct batch *filling;
	pthread_mutex_t session;
	pthread_mutex_t lock;
	struct fetch_ahead read_ahead;
	const struct fetch *reader;
	struct ahead ahead;
	uint64_t turn_at;
	uint64_t nr_filled;
	uint64_t nr_written;
	bool writing;
	bool ended;
	bool stopped;
	bool failed;
	size_t page_bytes;
	char page[OUT_PAGE_BYTES];
};

/**
 * press_get_help() - start helpers, unless that was done
 *
 * Return: false: there is none to be had.
 */
bool press_get_help(struct press *press);

/**
 * press_begin_batch() - one that has its buffer in the cache of thread @home is to be filled
 *
 * The owner's; locked.  Return: false: none is free.
 */
bool press_begin_batch(struct press *press, unsigned int home);

/** press_hand_over() - what is being filled may go, if anything is; the owner's; locked */
void press_hand_over(struct press *press);

/** press_take_window() - of the struct fetch_ahead of the struct press @arg */
bool press_take_window(void *arg, const struct fetch *fetch, struct fetch_window *ret);

/** press_leave_windows() - the same, at the end of a way */
void press_leave_windows(void *arg, const struct fetch *fetch);

/** press_is_over() - nothing is written any more: the sink has stopped, or wording failed */
static inline bool press_is_over(const struct press *press)
{
	return __atomic_load_n(&press->stopped, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&press->failed, __ATOMIC_RELAXED);
}

/** press_wake() - @thread has something to do; locked */
void press_wake(struct press *press, unsigned int thread);

/** press_wake_any() - one that is idle has something to do; locked */
void press_wake_any(struct press *press);

/** press_sleep() - until @thread, who calls, has something to do, or nearly; locked */
void press_sleep(struct press *press, unsigned int thread);

/** press_take_session() - wait for the session, which others have for about as long as that */
void press_take_session(struct press *press);

/** press_write_pages() - whole pages of @text; the rest waits for more; false: stop */
bool press_write_pages(struct press *press, const char *text, size_t nr_bytes);

/** press_write_in_turn() - of a sink of struct batch: to the press's, when it is its turn */
bool press_write_in_turn(void *arg, const char *text, size_t nr_bytes);

/** press_write_own() - the batch whose turn it is, if @thread has worded all of it; locked */
bool press_write_own(struct press *press, unsigned int thread);

/** press_print_once() - turn a batch that waits for @thread into text; locked; false: none */
bool press_print_once(struct press *press, unsigned int thread);

/** press_read_once() - read a window ahead; locked; false: there is none for @thread */
bool press_read_once(struct press *press, unsigned int thread);

/** press_help() - what the thread of the struct worker @arg does, to the end of the press */
void *press_help(void *arg);

#endif /* BTSREC_PRESS_WORKERS_H */
