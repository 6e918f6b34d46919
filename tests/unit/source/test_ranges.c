// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "check_btsrec.h"
#include "failing_alloc.h"
#include "source/ranges.h"

#define NR_NUMBERS	200
#define NOBODY		UINT64_MAX

static struct ranges ranges;

static void put(uint64_t begin, uint64_t nr_bytes, uint64_t at, uint64_t rank)
{
	ck_assert(ranges_add(&ranges, begin, nr_bytes, at, rank));
}

/* Where number @number is. */
static uint64_t at(uint64_t number)
{
	const struct range *range = ranges_find(&ranges, number);

	return range ? range->at + (number - range->begin) : NOBODY;
}

/* They ascend, none overlaps the next, and next to each other are only different ones. */
static void ck_settled(void)
{
	for (size_t i = 1; i < ranges.nr; i++) {
		const struct range *range = &ranges.list[i], *before = range - 1;

		ck_assert_uint_gt(before->nr_bytes, 0);
		ck_assert_uint_ge(range->begin, before->begin + before->nr_bytes);
		ck_assert(range->begin > before->begin + before->nr_bytes ||
			  range->rank != before->rank);
	}
}

START_TEST(none)
{
	ck_assert_ptr_null(ranges_find(&ranges, 0));
	put(5, 0, 100, 1);
	put(UINT64_MAX, 1, 100, 2);
	put(2, UINT64_MAX - 1, 100, 3);
	ck_assert(ranges_settle(&ranges));
	ck_assert_uint_eq(ranges.nr, 0);
	ck_assert_uint_eq(at(5), NOBODY);
	ranges_fini(&ranges);
}
END_TEST

START_TEST(in_any_order)
{
	put(20, 5, 100, 1);
	put(0, 5, 200, 3);
	put(5, 5, 300, 2);
	put(UINT64_MAX - 1, 1, 400, 4);
	ck_assert(ranges_settle(&ranges));
	ck_assert_uint_eq(ranges.nr, 4);
	ck_assert_uint_eq(at(0), 200);
	ck_assert_uint_eq(at(4), 204);
	ck_assert_uint_eq(at(5), 300);
	ck_assert_uint_eq(at(10), NOBODY);
	ck_assert_uint_eq(at(24), 104);
	ck_assert_uint_eq(at(25), NOBODY);
	ck_assert_uint_eq(at(UINT64_MAX - 1), 400);
	ck_assert_uint_eq(at(UINT64_MAX), NOBODY);
	ranges_fini(&ranges);
}
END_TEST

/* Each number goes to the greatest rank, as if they were painted one over the other. */
START_TEST(the_greatest_rank_wins)
{
	for (unsigned int seed = 0; seed < 500; seed++) {
		uint64_t want[NR_NUMBERS], rank_of[NR_NUMBERS];
		unsigned int nr = seed % 40;

		srand(seed);
		for (size_t i = 0; i < NR_NUMBERS; i++)
			want[i] = rank_of[i] = NOBODY;
		for (uint64_t i = 0; i < nr; i++) {
			/* All ranks are different, in no order. */
			uint64_t rank = i * 17 % 41, from = 1000 * i;
			uint64_t begin = (uint64_t)rand() % NR_NUMBERS;
			uint64_t nr_bytes = (uint64_t)rand() % (NR_NUMBERS - begin + 1);

			if (rand() % 2 && nr_bytes > 9)
				nr_bytes %= 10;
			put(begin, nr_bytes, from, rank);
			for (uint64_t k = begin; k < begin + nr_bytes; k++) {
				if (rank_of[k] != NOBODY && rank_of[k] > rank)
					continue;
				rank_of[k] = rank;
				want[k] = from + (k - begin);
			}
		}
		ck_assert(ranges_settle(&ranges));
		ck_settled();
		ck_assert_uint_le(ranges.nr, 2 * nr);
		for (uint64_t k = 0; k < NR_NUMBERS; k++)
			ck_assert_uint_eq(at(k), want[k]);
		ranges_fini(&ranges);
	}
}
END_TEST

START_TEST(the_next_one)
{
	ck_assert_ptr_null(ranges_next(&ranges, 0));
	put(10, 5, 100, 1);
	put(20, 5, 200, 2);
	ck_assert(ranges_settle(&ranges));
	for (uint64_t number = 0; number < 25; number++)
		ck_assert_uint_eq(ranges_next(&ranges, number)->begin, number < 15 ? 10 : 20);
	ck_assert_ptr_null(ranges_next(&ranges, 25));
	ck_assert_ptr_null(ranges_next(&ranges, UINT64_MAX));
	ranges_fini(&ranges);
}
END_TEST

#define NR_MANY	200000

/* A scan of all of them for each question, or for each cut, would take minutes. */
START_TEST(one_over_many)
{
	for (unsigned int newest = 0; newest < 2; newest++) {
		for (uint64_t i = 0; i < NR_MANY; i++)
			put(i, 2, i, 1 + i * 7 % NR_MANY);
		put(0, NR_MANY, 5000000, newest ? NR_MANY + 1 : 0);
		ck_assert(ranges_settle(&ranges));
		if (newest)
			ck_assert_uint_eq(ranges.nr, 2);
		for (uint64_t i = 0; newest && i < NR_MANY; i++)
			if (at(i) != 5000000 + i)
				ck_abort_msg("%ju", (uintmax_t)i);
		for (uint64_t i = 0; !newest && i < NR_MANY; i++)
			if (at(i) != i)
				ck_abort_msg("%ju", (uintmax_t)i);
		ranges_fini(&ranges);
	}
}
END_TEST

START_TEST(no_memory)
{
	unsigned int nr = 1;

	for (;; nr++) {
		bool good;

		failing_alloc_arm(nr);
		good = ranges_add(&ranges, 0, 10, 100, 1) && ranges_add(&ranges, 5, 10, 200, 2) &&
		       ranges_settle(&ranges);
		ranges_fini(&ranges);
		if (!failing_alloc_disarm())
			break;
		ck_assert(!good);
	}
	/* The list, those that have begun, and the list that is made of them. */
	ck_assert_uint_eq(nr, 4);
}
END_TEST

BTSREC_CK_MAIN("ranges", none, in_any_order, the_greatest_rank_wins, the_next_one,
	       one_over_many, no_memory)
