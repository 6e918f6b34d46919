// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "failing_alloc.h"
#include "flow/sched_intervals.h"

#define THREAD 8

/* The history that is being fed: its CPU, number of the next event, and the thread that runs. */
static struct intervals all;
static unsigned int cpu;
static uint64_t n;
static uint32_t running;
static bool known;

static void start(void)
{
	intervals_fini(&all);
	intervals_init(&all, THREAD);
}

static void begin(unsigned int number, uint32_t pid)
{
	cpu = number;
	n = 0;
	running = pid;
	known = pid;
}

static void feed(struct btsrec_event *event)
{
	struct btsrec_side side = { .pid = running };

	event->cpu = cpu;
	event->n = n++;
	intervals_feed(&all, event, known ? &side : NULL);
}

static void branches(unsigned int nr)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH };

	while (nr--)
		feed(&event);
}

static void sw(uint64_t tsc, uint32_t next)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_SWITCH };

	event.sw.tsc = tsc;
	event.sw.prev.pid = running;
	event.sw.next.pid = next;
	feed(&event);
	running = next;
	known = true;
}

static void gap(enum btsrec_gap_kind kind, uint32_t reason, uint64_t stop_tsc, uint64_t tsc,
		uint32_t now)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_GAP };

	event.gap.kind = kind;
	event.gap.has_resume = tsc;
	event.gap.resume.reason = reason;
	event.gap.resume.stop_tsc = stop_tsc;
	event.gap.resume.tsc = tsc;
	event.gap.resume.now.pid = now;
	feed(&event);
	running = now;
	known = now;
}

static void arm(uint64_t tsc, uint32_t now)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_ARM };

	event.resume.tsc = tsc;
	event.resume.now.pid = now;
	feed(&event);
	running = now;
	known = true;
}

static void freeze(uint64_t tsc)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_FREEZE };

	event.freeze.tsc = tsc;
	feed(&event);
	intervals_cpu_end(&all);
}

static void ck_interval(size_t i, unsigned int on, uint64_t first_n, uint64_t last_n)
{
	ck_assert_uint_lt(i, all.nr);
	ck_assert_uint_eq(all.list[i].cpu, on);
	ck_assert_uint_eq(all.list[i].first_n, first_n);
	ck_assert_uint_eq(all.list[i].last_n, last_n);
}

static void ck_bounds(size_t i, bool begins, uint64_t first_tsc, bool ends, uint64_t last_tsc)
{
	ck_assert_uint_eq(all.list[i].begins, begins);
	ck_assert_uint_eq(all.list[i].ends, ends);
	ck_assert(all.list[i].timed);
	ck_assert_uint_eq(all.list[i].first_tsc, first_tsc);
	ck_assert_uint_eq(all.list[i].last_tsc, last_tsc);
}

/* Of an interval after the first; @maybe: -1: it was nowhere else in between. */
static void ck_follows(size_t i, enum interval_order order, int maybe)
{
	ck_assert_uint_eq(all.list[i].order, order);
	ck_assert_int_eq(all.list[i].maybe ? (int)all.list[i].maybe_cpu : -1, maybe);
}

/* CPU 1 from 100 on without a hole, and without the thread. */
static void other_cpu(void)
{
	begin(1, 5);
	arm(100, 5);
	sw(150, 6);
	freeze(9000);
}

START_TEST(one_cpu)
{
	start();
	begin(0, 7);
	arm(100, 7);
	branches(2);
	sw(200, THREAD);
	branches(3);
	sw(300, 7);
	branches(1);
	sw(400, THREAD);
	sw(500, 7);
	freeze(9000);
	other_cpu();
	intervals_end(&all);
	ck_assert_uint_eq(all.nr, 2);
	ck_interval(0, 0, 3, 7);
	ck_bounds(0, true, 200, true, 300);
	ck_assert_uint_eq(all.list[0].order, INTERVAL_FIRST);
	ck_interval(1, 0, 9, 10);
	ck_bounds(1, true, 400, true, 500);
	ck_follows(1, INTERVAL_PROVEN, -1);
}
END_TEST

/* What is fed first is no matter; a thread that is running at both ends of a history. */
START_TEST(a_migration)
{
	start();
	begin(0, THREAD);
	branches(2);
	sw(300, 7);
	branches(1);
	sw(600, THREAD);
	branches(1);
	freeze(9000);
	begin(1, 5);
	arm(100, 5);
	sw(400, THREAD);
	sw(500, 5);
	freeze(9000);
	intervals_end(&all);
	ck_assert_uint_eq(all.nr, 3);
	ck_interval(0, 0, 0, 2);
	ck_bounds(0, false, 300, true, 300);
	ck_interval(1, 1, 1, 2);
	ck_follows(1, INTERVAL_PROVEN, -1);
	ck_interval(2, 0, 4, 6);
	ck_bounds(2, true, 600, true, 9000);
	ck_follows(2, INTERVAL_PROVEN, -1);
}
END_TEST

/* CPU 1 is known from 700 on only: the thread may have been there between 300 and 600. */
START_TEST(history_too_short)
{
	start();
	begin(0, 7);
	arm(100, 7);
	sw(200, THREAD);
	sw(300, 7);
	sw(600, THREAD);
	sw(700, 7);
	sw(800, THREAD);
	freeze(9000);
	begin(1, 5);
	branches(1);
	sw(700, 6);
	freeze(9000);
	intervals_end(&all);
	ck_assert_uint_eq(all.nr, 3);
	ck_follows(1, INTERVAL_PROVEN, 1);
	ck_follows(2, INTERVAL_PROVEN, -1);
}
END_TEST

START_TEST(history_ends)
{
	start();
	begin(0, 7);
	arm(100, 7);
	sw(200, THREAD);
	sw(300, 7);
	sw(600, THREAD);
	freeze(9000);
	begin(1, 5);
	arm(100, 5);
	sw(400, 6);
	intervals_cpu_end(&all);
	intervals_end(&all);
	ck_follows(1, INTERVAL_PROVEN, 1);
}
END_TEST

START_TEST(an_unreadable_history)
{
	start();
	begin(0, 7);
	arm(100, 7);
	sw(200, THREAD);
	sw(300, 7);
	sw(600, THREAD);
	freeze(9000);
	intervals_blind(&all, 3);
	intervals_end(&all);
	ck_follows(1, INTERVAL_PROVEN, 3);
}
END_TEST

/* What hides a switch ends an interval, at the latest where recording stopped. */
START_TEST(a_pause)
{
	start();
	other_cpu();
	begin(0, 7);
	arm(100, 7);
	sw(200, THREAD);
	branches(1);
	gap(BTSREC_GAP_PAUSED, BTSREC_REASON_SNAPSHOT, 250, 400, THREAD);
	branches(1);
	sw(500, 7);
	freeze(9000);
	intervals_end(&all);
	ck_assert_uint_eq(all.nr, 2);
	ck_interval(0, 0, 1, 3);
	ck_bounds(0, true, 200, false, 250);
	ck_interval(1, 0, 4, 5);
	ck_bounds(1, false, 400, true, 500);
	ck_follows(1, INTERVAL_PROVEN, 0);
}
END_TEST

/* Those that the recorder ends at the next switch hide none: after a fault, and at an NMI. */
START_TEST(own_pauses)
{
	start();
	other_cpu();
	begin(0, 7);
	arm(100, 7);
	sw(200, THREAD);
	gap(BTSREC_GAP_PAUSED, BTSREC_REASON_NMI, 250, 400, THREAD);
	branches(1);
	sw(500, 7);
	gap(BTSREC_GAP_PAUSED, BTSREC_REASON_OOPS, 550, 560, 7);
	sw(600, THREAD);
	freeze(9000);
	intervals_end(&all);
	ck_assert_uint_eq(all.nr, 2);
	ck_interval(0, 0, 1, 4);
	ck_bounds(0, true, 200, true, 500);
	ck_follows(1, INTERVAL_PROVEN, -1);
}
END_TEST

/* The thread comes and goes after a pause. */
START_TEST(pause_of_others)
{
	start();
	begin(0, 7);
	arm(100, 7);
	gap(BTSREC_GAP_PAUSED, BTSREC_REASON_SNAPSHOT, 150, 200, THREAD);
	branches(1);
	gap(BTSREC_GAP_PAUSED, BTSREC_REASON_SNAPSHOT, 250, 300, 7);
	branches(1);
	freeze(9000);
	intervals_end(&all);
	ck_assert_uint_eq(all.nr, 1);
	ck_interval(0, 0, 1, 3);
	ck_bounds(0, false, 200, false, 250);
}
END_TEST

/* A gap without a time: which thread ran after it is known by the next switch. */
START_TEST(a_bad_record)
{
	start();
	other_cpu();
	begin(0, 7);
	arm(100, 7);
	sw(200, THREAD);
	gap(BTSREC_GAP_BAD_RECORD, 0, 0, 0, 0);
	running = THREAD;
	known = true;
	branches(1);
	sw(500, 7);
	freeze(9000);
	intervals_end(&all);
	ck_assert_uint_eq(all.nr, 2);
	ck_interval(0, 0, 1, 2);
	ck_bounds(0, true, 200, false, 200);
	ck_interval(1, 0, 3, 4);
	ck_bounds(1, false, 500, true, 500);
	ck_follows(1, INTERVAL_PROVEN, 0);
}
END_TEST

/* What was overwritten is before the history and no hole in it. */
START_TEST(an_overwritten_history)
{
	start();
	begin(0, THREAD);
	gap(BTSREC_GAP_OVERWRITTEN, 0, 0, 0, THREAD);
	branches(1);
	sw(500, 7);
	freeze(9000);
	intervals_end(&all);
	ck_assert_uint_eq(all.nr, 1);
	ck_interval(0, 0, 0, 2);
}
END_TEST

/* Recording begins while the thread runs; a second ARM ends what was before. */
START_TEST(armed_again)
{
	start();
	begin(0, THREAD);
	arm(100, THREAD);
	branches(1);
	arm(200, THREAD);
	branches(1);
	intervals_cpu_end(&all);
	intervals_end(&all);
	ck_assert_uint_eq(all.nr, 2);
	ck_interval(0, 0, 0, 1);
	ck_bounds(0, false, 100, false, 100);
	ck_interval(1, 0, 2, 3);
	ck_bounds(1, false, 200, false, 200);
	ck_follows(1, INTERVAL_PROVEN, 0);
}
END_TEST

/* The resumption of the thread is the last that is known. */
START_TEST(nothing_behind_gap)
{
	start();
	begin(0, 7);
	arm(100, 7);
	sw(200, THREAD);
	gap(BTSREC_GAP_PAUSED, BTSREC_REASON_SNAPSHOT, 250, 400, THREAD);
	intervals_cpu_end(&all);
	intervals_end(&all);
	ck_assert_uint_eq(all.nr, 1);
	ck_interval(0, 0, 1, 2);
}
END_TEST

START_TEST(without_time)
{
	start();
	begin(0, THREAD);
	branches(3);
	intervals_cpu_end(&all);
	begin(1, 5);
	arm(100, 5);
	sw(200, THREAD);
	freeze(9000);
	intervals_end(&all);
	ck_assert_uint_eq(all.nr, 2);
	ck_interval(0, 0, 0, 2);
	ck_assert(!all.list[0].timed);
	ck_follows(1, INTERVAL_UNTIMED, -1);
}
END_TEST

/* Two at once, or one that ends when the other has begun: no order holds. */
START_TEST(a_contradiction)
{
	for (uint64_t begin_tsc = 200; begin_tsc <= 300; begin_tsc += 50) {
		start();
		begin(0, 7);
		arm(100, 7);
		sw(200, THREAD);
		sw(300, 7);
		freeze(9000);
		begin(1, 5);
		arm(100, 5);
		sw(begin_tsc, THREAD);
		sw(400, 5);
		freeze(9000);
		intervals_end(&all);
		ck_assert_uint_eq(all.nr, 2);
		ck_follows(1, begin_tsc < 300 ? INTERVAL_CONTRADICTED : INTERVAL_PROVEN, -1);
	}
}
END_TEST

/* At a time before which nothing is, no history can have a hole. */
START_TEST(at_time_zero)
{
	start();
	for (unsigned int number = 0; number < 2; number++) {
		begin(number, 7);
		sw(0, THREAD);
		sw(300, 7);
		freeze(9000);
	}
	intervals_end(&all);
	ck_assert_uint_eq(all.nr, 2);
	ck_follows(1, INTERVAL_CONTRADICTED, -1);
}
END_TEST

/* On one CPU the ring gives the order, even if the clock goes back. */
START_TEST(clock_back)
{
	start();
	begin(0, 7);
	arm(100, 7);
	sw(500, THREAD);
	sw(600, 7);
	sw(200, THREAD);
	sw(300, 7);
	freeze(9000);
	intervals_end(&all);
	ck_interval(0, 0, 1, 2);
	ck_interval(1, 0, 3, 4);
	ck_follows(1, INTERVAL_PROVEN, -1);
}
END_TEST

START_TEST(no_memory)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_SWITCH };

	event.sw.next.pid = THREAD;
	for (unsigned int nth = 1; nth <= 3; nth++) {
		start();
		begin(0, 7);
		failing_alloc_arm(nth);
		feed(&event);
		intervals_cpu_end(&all);
		intervals_end(&all);
		ck_assert(failing_alloc_disarm());
		ck_assert(all.nomem);
	}
	start();
}
END_TEST

BTSREC_CK_MAIN("sched_intervals", one_cpu, a_migration, history_too_short, history_ends,
	       an_unreadable_history, a_pause, own_pauses, pause_of_others, a_bad_record,
	       an_overwritten_history, armed_again, nothing_behind_gap, without_time,
	       a_contradiction, at_time_zero, clock_back, no_memory)
