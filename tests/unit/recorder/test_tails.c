// SPDX-License-Identifier: GPL-2.0-or-later
/* The newest events of a history, branches alone, all others alone, and what is still to come. */
#include "failing_alloc.h"
#include "recorder/history.h"
#include "historyfix.h"

START_TEST(stopped_by_the_caller)
{
	setup(33);
	fixture_branches(fix, 1, 0, 20, 0);
	fixture_live_index(fix, 1, 20);
	stop_after = 7;
	btsrec_ck_status(print(0), BTSREC_ERR_STOPPED);
	ck_assert_uint_eq(nr_events, 7);
	btsrec_ck_status(print(10), BTSREC_ERR_STOPPED);
	ck_assert_uint_eq(nr_events, 7);
	ck_branches(0, 7, 10);
	teardown();
}
END_TEST

static void ck_tail(uint64_t max_events, uint64_t nr_all)
{
	uint64_t want = max_events && max_events < nr_all ? max_events : nr_all;

	btsrec_ck_ok(print(max_events));
	ck_assert_uint_eq(nr_events, want);
	ck_assert_uint_eq(events[0].n, nr_all - want);
	ck_assert_int_eq(events[nr_events - 1].kind, BTSREC_EVENT_FREEZE);
}

START_TEST(tails_of_every_kind_of_length)
{
	static const uint64_t lengths[] = {
		1, 2, 3, 4095, 4096, 8191, 8192, 16000, 24575, 30000, 30001, 30002, 30003, 99999, 0,
	};

	setup(30000);
	fixture_branches(fix, 1, 100, 29900, 0);
	fixture_branches(fix, 1, 0, 100, 29900);
	fixture_freeze(fix, 1, 100);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		ck_tail(lengths[i], 30002);
		if (nr_events > 1)
			ck_branches(nr_events - 2, 1, 29999);
	}
	teardown();
}
END_TEST

static void ck_same(const struct btsrec_event *a, enum btsrec_event_kind kind, uint64_t n,
		    uint64_t slot)
{
	if (a->kind != kind || a->n != n || a->slot != slot)
		ck_abort_msg("event %ju differs", (uintmax_t)n);
}

/* The newest @max of @all with the branches many at a time. */
static void ck_by_branches(const struct btsrec_event *all, size_t nr_all, size_t max)
{
	size_t n = nr_all - (max < nr_all ? max : nr_all);
	struct timeline_branches branches;
	struct btsrec_event event;
	struct history history;

	btsrec_ck_ok(history_init(&history, rec, 1, max));
	for (;;) {
		if (history_branches(&history, UINT64_MAX, &branches)) {
			for (uint64_t i = 0; i < branches.nr; i++, n++)
				ck_same(&all[n], BTSREC_EVENT_BRANCH, branches.n + i,
					branches.slot + i);
			continue;
		}
		if (!history_next(&history, &event))
			break;
		ck_same(&all[n++], event.kind, event.n, event.slot);
	}
	btsrec_ck_ok(history.status);
	ck_assert_uint_eq(n, nr_all);
	history_fini(&history);
}

/* What is no branch in @all was given, the branches were passed. */
static void ck_passed(const struct btsrec_event *all, size_t nr_all,
		      const struct history_passed *passed)
{
	size_t newest = nr_all;

	ck_assert_uint_eq(passed->nr_events, nr_all);
	ck_assert_uint_eq(passed->nr_branches, nr_all - nr_events);
	while (newest && all[newest - 1].kind != BTSREC_EVENT_BRANCH)
		newest--;
	if (!newest)
		return;
	ck_assert_uint_eq(passed->newest_n, all[newest - 1].n);
	ck_assert_mem_eq(&passed->newest, &all[newest - 1].branch, sizeof(passed->newest));
}

/* What is no branch in @all, alone. */
static void ck_others(const struct btsrec_event *all, size_t nr_all)
{
	struct history_passed passed;
	uint64_t nr;
	size_t at = 0;

	nr_events = 0;
	btsrec_ck_ok(btsrec_other_events(rec, 1, take, &nr_events, &nr));
	ck_assert_uint_eq(nr, nr_all);
	for (size_t i = 0; i < nr_all; i++) {
		if (all[i].kind == BTSREC_EVENT_BRANCH)
			continue;
		ck_same(&all[i], events[at].kind, events[at].n, events[at].slot);
		at++;
	}
	ck_assert_uint_eq(nr_events, at);
	nr_events = 0;
	btsrec_ck_ok(history_others(rec, 1, take, &nr_events, &passed));
	ck_passed(all, nr_all, &passed);
}

/** struct branches_left - of @nr events the branches, of which those from @at on are to come */
struct branches_left {
	const struct btsrec_event *all;
	size_t nr;
	size_t at;
	size_t nr_runs;
};

static bool take_branches(void *arg, const struct btsrec_branches *branches)
{
	struct branches_left *left = arg;

	ck_assert_uint_eq(branches->size, sizeof(*branches));
	ck_assert_uint_ne(branches->nr_records, 0);
	for (size_t i = 0; i < branches->nr_records; i++, left->at++) {
		while (left->at < left->nr && left->all[left->at].kind != BTSREC_EVENT_BRANCH)
			left->at++;
		ck_assert_uint_lt(left->at, left->nr);
		ck_assert_uint_eq(branches->n + i, left->all[left->at].n);
		ck_assert_mem_eq(&branches->records[i], &left->all[left->at].branch,
				 sizeof(*branches->records));
	}
	return --left->nr_runs;
}

/* The branches of @all, in runs; and the first runs only. */
static void ck_branches_alone(const struct btsrec_event *all, size_t nr_all)
{
	struct branches_left left = { .all = all, .nr = nr_all, .nr_runs = SIZE_MAX };

	btsrec_ck_ok(btsrec_branches(rec, 1, take_branches, &left));
	while (left.at < nr_all && all[left.at].kind != BTSREC_EVENT_BRANCH)
		left.at++;
	ck_assert_uint_eq(left.at, nr_all);
	left = (struct branches_left){ .all = all, .nr = nr_all, .nr_runs = 2 };
	ck_assert_int_eq(btsrec_branches(rec, 1, take_branches, &left), BTSREC_ERR_STOPPED);
	ck_assert_uint_eq(left.nr_runs, 0);
	ck_assert_int_eq(btsrec_branches(rec, 77, take_branches, &left), BTSREC_ERR_NO_CPU);
}

static void ck_end_of(const struct btsrec_event *all, size_t nr_all, uint64_t max_events)
{
	size_t want = max_events < nr_all ? max_events : nr_all;

	btsrec_ck_ok(print(max_events));
	ck_assert_uint_eq(nr_events, want);
	for (size_t i = 0; i < want; i++) {
		const struct btsrec_event *other = &all[nr_all - want + i];

		if (events[i].kind != other->kind || events[i].n != other->n ||
		    events[i].slot != other->slot)
			ck_abort_msg("event %zu of the newest %zu differs", i, want);
	}
	ck_by_branches(all, nr_all, max_events);
}

/* What the session has read is forgotten. */
static void begin_anew(void)
{
	btsrec_free(rec);
	rec = session_new(NULL);
}

/* Holes make many small runs, so that the tail begins behind many marks. */
START_TEST(tails_equal_the_end_of_the_whole)
{
	struct btsrec_event *all = calloc(MAX_EVENTS, sizeof(*all));
	size_t nr_all;

	setup(30000);
	fixture_branches(fix, 1, 0, 30000, 0);
	for (uint32_t i = 0; i < 400; i++)
		fixture_annotation(fix, 1, i * 71 + 3, BTSREC_ANNOT_SWITCH, 5, i);
	for (uint64_t page = 5; page < 175; page += 3)
		mem_cut(&fix->mem, fixture_ring_page_pa(fix, 1, page), page * 16);
	fixture_freeze(fix, 1, 12345);
	btsrec_ck_ok(print(0));
	nr_all = nr_events;
	memcpy(all, events, nr_all * sizeof(*all));
	for (uint64_t max = 1; max <= nr_all + 1; max = max * 3 + 1)
		ck_end_of(all, nr_all, max);
	for (uint64_t max = nr_all + 1; max; max /= 5) {
		begin_anew();
		ck_end_of(all, nr_all, max);
		ck_end_of(all, nr_all, max / 2 + 1);
	}
	ck_others(all, nr_all);
	ck_branches_alone(all, nr_all);
	free(all);
	teardown();
}
END_TEST

START_TEST(a_short_tail_reads_little_twice)
{
	uint64_t nr_reads;

	setup(30000);
	fixture_branches(fix, 1, 0, 30000, 0);
	fixture_freeze(fix, 1, 29999);
	open_and_locate();
	fix->mem.nr_reads = 0;
	btsrec_ck_ok(print(0));
	nr_reads = fix->mem.nr_reads;
	fix->mem.nr_reads = 0;
	btsrec_ck_ok(print(20));
	ck_assert_uint_lt(fix->mem.nr_reads, nr_reads * 3 / 2);
	teardown();
}
END_TEST

START_TEST(what_was_read_is_not_read_again)
{
	uint64_t nr_reads, nr;

	setup(30000);
	fixture_branches(fix, 1, 0, 30000, 0);
	fixture_freeze(fix, 1, 29999);
	open_and_locate();
	fix->mem.nr_reads = 0;
	nr_events = 0;
	btsrec_ck_ok(btsrec_other_events(rec, 1, count, &nr_events, NULL));
	nr_reads = fix->mem.nr_reads;
	fix->mem.nr_reads = 0;
	btsrec_ck_ok(print(20));
	ck_assert_uint_eq(nr_events, 20);
	ck_assert_uint_lt(fix->mem.nr_reads, nr_reads * 2 / 3);
	fix->mem.nr_reads = 0;
	btsrec_ck_ok(session_nr_events(rec, 1, &nr));
	ck_assert_uint_eq(nr, events[19].n + 1);
	ck_assert_uint_eq(fix->mem.nr_reads, 0);
	teardown();
}
END_TEST

START_TEST(tails_that_begin_around_a_mark)
{
	setup(30000);
	fixture_branches(fix, 1, 0, 30000, 0);
	fixture_freeze(fix, 1, 29999);
	for (size_t max = 30001 - 16400; max <= 30001 - 16370; max++) {
		btsrec_ck_ok(print(max));
		ck_assert_uint_eq(nr_events, max);
	}
	teardown();
}
END_TEST

START_TEST(a_cpu_that_goes_on_is_read_again)
{
	setup(33);
	fixture_branches(fix, 1, 0, 5, 0);
	fixture_live_index(fix, 1, 5);
	btsrec_ck_ok(print(2));
	ck_branches(0, 2, 3);
	fixture_branches(fix, 1, 5, 4, 5);
	fixture_live_index(fix, 1, 9);
	btsrec_ck_ok(print(2));
	ck_branches(0, 2, 7);
	teardown();
}
END_TEST

/* A ring of 3,000 slots; the newest is number 499, and of those from 400 on 60 hold annotations. */
static void start_of_many(struct history *history)
{
	setup(3000);
	fixture_branches(fix, 1, 500, 2500, 0);
	fixture_branches(fix, 1, 0, 500, 0);
	for (uint64_t i = 0; i < 20; i++)
		fixture_annotation(fix, 1, 400 + 5 * i, BTSREC_ANNOT_SWITCH, 3, (uint32_t)i);
	fixture_freeze(fix, 1, 500);
	open_and_locate();
	btsrec_ck_ok(history_init(history, rec, 1, 0));
}

START_TEST(more_is_to_come)
{
	struct history history;
	struct btsrec_event event;

	start_of_many(&history);
	ck_assert(history_has_more(&history, 0));
	ck_assert(history_has_more(&history, 1));
	/* 32 of 80 slots. */
	ck_assert(!history_has_more(&history, 40));
	ck_assert(history_has_more(&history, 200));
	ck_assert(history_has_more(&history, 1500));
	/* There are so many, but not twice as many slots. */
	ck_assert(!history_has_more(&history, 1501));
	/* It goes on as if nobody had looked. */
	for (uint64_t n = 0; n < 2000; n++) {
		ck_assert(history_next(&history, &event));
		ck_assert_uint_eq(event.n, n);
	}
	history_fini(&history);
	teardown();
}
END_TEST

/* What is not in the dump may hold anything. */
START_TEST(more_that_is_missing)
{
	struct history history;

	start_of_many(&history);
	/* The 500 newest slots, and a few of the oldest. */
	for (uint64_t page = 0; page < 3; page++)
		mem_cut(&fix->mem, fixture_ring_page_pa(fix, 1, page), 0);
	ck_assert(!history_has_more(&history, 100));
	ck_assert(!history_has_more(&history, 499));
	ck_assert(history_has_more(&history, 500));
	history_fini(&history);
	teardown();
}
END_TEST

START_TEST(no_more)
{
	struct history history;
	struct btsrec_event event;

	setup(3000);
	fixture_branches(fix, 1, 0, 3000, 0);
	fixture_freeze(fix, 1, 2999);
	open_and_locate();
	btsrec_ck_ok(history_init(&history, rec, 1, 0));
	while (history_next(&history, &event) && event.n < 2900)
		;
	/* What is on its way is left out. */
	ck_assert(!history_has_more(&history, 100));
	ck_assert(history_has_more(&history, 0));
	failing_alloc_arm(1);
	ck_assert(!history_has_more(&history, 0));
	ck_assert(failing_alloc_disarm());
	history_fini(&history);
	teardown();
}
END_TEST

START_TEST(tail_of_nothing)
{
	setup(33);
	btsrec_ck_ok(print(5));
	ck_assert_uint_eq(nr_events, 0);
	teardown();
}
END_TEST

BTSREC_CK_MAIN("tails", stopped_by_the_caller, tails_of_every_kind_of_length,
	       tails_equal_the_end_of_the_whole, a_short_tail_reads_little_twice,
	       what_was_read_is_not_read_again, tails_that_begin_around_a_mark,
	       a_cpu_that_goes_on_is_read_again, more_is_to_come, more_that_is_missing, no_more,
	       tail_of_nothing)
