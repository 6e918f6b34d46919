// SPDX-License-Identifier: GPL-2.0-or-later
/* The described memory: pages, and numbers put into them. */
#include "mkimage.h"

#include <stdlib.h>

uint64_t alloc_page(void)
{
	uint64_t pfn = image.next_pfn;

	/* Page tables lie where their addresses say. */
	while (pfn < MAX_PAGES && image.pages[pfn].bytes)
		pfn++;
	if (pfn >= MAX_PAGES)
		die("memory is full");
	image.next_pfn = pfn + 1;
	image.pages[pfn].bytes = calloc(1, BTSREC_PAGE_BYTES);
	if (!image.pages[pfn].bytes)
		die("out of memory");
	return pfn * BTSREC_PAGE_BYTES;
}

uint64_t alloc_pages(uint64_t nr_pages)
{
	uint64_t pa = alloc_page(), next_pa = pa + BTSREC_PAGE_BYTES;

	for (; --nr_pages; next_pa += BTSREC_PAGE_BYTES)
		if (alloc_page() != next_pa)
			die("memory is full");
	return pa;
}

void *at_pa(uint64_t pa)
{
	return image.pages[pa / BTSREC_PAGE_BYTES].bytes + pa % BTSREC_PAGE_BYTES;
}

void memory_write(uint64_t pa, const void *from, size_t nr_bytes)
{
	const uint8_t *bytes = from;

	for (; nr_bytes; nr_bytes--)
		*(uint8_t *)at_pa(pa++) = *bytes++;
}
