// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "fixture.h"
#include "recorder/timeline.h"

#define MAX_EVENTS 64

static struct btsrec_event events[MAX_EVENTS];
static size_t nr_events;
static struct timeline tl;
static struct btsrec_record records[64];

static void start(void)
{
	memset(&tl, DIRT, sizeof(tl));
	memset(events, DIRT, sizeof(events));
	nr_events = 0;
	timeline_init(&tl, 3, 48);
}

/* The same events, with branches taken at most @max_nr at a time. */
static void ck_by_branches(struct timeline copy, size_t n, uint64_t max_nr)
{
	struct timeline_branches branches;
	struct btsrec_event event;

	for (;;) {
		if (timeline_branches(&copy, copy.n + max_nr, &branches)) {
			ck_assert_uint_eq(branches.n, n);
			ck_assert_uint_le(branches.nr, max_nr);
			for (uint64_t i = 0; i < branches.nr; i++, n++) {
				ck_assert_uint_lt(n, nr_events);
				ck_assert_int_eq(events[n].kind, BTSREC_EVENT_BRANCH);
				ck_assert_uint_eq(events[n].slot, branches.slot + i);
				ck_assert_mem_eq(&events[n].branch, &branches.records[i],
						 sizeof(branches.records[i]));
			}
			continue;
		}
		if (!timeline_next(&copy, &event))
			break;
		ck_assert_uint_lt(n, nr_events);
		ck_assert_int_eq(event.kind, events[n].kind);
		ck_assert_uint_eq(event.n, n);
		ck_assert_uint_eq(event.slot, events[n].slot);
		n++;
	}
	ck_assert_uint_eq(n, nr_events);
}

static void drain(void)
{
	struct timeline copy = tl;
	size_t first = nr_events;

	while (timeline_next(&tl, &events[nr_events])) {
		ck_assert_uint_eq(events[nr_events].cpu, 3);
		ck_assert_uint_eq(events[nr_events].n, nr_events);
		nr_events++;
		ck_assert_uint_lt(nr_events, MAX_EVENTS);
	}
	ck_by_branches(copy, first, MAX_EVENTS);
	ck_by_branches(copy, first, 1);
}

static void feed(uint64_t slot, uint64_t nr)
{
	struct ring_run run = { .records = records, .slot = slot, .nr_slots = nr };

	timeline_feed(&tl, &run);
	drain();
}

static void feed_gap(enum btsrec_gap_kind kind, uint64_t slot, uint64_t nr)
{
	struct ring_run run = { .gap = kind, .slot = slot, .nr_slots = nr };

	timeline_feed(&tl, &run);
	drain();
}

static void end(const struct btsrec_freeze *freeze)
{
	timeline_end(&tl, freeze);
	drain();
}

static void ck_branch(size_t n, uint64_t slot, uint64_t number)
{
	struct btsrec_record want = fixture_branch(number);

	ck_assert_uint_lt(n, nr_events);
	ck_assert_int_eq(events[n].kind, BTSREC_EVENT_BRANCH);
	ck_assert(!events[n].mm_only);
	ck_assert_uint_eq(events[n].slot, slot);
	ck_assert_mem_eq(&events[n].branch, &want, sizeof(want));
}

static void ck_gap(size_t n, enum btsrec_gap_kind kind, uint64_t slot, uint64_t nr)
{
	ck_assert_uint_lt(n, nr_events);
	ck_assert_int_eq(events[n].kind, BTSREC_EVENT_GAP);
	ck_assert(!events[n].mm_only);
	ck_assert_int_eq(events[n].gap.kind, kind);
	ck_assert_uint_eq(events[n].gap.slot, slot);
	ck_assert_uint_eq(events[n].gap.nr_slots, nr);
	ck_assert_uint_eq(events[n].slot, kind == BTSREC_GAP_OVERWRITTEN ? UINT64_MAX : slot);
}

static void ck_annotation(size_t n, enum btsrec_event_kind kind, uint64_t slot)
{
	ck_assert_uint_lt(n, nr_events);
	ck_assert_int_eq(events[n].kind, kind);
	ck_assert_uint_eq(events[n].slot, slot);
}

static void put_branches(size_t at, size_t nr, uint64_t first)
{
	for (size_t i = 0; i < nr; i++)
		records[at + i] = fixture_branch(first + i);
}

static void put_parts(size_t at, unsigned int kind, unsigned int nr_parts, uint32_t sequence)
{
	for (unsigned int i = 0; i < nr_parts; i++)
		records[at + i] = fixture_part(kind, i, nr_parts, sequence);
}

static const struct btsrec_record poison = { BTSREC_POISON, BTSREC_POISON, BTSREC_POISON };
static const struct btsrec_record half = { 0x1000, 0x2000, BTSREC_POISON };
static const struct btsrec_record bad = { 0x1234567890abcdefULL, 0, 0 };

START_TEST(empty)
{
	start();
	drain();
	end(NULL);
	ck_assert_uint_eq(nr_events, 0);
}
END_TEST

START_TEST(empty_run)
{
	start();
	feed(0, 0);
	end(NULL);
	ck_assert_uint_eq(nr_events, 0);
}
END_TEST

START_TEST(one_branch)
{
	start();
	put_branches(0, 1, 5);
	feed(17, 1);
	ck_assert_uint_eq(nr_events, 1);
	end(NULL);
	ck_assert_uint_eq(nr_events, 1);
	ck_branch(0, 17, 5);
}
END_TEST

/* Branches are looked at several together: one that is none must stand out at any place. */
START_TEST(one_that_is_none_at_any_place)
{
	const struct btsrec_record *const none[] = { &poison, &half, &bad };
	static const enum btsrec_gap_kind kinds[] = {
		BTSREC_GAP_NEVER_WRITTEN, BTSREC_GAP_TORN, BTSREC_GAP_BAD_RECORD,
	};

	for (size_t at = 0; at < 20; at++) {
		for (size_t i = 0; i < 3; i++) {
			start();
			put_branches(0, 20, 0);
			records[at] = *none[i];
			feed(0, 20);
			ck_assert_uint_eq(nr_events, at < 19 ? 20 : 19);
			for (size_t n = 0; n < nr_events; n++)
				if (n != at)
					ck_branch(n, n, n);
			end(NULL);
			ck_gap(at, kinds[i], at, 1);
		}
	}
}
END_TEST

START_TEST(two_runs_over_the_wrap)
{
	start();
	put_branches(0, 3, 0);
	feed(30, 3);
	put_branches(0, 2, 3);
	feed(0, 2);
	end(NULL);
	ck_assert_uint_eq(nr_events, 5);
	ck_branch(2, 32, 2);
	ck_branch(3, 0, 3);
	ck_branch(4, 1, 4);
}
END_TEST

#define WILD	0x6b6b6b6b6b6b6b6bULL
#define HANDLER	0xffffffff81000e00ULL

/* As emulators have it; and what only begins so. */
START_TEST(a_fault_at_a_target_that_is_not_canonical)
{
	static const struct {
		uint64_t to;
		uint64_t next_from;
		uint64_t next_to;
		bool is_fault;
	} pairs[] = {
		{ WILD, WILD, HANDLER, true },
		{ WILD, WILD + 1, HANDLER, false },
		{ WILD, WILD, 0x1000, false },
		{ WILD, WILD, WILD, false },
		{ BTSREC_POISON, BTSREC_POISON, HANDLER, false },
	};
	struct btsrec_record want = fixture_branch(2);

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		start();
		for (uint64_t k = 0; k < 4; k++)
			records[k] = fixture_branch(k + 1);
		records[1].to = pairs[i].to;
		records[2].from = pairs[i].next_from;
		records[2].to = pairs[i].next_to;
		feed(10, 4);
		end(NULL);
		ck_branch(0, 10, 1);
		if (!pairs[i].is_fault) {
			ck_assert_int_eq(events[1].kind, BTSREC_EVENT_GAP);
			continue;
		}
		ck_assert_uint_eq(nr_events, 3);
		ck_assert_int_eq(events[1].kind, BTSREC_EVENT_BRANCH);
		ck_assert_uint_eq(events[1].branch.from, want.from);
		ck_assert_uint_eq(events[1].branch.to, HANDLER);
		ck_assert_uint_eq(events[1].slot, 12);
		ck_branch(2, 13, 4);
	}
}
END_TEST

START_TEST(annotation_between_branches)
{
	start();
	put_branches(0, 1, 0);
	put_parts(1, BTSREC_ANNOT_SWITCH, 5, 9);
	put_branches(6, 1, 1);
	feed(10, 7);
	end(NULL);
	ck_assert_uint_eq(nr_events, 3);
	ck_branch(0, 10, 0);
	ck_annotation(1, BTSREC_EVENT_SWITCH, 11);
	for (uint64_t i = 0; i < 10; i++)
		ck_assert_uint_eq(((const uint64_t *)&events[1].sw)[i], i);
	ck_branch(2, 16, 1);
}
END_TEST

START_TEST(annotation_split_at_every_part)
{
	for (unsigned int cut = 1; cut < 5; cut++) {
		start();
		put_parts(0, BTSREC_ANNOT_EXEC, 5, 9);
		feed(33 - cut, cut);
		ck_assert_uint_eq(nr_events, 0);
		memmove(records, records + cut, (5 - cut) * sizeof(records[0]));
		feed(0, 5 - cut);
		end(NULL);
		ck_assert_uint_eq(nr_events, 1);
		ck_annotation(0, BTSREC_EVENT_EXEC, 33 - cut);
		for (uint64_t i = 0; i < 10; i++)
			ck_assert_uint_eq(((const uint64_t *)&events[0].sw)[i], i);
	}
}
END_TEST

START_TEST(neighbouring_annotations)
{
	start();
	put_parts(0, BTSREC_ANNOT_TIME, 2, 9);
	put_parts(2, BTSREC_ANNOT_MM, 5, 10);
	put_parts(7, BTSREC_ANNOT_MARK, 4, 11);
	feed(0, 11);
	end(NULL);
	ck_assert_uint_eq(nr_events, 3);
	ck_annotation(0, BTSREC_EVENT_TIME, 0);
	ck_annotation(1, BTSREC_EVENT_SWITCH, 2);
	ck_assert(events[1].mm_only);
	ck_annotation(2, BTSREC_EVENT_MARK, 7);
}
END_TEST

START_TEST(paused)
{
	start();
	put_parts(0, BTSREC_ANNOT_GAP, 4, 9);
	feed(4, 4);
	end(NULL);
	ck_assert_uint_eq(nr_events, 1);
	ck_gap(0, BTSREC_GAP_PAUSED, 4, 0);
	ck_assert(events[0].gap.has_resume);
	ck_assert_uint_eq(events[0].gap.resume.stop_tsc, 1);
}
END_TEST

START_TEST(cut_at_the_oldest_end)
{
	for (unsigned int gone = 1; gone < 5; gone++) {
		start();
		put_parts(0, BTSREC_ANNOT_SWITCH, 5, 9);
		memmove(records, records + gone, (5 - gone) * sizeof(records[0]));
		put_branches(5 - gone, 1, 0);
		feed_gap(BTSREC_GAP_OVERWRITTEN, 7, 0);
		feed(7, 6 - gone);
		end(NULL);
		ck_assert_uint_eq(nr_events, 3);
		ck_gap(0, BTSREC_GAP_OVERWRITTEN, 7, 0);
		ck_gap(1, BTSREC_GAP_TORN, 7, 5 - gone);
		ck_branch(2, 12 - gone, 0);
	}
}
END_TEST

START_TEST(cut_by_a_branch)
{
	start();
	put_parts(0, BTSREC_ANNOT_SWITCH, 5, 9);
	put_branches(3, 2, 0);
	feed(7, 5);
	end(NULL);
	ck_assert_uint_eq(nr_events, 3);
	ck_gap(0, BTSREC_GAP_TORN, 7, 3);
	ck_branch(1, 10, 0);
	ck_branch(2, 11, 1);
}
END_TEST

START_TEST(cut_by_another_annotation)
{
	start();
	put_parts(0, BTSREC_ANNOT_SWITCH, 5, 9);
	put_parts(2, BTSREC_ANNOT_TIME, 2, 10);
	feed(7, 4);
	end(NULL);
	ck_assert_uint_eq(nr_events, 2);
	ck_gap(0, BTSREC_GAP_TORN, 7, 2);
	ck_annotation(1, BTSREC_EVENT_TIME, 9);
}
END_TEST

START_TEST(parts_of_two_annotations_never_mix)
{
	start();
	put_parts(0, BTSREC_ANNOT_SWITCH, 5, 9);
	records[3] = fixture_part(BTSREC_ANNOT_SWITCH, 3, 5, 10);
	records[4] = fixture_part(BTSREC_ANNOT_EXEC, 4, 5, 9);
	feed(0, 5);
	end(NULL);
	ck_assert_uint_eq(nr_events, 1);
	ck_gap(0, BTSREC_GAP_TORN, 0, 5);
}
END_TEST

START_TEST(cut_by_a_missing_page)
{
	start();
	put_parts(0, BTSREC_ANNOT_SWITCH, 5, 9);
	feed(7, 3);
	feed_gap(BTSREC_GAP_NOT_IN_DUMP, 10, 170);
	put_branches(0, 1, 0);
	feed(180, 1);
	end(NULL);
	ck_assert_uint_eq(nr_events, 3);
	ck_gap(0, BTSREC_GAP_TORN, 7, 3);
	ck_gap(1, BTSREC_GAP_NOT_IN_DUMP, 10, 170);
	ck_branch(2, 180, 0);
}
END_TEST

START_TEST(cut_at_the_newest_end)
{
	start();
	put_parts(0, BTSREC_ANNOT_SWITCH, 5, 9);
	feed(7, 4);
	end(NULL);
	ck_assert_uint_eq(nr_events, 1);
	ck_gap(0, BTSREC_GAP_TORN, 7, 4);
}
END_TEST

START_TEST(missing_pages_join)
{
	start();
	feed_gap(BTSREC_GAP_NOT_IN_DUMP, 10, 170);
	feed_gap(BTSREC_GAP_NOT_IN_DUMP, 180, 5);
	end(NULL);
	ck_assert_uint_eq(nr_events, 1);
	ck_gap(0, BTSREC_GAP_NOT_IN_DUMP, 10, 175);
}
END_TEST

START_TEST(gaps_of_different_kinds_stay_apart)
{
	start();
	records[0] = poison;
	feed(9, 1);
	feed_gap(BTSREC_GAP_NOT_IN_DUMP, 10, 170);
	records[0] = poison;
	feed(180, 1);
	end(NULL);
	ck_assert_uint_eq(nr_events, 3);
	ck_gap(0, BTSREC_GAP_NEVER_WRITTEN, 9, 1);
	ck_gap(1, BTSREC_GAP_NOT_IN_DUMP, 10, 170);
	ck_gap(2, BTSREC_GAP_NEVER_WRITTEN, 180, 1);
}
END_TEST

START_TEST(every_bad_slot_has_its_gap)
{
	start();
	put_branches(0, 1, 0);
	records[1] = poison;
	records[2] = poison;
	records[3] = half;
	records[4] = bad;
	records[5] = bad;
	records[6] = bad;
	put_branches(7, 1, 1);
	records[8] = poison;
	feed(0, 9);
	end(NULL);
	ck_assert_uint_eq(nr_events, 6);
	ck_branch(0, 0, 0);
	ck_gap(1, BTSREC_GAP_NEVER_WRITTEN, 1, 2);
	ck_gap(2, BTSREC_GAP_TORN, 3, 1);
	ck_gap(3, BTSREC_GAP_BAD_RECORD, 4, 3);
	ck_branch(4, 7, 1);
	ck_gap(5, BTSREC_GAP_NEVER_WRITTEN, 8, 1);
}
END_TEST

START_TEST(unknown_kind)
{
	start();
	put_branches(0, 1, 0);
	put_parts(1, 99, 3, 9);
	put_branches(4, 1, 1);
	feed(0, 5);
	end(NULL);
	ck_assert_uint_eq(nr_events, 3);
	ck_gap(1, BTSREC_GAP_UNKNOWN_KIND, 1, 3);
	ck_branch(2, 4, 1);
}
END_TEST

START_TEST(annotation_too_short)
{
	start();
	put_parts(0, BTSREC_ANNOT_SWITCH, 2, 9);
	feed(0, 2);
	end(NULL);
	ck_assert_uint_eq(nr_events, 1);
	ck_gap(0, BTSREC_GAP_BAD_RECORD, 0, 2);
}
END_TEST

START_TEST(gap_before_an_annotation_comes_first)
{
	start();
	records[0] = poison;
	put_parts(1, BTSREC_ANNOT_TIME, 2, 9);
	feed(0, 3);
	end(NULL);
	ck_assert_uint_eq(nr_events, 2);
	ck_gap(0, BTSREC_GAP_NEVER_WRITTEN, 0, 1);
	ck_annotation(1, BTSREC_EVENT_TIME, 1);
}
END_TEST

START_TEST(overwritten_alone)
{
	start();
	feed_gap(BTSREC_GAP_OVERWRITTEN, 4, 0);
	end(NULL);
	ck_assert_uint_eq(nr_events, 1);
	ck_gap(0, BTSREC_GAP_OVERWRITTEN, 4, 0);
}
END_TEST

START_TEST(freeze_is_the_last_event)
{
	struct btsrec_freeze freeze = { .reason = BTSREC_REASON_OOPS, .ip = 0x1234 };

	start();
	put_branches(0, 1, 0);
	records[1] = half;
	feed(0, 2);
	end(&freeze);
	ck_assert_uint_eq(nr_events, 3);
	ck_gap(1, BTSREC_GAP_TORN, 1, 1);
	ck_assert_int_eq(events[2].kind, BTSREC_EVENT_FREEZE);
	ck_assert_uint_eq(events[2].slot, UINT64_MAX);
	ck_assert_mem_eq(&events[2].freeze, &freeze, sizeof(freeze));
	ck_assert(!timeline_next(&tl, &events[3]));
}
END_TEST

START_TEST(freeze_alone)
{
	struct btsrec_freeze freeze = { .reason = BTSREC_REASON_PANIC };

	start();
	end(&freeze);
	ck_assert_uint_eq(nr_events, 1);
	ck_assert_int_eq(events[0].kind, BTSREC_EVENT_FREEZE);
}
END_TEST

START_TEST(a_copy_resumes)
{
	struct timeline copy;

	start();
	put_parts(0, BTSREC_ANNOT_TIME, 2, 9);
	feed(0, 1);
	copy = tl;
	records[0] = records[1];
	feed(1, 1);
	ck_assert_uint_eq(nr_events, 1);
	tl = copy;
	nr_events = 0;
	feed(1, 1);
	ck_assert_uint_eq(nr_events, 1);
	ck_annotation(0, BTSREC_EVENT_TIME, 0);
}
END_TEST

BTSREC_CK_MAIN("timeline", empty, empty_run, one_branch,
	       one_that_is_none_at_any_place, two_runs_over_the_wrap,
	       a_fault_at_a_target_that_is_not_canonical,
	       annotation_between_branches, annotation_split_at_every_part,
	       neighbouring_annotations, paused, cut_at_the_oldest_end, cut_by_a_branch,
	       cut_by_another_annotation, parts_of_two_annotations_never_mix,
	       cut_by_a_missing_page, cut_at_the_newest_end, missing_pages_join,
	       gaps_of_different_kinds_stay_apart,
	       every_bad_slot_has_its_gap, unknown_kind, annotation_too_short,
	       gap_before_an_annotation_comes_first, overwritten_alone,
	       freeze_is_the_last_event, freeze_alone, a_copy_resumes)
