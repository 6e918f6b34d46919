/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of histories share: a recorder in memory, and what is read of its CPU 1. */
#ifndef BTSREC_TESTS_UNIT_HISTORYFIX_H
#define BTSREC_TESTS_UNIT_HISTORYFIX_H

#include "check_btsrec.h"
#include "fixture.h"
#include "recorder/session.h"

#define MAX_EVENTS 40000

static struct fixture *fix;
static struct btsrec *rec;
static struct btsrec_event *events;
static size_t nr_events, stop_after;

static inline bool take(void *arg, const struct btsrec_event *event)
{
	/* Every assert of check is a system call; here they would be a million. */
	if (arg != &nr_events || nr_events == MAX_EVENTS)
		ck_abort_msg("called with a wrong argument or too often");
	events[nr_events++] = *event;
	return nr_events != stop_after;
}

/* Allocates nothing, unlike an assert. */
static inline bool count(void *arg, const struct btsrec_event *event)
{
	(void)event;
	++*(size_t *)arg;
	return true;
}

/* A machine of two CPUs; the tests look at CPU 1. */
static inline void setup(uint64_t nr_slots)
{
	fix = fixture_new(2, nr_slots);
	rec = session_new(NULL);
	events = calloc(MAX_EVENTS, sizeof(*events));
	stop_after = 0;
}

static inline void teardown(void)
{
	btsrec_free(rec);
	fixture_free(fix);
	free(events);
}

static inline void open_and_locate(void)
{
	struct btsrec_image image = mem_image(&fix->mem);

	btsrec_ck_ok(btsrec_open_image(rec, &image));
	btsrec_ck_ok(btsrec_locate(rec, FIX_ROOT_PA, BTSREC_SCAN_NONE));
}

static inline enum btsrec_status print(uint64_t max_events)
{
	enum btsrec_status status;

	nr_events = 0;
	if (!rec->located)
		open_and_locate();
	status = session_tail(rec, 1, max_events, take, &nr_events);
	for (size_t i = 0; i < nr_events; i++) {
		if (events[i].cpu != 1 || events[i].n != events[0].n + i)
			ck_abort_msg("event %zu is number %ju of CPU %u", i,
				     (uintmax_t)events[i].n, events[i].cpu);
	}
	return status;
}

static inline void ck_branches(size_t n, size_t nr, uint64_t first)
{
	for (size_t i = 0; i < nr; i++) {
		struct btsrec_record want = fixture_branch(first + i);

		ck_assert_uint_lt(n + i, nr_events);
		ck_assert_int_eq(events[n + i].kind, BTSREC_EVENT_BRANCH);
		ck_assert_mem_eq(&events[n + i].branch, &want, sizeof(want));
	}
}

static inline void ck_gap(size_t n, enum btsrec_gap_kind kind, uint64_t slot, uint64_t nr_slots)
{
	ck_assert_uint_lt(n, nr_events);
	ck_assert_int_eq(events[n].kind, BTSREC_EVENT_GAP);
	ck_assert_int_eq(events[n].gap.kind, kind);
	ck_assert_uint_eq(events[n].gap.slot, slot);
	ck_assert_uint_eq(events[n].gap.nr_slots, nr_slots);
}

#endif /* BTSREC_TESTS_UNIT_HISTORYFIX_H */
