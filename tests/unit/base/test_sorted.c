// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "base/sorted.h"

struct element {
	uint32_t other;
	uint64_t key;
};

static size_t up_to(const struct element *list, size_t nr, uint64_t key)
{
	return sorted_up_to(list, nr, key, key);
}

START_TEST(nothing)
{
	ck_assert_uint_eq(up_to(NULL, 0, 0), 0);
	ck_assert_uint_eq(up_to(NULL, 0, UINT64_MAX), 0);
}
END_TEST

/* Keys 3, 6, 9 and so on: how many are at most each number. */
START_TEST(every_length_and_key)
{
	struct element list[20];

	for (size_t nr = 1; nr <= 20; nr++) {
		list[nr - 1] = (struct element){ .other = UINT32_MAX, .key = 3 * nr };
		for (uint64_t key = 0; key < 3 * nr + 5; key++)
			ck_assert_uint_eq(up_to(list, nr, key), key / 3 < nr ? key / 3 : nr);
		ck_assert_uint_eq(up_to(list, nr, UINT64_MAX), nr);
	}
}
END_TEST

START_TEST(behind_all_that_are_equal)
{
	const struct element list[] = { { 0, 1 }, { 0, 7 }, { 0, 7 }, { 0, 7 }, { 0, UINT64_MAX } };

	ck_assert_uint_eq(up_to(list, 5, 6), 1);
	ck_assert_uint_eq(up_to(list, 5, 7), 4);
	ck_assert_uint_eq(up_to(list, 5, UINT64_MAX - 1), 4);
	ck_assert_uint_eq(up_to(list, 5, UINT64_MAX), 5);
}
END_TEST

BTSREC_CK_MAIN("sorted", nothing, every_length_and_key, behind_all_that_are_equal)
