// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "export/report/share.h"

#define NR(nr) (sizeof(nr) / sizeof((nr)[0]))

START_TEST(all_where_all_fit)
{
	const uint64_t nr[] = { 3, 0, 4 };

	ck_assert_uint_eq(share_evenly(nr, NR(nr), 7), UINT64_MAX);
	ck_assert_uint_eq(share_evenly(nr, NR(nr), UINT64_MAX), UINT64_MAX);
	ck_assert_uint_eq(share_evenly(nr, 0, 0), UINT64_MAX);
}
END_TEST

START_TEST(the_same_of_each)
{
	const uint64_t nr[] = { 100, 100, 100, 100 };

	ck_assert_uint_eq(share_evenly(nr, NR(nr), 399), 99);
	ck_assert_uint_eq(share_evenly(nr, NR(nr), 200), 50);
	ck_assert_uint_eq(share_evenly(nr, NR(nr), 203), 50);
	ck_assert_uint_eq(share_evenly(nr, NR(nr), 4), 1);
}
END_TEST

START_TEST(one_with_fewer_leaves_the_rest)
{
	const uint64_t nr[] = { 1000, 10, 0, 1000 };

	ck_assert_uint_eq(share_evenly(nr, NR(nr), 1010), 500);
	ck_assert_uint_eq(share_evenly(nr, NR(nr), 2009), 999);
	ck_assert_uint_eq(share_evenly(nr, NR(nr), 30), 10);
	ck_assert_uint_eq(share_evenly(nr, NR(nr), 29), 9);
}
END_TEST

START_TEST(never_none)
{
	const uint64_t nr[] = { 5, 5, 5 };

	ck_assert_uint_eq(share_evenly(nr, NR(nr), 2), 1);
	ck_assert_uint_eq(share_evenly(nr, NR(nr), 0), 1);
}
END_TEST

START_TEST(more_than_a_number_holds)
{
	const uint64_t nr[] = { UINT64_MAX, UINT64_MAX };

	ck_assert_uint_eq(share_evenly(nr, NR(nr), UINT64_MAX), UINT64_MAX / 2);
	ck_assert(!share_fits(nr, NR(nr), UINT64_MAX, UINT64_MAX));
}
END_TEST

BTSREC_CK_MAIN("share", all_where_all_fit, the_same_of_each, one_with_fewer_leaves_the_rest,
	       never_none, more_than_a_number_holds)
