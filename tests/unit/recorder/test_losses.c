// SPDX-License-Identifier: GPL-2.0-or-later
/* What a history lacks: each piece is reported, at its place and with its reason. */
#include "historyfix.h"

/* --- What the recorder did not finish --- */

static void begin_annotation(uint64_t sequence)
{
	fixture_cpu(fix, 1)->annot_begin = sequence + 1;
	fixture_cpu(fix, 1)->annot_end = sequence;
}

START_TEST(pending_over_the_oldest)
{
	setup(33);
	fixture_branches(fix, 1, 0, 33, 0);
	for (unsigned int part = 0; part < 3; part++)
		fixture_put(fix, 1, 10 + part, fixture_part(BTSREC_ANNOT_SWITCH, part, 5, 8));
	begin_annotation(8);
	fixture_freeze(fix, 1, 10);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 33);
	ck_gap(0, BTSREC_GAP_OVERWRITTEN, 10, 0);
	ck_gap(1, BTSREC_GAP_TORN, 10, 3);
	ck_branches(2, 20, 13);
	ck_branches(22, 10, 0);
	ck_assert_int_eq(events[32].kind, BTSREC_EVENT_FREEZE);
	teardown();
}
END_TEST

START_TEST(pending_in_a_ring_with_room)
{
	struct session_ring ring;

	setup(33);
	fixture_branches(fix, 1, 0, 10, 0);
	for (unsigned int part = 0; part < 2; part++)
		fixture_put(fix, 1, 10 + part, fixture_part(BTSREC_ANNOT_SWITCH, part, 5, 8));
	begin_annotation(8);
	fixture_freeze(fix, 1, 10);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 12);
	ck_branches(0, 10, 0);
	ck_gap(10, BTSREC_GAP_TORN, 10, 2);
	ck_assert_int_eq(events[11].kind, BTSREC_EVENT_FREEZE);
	btsrec_ck_ok(session_ring(rec, 1, &ring));
	ck_assert_uint_eq(ring.layout.nr_pending, 2);
	ck_assert(ring.complete);
	teardown();
}
END_TEST

START_TEST(pending_over_the_end)
{
	setup(33);
	fixture_branches(fix, 1, 0, 31, 0);
	fixture_annotation(fix, 1, 31, BTSREC_ANNOT_SWITCH, 5, 8);
	begin_annotation(8);
	fixture_freeze(fix, 1, 31);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 31);
	ck_gap(0, BTSREC_GAP_OVERWRITTEN, 31, 0);
	ck_gap(1, BTSREC_GAP_TORN, 31, 5);
	ck_branches(2, 28, 3);
	teardown();
}
END_TEST

START_TEST(ended_but_not_counted)
{
	setup(33);
	fixture_branches(fix, 1, 0, 8, 0);
	fixture_annotation(fix, 1, 8, BTSREC_ANNOT_TIME, 2, 8);
	begin_annotation(8);
	fixture_freeze(fix, 1, 10);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 10);
	ck_assert_int_eq(events[8].kind, BTSREC_EVENT_TIME);
	teardown();
}
END_TEST

START_TEST(wrapped_into_an_annotation)
{
	setup(33);
	fixture_annotation(fix, 1, 5, BTSREC_ANNOT_SWITCH, 5, 3);
	fixture_branches(fix, 1, 10, 23, 0);
	fixture_branches(fix, 1, 0, 7, 23);
	fixture_live_index(fix, 1, 7);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 32);
	ck_gap(0, BTSREC_GAP_OVERWRITTEN, 7, 0);
	ck_gap(1, BTSREC_GAP_TORN, 7, 3);
	ck_branches(2, 30, 0);
	teardown();
}
END_TEST

/* --- What it never wrote --- */

START_TEST(poison_in_the_history)
{
	setup(33);
	fixture_branches(fix, 1, 0, 3, 0);
	fixture_branches(fix, 1, 5, 3, 5);
	fixture_live_index(fix, 1, 8);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 7);
	ck_gap(3, BTSREC_GAP_NEVER_WRITTEN, 3, 2);
	teardown();
}
END_TEST

START_TEST(half_written_at_the_head_is_the_first_lap)
{
	struct btsrec_record half = fixture_branch(99);

	setup(33);
	fixture_branches(fix, 1, 0, 3, 0);
	half.flags = BTSREC_POISON;
	fixture_put(fix, 1, 3, half);
	fixture_live_index(fix, 1, 3);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 3);
	teardown();
}
END_TEST

/* --- What is not in the dump --- */

START_TEST(missing_page_in_the_middle)
{
	setup(1024);
	fixture_branches(fix, 1, 0, 1000, 0);
	fixture_live_index(fix, 1, 1000);
	mem_cut(&fix->mem, fixture_ring_page_pa(fix, 1, 1), 0);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 1000 - 172 + 1);
	ck_branches(0, 170, 0);
	ck_gap(170, BTSREC_GAP_NOT_IN_DUMP, 170, 172);
	ck_branches(171, 1000 - 342, 342);
	teardown();
}
END_TEST

START_TEST(missing_page_at_the_head_asks_the_next)
{
	struct session_ring ring;

	setup(1024);
	fixture_branches(fix, 1, 0, 180, 0);
	fixture_live_index(fix, 1, 180);
	mem_cut(&fix->mem, fixture_ring_page_pa(fix, 1, 1), 0);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 171);
	ck_branches(0, 170, 0);
	ck_gap(170, BTSREC_GAP_NOT_IN_DUMP, 170, 10);
	btsrec_ck_ok(session_ring(rec, 1, &ring));
	ck_assert_int_eq(ring.layout.lap, RING_LAP_FIRST);
	teardown();
}
END_TEST

START_TEST(missing_pages_to_the_end_leave_the_lap_unknown)
{
	struct session_ring ring;

	setup(521);
	fixture_branches(fix, 1, 0, 180, 0);
	fixture_live_index(fix, 1, 180);
	for (unsigned int i = 1; i < 4; i++)
		mem_cut(&fix->mem, fixture_ring_page_pa(fix, 1, i), 0);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 172);
	ck_gap(0, BTSREC_GAP_NOT_IN_DUMP, 180, 341);
	ck_branches(1, 170, 0);
	ck_gap(171, BTSREC_GAP_NOT_IN_DUMP, 170, 10);
	btsrec_ck_ok(session_ring(rec, 1, &ring));
	ck_assert_int_eq(ring.layout.lap, RING_LAP_UNKNOWN);
	ck_assert(!ring.complete);
	teardown();
}
END_TEST

START_TEST(list_page_missing)
{
	setup(521);
	fixture_live_index(fix, 1, 180);
	mem_cut(&fix->mem, FIX_LIST_PA(1), 0);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 1);
	ck_gap(0, BTSREC_GAP_NOT_IN_DUMP, 180, 521);
	teardown();
}
END_TEST

/* --- Is anything lost? --- */

static bool lost(uint64_t max_events)
{
	bool ret = false;

	btsrec_ck_ok(btsrec_has_losses(rec, 1, max_events, &ret));
	return ret;
}

/* The gap is event 170 of 829. */
static void setup_loss(void)
{
	setup(1024);
	fixture_branches(fix, 1, 0, 1000, 0);
	fixture_live_index(fix, 1, 1000);
	mem_cut(&fix->mem, fixture_ring_page_pa(fix, 1, 1), 0);
	open_and_locate();
}

static void ck_loss(void)
{
	ck_assert(lost(0));
	ck_assert(lost(1000));
	ck_assert(lost(829 - 170));
	ck_assert(!lost(829 - 171));
	ck_assert(!lost(1));
}

START_TEST(losses_of_the_newest)
{
	setup_loss();
	ck_loss();
	teardown();
	/* With some or all of them passed on before. */
	for (uint64_t max_events = 0; max_events < 829; max_events += 100) {
		setup_loss();
		btsrec_ck_ok(print(max_events));
		ck_loss();
		teardown();
	}
}
END_TEST

START_TEST(losses_are_known_from_a_whole_pass)
{
	bool ret;

	setup_loss();
	fix->mem.fail_status = BTSREC_ERR_IO;
	fix->mem.fail_pa = fixture_ring_page_pa(fix, 1, 4);
	stop_after = 171;
	btsrec_ck_fails(btsrec_has_losses(rec, 1, 0, &ret), BTSREC_ERR_IO, btsrec_errmsg(rec),
			"ring of CPU 1");
	btsrec_ck_fails(btsrec_has_losses(rec, 7, 0, &ret), BTSREC_ERR_NO_CPU, btsrec_errmsg(rec),
			"CPU 7");
	fix->mem.fail_pa = 0;
	btsrec_ck_status(print(0), BTSREC_ERR_STOPPED);
	fix->mem.fail_pa = fixture_ring_page_pa(fix, 1, 4);
	btsrec_ck_status(btsrec_has_losses(rec, 1, 0, &ret), BTSREC_ERR_IO);
	fix->mem.fail_pa = 0;
	stop_after = 0;
	btsrec_ck_ok(print(0));
	fix->mem.fail_pa = fixture_ring_page_pa(fix, 1, 4);
	ck_loss();
	teardown();
}
END_TEST

/* What a ring overwrites, also half of an annotation, is not lost. */
START_TEST(overwritten_is_not_lost)
{
	for (uint64_t max_events = 0; max_events < 40; max_events += 13) {
		setup(33);
		fixture_annotation(fix, 1, 5, BTSREC_ANNOT_SWITCH, 5, 3);
		fixture_branches(fix, 1, 10, 23, 0);
		fixture_branches(fix, 1, 0, 7, 23);
		fixture_live_index(fix, 1, 7);
		btsrec_ck_ok(print(max_events));
		ck_assert(!lost(0));
		ck_assert(!lost(40));
		teardown();
	}
}
END_TEST

BTSREC_CK_MAIN("losses", pending_over_the_oldest, pending_in_a_ring_with_room,
	       pending_over_the_end, ended_but_not_counted, wrapped_into_an_annotation,
	       poison_in_the_history, half_written_at_the_head_is_the_first_lap,
	       missing_page_in_the_middle, missing_page_at_the_head_asks_the_next,
	       missing_pages_to_the_end_leave_the_lap_unknown, list_page_missing,
	       losses_of_the_newest, losses_are_known_from_a_whole_pass, overwritten_is_not_lost)
