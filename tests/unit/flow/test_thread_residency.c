// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "failing_alloc.h"
#include "flow/thread_residency.h"

static struct residencies all;

static void sw(unsigned int cpu, uint64_t tsc, uint32_t prev, uint32_t next)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_SWITCH, .cpu = cpu };

	event.sw.tsc = tsc;
	event.sw.prev.pid = prev;
	event.sw.next.pid = next;
	ck_assert(residency_feed(&all, &event));
}

static void gap(unsigned int cpu, uint64_t resume_tsc)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_GAP, .cpu = cpu };

	event.gap.has_resume = resume_tsc;
	event.gap.resume.tsc = resume_tsc;
	ck_assert(residency_feed(&all, &event));
}

static void freeze(unsigned int cpu, uint64_t tsc)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_FREEZE, .cpu = cpu };

	event.freeze.tsc = tsc;
	ck_assert(residency_feed(&all, &event));
}

/* CPU 2 never ran. */
static void start(void)
{
	residency_fini(&all);
	ck_assert(residency_init(&all, 3));
}

static void ck_between(uint32_t pid, uint64_t from, uint64_t to, enum residence want,
		       unsigned int want_cpu)
{
	unsigned int cpu = 99;

	ck_assert_int_eq(residency_between(&all, pid, 0, from, to, &cpu), want);
	ck_assert_uint_eq(cpu, want == RESIDENCE_NOWHERE ? 99 : want_cpu);
}

START_TEST(here_and_there)
{
	start();
	sw(0, 100, 7, 8);
	sw(0, 200, 8, 7);
	sw(0, 300, 7, 9);
	sw(0, 400, 9, 7);
	freeze(0, 500);
	sw(1, 50, 1, 2);
	sw(1, 320, 2, 7);
	sw(1, 330, 7, 2);
	freeze(1, 510);
	residency_end(&all);
	ck_between(7, 100, 200, RESIDENCE_NOWHERE, 0);
	ck_between(7, 300, 400, RESIDENCE_ELSEWHERE, 1);
	ck_between(8, 200, 400, RESIDENCE_NOWHERE, 0);
	ck_between(7, 300, 320, RESIDENCE_NOWHERE, 0);
	ck_between(7, 325, 400, RESIDENCE_ELSEWHERE, 1);
	ck_between(7, 330, 400, RESIDENCE_NOWHERE, 0);
}
END_TEST

START_TEST(a_history_that_does_not_reach)
{
	start();
	gap(1, 0);
	sw(1, 150, 1, 2);
	sw(1, 300, 2, 1);
	residency_end(&all);
	ck_between(7, 100, 200, RESIDENCE_UNKNOWN, 1);
	ck_between(7, 150, 300, RESIDENCE_NOWHERE, 0);
	ck_between(7, 200, 301, RESIDENCE_UNKNOWN, 1);
	ck_between(0, 100, 200, RESIDENCE_NOWHERE, 0);
}
END_TEST

START_TEST(a_hole_in_a_history)
{
	start();
	sw(1, 100, 1, 2);
	gap(1, 250);
	sw(1, 300, 2, 1);
	freeze(1, 400);
	residency_end(&all);
	ck_between(7, 120, 200, RESIDENCE_UNKNOWN, 1);
	ck_between(7, 240, 300, RESIDENCE_UNKNOWN, 1);
	ck_between(7, 250, 400, RESIDENCE_NOWHERE, 0);
}
END_TEST

START_TEST(a_cpu_without_history)
{
	start();
	freeze(1, 400);
	residency_blind(&all, 2);
	residency_blind(&all, 77);
	residency_end(&all);
	ck_between(7, 400, 400, RESIDENCE_UNKNOWN, 2);
}
END_TEST

START_TEST(a_history_of_branches_alone)
{
	start();
	residency_ran(&all, 2);
	residency_ran(&all, 3);
	residency_end(&all);
	ck_between(7, 100, 200, RESIDENCE_UNKNOWN, 2);
}
END_TEST

static void arm(unsigned int cpu)
{
	const struct btsrec_event event = { .kind = BTSREC_EVENT_ARM, .cpu = cpu };

	ck_assert(residency_feed(&all, &event));
}

/* CPU 0 begins in a switch, as does what follows its gap; CPU 1 first names its thread. */
START_TEST(a_switch_that_nothing_announces)
{
	struct btsrec_event gap = { .kind = BTSREC_EVENT_GAP, .n = 9 };

	start();
	ck_assert(residency_switched(&all, 0, 4));
	ck_assert(residency_switched(&all, 0, 6));
	sw(0, 100, 1, 2);
	ck_assert(residency_switched(&all, 0, 8));
	ck_assert(residency_feed(&all, &gap));
	ck_assert(!residency_is_known(&all, 0));
	ck_assert(residency_switched(&all, 0, 12));
	arm(1);
	ck_assert(residency_is_known(&all, 1));
	ck_assert(residency_switched(&all, 1, 3));
	ck_assert(residency_switched(&all, 2, 5));
	residency_end(&all);
	for (uint64_t n = 0; n < 20; n++) {
		ck_assert_int_eq(residency_stranger(&all, 0, n), n < 4 || (n > 9 && n < 12));
		ck_assert(!residency_stranger(&all, 1, n));
		ck_assert_int_eq(residency_stranger(&all, 2, n), n < 5);
	}
}
END_TEST

/* More than are made room for at first. */
START_TEST(many_gaps_that_nothing_announces)
{
	struct btsrec_event gap = { .kind = BTSREC_EVENT_GAP };

	start();
	for (uint64_t i = 0; i < 3000; i++) {
		ck_assert(residency_switched(&all, 0, 10 * i + 5));
		gap.n = 10 * i + 9;
		ck_assert(residency_feed(&all, &gap));
	}
	residency_end(&all);
	for (uint64_t n = 0; n < 30000; n++) {
		if (residency_stranger(&all, 0, n) != (n % 10 < 5))
			ck_abort_msg("event %ju", (uintmax_t)n);
	}
	residency_fini(&all);
}
END_TEST

START_TEST(a_gap_that_names_the_thread)
{
	struct btsrec_event borrowed = { .kind = BTSREC_EVENT_SWITCH, .mm_only = true };

	start();
	ck_assert(residency_feed(&all, &borrowed));
	ck_assert(!residency_is_known(&all, 0));
	gap(0, 250);
	ck_assert(residency_is_known(&all, 0));
	ck_assert(residency_is_known(&all, 3));
}
END_TEST

START_TEST(no_memory)
{
	struct btsrec_event event = { .kind = BTSREC_EVENT_SWITCH };

	failing_alloc_arm(1);
	ck_assert(!residency_init(&all, 3));
	ck_assert(failing_alloc_disarm());
	start();
	failing_alloc_arm(1);
	ck_assert(!residency_feed(&all, &event));
	ck_assert(failing_alloc_disarm());
	failing_alloc_arm(1);
	ck_assert(!residency_switched(&all, 1, 4));
	ck_assert(failing_alloc_disarm());
	residency_fini(&all);
}
END_TEST

BTSREC_CK_MAIN("thread_residency", here_and_there, a_history_that_does_not_reach,
	       a_hole_in_a_history, a_cpu_without_history, a_history_of_branches_alone,
	       a_switch_that_nothing_announces, many_gaps_that_nothing_announces,
	       a_gap_that_names_the_thread, no_memory)
