// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "tally/pairs.h"

#define MAX_CALLS 8

/* "(" enters, ")" leaves; of what, a digit of @names says, 0: it is not known. */
static void match_objects(const char *text, const char *names, size_t *ret_other)
{
	uint64_t objects[MAX_CALLS];
	size_t nr = strlen(text), open[MAX_CALLS];
	bool enters[MAX_CALLS];

	for (size_t i = 0; i < nr; i++)
		enters[i] = text[i] == '(', objects[i] = (uint64_t)(names[i] - '0');
	pairs_match(enters, objects, nr, open, ret_other);
}

static void match(const char *text, size_t *ret_other)
{
	match_objects(text, "00000000", ret_other);
}

START_TEST(as_brackets)
{
	size_t other[MAX_CALLS];

	match("(())()", other);
	ck_assert(other[0] == 3 && other[3] == 0);
	ck_assert(other[1] == 2 && other[2] == 1);
	ck_assert(other[4] == 5 && other[5] == 4);
}
END_TEST

START_TEST(without_the_other)
{
	size_t other[MAX_CALLS];

	match(")((", other);
	for (size_t i = 0; i < 3; i++)
		ck_assert(other[i] == PAIRS_NONE);
	match("(()", other);
	ck_assert(other[0] == PAIRS_NONE && other[1] == 2);
	match("", other);
}
END_TEST

START_TEST(of_the_same_object)
{
	size_t other[MAX_CALLS];

	/* Not as brackets. */
	match_objects("(())", "1212", other);
	ck_assert(other[0] == 2 && other[1] == 3);
	/* The first is left, so the second is open. */
	match_objects("(()", "121", other);
	ck_assert(other[0] == 2 && other[1] == PAIRS_NONE);
	/* Never that of another one; of one that is not known, maybe. */
	match_objects("()", "12", other);
	ck_assert(other[0] == PAIRS_NONE && other[1] == PAIRS_NONE);
	match_objects("(()", "102", other);
	ck_assert(other[0] == PAIRS_NONE && other[1] == 2);
	match_objects("(())", "1010", other);
	ck_assert(other[0] == 2 && other[1] == 3);
	/* The newest of the same. */
	match_objects("(()", "111", other);
	ck_assert(other[1] == 2 && other[0] == PAIRS_NONE);
	/* The first was left by one for what is not known. */
	match_objects("()()", "1001", other);
	ck_assert(other[0] == 1 && other[2] == 3);
}
END_TEST

START_TEST(times_that_cover)
{
	struct pairs_time times[] = { { 30, 40, 0 }, { 10, 20, 1 }, { 20, 30, 0 }, { 60, 70, 0 } };

	pairs_order_times(times, 4);
	ck_assert(pairs_covered(times, 4, &(struct pairs_time){ 10, 40, 2 }));
	ck_assert(pairs_covered(times, 4, &(struct pairs_time){ 35, 36, 2 }));
	ck_assert(!pairs_covered(times, 4, &(struct pairs_time){ 9, 11, 2 }));
	ck_assert(!pairs_covered(times, 4, &(struct pairs_time){ 39, 61, 2 }));
	ck_assert(!pairs_covered(times, 4, &(struct pairs_time){ 69, 71, 2 }));
	/* What ran there does not show what ran there unseen. */
	ck_assert(!pairs_covered(times, 4, &(struct pairs_time){ 10, 40, 1 }));
	ck_assert(pairs_covered(times, 4, &(struct pairs_time){ 20, 40, 1 }));
	ck_assert(!pairs_covered(NULL, 0, &(struct pairs_time){ 1, 2, 2 }));
}
END_TEST

BTSREC_CK_MAIN("pairs", as_brackets, without_the_other, of_the_same_object, times_that_cover)
