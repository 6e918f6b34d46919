// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/ahead.h"
#include "check_btsrec.h"

#define WINDOW_SLOTS	(2 * AHEAD_STEP_SLOTS)
#define NR_SLOTS	(3 * WINDOW_SLOTS + 20)
#define NR_PAGES	(NR_SLOTS * BTSREC_RECORD_BYTES / BTSREC_PAGE_BYTES + 1)

static struct btsrec_record records[NR_PAGES * BTSREC_PAGE_BYTES / BTSREC_RECORD_BYTES + 1];
static uint64_t page_pa[NR_PAGES];
static struct ahead ahead;

static bool read_pages(void *arg, const uint64_t *pa, size_t nr, void *buf)
{
	(void)arg;
	for (size_t i = 0; i < nr; i++)
		memcpy((uint8_t *)buf + i * BTSREC_PAGE_BYTES, (const uint8_t *)records + pa[i] -
		       BTSREC_PAGE_BYTES, BTSREC_PAGE_BYTES);
	return true;
}

static const struct btsrec_image image = { .read_pages = read_pages };
static const struct fetch_ring ring = { &image, page_pa, NR_SLOTS * BTSREC_RECORD_BYTES, 48 };

static void setup(unsigned int nr_threads)
{
	for (size_t i = 0; i < NR_PAGES; i++)
		page_pa[i] = (i + 1) * BTSREC_PAGE_BYTES;
	for (size_t i = 0; i < NR_SLOTS; i++)
		records[i] = (struct btsrec_record){ i, 2 * i, 0 };
	ck_assert(ahead_init(&ahead, nr_threads));
}

static void teardown(void)
{
	ahead_fini(&ahead);
}

static void ck_branches(const struct ahead_window *window, uint64_t first, uint64_t end, bool are)
{
	for (uint64_t i = first; i < end; i += RECORD_GROUP) {
		uint64_t group = i / RECORD_GROUP;

		ck_assert_int_eq(window->branches[group / 64] >> group % 64 & 1, are);
	}
}

START_TEST(windows_in_order)
{
	struct ahead_window *mine, *yours, *last;

	setup(2);
	ck_assert_ptr_null(ahead_claim(&ahead, 0));
	ck_assert(!ahead_on_way(&ahead, &ring, 5, NR_SLOTS));
	ahead_begin(&ahead, &ring, 5, NR_SLOTS, WINDOW_SLOTS);
	ck_assert(ahead_on_way(&ahead, &ring, 7, NR_SLOTS));
	ck_assert(!ahead_on_way(&ahead, &ring, WINDOW_SLOTS, NR_SLOTS));
	ck_assert(!ahead_on_way(&ahead, &ring, 5, NR_SLOTS - 1));
	ck_assert_ptr_null(ahead_oldest(&ahead));

	yours = ahead_claim(&ahead, 1);
	mine = ahead_claim(&ahead, 0);
	ck_assert_uint_eq(yours->thread, 1);
	ck_assert_uint_eq(yours->slot, 0);
	ck_assert_uint_eq(mine->slot, WINDOW_SLOTS);
	ck_assert_uint_eq(mine->nr_slots, WINDOW_SLOTS);
	ck_assert(!ahead_idle(&ahead));
	mine->state = ahead_read(mine);
	ck_assert_int_eq(mine->state, AHEAD_READ);
	ck_assert(mine->all_branches);
	ck_assert_mem_eq(mine->bytes, &records[WINDOW_SLOTS],
			 WINDOW_SLOTS * BTSREC_RECORD_BYTES);
	ck_assert_ptr_eq(ahead_oldest(&ahead), yours);
	yours->state = ahead_read(yours);
	ck_assert(ahead_idle(&ahead));

	ahead_give(&ahead);
	ck_assert_ptr_eq(ahead.given, yours);
	ck_assert(ahead_has(yours, (struct btsrec_record *)yours->bytes));
	ck_assert(!ahead_has(yours, (struct btsrec_record *)mine->bytes));
	ck_assert(!ahead_has(NULL, records));
	ck_assert(ahead_on_way(&ahead, &ring, WINDOW_SLOTS, NR_SLOTS));
	/* Whoever words it needs it longer than who asked for it. */
	yours->nr_users++;
	ahead_give(&ahead);
	ck_assert_int_eq(yours->state, AHEAD_READ);
	ahead_drop(yours);
	ck_assert_int_eq(yours->state, AHEAD_FREE);

	ck_assert_ptr_nonnull(ahead_claim(&ahead, 1));
	last = ahead_claim(&ahead, 1);
	ck_assert_uint_eq(last->slot, 3 * WINDOW_SLOTS);
	ck_assert_uint_eq(last->nr_slots, 20);
	ck_assert_ptr_null(ahead_claim(&ahead, 0));
	teardown();
}
END_TEST

START_TEST(each_thread_has_its_own)
{
	setup(2);
	ahead_begin(&ahead, &ring, 0, NR_SLOTS, WINDOW_SLOTS);
	for (unsigned int i = 0; i < AHEAD_WINDOWS_EACH; i++)
		ck_assert_ptr_nonnull(ahead_claim(&ahead, 0));
	ck_assert_ptr_null(ahead_claim(&ahead, 0));
	ahead_stop(&ahead);
	for (unsigned int i = 0; i < AHEAD_WINDOWS_EACH; i++)
		ahead.windows[i].state = AHEAD_READ;
	ahead_begin(&ahead, &ring, WINDOW_SLOTS, NR_SLOTS, WINDOW_SLOTS);
	/* The one that was given last is still needed. */
	ck_assert_uint_eq(ahead.given->slot, (AHEAD_WINDOWS_EACH - 1) * WINDOW_SLOTS);
	for (unsigned int i = 1; i < AHEAD_WINDOWS_EACH; i++)
		ck_assert_uint_eq(ahead_claim(&ahead, 0)->slot, i * WINDOW_SLOTS);
	ck_assert_ptr_null(ahead_claim(&ahead, 0));
	ahead_stop(&ahead);
	ck_assert_ptr_null(ahead_claim(&ahead, 1));
	ck_assert(!ahead_on_way(&ahead, &ring, WINDOW_SLOTS, NR_SLOTS));
	teardown();
}
END_TEST

START_TEST(each_way_has_its_size)
{
	struct ahead_window *window;

	setup(1);
	ahead_begin(&ahead, &ring, 5, NR_SLOTS, AHEAD_STEP_SLOTS);
	ck_assert_uint_eq(ahead_claim(&ahead, 0)->nr_slots, AHEAD_STEP_SLOTS);
	window = ahead_claim(&ahead, 0);
	ck_assert_uint_eq(window->slot, AHEAD_STEP_SLOTS);
	ahead_stop(&ahead);
	for (unsigned int i = 0; i < 2; i++)
		ahead.windows[i].state = AHEAD_READ;
	ahead_begin(&ahead, &ring, 5, NR_SLOTS, 2 * AHEAD_MAX_SLOTS);
	window = ahead_claim(&ahead, 0);
	ck_assert_uint_eq(window->slot, 0);
	ck_assert_uint_eq(window->nr_slots, NR_SLOTS < AHEAD_MAX_SLOTS ? NR_SLOTS : AHEAD_MAX_SLOTS);
	teardown();
}
END_TEST

START_TEST(nothing_but_branches)
{
	struct ahead_window *window;

	setup(1);
	ahead_begin(&ahead, &ring, 0, NR_SLOTS, WINDOW_SLOTS);
	window = ahead_claim(&ahead, 0);
	ck_assert_int_eq(ahead_read(window), AHEAD_READ);
	ck_assert(window->all_branches);
	teardown();
}
END_TEST

START_TEST(what_is_no_branch)
{
	struct ahead_window *window;

	setup(1);
	records[9].flags = BTSREC_POISON;
	records[WINDOW_SLOTS - 1].from = 1ULL << 60;
	ahead_begin(&ahead, &ring, 0, NR_SLOTS, WINDOW_SLOTS);
	window = ahead_claim(&ahead, 0);
	ck_assert_int_eq(ahead_read(window), AHEAD_READ);
	ck_assert(!window->all_branches);
	ck_branches(window, 0, 8, true);
	ck_branches(window, 8, 16, false);
	ck_branches(window, 16, WINDOW_SLOTS - 8, true);
	ck_branches(window, WINDOW_SLOTS - 8, WINDOW_SLOTS, false);
	teardown();
}
END_TEST

START_TEST(less_than_a_group_at_the_end)
{
	struct ahead_window *window;

	setup(1);
	ahead_begin(&ahead, &ring, 3 * WINDOW_SLOTS, NR_SLOTS, WINDOW_SLOTS);
	window = ahead_claim(&ahead, 0);
	ck_assert_int_eq(ahead_read(window), AHEAD_READ);
	ck_assert(!window->all_branches);
	ck_branches(window, 0, 16, true);
	ck_branches(window, 16, WINDOW_SLOTS, false);
	teardown();
}
END_TEST

START_TEST(page_that_is_not_there)
{
	setup(1);
	page_pa[WINDOW_SLOTS * BTSREC_RECORD_BYTES / BTSREC_PAGE_BYTES] = 0;
	ahead_begin(&ahead, &ring, 0, NR_SLOTS, WINDOW_SLOTS);
	ck_assert_int_eq(ahead_read(ahead_claim(&ahead, 0)), AHEAD_READ);
	ck_assert_int_eq(ahead_read(ahead_claim(&ahead, 0)), AHEAD_FAILED);
	teardown();
}
END_TEST

BTSREC_CK_MAIN("ahead", windows_in_order, each_thread_has_its_own, each_way_has_its_size,
	       nothing_but_branches, what_is_no_branch, less_than_a_group_at_the_end, page_that_is_not_there)
