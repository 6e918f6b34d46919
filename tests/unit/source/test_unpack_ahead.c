// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check_btsrec.h"
#include "failing_alloc.h"
#include "source/unpack_ahead.h"

#define NR_PAGES 1000
#define NOT_EXPECTED (-1)

static FILE *file;
static struct mkdump_file flat;
static struct unpack_ahead *ahead;

/* Page i is i, again and again. */
static void setup(unsigned int nr_threads)
{
	uint64_t labels[BTSREC_PAGE_BYTES / 8];

	file = tmpfile();
	ck_assert_ptr_nonnull(file);
	for (uint64_t i = 0; i < NR_PAGES; i++) {
		for (size_t at = 0; at < BTSREC_PAGE_BYTES / 8; at++)
			labels[at] = i;
		ck_assert_uint_eq(fwrite(labels, sizeof(labels), 1, file), 1);
	}
	fflush(file);
	ck_assert(mkdump_file_init_plain(&flat, fileno(file), NR_PAGES * BTSREC_PAGE_BYTES));
	ahead = unpack_ahead_new(&flat, nr_threads);
	ck_assert_ptr_nonnull(ahead);
}

static void teardown(void)
{
	unpack_ahead_free(ahead);
	mkdump_file_fini(&flat);
	fclose(file);
}

static void expect(uint64_t number)
{
	struct unpack_page page = { number * BTSREC_PAGE_BYTES, BTSREC_PAGE_BYTES, 0 };

	unpack_ahead_expect(ahead, number, &page);
}

static void expect_many(uint64_t first, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		expect(first + i);
	unpack_ahead_start(ahead);
}

/* A status of unpack_page(), or that it was not expected. */
static int take(uint64_t number)
{
	uint64_t labels[BTSREC_PAGE_BYTES / 8] = {0};
	enum btsrec_status status;

	if (!unpack_ahead_take(ahead, number, (uint8_t *)labels, &status))
		return NOT_EXPECTED;
	for (size_t at = 0; !status && at < BTSREC_PAGE_BYTES / 8; at++)
		if (labels[at] != number)
			ck_abort_msg("word %zu of page %ju is %ju", at, (uintmax_t)number,
				     (uintmax_t)labels[at]);
	return (int)status;
}

START_TEST(alone_there_is_none)
{
	ck_assert_ptr_null(unpack_ahead_new(&flat, 0));
	ck_assert_ptr_null(unpack_ahead_new(&flat, 1));
	unpack_ahead_free(NULL);
}
END_TEST

START_TEST(nothing_is_expected)
{
	setup(2);
	ck_assert(!unpack_ahead_expects(ahead, 7));
	ck_assert_int_eq(take(7), NOT_EXPECTED);
	teardown();
}
END_TEST

START_TEST(in_order)
{
	for (unsigned int nr_threads = 2; nr_threads <= 5; nr_threads++) {
		setup(nr_threads);
		for (uint64_t first = 0; first < NR_PAGES; first += 50) {
			expect_many(first, 50);
			for (uint64_t i = first; i < first + 50; i++) {
				ck_assert(unpack_ahead_expects(ahead, i));
				ck_assert_int_eq(take(i), BTSREC_OK);
				ck_assert_int_eq(take(i), NOT_EXPECTED);
			}
		}
		teardown();
	}
}
END_TEST

/* Before any thread was told to begin, too. */
START_TEST(in_any_order)
{
	setup(3);
	for (uint64_t first = 0; first + 64 <= NR_PAGES; first += 64) {
		for (uint64_t i = 0; i < 64; i++)
			expect(first + i);
		for (uint64_t i = 0; i < 64; i++) {
			if (i == 10)
				unpack_ahead_start(ahead);
			ck_assert_int_eq(take(first + i * 37 % 64), BTSREC_OK);
		}
	}
	teardown();
}
END_TEST

static void *help(void *arg)
{
	struct unpack unpack = { 0 };

	(void)arg;
	unpack_ahead_help(ahead, &unpack);
	unpack_fini(&unpack);
	return NULL;
}

/* When the file is gone, all that was expected has been unpacked. */
START_TEST(by_a_passer_by)
{
	pthread_t thread;

	setup(2);
	ck_assert(!help(NULL));
	for (uint64_t i = 0; i < 64; i++)
		expect(i);
	ck_assert_int_eq(pthread_create(&thread, NULL, help, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(ftruncate(fileno(file), 0), 0);
	for (uint64_t i = 0; i < 64; i++)
		ck_assert_int_eq(take(i), BTSREC_OK);
	expect(64);
	ck_assert_int_eq(take(64), BTSREC_ERR_NODATA);
	teardown();
}
END_TEST

START_TEST(the_oldest_is_forgotten)
{
	setup(2);
	for (uint64_t first = 0; first < NR_PAGES; first += 250) {
		expect_many(first, 250);
		ck_assert_int_eq(take(first + 250 - UNPACK_AHEAD_MAX - 1), NOT_EXPECTED);
		for (uint64_t i = 250 - UNPACK_AHEAD_MAX; i < 250; i += 3)
			ck_assert_int_eq(take(first + i), BTSREC_OK);
	}
	teardown();
}
END_TEST

START_TEST(what_cannot_be_read)
{
	struct unpack_page page = { NR_PAGES * BTSREC_PAGE_BYTES, BTSREC_PAGE_BYTES, 0 };

	setup(2);
	expect(1);
	unpack_ahead_expect(ahead, 2, &page);
	page = (struct unpack_page){ 0, 64, 1 };
	unpack_ahead_expect(ahead, 3, &page);
	expect(4);
	unpack_ahead_start(ahead);
	ck_assert_int_eq(take(2), BTSREC_ERR_NODATA);
	ck_assert_int_eq(take(3), BTSREC_ERR_NODATA);
	ck_assert_int_eq(take(1), BTSREC_OK);
	ck_assert_int_eq(take(4), BTSREC_OK);
	ck_assert_int_eq(take(2), NOT_EXPECTED);
	teardown();
}
END_TEST

/* Whoever has asked the file: the owner or another thread. */
START_TEST(the_medium_fails)
{
	pthread_t thread;

	for (unsigned int nr_threads = 2; nr_threads <= 3; nr_threads++) {
		setup(nr_threads);
		expect(1);
		ck_assert_int_eq(take(1), BTSREC_OK);
		/* No file is open with it. */
		flat.fd = -1;
		expect_many(2, 20);
		for (uint64_t i = 2; i < 22; i++)
			ck_assert_int_eq(take(i), BTSREC_ERR_IO);
		expect(2);
		ck_assert_int_eq(pthread_create(&thread, NULL, help, NULL), 0);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
		ck_assert_int_eq(take(2), BTSREC_ERR_IO);
		flat.fd = fileno(file);
		expect(2);
		ck_assert_int_eq(take(2), BTSREC_OK);
		teardown();
	}
}
END_TEST

START_TEST(ended_in_between)
{
	for (unsigned int round = 0; round < 50; round++) {
		setup(4);
		expect_many(0, round % UNPACK_AHEAD_MAX);
		teardown();
	}
}
END_TEST

START_TEST(no_memory)
{
	failing_alloc_arm(1);
	ck_assert_ptr_null(unpack_ahead_new(&flat, 2));
	ck_assert(failing_alloc_disarm());
}
END_TEST

BTSREC_CK_MAIN("unpack_ahead", alone_there_is_none, nothing_is_expected, in_order, in_any_order, by_a_passer_by,
	       the_oldest_is_forgotten, what_cannot_be_read, the_medium_fails,
	       ended_in_between, no_memory)
