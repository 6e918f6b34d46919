// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "verify.h"

#define KERNEL	0xffffffff81000000ULL

/* Instructions of one byte each; nothing of it is executed. */
static const char text[64];
static const struct verify_code code = { .name = "test", .begin = text, .end = text + 32 };

/* A jump, a loop of three rounds, and a system call. */
static const struct verify_branch branches[] = {
	{ text + 1, text + 5, 1 }, { text + 9, text + 5, 2 }, { text + 10, NULL, 1 },
	{ NULL, text + 12, 1 }, { NULL, NULL, 0 },
};

#define AT(offset)	((uintptr_t)text + (offset))
#define GOOD								\
	{ AT(1), AT(5), 0 }, { AT(9), AT(5), 0 }, { AT(9), AT(5), 0 },	\
	{ AT(10), KERNEL, 0 }, { KERNEL + 64, AT(12), 0 }

#define NR(array)	(sizeof(array) / sizeof((array)[0]))

static struct verify_match match_of(struct btsrec_record *records, size_t nr)
{
	struct verify_match match;

	verify_compare(&code, branches, records, nr, &match);
	return match;
}

START_TEST(equal)
{
	struct btsrec_record records[] = { GOOD };
	struct verify_match match = match_of(records, NR(records));

	ck_assert(match.same);
	ck_assert_uint_eq(match.nr_expected, 5);
	ck_assert_uint_eq(match.nr_found, 5);
	ck_assert_str_eq(match.text, "");
}
END_TEST

START_TEST(one_is_missing)
{
	struct btsrec_record records[] = { GOOD };
	struct verify_match match;

	/* In the middle, and at the end. */
	records[2] = records[3];
	records[3] = records[4];
	match = match_of(records, 4);
	ck_assert(!match.same);
	ck_assert_str_eq(match.text, "record 3 is +0xa -> the kernel, not +0x9 -> +0x5");
	records[2] = records[1];
	records[3] = (struct btsrec_record){ AT(10), KERNEL, 0 };
	match = match_of(records, 4);
	ck_assert_str_eq(match.text, "record 5 is missing, not the kernel -> +0xc");
	match = match_of(records, 0);
	ck_assert(!match.same);
	ck_assert_uint_eq(match.nr_found, 0);
}
END_TEST

START_TEST(one_is_too_many)
{
	struct btsrec_record records[] = { GOOD, { AT(12), AT(1), 0 } };
	struct verify_match match = match_of(records, NR(records));

	ck_assert(!match.same);
	ck_assert_str_eq(match.text,
			 "record 6 is +0xc -> +0x1, where there should be no more");
	/* Another turn of the loop. */
	records[3] = records[2];
	ck_assert_str_eq(match_of(records, NR(records)).text,
			 "record 4 is +0x9 -> +0x5, not +0xa -> the kernel");
}
END_TEST

START_TEST(one_end_is_wrong)
{
	struct btsrec_record records[] = { GOOD };

	records[3].from++;
	ck_assert(!match_of(records, NR(records)).same);
	records[3].from--;
	records[4].to = AT(40);
	ck_assert_str_eq(match_of(records, NR(records)).text,
			 "record 5 is the kernel -> elsewhere, not the kernel -> +0xc");
}
END_TEST

START_TEST(selected)
{
	struct btsrec_record records[] = {
		{ AT(40), AT(0), 0 },	/* the call of it */
		GOOD,
		{ KERNEL, KERNEL + 8, 0 },
		{ AT(12), AT(50), 0 },	/* its return */
	};
	struct verify_history history = { .records = records, .nr = NR(records) };
	struct btsrec_record chosen[NR(records)];
	size_t nr = verify_select(&history, &code, chosen);

	ck_assert_uint_eq(nr, 5);
	ck_assert(match_of(chosen, nr).same);
}
END_TEST

START_TEST(interrupts_are_dropped)
{
	struct btsrec_record records[] = {
		{ AT(1), AT(5), 0 },
		{ AT(6), KERNEL, 0 }, { KERNEL + 8, AT(6), 0 },
		{ AT(9), AT(5), 0 }, { AT(9), AT(5), 0 },
		/* Directly before the system call, and after it. */
		{ AT(10), KERNEL, 0 }, { KERNEL + 8, AT(10), 0 },
		{ AT(10), KERNEL, 0 }, { KERNEL + 64, AT(12), 0 },
		{ AT(12), KERNEL, 0 }, { KERNEL + 8, AT(12), 0 },
	};
	size_t nr = verify_drop_interrupts(records, NR(records));

	ck_assert_uint_eq(nr, 5);
	ck_assert(match_of(records, nr).same);
}
END_TEST

START_TEST(what_returns_elsewhere_is_no_interrupt)
{
	struct btsrec_record records[] = { { AT(6), KERNEL, 0 }, { KERNEL + 8, AT(7), 0 } };

	ck_assert_uint_eq(verify_drop_interrupts(records, NR(records)), 2);
	ck_assert_uint_eq(verify_drop_interrupts(records, 1), 1);
	ck_assert_uint_eq(verify_drop_interrupts(records, 0), 0);
}
END_TEST

BTSREC_CK_MAIN("verify_match", equal, one_is_missing, one_is_too_many, one_end_is_wrong, selected,
	   interrupts_are_dropped, what_returns_elsewhere_is_no_interrupt)
