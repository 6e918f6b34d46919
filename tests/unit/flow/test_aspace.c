// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/aspace.h"
#include "check_btsrec.h"
#include "failing_alloc.h"

static struct aspace as;
static uint64_t n;

static struct btsrec_side side(uint32_t pid)
{
	return (struct btsrec_side){ .cr3 = pid * 0x1000ULL, .pid = pid };
}

static void feed(enum btsrec_event_kind kind, uint32_t prev, uint32_t next)
{
	struct btsrec_event event = { .kind = kind, .n = n++ };

	switch (kind) {
	case BTSREC_EVENT_SWITCH:
	case BTSREC_EVENT_EXEC:
		event.sw.prev = side(prev);
		event.sw.next = side(next);
		break;
	case BTSREC_EVENT_ARM:
		event.resume.now = side(next);
		break;
	default:
		break;
	}
	aspace_feed(&as, &event);
}

static void feed_pause(uint32_t reason, uint32_t now)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_GAP, .n = n++ };

	event.gap.kind = BTSREC_GAP_PAUSED;
	event.gap.has_resume = true;
	event.gap.resume.reason = reason;
	event.gap.resume.now = side(now);
	aspace_feed(&as, &event);
}

static void feed_gap(enum btsrec_gap_kind kind, uint32_t now)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_GAP, .n = n++ };

	event.gap.kind = kind;
	event.gap.has_resume = now;
	event.gap.resume.now = side(now);
	aspace_feed(&as, &event);
}

static void branches(unsigned int nr)
{
	while (nr--)
		feed(BTSREC_EVENT_BRANCH, 0, 0);
}

static void start(void)
{
	aspace_fini(&as);
	n = 0;
}

/* 0: unknown */
static void ck_pid(uint64_t at, uint32_t want)
{
	const struct btsrec_side *got = aspace_at(&as, at);

	ck_assert_msg((got ? got->pid : 0) == want, "event %lu: pid %u, wanted %u",
		      (unsigned long)at, got ? got->pid : 0, want);
	if (want)
		ck_assert_uint_eq(got->cr3, want * 0x1000ULL);
}

START_TEST(before_and_after_switches)
{
	start();
	feed_gap(BTSREC_GAP_OVERWRITTEN, 0);
	branches(2);
	feed(BTSREC_EVENT_SWITCH, 7, 8);	/* event 3 */
	branches(2);
	feed(BTSREC_EVENT_EXEC, 8, 9);		/* event 6 */
	branches(1);
	btsrec_ck_ok(aspace_end(&as, NULL, UINT64_MAX));
	for (uint64_t at = 0; at <= 3; at++)
		ck_pid(at, 7);
	for (uint64_t at = 4; at <= 6; at++)
		ck_pid(at, 8);
	ck_pid(7, 9);
	ck_pid(1000, 9);
	ck_pid(5, 8);
	ck_pid(0, 7);
}
END_TEST

START_TEST(no_annotation)
{
	struct btsrec_side now = side(5);

	start();
	ck_pid(0, 0);
	branches(3);
	btsrec_ck_ok(aspace_end(&as, NULL, UINT64_MAX));
	ck_pid(1, 0);
	start();
	branches(3);
	btsrec_ck_ok(aspace_end(&as, &now, UINT64_MAX));
	ck_pid(0, 5);
	ck_pid(2, 5);
}
END_TEST

START_TEST(tail_begins_late)
{
	start();
	n = 100;
	branches(1);
	feed(BTSREC_EVENT_SWITCH, 3, 4);
	btsrec_ck_ok(aspace_end(&as, NULL, UINT64_MAX));
	ck_pid(99, 0);
	ck_pid(100, 3);
	ck_pid(102, 4);
}
END_TEST

/* The recorder's own pauses hold no switch; only in NMIs the page table stays, too. */
START_TEST(before_a_pause)
{
	start();
	feed_gap(BTSREC_GAP_OVERWRITTEN, 0);
	branches(2);
	feed_pause(BTSREC_REASON_NMI, 7);	/* event 3 */
	branches(2);
	feed_gap(BTSREC_GAP_TORN, 0);		/* event 6 */
	branches(1);
	feed_pause(BTSREC_REASON_SNAPSHOT, 8);	/* event 8 */
	branches(1);
	feed_gap(BTSREC_GAP_TORN, 0);		/* event 10 */
	branches(1);
	feed_pause(BTSREC_REASON_CONSOLE, 9);	/* event 12 */
	branches(1);
	btsrec_ck_ok(aspace_end(&as, NULL, UINT64_MAX));
	for (uint64_t at = 0; at <= 6; at++)
		ck_pid(at, 7);
	ck_pid(7, 0);
	ck_pid(8, 0);
	ck_pid(9, 8);
	ck_assert_uint_eq(aspace_at(&as, 11)->pid, 9);
	ck_assert_uint_eq(aspace_at(&as, 11)->cr3, 0);
	ck_pid(13, 9);
}
END_TEST

/* What is lost may hold a switch; the next annotation says which thread was switched away from. */
START_TEST(gaps)
{
	struct btsrec_side now = side(6);

	start();
	feed(BTSREC_EVENT_ARM, 0, 1);		/* 0 */
	branches(1);
	feed_gap(BTSREC_GAP_NOT_IN_DUMP, 0);	/* 2 */
	branches(1);
	feed(BTSREC_EVENT_SWITCH, 2, 3);	/* 4 */
	feed_gap(BTSREC_GAP_PAUSED, 4);		/* 5 */
	branches(1);
	feed_gap(BTSREC_GAP_TORN, 0);		/* 7 */
	branches(1);
	feed(BTSREC_EVENT_MARK, 0, 0);
	feed(BTSREC_EVENT_TIME, 0, 0);
	feed(BTSREC_EVENT_FREEZE, 0, 0);
	btsrec_ck_ok(aspace_end(&as, &now, UINT64_MAX));
	ck_pid(1, 1);
	ck_pid(3, 2);
	ck_pid(5, 3);
	ck_pid(6, 4);
	ck_pid(8, 6);
	ck_pid(10, 6);
}
END_TEST

START_TEST(before_the_arm_is_nobody)
{
	start();
	branches(1);
	feed(BTSREC_EVENT_ARM, 0, 1);
	btsrec_ck_ok(aspace_end(&as, NULL, UINT64_MAX));
	ck_pid(0, 0);
	ck_pid(2, 1);
}
END_TEST

static void feed_at(enum btsrec_event_kind kind, uint32_t pid, uint64_t tsc, uint64_t stop_tsc)
{
	struct btsrec_event event = { .kind = kind, .n = n++ };

	switch (kind) {
	case BTSREC_EVENT_SWITCH:
		event.sw = (struct btsrec_switch){ .tsc = tsc, .next = side(pid) };
		break;
	case BTSREC_EVENT_ARM:
		event.resume = (struct btsrec_resume){ tsc, stop_tsc, .now = side(pid) };
		break;
	case BTSREC_EVENT_GAP:
		event.gap.kind = BTSREC_GAP_PAUSED;
		event.gap.has_resume = true;
		event.gap.resume = (struct btsrec_resume){ tsc, stop_tsc, .now = side(pid) };
		break;
	case BTSREC_EVENT_FREEZE:
		event.freeze.tsc = tsc;
		break;
	default:
		break;
	}
	aspace_feed(&as, &event);
}

static void ck_end(uint64_t at, uint64_t want_tsc)
{
	ck_assert_uint_eq(aspace_span(&as, at)->end_tsc, want_tsc);
}

/* During a stop a thread may have gone on elsewhere, and exec'd there. */
START_TEST(until_the_stop)
{
	start();
	feed_at(BTSREC_EVENT_ARM, 1, 10, 0);	/* 0 */
	feed_at(BTSREC_EVENT_GAP, 2, 30, 20);	/* 1 */
	feed_at(BTSREC_EVENT_ARM, 3, 60, 50);	/* 2 */
	feed_at(BTSREC_EVENT_GAP, 4, 90, 0);	/* 3: the stop is not known */
	feed_at(BTSREC_EVENT_ARM, 5, 100, 101);	/* 4: nor here */
	feed_at(BTSREC_EVENT_SWITCH, 6, 110, 0);
	btsrec_ck_ok(aspace_end(&as, NULL, UINT64_MAX));
	ck_end(1, 20);
	ck_end(2, 50);
	ck_end(3, 60);
	ck_end(4, 90);
	ck_end(5, 110);
	ck_end(6, UINT64_MAX);
}
END_TEST

/* What is lost may hold a switch to somebody else. */
START_TEST(until_what_is_lost)
{
	start();
	feed_at(BTSREC_EVENT_SWITCH, 1, 10, 0);	/* 0 */
	feed_gap(BTSREC_GAP_NOT_IN_DUMP, 0);	/* 1 */
	feed_at(BTSREC_EVENT_SWITCH, 3, 40, 0);	/* 2 */
	feed_gap(BTSREC_GAP_TORN, 0);		/* 3 */
	btsrec_ck_ok(aspace_end(&as, NULL, 0));
	ck_end(1, 10);
	ck_end(2, 40);
	ck_end(3, 40);
}
END_TEST

/* A frozen CPU says when that was; of one that was stopped only the newest switch is known. */
START_TEST(until_the_end)
{
	struct btsrec_side now = side(5);

	start();
	feed_at(BTSREC_EVENT_SWITCH, 1, 10, 0);
	feed_at(BTSREC_EVENT_FREEZE, 0, 70, 0);
	btsrec_ck_ok(aspace_end(&as, &now, 0));
	ck_end(1, 70);
	start();
	branches(1);
	btsrec_ck_ok(aspace_end(&as, &now, 33));
	ck_end(0, 33);
	start();
	feed_at(BTSREC_EVENT_ARM, 1, 40, 0);
	btsrec_ck_ok(aspace_end(&as, &now, 33));
	ck_end(1, 40);
}
END_TEST

START_TEST(many)
{
	start();
	for (uint32_t pid = 1; pid < 5000; pid++)
		feed(BTSREC_EVENT_SWITCH, pid, pid + 1);
	btsrec_ck_ok(aspace_end(&as, NULL, UINT64_MAX));
	for (uint32_t at = 0; at < 4999; at++)
		ck_pid(at, at + 1);
	for (uint32_t at = 4998; at; at -= 7)
		ck_pid(at, at + 1);
}
END_TEST

START_TEST(no_memory)
{
	start();
	failing_alloc_arm(1);
	feed(BTSREC_EVENT_SWITCH, 1, 2);
	ck_assert(failing_alloc_disarm());
	btsrec_ck_status(aspace_end(&as, NULL, UINT64_MAX), BTSREC_ERR_NOMEM);
	aspace_fini(&as);
}
END_TEST

BTSREC_CK_MAIN("aspace", before_and_after_switches, no_annotation, tail_begins_late, gaps,
	       before_a_pause,
	       before_the_arm_is_nobody, until_the_stop, until_what_is_lost, until_the_end,
	       many, no_memory)
