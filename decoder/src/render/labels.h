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
#ifndef BTSREC_LABELS_H
#define BTSREC_LABELS_H

#include "render/press.h"
#include "render/render.h"

/**
 * struct words - of one view
 * @like: what all threads print as; borrowed.
 * @press: where the lines go; borrowed.
 * @one_kernel: its code is the same in all address spaces.
 * @alike: nothing is known of any address, so all lines end alike.
 * @is_shared: between several threads; then @shared holds.
 * @formatters: what each thread has, or NULL.
 */
struct labels {
	const struct renderer *like;
	const struct render_format *format;
	struct press *press;
	bool one_kernel;
	bool alike;
	bool is_shared;
	struct symbols_shared shared;
	struct label_cache label_cache;
	struct formatter *formatters[PRESS_MAX_THREADS];
};

/**
 * labels_open() - lines of branches to @sink
 * @words: all zero but for @like, @format and @alike; labels_close() is allowed after a failure.
 * @nr_threads: of press_new().
 *
 * Return: false: out of memory.
 */
bool labels_open(struct labels *labels, const struct btsrec_sink *sink, unsigned int nr_threads);

/**
 * labels_put() - press_put()
 *
 * Return: false: the sink has stopped, or there is no memory, as press_failed() says.
 */
bool labels_put(struct labels *labels, const struct press_run *run);

/** labels_settle() - press_settle(), and add what the threads have counted to @nr_user */
void labels_settle(struct labels *labels, uint64_t *nr_user);

/** labels_close() - end the threads and free everything */
void labels_close(struct labels *labels);

#endif /* BTSREC_LABELS_H */
