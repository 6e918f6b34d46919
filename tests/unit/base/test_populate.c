// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "check_btsrec.h"
#include "base/populate.h"

#define NR_PAGES 8

static uint8_t *pages;

static void map(void)
{
	pages = mmap(NULL, NR_PAGES * BTSREC_PAGE_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(pages != MAP_FAILED);
}

static void unmap(void)
{
	munmap(pages, NR_PAGES * BTSREC_PAGE_BYTES);
}

/* One character for each page: is it there? */
static void expect(const char *there)
{
	unsigned char are[NR_PAGES];

	ck_assert(!mincore(pages, NR_PAGES * BTSREC_PAGE_BYTES, are));
	for (size_t i = 0; i < NR_PAGES; i++)
		ck_assert_msg((are[i] & 1) == (there[i] == '#'), "page %zu of %s", i, there);
}

static bool is_known(void)
{
	return !madvise(pages, 0, MADV_POPULATE_WRITE) || errno != EINVAL;
}

START_TEST(whole_pages_only)
{
	map();
	if (!is_known())
		return;
	expect("........");
	populate(pages + 1, BTSREC_PAGE_BYTES);
	populate(pages, BTSREC_PAGE_BYTES - 1);
	populate(pages + 7, 0);
	expect("........");
	populate(pages + 1, 2 * BTSREC_PAGE_BYTES);
	expect(".#......");
	populate(pages + 3 * BTSREC_PAGE_BYTES, 2 * BTSREC_PAGE_BYTES);
	expect(".#.##...");
	unmap();
}
END_TEST

/* What is written already stays, and what cannot be there is nobody's trouble. */
START_TEST(nothing_else_happens)
{
	map();
	pages[BTSREC_PAGE_BYTES] = 42;
	ck_assert(!munmap(pages + 3 * BTSREC_PAGE_BYTES, BTSREC_PAGE_BYTES));
	populate(pages, NR_PAGES * BTSREC_PAGE_BYTES);
	ck_assert_uint_eq(pages[BTSREC_PAGE_BYTES], 42);
	ck_assert_uint_eq(pages[2 * BTSREC_PAGE_BYTES], 0);
	unmap();
}
END_TEST

BTSREC_CK_MAIN("populate", whole_pages_only, nothing_else_happens)
