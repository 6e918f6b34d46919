/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of a compressed dump that will be wanted soon, unpacked meanwhile by other threads:
 * most of what is done with such a dump is that.  Whoever wants one works on it, too.
 */
#ifndef BTSREC_UNPACK_AHEAD_H
#define BTSREC_UNPACK_AHEAD_H

#include "base/bounds.h"
#include "source/unpack.h"

/* So many pages are expected at most, twice what a reader of rings wants at once. */
#define UNPACK_AHEAD_MAX	BOUND(128, 4)

#define UNPACK_AHEAD_MAX_THREADS 16

struct unpack_ahead;

/**
 * unpack_ahead_new() - nothing is expected yet
 * @flat: borrowed; read by all threads.
 * @nr_threads: with the caller's; they are started when the first page is expected.
 *
 * Return: NULL: out of memory; or only the caller's thread is there, who can do without.
 */
struct unpack_ahead *unpack_ahead_new(const struct mkdump_file *flat, unsigned int nr_threads);

/** unpack_ahead_expects() - is page @number among what is expected? */
bool unpack_ahead_expects(struct unpack_ahead *ahead, uint64_t number);

/**
 * unpack_ahead_expect() - @page is page @number, which is not expected yet, and wanted soon
 *
 * What was expected longest is forgotten, if there is no room.
 */
void unpack_ahead_expect(struct unpack_ahead *ahead, uint64_t number,
			 const struct unpack_page *page);

/** unpack_ahead_start() - so many are expected that it is worth while to begin */
void unpack_ahead_start(struct unpack_ahead *ahead);

/**
 * unpack_ahead_take() - page @number to @ret, BTSREC_PAGE_BYTES, if it is expected
 * @ret_status: of unpack_page(), whichever thread has asked it.
 *
 * It is no longer expected then.
 *
 * Return: false: it was not expected; *@ret_status is untouched.
 */
bool unpack_ahead_take(struct unpack_ahead *ahead, uint64_t number, uint8_t *ret,
		       enum btsrec_status *ret_status);

/** unpack_ahead_help() - unpack all that waits, by any thread, with @unpack, its own */
void unpack_ahead_help(struct unpack_ahead *ahead, struct unpack *unpack);

/** unpack_ahead_free() - end the threads; NULL is allowed */
void unpack_ahead_free(struct unpack_ahead *ahead);

#endif /* BTSREC_UNPACK_AHEAD_H */
