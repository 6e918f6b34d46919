/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that is going to be written as a whole. */
#ifndef BTSREC_POPULATE_H
#define BTSREC_POPULATE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <btsrec/abi.h>

/* Since Linux 5.14, see madvise(2); a kernel that does not know it refuses. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/**
 * populate() - @nr_bytes at @begin are about to be written
 *
 * Pages that lie in there as a whole are there then, without a fault for each, which can cost
 * a virtual machine ten times what the page does.  What the system refuses comes with faults,
 * as ever: nothing is reported.
 */
static inline void populate(void *begin, size_t nr_bytes)
{
	uintptr_t first = ((uintptr_t)begin + BTSREC_PAGE_BYTES - 1) / BTSREC_PAGE_BYTES;
	uintptr_t end = ((uintptr_t)begin + nr_bytes) / BTSREC_PAGE_BYTES;

	if (end > first)
		(void)madvise((void *)(first * BTSREC_PAGE_BYTES),
			      (end - first) * BTSREC_PAGE_BYTES, MADV_POPULATE_WRITE);
}

#endif /* BTSREC_POPULATE_H */
