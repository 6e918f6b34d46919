// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "instants.h"

/* 1 GHz, so that a tick is 1000 ps; tick 1000 is at 500 ps. */
static const struct instants_axis axis = { .tsc_khz = 1000000, .tsc = 1000, .ps = 500 };

static void feed_mark(struct instants *instants, uint64_t n, uint64_t tsc)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_MARK, .n = n, .mark.tsc = tsc };

	ck_assert(instants_feed(instants, &event));
}

static void feed_pause(struct instants *instants, uint64_t n, uint64_t stop_tsc, uint64_t tsc)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_GAP, .n = n };

	event.gap.kind = BTSREC_GAP_PAUSED;
	event.gap.has_resume = true;
	event.gap.resume.stop_tsc = stop_tsc;
	event.gap.resume.tsc = tsc;
	ck_assert(instants_feed(instants, &event));
}

START_TEST(between_two_annotations)
{
	struct btsrec_event branch = { .kind = BTSREC_EVENT_BRANCH, .n = 11 };
	struct instants instants = { 0 };

	feed_mark(&instants, 10, 1000);
	ck_assert(instants_feed(&instants, &branch));
	feed_mark(&instants, 20, 2000);
	ck_assert_uint_eq(instants_ps(&instants, &axis, 10, 0, 1), 500);
	ck_assert_uint_eq(instants_ps(&instants, &axis, 11, 0, 1), 500 + 100 * 1000);
	ck_assert_uint_eq(instants_ps(&instants, &axis, 11, 1, 4), 500 + 125 * 1000);
	ck_assert_uint_eq(instants_ps(&instants, &axis, 20, 0, 1), 500 + 1000 * 1000);
	/* Asked for in any order. */
	ck_assert_uint_eq(instants_ps(&instants, &axis, 15, 0, 1), 500 + 500 * 1000);
	ck_assert(instants_has(&instants, 10) && instants_has(&instants, 20));
	ck_assert(!instants_has(&instants, 9) && !instants_has(&instants, 21));
	instants_fini(&instants);
}
END_TEST

START_TEST(outside_of_all)
{
	struct instants instants = { 0 };

	ck_assert_uint_eq(instants_ps(&instants, &axis, 7, 0, 1), 500 + 7 * INSTANTS_STEP_PS);
	feed_mark(&instants, 10, 5000);
	ck_assert_uint_eq(instants_ps(&instants, &axis, 8, 0, 1),
			  500 + 4000 * 1000 - 2 * INSTANTS_STEP_PS);
	ck_assert_uint_eq(instants_ps(&instants, &axis, 9, 1, 2),
			  500 + 4000 * 1000 - INSTANTS_STEP_PS / 2);
	ck_assert_uint_eq(instants_ps(&instants, &axis, 12, 0, 1),
			  500 + 4000 * 1000 + 2 * INSTANTS_STEP_PS);
	instants_fini(&instants);
}
END_TEST

START_TEST(a_pause_takes_time)
{
	struct instants instants = { 0 };

	feed_mark(&instants, 0, 1000);
	feed_pause(&instants, 10, 2000, 4000);
	feed_mark(&instants, 20, 5000);
	ck_assert_uint_eq(instants_ps(&instants, &axis, 9, 0, 1), 500 + 900 * 1000);
	ck_assert_uint_eq(instants_ps(&instants, &axis, 10, 0, 1), 500 + 1000 * 1000);
	ck_assert_uint_eq(instants_end_ps(&instants, &axis, 10), 500 + 3000 * 1000);
	ck_assert_uint_eq(instants_ps(&instants, &axis, 11, 0, 1), 500 + 3100 * 1000);
	ck_assert_uint_eq(instants_end_ps(&instants, &axis, 11), 500 + 3100 * 1000);
	instants_fini(&instants);
}
END_TEST

START_TEST(bounds)
{
	struct instants instants = { 0 };
	uint64_t min, max;

	feed_mark(&instants, 10, 1000);
	feed_mark(&instants, 20, 1500);
	feed_mark(&instants, 30, 2500);
	ck_assert(instants_bounds(&instants, 11, 19, &min, &max));
	ck_assert_uint_eq(min, 0);
	ck_assert_uint_eq(max, 500);
	ck_assert(instants_bounds(&instants, 12, 29, &min, &max));
	ck_assert_uint_eq(min, 0);
	ck_assert_uint_eq(max, 1500);
	ck_assert(instants_bounds(&instants, 12, 30, &min, &max));
	ck_assert_uint_eq(min, 1000);
	ck_assert_uint_eq(max, 1500);
	ck_assert(!instants_bounds(&instants, 9, 19, &min, &max));
	ck_assert(!instants_bounds(&instants, 11, 31, &min, &max));
	instants_fini(&instants);
}
END_TEST

/* Whatever a dump says, time does not run backwards and nothing overflows. */
START_TEST(hostile_times)
{
	struct instants instants = { 0 };
	uint64_t before = 0;

	feed_mark(&instants, 0, 3000);
	feed_pause(&instants, 4, 9000, 2000);
	feed_mark(&instants, 5, 100);
	feed_mark(&instants, 8, UINT64_MAX);
	for (uint64_t n = 0; n < 12; n++) {
		uint64_t ps = instants_ps(&instants, &axis, n, 0, 1);

		ck_assert_uint_ge(ps, before);
		before = ps;
	}
	instants_fini(&instants);
}
END_TEST

START_TEST(without_a_clock)
{
	const struct instants_axis ticks = { .tsc = 1000 };
	struct instants instants = { 0 };

	feed_mark(&instants, 0, 1010);
	ck_assert_uint_eq(instants_ps(&instants, &ticks, 0, 0, 1), 10 * 1000);
	instants_fini(&instants);
}
END_TEST

BTSREC_CK_MAIN("instants", between_two_annotations, outside_of_all, a_pause_takes_time, bounds,
	       hostile_times, without_a_clock)
