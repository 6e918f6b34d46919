// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "failing_alloc.h"
#include "recorder/fetch.h"
#include "fixture.h"

static struct fixture *fix;
static struct btsrec_image image;
static struct fetch_ring ring;
static struct fetch fetch;
static uint64_t page_pa[256];

/* A ring of @nr_slots branches, slot i holding branch i. */
static void setup(uint64_t nr_slots)
{
	fix = fixture_new(1, nr_slots);
	image = mem_image(&fix->mem);
	fixture_branches(fix, 0, 0, nr_slots, 0);
	for (uint64_t i = 0; i < fixture_cpu(fix, 0)->nr_ring_pages; i++)
		page_pa[i] = fixture_ring_page_pa(fix, 0, i);
	memset(&fetch, DIRT, sizeof(fetch));
	ring = (struct fetch_ring){ .image = &image, .page_pa = page_pa,
				    .ring_bytes = nr_slots * BTSREC_RECORD_BYTES, .va_bits = 48 };
	btsrec_ck_ok(fetch_init(&fetch, &ring));
}

static void teardown(void)
{
	fetch_fini(&fetch);
	fixture_free(fix);
}

/* The next run holds slots @slot.. with the branches of these numbers. */
static void ck_records(uint64_t slot, uint64_t nr)
{
	struct ring_run run;

	memset(&run, DIRT, sizeof(run));
	btsrec_ck_ok(fetch_next(&fetch, &run));
	ck_assert_ptr_nonnull(run.records);
	ck_assert_uint_eq(run.slot, slot);
	ck_assert_uint_eq(run.nr_slots, nr);
	for (uint64_t i = 0; i < nr; i++) {
		struct btsrec_record want = fixture_branch(slot + i);

		ck_assert_mem_eq(&run.records[i], &want, sizeof(want));
	}
}

static void ck_hole(uint64_t slot, uint64_t nr)
{
	struct ring_run run;

	btsrec_ck_ok(fetch_next(&fetch, &run));
	ck_assert_ptr_null(run.records);
	ck_assert_int_eq(run.gap, BTSREC_GAP_NOT_IN_DUMP);
	ck_assert_uint_eq(run.slot, slot);
	ck_assert_uint_eq(run.nr_slots, nr);
}

static void ck_end(void)
{
	struct ring_run run;

	btsrec_ck_ok(fetch_next(&fetch, &run));
	ck_assert_uint_eq(run.nr_slots, 0);
	ck_assert_ptr_null(run.records);
}

START_TEST(nothing_sought)
{
	setup(33);
	ck_end();
	fetch_seek(&fetch, 5, 0);
	ck_end();
	teardown();
}
END_TEST

START_TEST(one_slot)
{
	setup(1);
	fetch_seek(&fetch, 0, 1);
	ck_records(0, 1);
	ck_end();
	teardown();
}
END_TEST

START_TEST(odd_size_with_straddling_slots)
{
	setup(521);
	fetch_seek(&fetch, 0, 521);
	ck_records(0, 521);
	ck_end();
	fetch_seek(&fetch, 170, 1);
	ck_records(170, 1);
	ck_end();
	teardown();
}
END_TEST

START_TEST(several_windows)
{
	setup(2 * FETCH_SLOTS + 3);
	fetch_seek(&fetch, 5, 2 * FETCH_SLOTS - 2);
	ck_records(5, FETCH_SLOTS - 5);
	ck_records(FETCH_SLOTS, FETCH_SLOTS);
	ck_records(2 * FETCH_SLOTS, 3);
	ck_end();
	teardown();
}
END_TEST

START_TEST(first_page_missing)
{
	setup(512);
	/* "Not in the dump" is no address, although there is memory at 0. */
	mem_page(&fix->mem, 0);
	page_pa[0] = 0;
	fetch_seek(&fetch, 0, 512);
	ck_hole(0, 171);
	ck_records(171, 341);
	ck_end();
	teardown();
}
END_TEST

/* Page 1 holds the end of slot 170 and the beginning of slot 341. */
START_TEST(middle_page_missing_takes_both_straddlers)
{
	setup(512);
	mem_cut(&fix->mem, page_pa[1], 0);
	fetch_seek(&fetch, 0, 512);
	ck_records(0, 170);
	ck_hole(170, 172);
	ck_records(342, 170);
	ck_end();
	teardown();
}
END_TEST

START_TEST(last_page_missing)
{
	setup(512);
	mem_cut(&fix->mem, page_pa[2], 0);
	fetch_seek(&fetch, 0, 512);
	ck_records(0, 341);
	ck_hole(341, 171);
	ck_end();
	teardown();
}
END_TEST

START_TEST(page_cut_short)
{
	setup(512);
	mem_cut(&fix->mem, page_pa[1], 100);
	fetch_seek(&fetch, 0, 512);
	/* Slot 170 ends 8 bytes into the page... */
	ck_records(0, 171 + 3);
	ck_hole(174, 342 - 174);
	ck_records(342, 170);
	ck_end();
	mem_cut(&fix->mem, page_pa[1], 7);
	fetch_forget(&fetch);
	fetch_seek(&fetch, 169, 2);
	ck_records(169, 1);
	ck_hole(170, 1);
	teardown();
}
END_TEST

static void count_settled(void *arg, uint64_t cr3, struct btsrec_record *record)
{
	ck_assert_uint_eq(cr3, 0x1000);
	++*(unsigned int *)arg;
	record->from++;
}

/* Slots that are whole and branches, and these alone. */
START_TEST(branches_are_settled)
{
	unsigned int nr_settled = 0;
	struct btsrec_record record;
	struct ring_run run;

	setup(512);
	fixture_put(fix, 0, 3, (struct btsrec_record){ .flags = BTSREC_POISON });
	mem_cut(&fix->mem, page_pa[2], 0);
	btsrec_ck_ok(fetch_one(&fetch, 4, &record));
	fetch_forget(&fetch);
	fetch.ring.settle = (struct fetch_settle){ count_settled, &nr_settled, 0x1000 };
	fetch_seek(&fetch, 3, 2);
	btsrec_ck_ok(fetch_next(&fetch, &run));
	ck_assert_uint_eq(run.records[1].from, record.from + 1);
	ck_assert_uint_eq(nr_settled, 340);
	teardown();
}
END_TEST

START_TEST(all_pages_missing)
{
	setup(512);
	page_pa[0] = page_pa[1] = page_pa[2] = 0;
	fetch_seek(&fetch, 0, 512);
	ck_hole(0, 512);
	ck_end();
	teardown();
}
END_TEST

/* Contiguous pages are read at once; one that fails must not take the others. */
START_TEST(hole_in_a_contiguous_run)
{
	setup(512 * 4);
	for (uint64_t i = 0; i < 12; i++) {
		void *to = mem_page(&fix->mem, 0x600000 + i * BTSREC_PAGE_BYTES);

		memcpy(to, mem_page(&fix->mem, page_pa[i]), BTSREC_PAGE_BYTES);
		page_pa[i] = 0x600000 + i * BTSREC_PAGE_BYTES;
	}
	fetch_seek(&fetch, 0, 512 * 4);
	fix->mem.nr_reads = 0;
	ck_records(0, 512 * 4);
	ck_assert_uint_eq(fix->mem.nr_reads, 1);
	fetch_forget(&fetch);
	mem_cut(&fix->mem, page_pa[3], 0);
	mem_cut(&fix->mem, page_pa[4], 0);
	fetch_seek(&fetch, 0, 512 * 4);
	ck_records(0, 512);
	ck_hole(512, 342);
	ck_records(854, 512 * 4 - 854);
	ck_end();
	teardown();
}
END_TEST

START_TEST(medium_fails)
{
	struct ring_run run;

	setup(512);
	fix->mem.fail_pa = page_pa[1];
	fix->mem.fail_status = BTSREC_ERR_IO;
	fetch_seek(&fetch, 0, 512);
	memset(&run, DIRT, sizeof(run));
	btsrec_ck_status(fetch_next(&fetch, &run), BTSREC_ERR_IO);
	ck_assert_uint_eq(run.nr_slots, 0);
	fix->mem.fail_pa = 0;
	fetch_seek(&fetch, 0, 512);
	ck_records(0, 512);
	teardown();
}
END_TEST

START_TEST(single_slots)
{
	struct btsrec_record record, want = fixture_branch(170);

	setup(512);
	btsrec_ck_ok(fetch_one(&fetch, 170, &record));
	ck_assert_mem_eq(&record, &want, sizeof(want));
	mem_cut(&fix->mem, page_pa[1], 0);
	fetch_forget(&fetch);
	btsrec_ck_status(fetch_one(&fetch, 170, &record), BTSREC_ERR_NODATA);
	fix->mem.fail_pa = page_pa[0];
	fix->mem.fail_status = BTSREC_ERR_IO;
	fetch_forget(&fetch);
	btsrec_ck_status(fetch_one(&fetch, 170, &record), BTSREC_ERR_IO);
	teardown();
}
END_TEST

START_TEST(no_memory)
{
	failing_alloc_arm(1);
	btsrec_ck_status(fetch_init(&fetch, &ring), BTSREC_ERR_NOMEM);
	ck_assert(failing_alloc_disarm());
	fetch_fini(&fetch);
}
END_TEST

/* --- All pages of a window at once --- */

static size_t nr_windows;

/* As long as none is missing. */
static bool read_pages(void *arg, const uint64_t *pa, size_t nr, void *buf)
{
	size_t nr_bytes;

	ck_assert_ptr_eq(arg, image.arg);
	for (size_t i = 0; i < nr; i++)
		if (image.read_pa(arg, pa[i], (uint8_t *)buf + i * BTSREC_PAGE_BYTES,
				  BTSREC_PAGE_BYTES, &nr_bytes))
			return false;
	nr_windows++;
	return true;
}

START_TEST(windows_at_once)
{
	setup(2 * FETCH_SLOTS + 3);
	image.read_pages = read_pages;
	nr_windows = 0;
	fetch_seek(&fetch, 5, 2 * FETCH_SLOTS - 2);
	ck_records(5, FETCH_SLOTS - 5);
	ck_records(FETCH_SLOTS, FETCH_SLOTS);
	ck_records(2 * FETCH_SLOTS, 3);
	ck_end();
	ck_assert_uint_eq(nr_windows, 3);
	teardown();
}
END_TEST

/* What was there of the window before is not taken for what could not be read. */
START_TEST(windows_at_once_but_one)
{
	setup(2 * FETCH_SLOTS);
	image.read_pages = read_pages;
	nr_windows = 0;
	mem_cut(&fix->mem, page_pa[FETCH_PAGES + 1], 0);
	fetch_seek(&fetch, 0, 2 * FETCH_SLOTS);
	ck_records(0, FETCH_SLOTS);
	ck_records(FETCH_SLOTS, 170);
	ck_hole(FETCH_SLOTS + 170, 172);
	ck_records(FETCH_SLOTS + 342, FETCH_SLOTS - 342);
	ck_end();
	ck_assert_uint_eq(nr_windows, 1);
	teardown();
}
END_TEST

BTSREC_CK_MAIN("fetch", nothing_sought, one_slot, odd_size_with_straddling_slots,
	       several_windows, first_page_missing, middle_page_missing_takes_both_straddlers,
	       last_page_missing, page_cut_short, branches_are_settled, all_pages_missing,
	       hole_in_a_contiguous_run, medium_fails, single_slots, no_memory, windows_at_once, windows_at_once_but_one)
