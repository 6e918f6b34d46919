// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>

#include "failing_alloc.h"
#include "locatefix.h"
#include "recorder/recorder_pages.h"

/* Pages that the rings of the fixture have. */
#define NR_RING_PAGES 4

static struct pageset pages;

static void find_pages(void)
{
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	memset(&pages, 0, sizeof(pages));
	btsrec_ck_ok(recorder_pages(located, &pages));
}

static void drop_pages(void)
{
	pageset_fini(&pages);
	teardown();
}

static void ck_page(uint64_t pa, enum recorder_page what)
{
	const struct pageset_page *page = pageset_find(&pages, pa);

	ck_assert_msg(page, "0x%" PRIx64 " is missing", pa);
	ck_assert_uint_eq(page->bits, what);
}

static void ck_cpu(unsigned int cpu, unsigned int nr_ring_pages)
{
	ck_page(FIX_CPU_PA(cpu), RECORDER_PAGE_STRUCTURE);
	ck_page(FIX_LIST_PA(cpu), RECORDER_PAGE_STRUCTURE);
	ck_page(FIX_DS_PA(cpu), RECORDER_PAGE_STRUCTURE);
	for (unsigned int i = 0; i < nr_ring_pages; i++)
		ck_page(fixture_ring_page_pa(fix, cpu, i), RECORDER_PAGE_RING);
}

static void ck_no_cpu(unsigned int cpu)
{
	ck_assert_ptr_null(pageset_find(&pages, FIX_CPU_PA(cpu)));
	ck_assert_ptr_null(pageset_find(&pages, FIX_LIST_PA(cpu)));
	ck_assert_ptr_null(pageset_find(&pages, FIX_DS_PA(cpu)));
	for (unsigned int i = 0; i < NR_RING_PAGES; i++)
		ck_assert_ptr_null(pageset_find(&pages, fixture_ring_page_pa(fix, cpu, i)));
}

static void ck_shared(void)
{
	ck_page(FIX_ROOT_PA, RECORDER_PAGE_STRUCTURE);
	ck_page(FIX_DIR_PA, RECORDER_PAGE_STRUCTURE);
	ck_page(FIX_MODULE_PA, RECORDER_PAGE_STRUCTURE);
	ck_page(FIX_EXEC_PA, RECORDER_PAGE_STRUCTURE);
}

/* Structures of all, besides the four that are shared, and the pages of each ring. */
static size_t nr_pages_of(size_t nr_cpus, size_t nr_ring_pages)
{
	return 4 + 3 * nr_cpus + nr_ring_pages;
}

START_TEST(every_page_of_all_cpus)
{
	setup();
	find_pages();
	ck_shared();
	for (unsigned int cpu = 0; cpu < 3; cpu++)
		ck_cpu(cpu, NR_RING_PAGES);
	ck_assert_uint_eq(pages.nr, nr_pages_of(3, 3 * NR_RING_PAGES));
	drop_pages();
}
END_TEST

START_TEST(rings_of_different_sizes)
{
	uint64_t *list;

	setup();
	/* The page of the last record is used in part. */
	fixture_cpu(fix, 1)->ring_bytes = 171 * BTSREC_RECORD_BYTES;
	fixture_cpu(fix, 1)->nr_ring_pages = 2;
	list = mem_page(&fix->mem, FIX_LIST_PA(1));
	memset(list + 2, 0, (NR_RING_PAGES - 2) * sizeof(*list));
	fixture_seal(fix);
	find_pages();
	ck_cpu(0, NR_RING_PAGES);
	ck_cpu(1, 2);
	ck_cpu(2, NR_RING_PAGES);
	ck_assert_uint_eq(pages.nr, nr_pages_of(3, 2 * NR_RING_PAGES + 2));
	drop_pages();
}
END_TEST

/* Nothing that a damaged page says is taken for a page. */
START_TEST(cpu_with_a_damaged_page)
{
	setup();
	fixture_cpu(fix, 1)->list_pa[0] += BTSREC_PAGE_BYTES;
	find_pages();
	ck_shared();
	ck_cpu(0, NR_RING_PAGES);
	ck_no_cpu(1);
	ck_cpu(2, NR_RING_PAGES);
	ck_assert_uint_eq(pages.nr, nr_pages_of(2, 2 * NR_RING_PAGES));
	drop_pages();
}
END_TEST

START_TEST(cpu_whose_page_is_refused)
{
	setup();
	fix->mem.fail_pa = FIX_CPU_PA(0);
	fix->mem.fail_status = BTSREC_ERR_IO;
	find_pages();
	ck_no_cpu(0);
	ck_cpu(1, NR_RING_PAGES);
	ck_cpu(2, NR_RING_PAGES);
	drop_pages();
}
END_TEST

/* Its address is known, and what is missing is for whoever reads it to say. */
START_TEST(page_of_a_ring_that_the_dump_lacks)
{
	setup();
	mem_cut(&fix->mem, fixture_ring_page_pa(fix, 2, 1), 0);
	find_pages();
	ck_cpu(2, NR_RING_PAGES);
	drop_pages();
}
END_TEST

START_TEST(no_cpu_at_all)
{
	setup();
	memset(mem_page(&fix->mem, FIX_DIR_PA), 0, BTSREC_PAGE_BYTES);
	find_pages();
	ck_shared();
	ck_assert_uint_eq(pages.nr, nr_pages_of(0, 0));
	drop_pages();
}
END_TEST

/* The set has the page that an address lies in; 0 stands for none. */
START_TEST(structures_within_pages)
{
	setup();
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	located->cpus[0]->page.ds_pa += 0x340;
	located->cpus[1]->page.ds_pa = 0;
	memset(&pages, 0, sizeof(pages));
	btsrec_ck_ok(recorder_pages(located, &pages));
	ck_page(FIX_DS_PA(0), RECORDER_PAGE_STRUCTURE);
	ck_assert_ptr_null(pageset_find(&pages, FIX_DS_PA(1)));
	ck_assert_uint_eq(pages.nr, nr_pages_of(3, 3 * NR_RING_PAGES) - 1);
	drop_pages();
}
END_TEST

START_TEST(out_of_memory)
{
	setup();
	btsrec_ck_ok(find(FIX_ROOT_PA, BTSREC_SCAN_NONE));
	memset(&pages, 0, sizeof(pages));
	failing_alloc_arm(1);
	ck_assert_int_eq(recorder_pages(located, &pages), BTSREC_ERR_NOMEM);
	ck_assert(failing_alloc_disarm());
	drop_pages();
}
END_TEST

BTSREC_CK_MAIN("recorder_pages", every_page_of_all_cpus, rings_of_different_sizes,
	       cpu_with_a_damaged_page, cpu_whose_page_is_refused,
	       page_of_a_ring_that_the_dump_lacks, no_cpu_at_all, structures_within_pages,
	       out_of_memory)
