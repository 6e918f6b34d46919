// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "flow/time_axis.h"

/* 1 GHz, so that a tick is 1000 ps; tick 1000 is at 500 ps. */
static const struct time_axis_scale axis = {.tsc_khz = 1000000, .tsc = 1000, .ps = 500};

static void feed_mark(struct time_axis *time_axis, uint64_t n, uint64_t tsc)
{
	struct btsrec_event event = {.kind = BTSREC_EVENT_MARK, .n = n, .mark.tsc = tsc};

	ck_assert(time_axis_feed(time_axis, &event));
}

static void feed_pause(struct time_axis *time_axis, uint64_t n, uint64_t stop_tsc, uint64_t tsc)
{
	struct btsrec_event event = {.kind = BTSREC_EVENT_GAP, .n = n};

	event.gap.kind = BTSREC_GAP_PAUSED;
	event.gap.has_resume = true;
	event.gap.resume.stop_tsc = stop_tsc;
	event.gap.resume.tsc = tsc;
	ck_assert(time_axis_feed(time_axis, &event));
}

START_TEST(between_two_annotations)
{
	struct btsrec_event branch = {.kind = BTSREC_EVENT_BRANCH, .n = 11};
	struct time_axis time_axis = {0};

	feed_mark(&time_axis, 10, 1000);
	ck_assert(time_axis_feed(&time_axis, &branch));
	feed_mark(&time_axis, 20, 2000);
	ck_assert_uint_eq(time_axis_ps(&time_axis, &axis, 10, 0, 1), 500);
	ck_assert_uint_eq(time_axis_ps(&time_axis, &axis, 11, 0, 1), 500 + 100 * 1000);
	ck_assert_uint_eq(time_axis_ps(&time_axis, &axis, 11, 1, 4), 500 + 125 * 1000);
	ck_assert_uint_eq(time_axis_ps(&time_axis, &axis, 20, 0, 1), 500 + 1000 * 1000);
	/* Asked for in any order. */
	ck_assert_uint_eq(time_axis_ps(&time_axis, &axis, 15, 0, 1), 500 + 500 * 1000);
	ck_assert(time_axis_has(&time_axis, 10) && time_axis_has(&time_axis, 20));
	ck_assert(!time_axis_has(&time_axis, 9) && !time_axis_has(&time_axis, 21));
	time_axis_fini(&time_axis);
}
END_TEST

START_TEST(bounds_of_an_event)
{
	struct time_axis time_axis = {0};
	uint64_t min, max;

	time_axis_when(&time_axis, 3, &min, &max);
	ck_assert(min == 0 && max == UINT64_MAX);
	feed_mark(&time_axis, 10, 1000);
	feed_pause(&time_axis, 20, 2000, 3000);
	time_axis_when(&time_axis, 9, &min, &max);
	ck_assert(min == 0 && max == 1000);
	time_axis_when(&time_axis, 10, &min, &max);
	ck_assert(min == 1000 && max == 1000);
	time_axis_when(&time_axis, 19, &min, &max);
	ck_assert(min == 1000 && max == 2000);
	time_axis_when(&time_axis, 20, &min, &max);
	ck_assert(min == 3000 && max == 3000);
	time_axis_hole(&time_axis, 20, &min, &max);
	ck_assert(min == 2000 && max == 3000);
	time_axis_hole(&time_axis, 15, &min, &max);
	ck_assert(min == 1000 && max == 2000);
	time_axis_when(&time_axis, 21, &min, &max);
	ck_assert(min == 3000 && max == UINT64_MAX);
	time_axis_fini(&time_axis);
}
END_TEST

START_TEST(outside_of_all)
{
	struct time_axis time_axis = {0};

	ck_assert_uint_eq(time_axis_ps(&time_axis, &axis, 7, 0, 1), 500 + 7 * TIME_AXIS_STEP_PS);
	feed_mark(&time_axis, 10, 5000);
	ck_assert_uint_eq(time_axis_ps(&time_axis, &axis, 8, 0, 1),
			  500 + 4000 * 1000 - 2 * TIME_AXIS_STEP_PS);
	ck_assert_uint_eq(time_axis_ps(&time_axis, &axis, 9, 1, 2),
			  500 + 4000 * 1000 - TIME_AXIS_STEP_PS / 2);
	ck_assert_uint_eq(time_axis_ps(&time_axis, &axis, 12, 0, 1),
			  500 + 4000 * 1000 + 2 * TIME_AXIS_STEP_PS);
	time_axis_fini(&time_axis);
}
END_TEST

START_TEST(a_pause_takes_time)
{
	struct time_axis time_axis = {0};

	feed_mark(&time_axis, 0, 1000);
	feed_pause(&time_axis, 10, 2000, 4000);
	feed_mark(&time_axis, 20, 5000);
	ck_assert_uint_eq(time_axis_ps(&time_axis, &axis, 9, 0, 1), 500 + 900 * 1000);
	ck_assert_uint_eq(time_axis_ps(&time_axis, &axis, 10, 0, 1), 500 + 1000 * 1000);
	ck_assert_uint_eq(time_axis_end_ps(&time_axis, &axis, 10), 500 + 3000 * 1000);
	ck_assert_uint_eq(time_axis_ps(&time_axis, &axis, 11, 0, 1), 500 + 3100 * 1000);
	ck_assert_uint_eq(time_axis_end_ps(&time_axis, &axis, 11), 500 + 3100 * 1000);
	time_axis_fini(&time_axis);
}
END_TEST

START_TEST(bounds)
{
	struct time_axis time_axis = {0};
	uint64_t min, max;

	feed_mark(&time_axis, 10, 1000);
	feed_mark(&time_axis, 20, 1500);
	feed_mark(&time_axis, 30, 2500);
	ck_assert(time_axis_bounds(&time_axis, 11, 19, &min, &max));
	ck_assert_uint_eq(min, 0);
	ck_assert_uint_eq(max, 500);
	ck_assert(time_axis_bounds(&time_axis, 12, 29, &min, &max));
	ck_assert_uint_eq(min, 0);
	ck_assert_uint_eq(max, 1500);
	ck_assert(time_axis_bounds(&time_axis, 12, 30, &min, &max));
	ck_assert_uint_eq(min, 1000);
	ck_assert_uint_eq(max, 1500);
	ck_assert(!time_axis_bounds(&time_axis, 9, 19, &min, &max));
	ck_assert(!time_axis_bounds(&time_axis, 11, 31, &min, &max));
	time_axis_fini(&time_axis);
}
END_TEST

/* Whatever a dump says, time does not run backwards and nothing overflows. */
START_TEST(hostile_times)
{
	struct time_axis time_axis = {0};
	uint64_t before = 0;

	feed_mark(&time_axis, 0, 3000);
	feed_pause(&time_axis, 4, 9000, 2000);
	feed_mark(&time_axis, 5, 100);
	feed_mark(&time_axis, 8, UINT64_MAX);
	for (uint64_t n = 0; n < 12; n++) {
		uint64_t ps = time_axis_ps(&time_axis, &axis, n, 0, 1);

		ck_assert_uint_ge(ps, before);
		before = ps;
	}
	time_axis_fini(&time_axis);
}
END_TEST

START_TEST(without_a_clock)
{
	const struct time_axis_scale ticks = {.tsc = 1000};
	struct time_axis time_axis = {0};

	feed_mark(&time_axis, 0, 1010);
	ck_assert_uint_eq(time_axis_ps(&time_axis, &ticks, 0, 0, 1), 10 * 1000);
	time_axis_fini(&time_axis);
}
END_TEST

BTSREC_CK_MAIN("time_axis", between_two_annotations, outside_of_all, a_pause_takes_time, bounds,
	       bounds_of_an_event, hostile_times, without_a_clock)
