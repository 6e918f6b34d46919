// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "flow/clock.h"

static const struct clock ghz2 = {
	.tsc_khz = 2000000, .anchor_tsc = 5000, .anchor_boottime_ns = 10000, .has_end = true,
	.end_tsc = 9000,
};

START_TEST(cycles_and_ns)
{
	struct clock stopped = { 0 };

	ck_assert_uint_eq(clock_ns(&ghz2, 2000), 1000);
	ck_assert_uint_eq(clock_cycles(&ghz2, 1000), 2000);
	/* More than 64 bits in between, and a result that has no room. */
	ck_assert_uint_eq(clock_ns(&ghz2, 1ULL << 60), 1ULL << 59);
	ck_assert_uint_eq(clock_cycles(&ghz2, UINT64_MAX), UINT64_MAX);
	ck_assert_uint_eq(clock_ns(&stopped, 1), UINT64_MAX);
}
END_TEST

START_TEST(places)
{
	ck_assert_uint_eq(clock_at_boottime(&ghz2, 10000), 5000);
	ck_assert_uint_eq(clock_at_boottime(&ghz2, 10500), 6000);
	ck_assert_uint_eq(clock_at_boottime(&ghz2, 9000), 3000);
	ck_assert_uint_eq(clock_at_boottime(&ghz2, 0), 0);
	ck_assert_uint_eq(clock_at_boottime(&ghz2, UINT64_MAX), UINT64_MAX);
	ck_assert_uint_eq(clock_boottime(&ghz2, 5000), 10000);
	ck_assert_uint_eq(clock_boottime(&ghz2, 6000), 10500);
	ck_assert_uint_eq(clock_boottime(&ghz2, 3000), 9000);
	ck_assert_uint_eq(clock_boottime(&ghz2, UINT64_MAX), UINT64_MAX / 2 + 10000 - 2500);
	ck_assert_uint_eq(clock_before_end(&ghz2, 500), 8000);
	ck_assert_uint_eq(clock_before_end(&ghz2, 1000000), 0);
}
END_TEST

START_TEST(the_end_is_the_first_stop)
{
	struct btsrec_root root = { .tsc_khz = 1, .freeze_reason = BTSREC_REASON_PANIC,
				    .freeze_tsc = 70 };
	struct btsrec_cpu first = { .frozen = 1, .freeze = { .tsc = 60 } };

	ck_assert_uint_eq(clock_of(&root, &first).end_tsc, 60);
	ck_assert_uint_eq(clock_of(&root, NULL).end_tsc, 70);
	first.frozen = 0;
	ck_assert_uint_eq(clock_of(&root, &first).end_tsc, 70);
	ck_assert(clock_of(&root, NULL).has_end);
	root.freeze_reason = BTSREC_REASON_NONE;
	ck_assert(!clock_of(&root, NULL).has_end);
}
END_TEST

START_TEST(a_pause_begins_before_it_ends)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_GAP };
	uint64_t tsc;

	ck_assert(!clock_event(&event, &tsc));
	event.gap.has_resume = true;
	event.gap.resume.tsc = 20;
	event.gap.resume.stop_tsc = 10;
	ck_assert(clock_event(&event, &tsc));
	ck_assert_uint_eq(tsc, 20);
	ck_assert_uint_eq(clock_event_begin(&event, tsc), 10);
	event.gap.resume.stop_tsc = 30;
	ck_assert_uint_eq(clock_event_begin(&event, tsc), 20);
	event.kind = BTSREC_EVENT_MARK;
	ck_assert_uint_eq(clock_event_begin(&event, 20), 20);
}
END_TEST

BTSREC_CK_MAIN("clock", cycles_and_ns, places, the_end_is_the_first_stop,
	       a_pause_begins_before_it_ends)
