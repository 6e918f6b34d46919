// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/pool.h"
#include "failing_alloc.h"
#include "historyfix.h"
#include "recorder/relay.h"

#define NR_SLOTS	38000
#define MAX_WINDOWS	(NR_SLOTS / FETCH_SLOTS + 2)

static struct relay relay;

/** struct taker - every second window, by a session of its own; @nr_taken: events in them */
struct taker {
	struct btsrec *rec;
	unsigned int first;
	size_t nr_taken;
	pthread_t thread;
};

/* A ring that has wrapped, with an annotation over the end of a window and a page that is lost. */
static void setup_ring(uint64_t head)
{
	uint64_t edge = 2 * FETCH_SLOTS - 2;

	setup(NR_SLOTS);
	fixture_branches(fix, 1, head, NR_SLOTS - head, 0);
	fixture_branches(fix, 1, 0, head, NR_SLOTS - head);
	fixture_annotation(fix, 1, edge, BTSREC_ANNOT_SWITCH, 5, 3);
	fixture_freeze(fix, 1, head);
	open_and_locate();
	btsrec_ck_ok(print(0));
}

static void ck_event(const struct btsrec_event *event, uint64_t n)
{
	if (n >= nr_events || event->n != n || event->kind != events[n].kind ||
	    event->slot != events[n].slot ||
	    (event->kind == BTSREC_EVENT_BRANCH &&
	     memcmp(&event->branch, &events[n].branch, sizeof(event->branch)) != 0))
		ck_abort_msg("event %ju differs", (uintmax_t)n);
}

/* How many events are in window @i: those that the whole history has there. */
static size_t take_window(struct btsrec *of, unsigned int i)
{
	struct btsrec_event event;
	struct history history;
	uint64_t end_n, n;

	btsrec_ck_ok(relay_take(&relay, of, i, &history, &end_n));
	for (n = history.timeline.n; n < end_n && history_next(&history, &event); n++)
		ck_event(&event, n);
	btsrec_ck_ok(history.status);
	ck_assert(end_n == UINT64_MAX ? n == nr_events : n == end_n);
	history_fini(&history);
	return n;
}

static void *take_windows(void *arg)
{
	struct taker *taker = arg;

	for (unsigned int i = taker->first; i < MAX_WINDOWS; i += 2) {
		struct history history;
		struct btsrec_event event;
		uint64_t end_n;

		if (relay_take(&relay, taker->rec, i, &history, &end_n))
			abort();
		for (; history.timeline.n < end_n && history_next(&history, &event);
		     taker->nr_taken++)
			ck_event(&event, event.n);
		history_fini(&history);
	}
	return NULL;
}

/* Wherever the newest record is in its window. */
START_TEST(window_by_window)
{
	static const uint64_t heads[] = { 0, 1, 200, FETCH_SLOTS - 1, FETCH_SLOTS,
					  3 * FETCH_SLOTS + 77, NR_SLOTS - 1 };

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct btsrec *reader;
		uint64_t n = 0;

		setup_ring(heads[i]);
		ck_assert_uint_eq(relay_max_windows(NR_SLOTS * 24), MAX_WINDOWS);
		btsrec_ck_ok(relay_init(&relay, rec, 1));
		reader = session_clone(rec);
		for (unsigned int window = 0; window < MAX_WINDOWS; window++)
			n = take_window(window % 2 ? reader : rec, window);
		ck_assert_uint_eq(n, nr_events);
		relay_fini(&relay);
		btsrec_free(reader);
		teardown();
	}
}
END_TEST

START_TEST(by_two_threads)
{
	setup_ring(3 * FETCH_SLOTS + 77);
	for (unsigned int round = 0; round < 20; round++) {
		struct taker takers[2] = { { .rec = session_clone(rec) },
					   { .rec = session_clone(rec), .first = 1 } };

		btsrec_ck_ok(relay_init(&relay, rec, 1));
		ck_assert(pool_thread(&takers[1].thread, take_windows, &takers[1]));
		(void)take_windows(&takers[0]);
		pthread_join(takers[1].thread, NULL);
		ck_assert_uint_eq(takers[0].nr_taken + takers[1].nr_taken, nr_events);
		relay_fini(&relay);
		btsrec_free(takers[0].rec);
		btsrec_free(takers[1].rec);
	}
	teardown();
}
END_TEST

/* The window that cannot be read is the last one: it says so itself. */
START_TEST(a_window_cannot_be_read)
{
	struct btsrec_event event;
	struct history history;
	uint64_t end_n;

	setup_ring(0);
	btsrec_ck_ok(relay_init(&relay, rec, 1));
	fix->mem.fail_status = BTSREC_ERR_IO;
	fix->mem.fail_pa = fixture_ring_page_pa(fix, 1, FETCH_PAGES + 1);
	ck_assert_uint_gt(take_window(rec, 0), FETCH_SLOTS / 2);
	btsrec_ck_ok(relay_take(&relay, rec, 1, &history, &end_n));
	ck_assert_uint_eq(end_n, UINT64_MAX);
	ck_assert(!history_next(&history, &event));
	btsrec_ck_status(history_end(&history, rec, 1, true), BTSREC_ERR_IO);
	ck_assert_ptr_nonnull(strstr(btsrec_errmsg(rec), "history of CPU 1: cannot read"));
	btsrec_ck_ok(relay_take(&relay, rec, 2, &history, &end_n));
	ck_assert_uint_eq(end_n, history.timeline.n);
	history_fini(&history);
	relay_fini(&relay);
	teardown();
}
END_TEST

/* Nobody waits for a thread that got no memory. */
START_TEST(out_of_memory)
{
	struct history history;
	uint64_t end_n;

	setup_ring(0);
	btsrec_ck_ok(relay_init(&relay, rec, 1));
	failing_alloc_arm(1);
	btsrec_ck_fails(relay_take(&relay, rec, 0, &history, &end_n), BTSREC_ERR_NOMEM,
			btsrec_errmsg(rec), "ring of CPU 1: out of memory");
	ck_assert(failing_alloc_disarm());
	history_fini(&history);
	btsrec_ck_ok(relay_take(&relay, rec, 1, &history, &end_n));
	ck_assert_uint_eq(end_n, history.timeline.n);
	history_fini(&history);
	relay_fini(&relay);
	teardown();
}
END_TEST

BTSREC_CK_MAIN("relay", window_by_window, by_two_threads, a_window_cannot_be_read, out_of_memory)
