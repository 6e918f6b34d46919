// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "failing_alloc.h"
#include "base/diag.h"

static struct diags diags;

START_TEST(fini_of_an_empty_list)
{
	diags_fini(&diags);
	ck_assert_uint_eq(diags.nr, 0);
	ck_assert_ptr_null(diags.list);
}
END_TEST

START_TEST(one)
{
	btsrec_ck_status(diags_add(&diags, BTSREC_ERR_CORRUPT, 3, 0x1000, "x is %d", 7),
			 BTSREC_ERR_CORRUPT);
	ck_assert_uint_eq(diags.nr, 1);
	btsrec_ck_status(diags.list[0].status, BTSREC_ERR_CORRUPT);
	ck_assert_uint_eq(diags.list[0].cpu, 3);
	ck_assert_uint_eq(diags.list[0].pa, 0x1000);
	ck_assert_str_eq(diags.list[0].text, "x is 7");
	diags_fini(&diags);
}
END_TEST

START_TEST(full_counts_the_rest)
{
	for (unsigned int i = 0; i < DIAGS_MAX + 5; i++)
		diags_add(&diags, BTSREC_OK, i, 0, "%u", i);
	ck_assert_uint_eq(diags.nr, DIAGS_MAX);
	ck_assert_uint_eq(diags.nr_dropped, 5);
	ck_assert_str_eq(diags.list[DIAGS_MAX - 1].text, "1023");
	diags_fini(&diags);
	ck_assert_uint_eq(diags.nr_dropped, 0);
}
END_TEST

START_TEST(no_memory_is_counted)
{
	failing_alloc_arm(1);
	btsrec_ck_status(diags_add(&diags, BTSREC_ERR_IO, 0, 0, "lost"), BTSREC_ERR_IO);
	ck_assert(failing_alloc_disarm());
	ck_assert_uint_eq(diags.nr, 0);
	ck_assert_uint_eq(diags.nr_dropped, 1);
	diags_fini(&diags);
}
END_TEST

START_TEST(long_text_is_cut)
{
	diags_add(&diags, BTSREC_OK, 0, 0, "%500d", 1);
	ck_assert_uint_eq(strlen(diags.list[0].text), DIAG_TEXT_BYTES - 1);
	diags_fini(&diags);
}
END_TEST

BTSREC_CK_MAIN("diag", fini_of_an_empty_list, one, full_counts_the_rest, no_memory_is_counted,
	       long_text_is_cut)
