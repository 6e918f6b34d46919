// SPDX-License-Identifier: GPL-2.0-or-later
#include <sched.h>

#include "historyfix.h"
#include "recorder/rings_ahead.h"

/* Their last page is not full. */
#define NR_SLOTS	800
#define NR_PAGES	5
/* Three times what is read at once, but for one. */
#define NR_MANY_PAGES	47
#define NR_MANY_SLOTS	(NR_MANY_PAGES * BTSREC_PAGE_BYTES / BTSREC_RECORD_BYTES)
#define NR_AT_ONCE	16
#define MAX_READ	(2 * NR_MANY_PAGES)

static uint64_t read_pa[MAX_READ];
static size_t nr_read;

/* So many pages were read when the session comes to @meets_pa; 0: it does not. */
static size_t nr_before_meets;
static uint64_t meets_pa;

static void expect(void *arg, const uint64_t *page_pa, size_t nr)
{
	(void)arg, (void)page_pa, (void)nr;
}

/* Of one thread at a time; the last page of all cannot be read. */
static bool read_pages(void *arg, const uint64_t *page_pa, size_t nr, void *buf)
{
	size_t nr_before = __atomic_load_n(&nr_read, __ATOMIC_RELAXED);

	(void)arg;
	if (nr_before + nr > MAX_READ)
		ck_abort_msg("%zu pages", nr_before + nr);
	if (meets_pa && nr_before == nr_before_meets)
		rings_ahead_meet(rec, (const uint64_t[]){ 0, meets_pa }, 2);
	memset(buf, DIRT, nr * BTSREC_PAGE_BYTES);
	memcpy(read_pa + nr_before, page_pa, nr * sizeof(*page_pa));
	__atomic_store_n(&nr_read, nr_before + nr, __ATOMIC_RELEASE);
	return page_pa[nr - 1] != fixture_ring_page_pa(fix, 1, NR_PAGES - 1);
}

static void setup_slots(unsigned int nr_threads, uint64_t nr_slots)
{
	struct btsrec_image image;

	setup(nr_slots);
	image = mem_image(&fix->mem);
	image.expect = expect;
	image.read_pages = read_pages;
	btsrec_set_threads(rec, nr_threads);
	btsrec_ck_ok(btsrec_open_image(rec, &image));
	btsrec_ck_ok(btsrec_locate(rec, FIX_ROOT_PA, BTSREC_SCAN_NONE));
	nr_read = 0;
	meets_pa = 0;
}

static void setup_source(unsigned int nr_threads)
{
	setup_slots(nr_threads, NR_SLOTS);
}

static void wait_for(size_t nr)
{
	while (__atomic_load_n(&nr_read, __ATOMIC_ACQUIRE) < nr)
		sched_yield();
}

static void ck_read(unsigned int cpu, size_t first)
{
	for (size_t page = 0; page < NR_PAGES; page++)
		ck_assert_uint_eq(read_pa[first + page], fixture_ring_page_pa(fix, cpu, page));
}

START_TEST(all_rings_in_order)
{
	setup_source(2);
	rings_ahead_want(rec, NULL, 0);
	rings_ahead_begin(rec);
	ck_assert(rec->rings_ahead.running);
	wait_for(2 * NR_PAGES);
	rings_ahead_end(rec);
	ck_assert(!rec->rings_ahead.running);
	ck_assert_uint_eq(nr_read, 2 * NR_PAGES);
	ck_read(0, 0);
	ck_read(1, NR_PAGES);
	/* There is nothing left to be read. */
	rings_ahead_begin(rec);
	ck_assert(!rec->rings_ahead.running);
	rings_ahead_end(rec);
	teardown();
}
END_TEST

START_TEST(only_what_is_wanted)
{
	const unsigned int cpus[] = { 1, 0 };

	setup_source(16);
	rings_ahead_want(rec, cpus, 2);
	rings_ahead_begin(rec);
	wait_for(NR_PAGES);
	rings_ahead_end(rec);
	ck_assert_uint_eq(nr_read, NR_PAGES);
	ck_read(1, 0);
	teardown();
}
END_TEST

START_TEST(a_page_that_is_not_there)
{
	setup_source(2);
	rec->located->cpus[0]->ring_pa[1] = 0;
	rings_ahead_want(rec, NULL, 0);
	rings_ahead_begin(rec);
	wait_for(2 * NR_PAGES - 1);
	rings_ahead_end(rec);
	ck_assert_uint_eq(nr_read, 2 * NR_PAGES - 1);
	ck_assert_uint_eq(read_pa[0], fixture_ring_page_pa(fix, 0, 0));
	ck_assert_uint_eq(read_pa[1], fixture_ring_page_pa(fix, 0, 2));
	ck_read(1, NR_PAGES - 1);
	teardown();
}
END_TEST

/* However often it is ended, each page is read once. */
START_TEST(goes_on_where_it_was)
{
	setup_source(2);
	rings_ahead_want(rec, NULL, 0);
	while (nr_read < 2 * NR_PAGES) {
		rings_ahead_begin(rec);
		rings_ahead_end(rec);
	}
	ck_assert_uint_eq(nr_read, 2 * NR_PAGES);
	ck_read(0, 0);
	ck_read(1, NR_PAGES);
	teardown();
}
END_TEST

static void ck_does_not_begin(void)
{
	rings_ahead_begin(rec);
	ck_assert(!rec->rings_ahead.running);
	rings_ahead_end(rec);
	ck_assert_uint_eq(nr_read, 0);
	teardown();
}

START_TEST(when_not)
{
	setup_source(1);
	rings_ahead_want(rec, NULL, 0);
	ck_does_not_begin();

	setup_source(2);
	ck_does_not_begin();

	setup_source(2);
	rings_ahead_want(rec, NULL, 0);
	rec->image.expect = NULL;
	ck_does_not_begin();

	setup_source(2);
	rings_ahead_want(rec, NULL, 0);
	rec->image.read_pages = NULL;
	ck_does_not_begin();

	/* As far as may be. */
	setup_source(2);
	rings_ahead_want(rec, NULL, 0);
	rec->rings_ahead.cpu = 1;
	rec->located->cpus[0]->page.nr_ring_pages = RINGS_AHEAD_MAX_PAGES;
	ck_does_not_begin();
}
END_TEST

/* What was read of the ring of CPU 0 by then is not read again, nor is the rest of it. */
START_TEST(behind_a_ring)
{
	setup_source(2);
	rings_ahead_want(rec, NULL, 0);
	rec->rings_ahead.page = 2;
	rings_ahead_behind(rec, 0);
	ck_assert(rec->rings_ahead.running);
	/* Another history is read beside the first. */
	rings_ahead_behind(rec, 1);
	wait_for(NR_PAGES);
	rings_ahead_end(rec);
	ck_assert_uint_eq(nr_read, NR_PAGES);
	ck_read(1, 0);
	rings_ahead_behind(rec, 1);
	ck_assert(!rec->rings_ahead.running);
	teardown();

	/* It had begun before. */
	setup_source(2);
	rings_ahead_want(rec, NULL, 0);
	rec->rings_ahead.cpu = 1;
	rec->rings_ahead.page = 2;
	rings_ahead_behind(rec, 0);
	wait_for(NR_PAGES - 2);
	rings_ahead_end(rec);
	ck_assert_uint_eq(nr_read, NR_PAGES - 2);
	ck_assert_uint_eq(read_pa[0], fixture_ring_page_pa(fix, 1, 2));
	teardown();
}
END_TEST

/* A dump keeps so much; the ring of CPU 1 is behind one that leaves no room, or a page of it. */
START_TEST(room_for_both)
{
	setup_source(2);
	rings_ahead_want(rec, NULL, 0);
	rec->located->cpus[0]->page.nr_ring_pages = RINGS_AHEAD_MAX_PAGES + 1;
	rings_ahead_behind(rec, 0);
	ck_assert(!rec->rings_ahead.running);
	rec->located->cpus[0]->page.nr_ring_pages = RINGS_AHEAD_MAX_PAGES - 1;
	rec->rings_ahead.cpu = 1;
	rings_ahead_begin(rec);
	wait_for(1);
	rings_ahead_end(rec);
	ck_assert_uint_eq(nr_read, 1);
	ck_assert_uint_eq(rec->rings_ahead.page, 1);
	teardown();
}
END_TEST

/* The session comes to page @page of ring 0 when @nr_before pages of it were read. */
static size_t nr_read_when_met(size_t nr_before, size_t page)
{
	size_t nr;

	setup_slots(2, NR_MANY_SLOTS);
	nr_before_meets = nr_before;
	meets_pa = fixture_ring_page_pa(fix, 0, page);
	rings_ahead_want(rec, NULL, 0);
	rings_ahead_meet(rec, &meets_pa, 1);
	rings_ahead_begin(rec);
	/* Until it has come to the end of ring 1. */
	while (!__atomic_load_n(&nr_read, __ATOMIC_ACQUIRE) ||
	       read_pa[__atomic_load_n(&nr_read, __ATOMIC_ACQUIRE) - 1] !=
		       fixture_ring_page_pa(fix, 1, NR_MANY_PAGES - 1))
		sched_yield();
	rings_ahead_end(rec);
	nr = nr_read;
	teardown();
	return nr - NR_MANY_PAGES;
}

/* What is left of a ring is left to whom it has met there; it goes on with the next ring. */
START_TEST(meets_the_session)
{
	ck_assert_uint_eq(nr_read_when_met(0, 0), NR_AT_ONCE);
	ck_assert_uint_eq(nr_read_when_met(NR_AT_ONCE, NR_AT_ONCE), 2 * NR_AT_ONCE);
	ck_assert_uint_eq(nr_read_when_met(2 * NR_AT_ONCE, 2 * NR_AT_ONCE), NR_MANY_PAGES);
	/* Before that, and behind it. */
	ck_assert_uint_eq(nr_read_when_met(NR_AT_ONCE, 0), NR_MANY_PAGES);
	ck_assert_uint_eq(nr_read_when_met(0, NR_AT_ONCE), NR_MANY_PAGES);
}
END_TEST

/* What it has met on the way before does not count on the next. */
START_TEST(begins_anew)
{
	setup_slots(2, NR_MANY_SLOTS);
	meets_pa = fixture_ring_page_pa(fix, 0, 0);
	nr_before_meets = 0;
	for (unsigned int way = 0; way < 2; way++) {
		nr_read = 0;
		rings_ahead_want(rec, (const unsigned int[]){ 0 }, 1);
		rings_ahead_begin(rec);
		wait_for(way ? NR_MANY_PAGES : NR_AT_ONCE);
		rings_ahead_end(rec);
		ck_assert_uint_eq(nr_read, way ? NR_MANY_PAGES : NR_AT_ONCE);
		meets_pa = 0;
	}
	teardown();
}
END_TEST

START_TEST(forgotten)
{
	setup_source(2);
	rings_ahead_want(rec, NULL, 0);
	rings_ahead_begin(rec);
	wait_for(2 * NR_PAGES);
	rings_ahead_forget(rec);
	ck_assert(!rec->rings_ahead.running);
	rec->rings_ahead.cpu = 0;
	nr_read = 0;
	ck_does_not_begin();

	/* With the session, it ends as well. */
	setup_source(2);
	rings_ahead_want(rec, NULL, 0);
	rings_ahead_begin(rec);
	teardown();
}
END_TEST

BTSREC_CK_MAIN("rings_ahead", all_rings_in_order, only_what_is_wanted, a_page_that_is_not_there,
	       goes_on_where_it_was, when_not, behind_a_ring, room_for_both,
	       meets_the_session, begins_anew, forgotten)
