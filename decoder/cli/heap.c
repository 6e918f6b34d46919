// SPDX-License-Identifier: GPL-2.0-or-later
#include "heap.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

/* Since Linux 5.14, see madvise(2); a kernel that does not know it refuses. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Of x86-64. */
#define LARGE_PAGE_BYTES	(2 << 20)

/* Of a kernel, what lists of its names and types take of the heap. */
#define NAMES_BYTES	(20 << 20)
/*
 * With the tables of the views.  What the heap grows by later begins with its own small pages,
 * so that tables there have some, too.  A multiple of large pages.
 */
#define HEAP_BYTES	(28 << 20)

/* Each of them is smaller; a table that is not has memory of its own, which goes back. */
#define LARGE_BYTES	(8 << 20)

/* More than what is asked for here, and no more than mallopt() takes. */
#define LARGEST_BYTES	(32 << 20)

/* Capture kernels have a few hundred megabytes, which are better used for their work. */
#define LITTLE_MEMORY_BYTES	(1ULL << 30)

static bool has_little_memory(void)
{
	struct sysinfo machine;

	return sysinfo(&machine) ||
	       (uint64_t)machine.totalram * machine.mem_unit < LITTLE_MEMORY_BYTES;
}

/* What is asked for with madvise(), as the kernel's Documentation/admin-guide/mm/transhuge.rst. */
static bool gives_large_pages(void)
{
	FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
	char text[64];
	bool gives;

	if (!file)
		return false;
	gives = fgets(text, sizeof(text), file) && !strstr(text, "[never]");
	fclose(file);
	return gives;
}

static void set_thresholds(int mmap_bytes)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, mmap_bytes);
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
#else
	(void)mmap_bytes;
#endif
}

void heap_expect_names(void)
{
	void *heap;

	if (has_little_memory())
		return;
	set_thresholds(LARGEST_BYTES);
	heap = aligned_alloc(LARGE_PAGE_BYTES, HEAP_BYTES);
	if (heap && gives_large_pages())
		(void)madvise(heap, HEAP_BYTES, MADV_HUGEPAGE);
	else if (heap)
		(void)madvise(heap, NAMES_BYTES, MADV_POPULATE_WRITE);
	set_thresholds(LARGE_BYTES);
	free(heap);
}
