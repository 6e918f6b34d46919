// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "recorder/ring.h"

#define KVA 0xffffc90000000000ULL

static struct ring_layout plan(uint64_t nr_slots, uint64_t head_slot, unsigned int nr_pending,
			       enum ring_lap lap)
{
	struct ring_layout layout;

	memset(&layout, DIRT, sizeof(layout));
	layout.nr_slots = nr_slots;
	layout.head_slot = head_slot;
	layout.nr_pending = nr_pending;
	layout.lap = lap;
	ring_plan(&layout);
	return layout;
}

static void ck_span(const struct ring_layout *layout, unsigned int i, uint64_t slot,
		    uint64_t nr_slots)
{
	ck_assert_uint_lt(i, layout->nr_spans);
	ck_assert_uint_eq(layout->spans[i].slot, slot);
	ck_assert_uint_eq(layout->spans[i].nr_slots, nr_slots);
}

START_TEST(head_begin_end_and_between)
{
	uint64_t slot = 99;

	btsrec_ck_ok(ring_head(KVA, 33 * 24, KVA, &slot));
	ck_assert_uint_eq(slot, 0);
	btsrec_ck_ok(ring_head(KVA, 33 * 24, KVA + 32 * 24, &slot));
	ck_assert_uint_eq(slot, 32);
	btsrec_ck_ok(ring_head(KVA, 33 * 24, KVA + 33 * 24, &slot));
	ck_assert_uint_eq(slot, 0);
}
END_TEST

START_TEST(head_below_the_ring)
{
	uint64_t slot = 99;

	btsrec_ck_status(ring_head(KVA, 33 * 24, KVA - 24, &slot), BTSREC_ERR_CORRUPT);
	btsrec_ck_status(ring_head(KVA, 33 * 24, 0, &slot), BTSREC_ERR_CORRUPT);
	/* So far below that the difference would fit again. */
	btsrec_ck_status(ring_head(UINT64_MAX - 23, 48, 0, &slot), BTSREC_ERR_CORRUPT);
	ck_assert_uint_eq(slot, 99);
}
END_TEST

START_TEST(head_above_the_ring)
{
	uint64_t slot = 99;

	btsrec_ck_status(ring_head(KVA, 33 * 24, KVA + 34 * 24, &slot), BTSREC_ERR_CORRUPT);
	btsrec_ck_status(ring_head(KVA, 33 * 24, UINT64_MAX, &slot), BTSREC_ERR_CORRUPT);
	ck_assert_uint_eq(slot, 99);
}
END_TEST

START_TEST(head_inside_a_slot)
{
	uint64_t slot = 99;

	btsrec_ck_status(ring_head(KVA, 33 * 24, KVA + 8, &slot), BTSREC_ERR_CORRUPT);
	ck_assert_uint_eq(slot, 99);
}
END_TEST

START_TEST(first_lap_empty)
{
	struct ring_layout layout = plan(33, 0, 0, RING_LAP_FIRST);

	ck_assert_uint_eq(layout.nr_spans, 0);
}
END_TEST

START_TEST(first_lap_one)
{
	struct ring_layout layout = plan(33, 1, 0, RING_LAP_FIRST);

	ck_assert_uint_eq(layout.nr_spans, 1);
	ck_span(&layout, 0, 0, 1);
}
END_TEST

START_TEST(first_lap_all_but_one)
{
	struct ring_layout layout = plan(33, 32, 0, RING_LAP_FIRST);

	ck_assert_uint_eq(layout.nr_spans, 1);
	ck_span(&layout, 0, 0, 32);
}
END_TEST

START_TEST(first_lap_pending_does_not_shorten)
{
	struct ring_layout layout = plan(33, 10, 3, RING_LAP_FIRST);

	ck_assert_uint_eq(layout.nr_spans, 1);
	ck_span(&layout, 0, 0, 10);
}
END_TEST

START_TEST(full_at_the_beginning)
{
	struct ring_layout layout = plan(33, 0, 0, RING_LAP_LATER);

	ck_assert_uint_eq(layout.nr_spans, 1);
	ck_span(&layout, 0, 0, 33);
}
END_TEST

START_TEST(later_lap_two_spans_newest_included)
{
	struct ring_layout layout = plan(33, 10, 0, RING_LAP_LATER);

	ck_assert_uint_eq(layout.nr_spans, 2);
	ck_span(&layout, 0, 10, 23);
	ck_span(&layout, 1, 0, 10);
}
END_TEST

START_TEST(later_lap_pending_takes_the_oldest)
{
	struct ring_layout layout = plan(33, 10, 5, RING_LAP_LATER);

	ck_assert_uint_eq(ring_oldest(&layout), 15);
	ck_assert_uint_eq(layout.nr_spans, 2);
	ck_span(&layout, 0, 15, 18);
	ck_span(&layout, 1, 0, 10);
}
END_TEST

START_TEST(pending_up_to_the_end)
{
	struct ring_layout layout = plan(33, 30, 3, RING_LAP_LATER);

	ck_assert_uint_eq(ring_oldest(&layout), 0);
	ck_assert_uint_eq(layout.nr_spans, 1);
	ck_span(&layout, 0, 0, 30);
}
END_TEST

START_TEST(pending_over_the_end)
{
	struct ring_layout layout = plan(33, 31, 5, RING_LAP_LATER);

	ck_assert_uint_eq(ring_oldest(&layout), 3);
	ck_assert_uint_eq(layout.nr_spans, 1);
	ck_span(&layout, 0, 3, 28);
}
END_TEST

START_TEST(pending_takes_all)
{
	struct ring_layout layout = plan(3, 1, 3, RING_LAP_LATER);

	ck_assert_uint_eq(layout.nr_spans, 0);
}
END_TEST

START_TEST(one_slot)
{
	struct ring_layout layout = plan(1, 0, 0, RING_LAP_LATER);

	ck_assert_uint_eq(layout.nr_spans, 1);
	ck_span(&layout, 0, 0, 1);
}
END_TEST

START_TEST(unknown_lap_keeps_all)
{
	struct ring_layout layout = plan(33, 10, 0, RING_LAP_UNKNOWN);

	ck_assert_uint_eq(layout.nr_spans, 2);
	ck_span(&layout, 0, 10, 23);
	ck_span(&layout, 1, 0, 10);
}
END_TEST

/* Whatever the numbers: no slot twice, pending ones never, the newest last. */
START_TEST(every_layout_of_small_rings)
{
	for (uint64_t nr = 1; nr < 9; nr++) {
		for (uint64_t head = 0; head < nr; head++) {
			for (unsigned int pending = 0; pending <= 5 && pending <= nr; pending++) {
				struct ring_layout layout = plan(nr, head, pending, RING_LAP_LATER);
				uint64_t want = (head + pending) % nr, left = nr - pending;

				for (unsigned int i = 0; i < layout.nr_spans; i++) {
					ck_assert_uint_eq(layout.spans[i].slot, want);
					ck_assert_uint_le(layout.spans[i].nr_slots, left);
					want = (want + layout.spans[i].nr_slots) % nr;
					left -= layout.spans[i].nr_slots;
				}
				ck_assert_uint_eq(left, 0);
				ck_assert_uint_eq(want, pending == nr ? want : head);
			}
		}
	}
}
END_TEST

BTSREC_CK_MAIN("ring", head_begin_end_and_between, head_below_the_ring, head_above_the_ring,
	       head_inside_a_slot, first_lap_empty, first_lap_one, first_lap_all_but_one,
	       first_lap_pending_does_not_shorten, full_at_the_beginning,
	       later_lap_two_spans_newest_included, later_lap_pending_takes_the_oldest,
	       pending_up_to_the_end, pending_over_the_end, pending_takes_all, one_slot,
	       unknown_lap_keeps_all, every_layout_of_small_rings)
