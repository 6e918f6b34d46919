// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "check_btsrec.h"
#include "failing_alloc.h"
#include "source/page_cache.h"

static struct page_cache kept;

/* Each page says which one it is, at its ends. */
static void add(uint64_t number)
{
	uint8_t *room = page_cache_room(&kept);

	ck_assert_ptr_nonnull(room);
	memcpy(room, &number, sizeof(number));
	memcpy(room + BTSREC_PAGE_BYTES - sizeof(number), &number, sizeof(number));
	page_cache_add(&kept, number);
}

static bool is_kept(uint64_t number)
{
	const uint8_t *page = page_cache_find(&kept, number);

	if (page && (memcmp(page, &number, sizeof(number)) ||
		     memcmp(page + BTSREC_PAGE_BYTES - sizeof(number), &number, sizeof(number))))
		ck_abort_msg("page %ju is another one", (uintmax_t)number);
	return page;
}

/* Of those below @end. */
static uint64_t nr_kept(uint64_t end)
{
	uint64_t nr = 0;

	for (uint64_t i = 0; i < end; i++)
		nr += is_kept(i);
	return nr;
}

START_TEST(empty)
{
	ck_assert(!is_kept(0));
	page_cache_fini(&kept);
	ck_assert(!is_kept(0));
}
END_TEST

START_TEST(the_first_number_is_a_page)
{
	add(0);
	ck_assert(is_kept(0));
	ck_assert(!is_kept(1));
	page_cache_fini(&kept);
	ck_assert(!is_kept(0));
}
END_TEST

/* Neighbours, and numbers that are far apart. */
START_TEST(as_many_as_fit)
{
	uint64_t far = 1ULL << 33, nr = PAGE_CACHE_MAX + 1000, nr_there = 0;

	for (uint64_t i = 0; i < nr; i++) {
		add(i % 2 ? i : i * far);
		ck_assert(is_kept(i % 2 ? i : i * far));
	}
	for (uint64_t i = 0; i < nr; i++)
		nr_there += is_kept(i % 2 ? i : i * far);
	ck_assert_uint_eq(nr_there, PAGE_CACHE_MAX);
	page_cache_fini(&kept);
}
END_TEST

/* Who goes through a little more than there is room for finds two thirds the second time. */
START_TEST(more_than_fit)
{
	uint64_t nr = PAGE_CACHE_MAX + PAGE_CACHE_MAX / 8, nr_found = 0;

	for (uint64_t i = 0; i < nr; i++)
		add(i);
	for (uint64_t i = 0; i < nr; i++) {
		if (is_kept(i))
			nr_found++;
		else
			add(i);
	}
	ck_assert_uint_gt(nr_found, nr / 3 * 2);
	page_cache_fini(&kept);
}
END_TEST

/* Somebody asks for room, and cannot read the page. */
START_TEST(room_that_stays_empty)
{
	for (uint64_t i = 0; i < PAGE_CACHE_MAX; i++)
		add(i);
	ck_assert_ptr_nonnull(page_cache_room(&kept));
	ck_assert_uint_eq(nr_kept(PAGE_CACHE_MAX), PAGE_CACHE_MAX - 1);
	ck_assert_ptr_eq(page_cache_room(&kept), page_cache_room(&kept));
	add(PAGE_CACHE_MAX);
	ck_assert(is_kept(PAGE_CACHE_MAX));
	ck_assert_uint_eq(nr_kept(PAGE_CACHE_MAX), PAGE_CACHE_MAX - 1);
	page_cache_fini(&kept);
}
END_TEST

START_TEST(every_allocation_fails_once)
{
	for (unsigned int nth = 1; nth <= 2; nth++) {
		failing_alloc_arm(nth);
		ck_assert_ptr_null(page_cache_room(&kept));
		ck_assert(failing_alloc_disarm());
		add(7);
		ck_assert(is_kept(7));
		page_cache_fini(&kept);
	}
}
END_TEST

BTSREC_CK_MAIN("page_cache", empty, the_first_number_is_a_page, as_many_as_fit, more_than_fit,
	       room_that_stays_empty, every_allocation_fails_once)
