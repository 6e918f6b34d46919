// SPDX-License-Identifier: GPL-2.0-or-later
#include "failing_alloc.h"
#include "recorder/checkpoints.h"
#include "recorder/history.h"
#include "historyfix.h"

/* --- Where the index comes from --- */

START_TEST(index_words)
{
	for (int i = SESSION_INDEX_NEVER; i <= SESSION_INDEX_LIVE; i++)
		ck_assert_str_ne(session_index_str(i), "unknown");
	ck_assert_str_eq(session_index_str(SESSION_INDEX_LIVE + 1), "unknown");
}
END_TEST

START_TEST(never_armed)
{
	struct session_ring ring;

	setup(33);
	fixture_cpu(fix, 1)->state = BTSREC_CPU_NEVER;
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 0);
	btsrec_ck_ok(session_ring(rec, 1, &ring));
	ck_assert_int_eq(ring.index, SESSION_INDEX_NEVER);
	ck_assert(ring.complete);
	ck_assert_uint_eq(ring.layout.nr_spans, 0);
	teardown();
}
END_TEST

START_TEST(armed_uses_the_ds_area)
{
	struct session_ring ring;

	setup(33);
	fixture_branches(fix, 1, 0, 5, 0);
	fixture_live_index(fix, 1, 5);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 5);
	ck_branches(0, 5, 0);
	btsrec_ck_ok(session_ring(rec, 1, &ring));
	ck_assert_int_eq(ring.index, SESSION_INDEX_LIVE);
	ck_assert_uint_eq(ring.index_kva, FIX_RING_KVA(1) + 5 * 24);
	ck_assert_int_eq(ring.layout.lap, RING_LAP_FIRST);
	ck_assert(ring.complete);
	teardown();
}
END_TEST

START_TEST(frozen_uses_the_snapshot)
{
	struct session_ring ring;

	setup(33);
	fixture_branches(fix, 1, 0, 5, 0);
	fixture_live_index(fix, 1, 3);
	fixture_freeze(fix, 1, 5);
	fixture_cpu(fix, 1)->stop_index_kva = FIX_RING_KVA(1) + 24;
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 6);
	ck_branches(0, 5, 0);
	btsrec_ck_ok(session_ring(rec, 1, &ring));
	ck_assert_int_eq(ring.index, SESSION_INDEX_FROZEN);
	teardown();
}
END_TEST

START_TEST(half_frozen_uses_the_ds_area)
{
	setup(33);
	fixture_branches(fix, 1, 0, 7, 0);
	fixture_live_index(fix, 1, 7);
	fixture_freeze(fix, 1, 5);
	fixture_cpu(fix, 1)->frozen = 0;
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 7);
	teardown();
}
END_TEST

START_TEST(stopped_uses_its_own_index)
{
	struct session_ring ring;

	setup(33);
	fixture_branches(fix, 1, 0, 4, 0);
	fixture_live_index(fix, 1, 2);
	fixture_cpu(fix, 1)->state = BTSREC_CPU_STOPPED;
	fixture_cpu(fix, 1)->stop_index_kva = FIX_RING_KVA(1) + 4 * 24;
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 4);
	btsrec_ck_ok(session_ring(rec, 1, &ring));
	ck_assert_int_eq(ring.index, SESSION_INDEX_STOPPED);
	teardown();
}
END_TEST

START_TEST(ds_area_not_in_the_dump)
{
	struct session_ring ring;

	setup(33);
	mem_cut(&fix->mem, FIX_DS_PA(1), 8);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 1);
	ck_gap(0, BTSREC_GAP_NO_INDEX, 0, 33);
	btsrec_ck_ok(session_ring(rec, 1, &ring));
	btsrec_ck_status(ring.index_status, BTSREC_ERR_NODATA);
	teardown();
}
END_TEST

START_TEST(index_outside_the_ring)
{
	struct session_ring ring;

	setup(33);
	fixture_freeze(fix, 1, 34);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 2);
	ck_gap(0, BTSREC_GAP_NO_INDEX, 0, 33);
	ck_assert_int_eq(events[1].kind, BTSREC_EVENT_FREEZE);
	btsrec_ck_ok(session_ring(rec, 1, &ring));
	btsrec_ck_status(ring.index_status, BTSREC_ERR_CORRUPT);
	ck_assert_uint_eq(ring.index_kva, FIX_RING_KVA(1) + 34 * 24);
	teardown();
}
END_TEST

/* --- Rings --- */

START_TEST(armed_and_empty)
{
	setup(33);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 0);
	teardown();
}
END_TEST

START_TEST(one_record)
{
	setup(33);
	fixture_branches(fix, 1, 0, 1, 9);
	fixture_live_index(fix, 1, 1);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 1);
	ck_branches(0, 1, 9);
	teardown();
}
END_TEST

START_TEST(all_but_one)
{
	setup(33);
	fixture_branches(fix, 1, 0, 32, 0);
	fixture_live_index(fix, 1, 32);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 32);
	ck_branches(0, 32, 0);
	teardown();
}
END_TEST

/* The index may stand at the end or at the beginning; it is the same place. */
START_TEST(exactly_full)
{
	for (uint64_t index = 0; index <= 33; index += 33) {
		setup(33);
		fixture_branches(fix, 1, 0, 33, 0);
		fixture_live_index(fix, 1, index);
		btsrec_ck_ok(print(0));
		ck_assert_uint_eq(nr_events, 34);
		ck_gap(0, BTSREC_GAP_OVERWRITTEN, 0, 0);
		ck_branches(1, 33, 0);
		teardown();
	}
}
END_TEST

START_TEST(exactly_full_and_proven_complete)
{
	struct session_ring ring;

	setup(33);
	fixture_annotation(fix, 1, 0, BTSREC_ANNOT_ARM, 4, 0);
	fixture_branches(fix, 1, 4, 29, 0);
	fixture_cpu(fix, 1)->annot_begin = fixture_cpu(fix, 1)->annot_end = 1;
	fixture_live_index(fix, 1, 33);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 30);
	ck_assert_int_eq(events[0].kind, BTSREC_EVENT_ARM);
	ck_branches(1, 29, 0);
	btsrec_ck_ok(session_ring(rec, 1, &ring));
	ck_assert(ring.complete);
	teardown();
}
END_TEST

START_TEST(wrapped_oldest_to_newest)
{
	struct session_ring ring;

	setup(521);
	fixture_branches(fix, 1, 200, 321, 0);
	fixture_branches(fix, 1, 0, 200, 321);
	fixture_live_index(fix, 1, 200);
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 522);
	ck_gap(0, BTSREC_GAP_OVERWRITTEN, 200, 0);
	ck_assert_uint_eq(events[0].slot, UINT64_MAX);
	ck_branches(1, 521, 0);
	ck_assert_uint_eq(events[521].slot, 199);
	btsrec_ck_ok(session_ring(rec, 1, &ring));
	ck_assert_int_eq(ring.layout.lap, RING_LAP_LATER);
	ck_assert(!ring.complete);
	teardown();
}
END_TEST

START_TEST(annotation_over_the_end)
{
	for (uint64_t slot = 29; slot < 33; slot++) {
		setup(33);
		fixture_branches(fix, 1, 10, slot - 10, 0);
		fixture_annotation(fix, 1, slot, BTSREC_ANNOT_SWITCH, 5, 3);
		fixture_branches(fix, 1, slot + 5 - 33, 10 - (slot + 5 - 33), slot - 10);
		fixture_live_index(fix, 1, 10);
		btsrec_ck_ok(print(0));
		ck_assert_uint_eq(nr_events, 33 - 5 + 2);
		ck_branches(1, slot - 10, 0);
		ck_assert_int_eq(events[slot - 9].kind, BTSREC_EVENT_SWITCH);
		ck_assert_uint_eq(events[slot - 9].slot, slot);
		ck_branches(slot - 8, 38 - slot, slot - 10);
		teardown();
	}
}
END_TEST

START_TEST(five_levels)
{
	struct btsrec_record wide = { 0x0080000000000000ULL, 0x1000, 0 };

	setup(33);
	fixture_put(fix, 1, 0, wide);
	fixture_live_index(fix, 1, 1);
	btsrec_ck_ok(print(0));
	ck_gap(0, BTSREC_GAP_BAD_RECORD, 0, 1);
	teardown();
	setup(33);
	fixture_put(fix, 1, 0, wide);
	fixture_live_index(fix, 1, 1);
	fixture_root(fix)->flags = BTSREC_ROOT_F_LA57;
	fixture_seal(fix);
	btsrec_ck_ok(print(0));
	ck_assert_int_eq(events[0].kind, BTSREC_EVENT_BRANCH);
	teardown();
}
END_TEST

/* --- Failures --- */

START_TEST(medium_fails)
{
	setup(521);
	fixture_branches(fix, 1, 0, 300, 0);
	fixture_live_index(fix, 1, 300);
	open_and_locate();
	fix->mem.fail_status = BTSREC_ERR_IO;
	fix->mem.fail_pa = FIX_DS_PA(1);
	btsrec_ck_fails(print(0), BTSREC_ERR_IO, btsrec_errmsg(rec), "ring of CPU 1: cannot read");
	fix->mem.fail_pa = fixture_ring_page_pa(fix, 1, 2);
	btsrec_ck_fails(print(0), BTSREC_ERR_IO, btsrec_errmsg(rec), "ring of CPU 1: cannot read");
	fix->mem.fail_pa = 0;
	btsrec_ck_ok(print(0));
	ck_assert_uint_eq(nr_events, 300);
	teardown();
}
END_TEST

START_TEST(medium_fails_far_from_the_head)
{
	setup(9000);
	fixture_branches(fix, 1, 0, 8990, 0);
	fixture_live_index(fix, 1, 8990);
	open_and_locate();
	fix->mem.fail_status = BTSREC_ERR_IO;
	fix->mem.fail_pa = fixture_ring_page_pa(fix, 1, 2);
	btsrec_ck_fails(print(0), BTSREC_ERR_IO, btsrec_errmsg(rec),
			"history of CPU 1: cannot read");
	ck_assert_uint_eq(nr_events, 0);
	teardown();
}
END_TEST

START_TEST(every_allocation_fails_once)
{
	unsigned int nth, nr_refused = 0;
	enum btsrec_status status;
	bool failed = true;

	for (nth = 1; failed; nth++) {
		setup(33);
		fixture_branches(fix, 1, 0, 20, 0);
		fixture_live_index(fix, 1, 20);
		open_and_locate();
		nr_events = 0;
		failing_alloc_arm(nth);
		status = session_tail(rec, 1, 10, count, &nr_events);
		failed = failing_alloc_disarm();
		/* What is only kept for the next one to ask may be missing. */
		nr_refused += status == BTSREC_ERR_NOMEM;
		ck_assert_uint_eq(nr_events, status ? 0 : 10);
		ck_assert(failed || !status);
		teardown();
	}
	ck_assert_uint_eq(nth, 5);
	ck_assert_uint_eq(nr_refused, 2);
}
END_TEST

START_TEST(every_read_fails_once)
{
	enum btsrec_status status;
	bool failed = true;
	uint64_t nth;

	/* Two windows of reads; the slots around the head lie in both. */
	for (nth = 1; failed; nth++) {
		setup(8300);
		fixture_branches(fix, 1, 0, 8300, 0);
		fixture_live_index(fix, 1, 8190);
		open_and_locate();
		nr_events = 0;
		fix->mem.nr_reads = 0;
		fix->mem.fail_read = nth;
		fix->mem.fail_status = BTSREC_ERR_IO;
		status = session_tail(rec, 1, 10, count, &nr_events);
		failed = fix->mem.nr_reads >= nth;
		btsrec_ck_status(status, failed ? BTSREC_ERR_IO : BTSREC_OK);
		ck_assert_uint_le(nr_events, failed ? 9 : 10);
		if (failed)
			ck_assert_ptr_nonnull(strstr(btsrec_errmsg(rec), "of CPU 1: cannot read"));
		teardown();
	}
	ck_assert_uint_gt(nth, 200);
}
END_TEST

/* --- Checkpoints --- */

/* From place to place are as many events as it takes, and the first place stays. */
START_TEST(places_all_along)
{
	struct checkpoints *places = checkpoints_new();
	struct history history = { 0 };
	uint64_t nr_adds = 10 * CHECKPOINTS_MAX;

	for (uint64_t i = 0; i < nr_adds; i++) {
		history.timeline.n = i * CHECKPOINTS_DISTANCE;
		checkpoints_add(places, &history);
		history.timeline.n++;
		checkpoints_add(places, &history);
	}
	ck_assert_uint_gt(places->nr, CHECKPOINTS_MAX / 2);
	ck_assert_uint_le(places->nr, CHECKPOINTS_MAX);
	ck_assert_uint_eq(places->distance, 16 * CHECKPOINTS_DISTANCE);
	for (size_t i = 0; i < places->nr; i++)
		ck_assert_uint_eq(places->places[i].timeline.n, i * places->distance);
	free(places);
}
END_TEST

BTSREC_CK_MAIN("history", index_words, never_armed, armed_uses_the_ds_area,
	       frozen_uses_the_snapshot, half_frozen_uses_the_ds_area, stopped_uses_its_own_index,
	       ds_area_not_in_the_dump, index_outside_the_ring, armed_and_empty, one_record,
	       all_but_one, exactly_full, exactly_full_and_proven_complete,
	       wrapped_oldest_to_newest, annotation_over_the_end, five_levels, medium_fails,
	       medium_fails_far_from_the_head, every_allocation_fails_once, every_read_fails_once,
	       places_all_along)
