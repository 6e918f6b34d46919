// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "failing_alloc.h"
#include "findings.h"

static struct findings findings;

START_TEST(fini_of_an_empty_list)
{
	findings_fini(&findings);
	ck_assert_uint_eq(findings.nr, 0);
	ck_assert_ptr_null(findings.list);
}
END_TEST

START_TEST(one)
{
	btsrec_ck_status(findings_add(&findings, BTSREC_ERR_CORRUPT, 3, 0x1000, "x is %d", 7),
			 BTSREC_ERR_CORRUPT);
	ck_assert_uint_eq(findings.nr, 1);
	btsrec_ck_status(findings.list[0].status, BTSREC_ERR_CORRUPT);
	ck_assert_uint_eq(findings.list[0].cpu, 3);
	ck_assert_uint_eq(findings.list[0].pa, 0x1000);
	ck_assert_str_eq(findings.list[0].text, "x is 7");
	findings_fini(&findings);
}
END_TEST

START_TEST(full_counts_the_rest)
{
	for (unsigned int i = 0; i < FINDINGS_MAX + 5; i++)
		findings_add(&findings, BTSREC_OK, i, 0, "%u", i);
	ck_assert_uint_eq(findings.nr, FINDINGS_MAX);
	ck_assert_uint_eq(findings.nr_dropped, 5);
	ck_assert_str_eq(findings.list[FINDINGS_MAX - 1].text, "1023");
	findings_fini(&findings);
	ck_assert_uint_eq(findings.nr_dropped, 0);
}
END_TEST

START_TEST(no_memory_is_counted)
{
	failing_alloc_arm(1);
	btsrec_ck_status(findings_add(&findings, BTSREC_ERR_IO, 0, 0, "lost"), BTSREC_ERR_IO);
	ck_assert(failing_alloc_disarm());
	ck_assert_uint_eq(findings.nr, 0);
	ck_assert_uint_eq(findings.nr_dropped, 1);
	findings_fini(&findings);
}
END_TEST

START_TEST(long_text_is_cut)
{
	findings_add(&findings, BTSREC_OK, 0, 0, "%500d", 1);
	ck_assert_uint_eq(strlen(findings.list[0].text), FINDING_TEXT_BYTES - 1);
	findings_fini(&findings);
}
END_TEST

BTSREC_CK_MAIN("findings", fini_of_an_empty_list, one, full_counts_the_rest,
	       no_memory_is_counted, long_text_is_cut)
