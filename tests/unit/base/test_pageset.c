// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "failing_alloc.h"
#include "base/pageset.h"

static struct pageset set;

START_TEST(empty)
{
	pageset_fini(&set);
	ck_assert_uint_eq(set.nr, 0);
}
END_TEST

START_TEST(twice_is_corrupt)
{
	btsrec_ck_ok(pageset_claim(&set, 0x1000));
	btsrec_ck_ok(pageset_claim(&set, 0x2000));
	btsrec_ck_status(pageset_claim(&set, 0x1000), BTSREC_ERR_CORRUPT);
	pageset_fini(&set);
	btsrec_ck_ok(pageset_claim(&set, 0x1000));
	pageset_fini(&set);
}
END_TEST

START_TEST(growth_forgets_nothing)
{
	for (uint64_t i = 1; i <= 100000; i++)
		btsrec_ck_ok(pageset_claim(&set, i * BTSREC_PAGE_BYTES));
	for (uint64_t i = 1; i <= 100000; i++)
		btsrec_ck_status(pageset_claim(&set, i * BTSREC_PAGE_BYTES), BTSREC_ERR_CORRUPT);
	pageset_fini(&set);
}
END_TEST

/* Rings of many CPUs are millions of pages, mostly neighbours. */
START_TEST(neighbours_share_a_slot)
{
	for (uint64_t i = 0; i < 64 * 1000; i++)
		btsrec_ck_ok(pageset_claim(&set, i * BTSREC_PAGE_BYTES));
	ck_assert_uint_eq(set.nr, 1000);
	btsrec_ck_ok(pageset_claim(&set, 1ULL << 51));
	btsrec_ck_status(pageset_claim(&set, 1ULL << 51), BTSREC_ERR_CORRUPT);
	btsrec_ck_status(pageset_claim(&set, 0), BTSREC_ERR_CORRUPT);
	pageset_fini(&set);
}
END_TEST

START_TEST(bits_stay_and_sort)
{
	const uint64_t pas[] = { 0x9000, 0x1000, 0x5000, 0x1000 };

	for (size_t i = 0; i < 4; i++)
		pageset_get(&set, pas[i])->bits |= 1ULL << i;
	ck_assert_ptr_null(pageset_find(&set, 0x2000));
	ck_assert_uint_eq(pageset_find(&set, 0x1000)->bits, 2 | 8);
	pageset_sort(&set);
	ck_assert_uint_eq(set.nr, 3);
	ck_assert_uint_eq(set.slots[0].pa, 0x1000);
	ck_assert_uint_eq(set.slots[1].pa, 0x5000);
	ck_assert_uint_eq(set.slots[2].pa, 0x9000);
	ck_assert_uint_eq(set.slots[2].bits, 1);
	pageset_fini(&set);
	ck_assert_ptr_null(pageset_find(&set, 0x1000));
	pageset_sort(&set);
}
END_TEST

START_TEST(merged)
{
	struct pageset other = { 0 };

	for (uint64_t i = 1; i <= 3000; i++) {
		pageset_get(&set, 2 * i * BTSREC_PAGE_BYTES)->bits |= 1;
		pageset_get(&other, 3 * i * BTSREC_PAGE_BYTES)->bits |= 2;
	}
	btsrec_ck_ok(pageset_merge(&set, &other));
	ck_assert_uint_eq(set.nr, 5000);
	for (uint64_t i = 1; i <= 6000; i++) {
		const struct pageset_page *page = pageset_find(&set, i * BTSREC_PAGE_BYTES);

		if ((page ? page->bits : 0) != (i % 2 ? 0 : 1U) + (i % 3 ? 0 : 2U))
			ck_abort_msg("page %ju", (uintmax_t)i);
	}
	pageset_fini(&set);
	btsrec_ck_ok(pageset_merge(&set, &set));
	ck_assert_uint_eq(set.nr, 0);
	failing_alloc_arm(1);
	btsrec_ck_status(pageset_merge(&set, &other), BTSREC_ERR_NOMEM);
	ck_assert(failing_alloc_disarm());
	pageset_fini(&set);
	pageset_fini(&other);
}
END_TEST

START_TEST(no_memory)
{
	failing_alloc_arm(1);
	btsrec_ck_status(pageset_claim(&set, 0x1000), BTSREC_ERR_NOMEM);
	ck_assert(failing_alloc_disarm());
	btsrec_ck_ok(pageset_claim(&set, 0x1000));
	pageset_fini(&set);
}
END_TEST

BTSREC_CK_MAIN("pageset", empty, twice_is_corrupt, growth_forgets_nothing,
	       neighbours_share_a_slot, bits_stay_and_sort, merged, no_memory)
