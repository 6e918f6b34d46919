/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of megabytes in large pages, which spare most page faults and misses of the TLB. */
#ifndef BTSREC_LARGE_H
#define BTSREC_LARGE_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Of x86-64. */
#define LARGE_PAGE_BYTES	((size_t)2 << 20)
/* Where small ones begin: at a line of the cache, so that no element of such a size lies in two. */
#define LARGE_SMALL_ALIGN	64

/**
 * large_alloc() - @nr_bytes of memory that begin with a large page, not cleared
 * @nr_bytes: a multiple of LARGE_PAGE_BYTES.
 *
 * Large pages are what the system is asked for; what it gives is its choice.
 *
 * Return: for free(); NULL: out of memory.
 */
static inline void *large_alloc(size_t nr_bytes)
{
	char *bytes = aligned_alloc(LARGE_PAGE_BYTES, nr_bytes);

	if (bytes)
		(void)madvise(bytes, nr_bytes, MADV_HUGEPAGE);
	return bytes;
}

/** large_or_small() - a multiple of LARGE_SMALL_ALIGN or, as large_alloc(), of large pages */
static inline void *large_or_small(size_t nr_bytes)
{
	return nr_bytes < LARGE_PAGE_BYTES ? aligned_alloc(LARGE_SMALL_ALIGN, nr_bytes) :
					     large_alloc(nr_bytes);
}

/** large_table() - the same, all zero */
static inline void *large_table(size_t nr_bytes)
{
	void *table = large_or_small(nr_bytes);

	return table ? memset(table, 0, nr_bytes) : NULL;
}

#endif /* BTSREC_LARGE_H */
