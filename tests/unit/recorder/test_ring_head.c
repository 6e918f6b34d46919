// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "fixture.h"
#include "recorder/ring_head.h"

#define P BTSREC_POISON

/* Slots around a head: [0] is the newest, [1].. come next. */
static struct btsrec_record slots[1 + BTSREC_MAX_PARTS];
static struct ring_head_peek peek;

static void setup(void)
{
	for (unsigned int i = 0; i <= BTSREC_MAX_PARTS; i++)
		slots[i] = fixture_branch(i);
	peek.newest = &slots[0];
	for (unsigned int i = 0; i < BTSREC_MAX_PARTS; i++)
		peek.next[i] = &slots[1 + i];
}

static void put_parts(unsigned int nr_have, unsigned int nr_parts, uint32_t sequence)
{
	setup();
	for (unsigned int i = 0; i < nr_have; i++)
		slots[1 + i] = fixture_part(BTSREC_ANNOT_SWITCH, i, nr_parts, sequence);
}

START_TEST(nothing_begun)
{
	put_parts(3, 5, 7);
	ck_assert_uint_eq(ring_head_pending(&peek, 100, 7, 7), 0);
}
END_TEST

START_TEST(begun_but_nothing_stored)
{
	setup();
	ck_assert_uint_eq(ring_head_pending(&peek, 100, 8, 7), 0);
}
END_TEST

START_TEST(some_parts)
{
	for (unsigned int nr = 1; nr <= 5; nr++) {
		put_parts(nr, 5, 7);
		ck_assert_uint_eq(ring_head_pending(&peek, 100, 8, 7), nr);
	}
}
END_TEST

START_TEST(sequence_is_the_low_half)
{
	put_parts(2, 5, 7);
	ck_assert_uint_eq(ring_head_pending(&peek, 100, 0x500000008ULL, 0x500000007ULL), 2);
}
END_TEST

START_TEST(parts_of_an_older_annotation_are_history)
{
	put_parts(5, 5, 3);
	ck_assert_uint_eq(ring_head_pending(&peek, 100, 8, 7), 0);
}
END_TEST

/* The low bits of an address may look like the sequence. */
START_TEST(a_branch_is_no_part)
{
	setup();
	slots[1] = (struct btsrec_record){ 7, 0x1000, 0 };
	ck_assert_uint_eq(ring_head_pending(&peek, 100, 8, 7), 0);
	slots[1].from = 0;
	ck_assert(!ring_head_is_first(&slots[1], 1));
}
END_TEST

START_TEST(parts_out_of_order_end_it)
{
	put_parts(5, 5, 7);
	slots[3] = fixture_part(BTSREC_ANNOT_SWITCH, 4, 5, 7);
	ck_assert_uint_eq(ring_head_pending(&peek, 100, 8, 7), 2);
}
END_TEST

START_TEST(missing_slot_ends_it)
{
	put_parts(5, 5, 7);
	peek.next[2] = NULL;
	ck_assert_uint_eq(ring_head_pending(&peek, 100, 8, 7), 2);
}
END_TEST

START_TEST(index_already_moved)
{
	put_parts(0, 5, 7);
	slots[0] = fixture_part(BTSREC_ANNOT_TIME, 1, 2, 7);
	slots[1] = fixture_part(BTSREC_ANNOT_TIME, 0, 2, 7);
	ck_assert_uint_eq(ring_head_pending(&peek, 100, 8, 7), 0);
}
END_TEST

START_TEST(older_annotation_before_the_head_is_not_this_one)
{
	put_parts(2, 5, 7);
	slots[0] = fixture_part(BTSREC_ANNOT_TIME, 1, 2, 6);
	ck_assert_uint_eq(ring_head_pending(&peek, 100, 8, 7), 2);
	slots[0] = fixture_part(BTSREC_ANNOT_TIME, 0, 2, 7);
	ck_assert_uint_eq(ring_head_pending(&peek, 100, 8, 7), 2);
	peek.newest = NULL;
	ck_assert_uint_eq(ring_head_pending(&peek, 100, 8, 7), 2);
}
END_TEST

START_TEST(ring_smaller_than_an_annotation)
{
	put_parts(5, 5, 7);
	ck_assert_uint_eq(ring_head_pending(&peek, 3, 8, 7), 3);
}
END_TEST

START_TEST(lap_by_poison)
{
	struct btsrec_record record = fixture_branch(1);

	ck_assert_int_eq(ring_head_lap(&record), RING_LAP_LATER);
	record.flags = P;
	ck_assert_int_eq(ring_head_lap(&record), RING_LAP_FIRST);
	record = (struct btsrec_record){ P, 0, 0 };
	ck_assert_int_eq(ring_head_lap(&record), RING_LAP_FIRST);
	record = (struct btsrec_record){ 0, P, 0 };
	ck_assert_int_eq(ring_head_lap(&record), RING_LAP_FIRST);
	record = (struct btsrec_record){ P, P, P };
	ck_assert_int_eq(ring_head_lap(&record), RING_LAP_FIRST);
}
END_TEST

START_TEST(first_slot_ever)
{
	struct btsrec_record record = fixture_part(BTSREC_ANNOT_ARM, 0, 4, 0);

	ck_assert(ring_head_is_first(&record, 1));
	ck_assert(ring_head_is_first(&record, UINT32_MAX));
	ck_assert(!ring_head_is_first(&record, UINT32_MAX + 1ULL));
	record = fixture_part(BTSREC_ANNOT_ARM, 1, 4, 0);
	ck_assert(!ring_head_is_first(&record, 1));
	record = fixture_part(BTSREC_ANNOT_ARM, 0, 4, 1);
	ck_assert(!ring_head_is_first(&record, 2));
	record = fixture_branch(0);
	ck_assert(!ring_head_is_first(&record, 1));
}
END_TEST

BTSREC_CK_MAIN("head", nothing_begun, begun_but_nothing_stored, some_parts,
	       sequence_is_the_low_half, parts_of_an_older_annotation_are_history,
	       a_branch_is_no_part, parts_out_of_order_end_it, missing_slot_ends_it,
	       index_already_moved,
	       older_annotation_before_the_head_is_not_this_one, ring_smaller_than_an_annotation,
	       lap_by_poison, first_slot_ever)
