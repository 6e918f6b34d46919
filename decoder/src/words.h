/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lines of branches end with, worded by whichever thread of the press meets a branch
 * first, and kept in one table for all.
 *
 * A branch of the kernel is worded without the session: each thread has a reader of the
 * kernel's code of its own, and tables of the kernel's names do not change any more.  For
 * what else it needs, and for all branches from or to user addresses, a thread waits for
 * the session.
 */
#ifndef BTSREC_WORDS_H
#define BTSREC_WORDS_H

#include "press.h"
#include "render.h"

/**
 * struct words - of one view
 * @like: what all threads print as; borrowed.
 * @press: where the lines go; borrowed.
 * @one_kernel: its code is the same in all address spaces.
 * @alike: nothing is known of any address, so all lines end alike.
 * @is_shared: between several threads; then @shared holds.
 * @worders: what each thread has, or NULL.
 */
struct words {
	const struct renderer *like;
	const struct render_format *format;
	struct press *press;
	bool one_kernel;
	bool alike;
	bool is_shared;
	struct symbols_shared shared;
	struct tails tails;
	struct worder *worders[PRESS_MAX_THREADS];
};

/**
 * words_open() - lines of branches to @sink
 * @words: all zero but for @like, @format and @alike; words_close() is allowed after a failure.
 * @nr_threads: of press_new().
 *
 * Return: false: out of memory.
 */
bool words_open(struct words *words, const struct btsrec_sink *sink, unsigned int nr_threads);

/**
 * words_put() - press_put()
 *
 * Return: false: the sink has stopped, or there is no memory, as press_failed() says.
 */
bool words_put(struct words *words, const struct press_run *run);

/** words_settle() - press_settle(), and add what the threads have counted to @nr_user */
void words_settle(struct words *words, uint64_t *nr_user);

/** words_close() - end the threads and free everything */
void words_close(struct words *words);

#endif /* BTSREC_WORDS_H */
