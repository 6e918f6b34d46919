// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "tally/coverage.h"
#include "failing_alloc.h"

#define START 0xfffffffffffffff0ULL
#define NR_BYTES 8

static void check_counts(const struct coverage *coverage, const unsigned int *wanted)
{
	for (unsigned int i = 0; i < NR_BYTES; i++)
		ck_assert_uint_eq(coverage_nr(coverage, START + i), wanted[i]);
}

START_TEST(ranges_add_up)
{
	static const unsigned int wanted[NR_BYTES] = { 1, 1, 2, 1, 0, 0, 0, 2 };
	struct coverage coverage;

	ck_assert(coverage_init(&coverage, START, NR_BYTES));
	coverage_add(&coverage, START, START + 4);
	coverage_add(&coverage, START + 2, START + 3);
	coverage_add(&coverage, START + 7, START + 8);
	coverage_add(&coverage, START + 7, START + 8);
	coverage_add(&coverage, START + 5, START + 5);
	coverage_end(&coverage);
	check_counts(&coverage, wanted);
	coverage_fini(&coverage);
}
END_TEST

START_TEST(what_lies_outside)
{
	static const unsigned int wanted[NR_BYTES] = { 2, 2, 1, 1, 1, 1, 2, 2 };
	struct coverage coverage;

	ck_assert(coverage_init(&coverage, START, NR_BYTES));
	coverage_add(&coverage, START - 4, START + 2);
	coverage_add(&coverage, START + 6, START + 12);
	coverage_add(&coverage, 0, UINT64_MAX);
	coverage_add(&coverage, START - 4, START);
	coverage_add(&coverage, START + 8, START + 9);
	coverage_add(&coverage, START + 4, START + 2);
	coverage_end(&coverage);
	check_counts(&coverage, wanted);
	ck_assert(coverage_has(&coverage, START) && coverage_has(&coverage, START + 7));
	ck_assert(!coverage_has(&coverage, START - 1) && !coverage_has(&coverage, START + 8));
	coverage_fini(&coverage);
}
END_TEST

START_TEST(without_memory)
{
	struct coverage coverage;

	failing_alloc_arm(1);
	ck_assert(!coverage_init(&coverage, START, NR_BYTES));
	ck_assert(failing_alloc_disarm());
	coverage_fini(&coverage);
}
END_TEST

BTSREC_CK_MAIN("coverage", ranges_add_up, what_lies_outside, without_memory)
