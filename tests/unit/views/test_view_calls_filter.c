// SPDX-License-Identifier: GPL-2.0-or-later
/* Of a function that is wanted a filter takes what it calls, thread by thread; and nothing else. */
#include "check_btsrec.h"
#include "failing_alloc.h"
#include "views/view_calls.h"

#define WANTED		0xffffffff81000300ULL
#define OTHER		0xffffffff81000100ULL
#define NR_THREADS	400000

/* --- What is asked of others -------------------------------------------- */

bool event_filter_place(struct event_filter *event_filter, uint64_t n, uint64_t va)
{
	(void)event_filter;
	(void)n;
	return va == WANTED;
}

bool event_filter_event(struct event_filter *event_filter, const struct btsrec_event *event)
{
	(void)event_filter;
	(void)event;
	return true;
}

bool filter_thread(const struct filter *filter, const struct btsrec_side *side)
{
	(void)filter;
	(void)side;
	return true;
}

bool filter_level(const struct filter *filter, uint64_t va)
{
	(void)filter;
	(void)va;
	return true;
}

uint64_t calls_place_followed(const struct calls *view, uint64_t n, unsigned int *ret_cpu)
{
	(void)view;
	*ret_cpu = 0;
	return n;
}

/* --- Lines -------------------------------------------------------------- */

static struct event_filter event_filter;
static struct calls_filter wanted;
static struct btsrec_side side;
static struct calls view;

static void start(void)
{
	event_filter = (struct event_filter){.filter = {.any = true, .symbols = "wanted"}};
	wanted = (struct calls_filter){.event_filter = &event_filter};
	side = (struct btsrec_side){ 0 };
	view = (struct calls){ .tree = { .sides = &side, .nr_sides = 1 }, .wanted = &wanted };
}

static enum calls_wish thread(uint32_t pid)
{
	const struct calltree_line line = { .kind = CALLTREE_THREAD };

	side.pid = pid;
	return calls_wish(&view, &line);
}

static bool takes(uint64_t n, uint64_t last_n, uint64_t va)
{
	const struct calltree_line line = { .kind = CALLTREE_CALL, .n = n, .last_n = last_n,
					    .to = va };

	return calls_wish(&view, &line) == CALLS_TAKE;
}

START_TEST(what_it_calls)
{
	start();
	ck_assert_int_eq(thread(7), CALLS_KEEP);
	ck_assert(!takes(0, 0, OTHER));
	ck_assert(!takes(4, 9, OTHER));
	ck_assert(takes(5, 8, WANTED));
	ck_assert(takes(6, 7, OTHER));
	ck_assert(takes(8, 8, OTHER));
	ck_assert(!takes(9, 9, OTHER));
	ck_assert(takes(10, UINT64_MAX, WANTED));
	ck_assert(takes(1ULL << 50, UINT64_MAX, OTHER));
	counter_map_fini(&wanted.scopes);
}
END_TEST

/* The lines of callers may come after it. */
START_TEST(not_what_called_it)
{
	start();
	thread(7);
	ck_assert(takes(100, UINT64_MAX, WANTED));
	thread(8);
	ck_assert(!takes(110, 111, OTHER));
	thread(7);
	ck_assert(!takes(3, UINT64_MAX, OTHER));
	ck_assert(!takes(99, UINT64_MAX, OTHER));
	ck_assert(takes(120, UINT64_MAX, OTHER));
	counter_map_fini(&wanted.scopes);
}
END_TEST

/* Each has its own, and finding it takes no longer the more there are. */
START_TEST(many_threads)
{
	uint32_t nr_wrong = 0;

	start();
	for (uint32_t pid = 1; pid <= NR_THREADS; pid++) {
		thread(pid);
		nr_wrong += !takes(pid, pid % 2 ? UINT64_MAX : pid, WANTED);
	}
	for (uint32_t pid = 1; pid <= NR_THREADS; pid++) {
		thread(pid);
		nr_wrong += takes(NR_THREADS + pid, UINT64_MAX, OTHER) != pid % 2;
	}
	ck_assert_uint_eq(nr_wrong, 0);
	ck_assert(!wanted.nomem);
	counter_map_fini(&wanted.scopes);
}
END_TEST

START_TEST(no_memory)
{
	start();
	failing_alloc_arm(1);
	thread(7);
	ck_assert(failing_alloc_disarm());
	ck_assert(wanted.nomem);
	ck_assert(takes(5, 8, WANTED));
	counter_map_fini(&wanted.scopes);
}
END_TEST

BTSREC_CK_MAIN("view_calls_filter", what_it_calls, not_what_called_it, many_threads, no_memory)
