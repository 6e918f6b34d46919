// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is known of a result must be true of all values that the operands may have.  All pairs of
 * values of four bits are tried, with each part of them known.
 */
#include "code/known.h"

#include "check_btsrec.h"

#define NR_BITS		4
#define NR_VALUES	(1U << NR_BITS)

/* The bits above are zeros; false: @value has bits that @mask lacks. */
static bool make(uint64_t value, uint64_t mask, struct known *ret)
{
	*ret = (struct known){ value, mask | ~(uint64_t)(NR_VALUES - 1) };
	return !(value & ~mask);
}

static bool may_be(struct known known, uint64_t value)
{
	return (value & known.mask) == known.value;
}

/** struct possible - what the results of all values that operands may have are in common */
struct possible {
	bool any;
	uint64_t first;
	uint64_t differs;
};

static void note(struct possible *possible, uint64_t result)
{
	if (!possible->any)
		*possible = (struct possible){ .any = true, .first = result };
	possible->differs |= result ^ possible->first;
}

/* @exact: all that they have in common is known. */
static void ck_known(const char *what, struct known got, const struct possible *possible,
		     bool exact)
{
	if (!possible->any)
		return;
	if (got.value & ~got.mask || (got.value ^ possible->first) & got.mask ||
	    got.mask & possible->differs)
		ck_abort_msg("%s: 0x%jx of 0x%jx is not true", what, (uintmax_t)got.value,
			     (uintmax_t)got.mask);
	if (exact && (got.mask | possible->differs) != UINT64_MAX)
		ck_abort_msg("%s: 0x%jx is too little", what, (uintmax_t)got.mask);
}

static void ck_pair(struct known a, struct known b)
{
	struct possible both[6] = { 0 };
	struct known unknown_carry = { 0, 0 };

	for (uint64_t i = 0; i < NR_VALUES; i++)
		for (uint64_t j = 0; j < NR_VALUES; j++) {
			if (!may_be(a, i) || !may_be(b, j))
				continue;
			note(&both[0], i & j);
			note(&both[1], i | j);
			note(&both[2], i ^ j);
			note(&both[3], i + j);
			note(&both[4], i - j);
			note(&both[5], i + j);
			note(&both[5], i + j + 1);
		}
	ck_known("and", known_and(a, b), &both[0], true);
	ck_known("or", known_or(a, b), &both[1], true);
	ck_known("xor", known_xor(a, b), &both[2], true);
	ck_known("add", known_add(a, b, false), &both[3], false);
	ck_known("sub", known_sub(a, b), &both[4], false);
	ck_known("add_carry", known_add_carry(a, b, unknown_carry), &both[5], false);
	if (known_is_all(a, NR_BITS) && known_is_all(b, NR_BITS)) {
		ck_known("add of all bits", known_add(a, b, false), &both[3], true);
		ck_known("sub of all bits", known_sub(a, b), &both[4], true);
	}
}

static void ck_single(struct known a)
{
	struct possible not = { 0 }, extended = { 0 }, lowest = { 0 };

	for (uint64_t i = 0; i < NR_VALUES; i++) {
		if (!may_be(a, i))
			continue;
		note(&not, ~i);
		note(&extended, i & 8 ? i | ~7ULL : i);
		note(&lowest, i & 3);
	}
	ck_known("not", known_not(a), &not, true);
	ck_known("sign_extend", known_sign_extend(a, NR_BITS), &extended, true);
	ck_known("low", known_low(a, 2), &lowest, true);
}

START_TEST(operations)
{
	struct known a, b;

	for (uint64_t i = 0; i < NR_VALUES * NR_VALUES; i++) {
		if (!make(i % NR_VALUES, i / NR_VALUES, &a))
			continue;
		ck_single(a);
		for (uint64_t j = 0; j < NR_VALUES * NR_VALUES; j++)
			if (make(j % NR_VALUES, j / NR_VALUES, &b))
				ck_pair(a, b);
	}
}
END_TEST

START_TEST(merged)
{
	struct known to = { 0x10, 0xf0 };
	bool contradiction = false;

	ck_assert(!known_merge(&to, (struct known){ 0x10, 0x30 }, &contradiction));
	ck_assert(known_merge(&to, (struct known){ 0x12, 0x3f }, &contradiction));
	ck_assert(!contradiction);
	ck_assert_uint_eq(to.value, 0x12);
	ck_assert_uint_eq(to.mask, 0xff);
	ck_assert(!known_merge(&to, (struct known){ 0x202, 0x2f2 }, &contradiction));
	ck_assert(contradiction);
	ck_assert_uint_eq(to.value, 0x12);
	ck_assert_uint_eq(to.mask, 0xff);
}
END_TEST

BTSREC_CK_MAIN("known", operations, merged)
