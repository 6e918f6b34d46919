// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "check_btsrec.h"
#include "failing_alloc.h"
#include "render/press.h"

#define NR_LINES	200000
#define NR_TAILS	100
#define PAGE_BYTES	4096
/* Longer than the buffer of a batch with all lines of a batch. */
#define LONG_TAIL_BYTES	3000
#define NEVER		UINT64_MAX

static char *written;
static size_t nr_written, nr_room, nr_allowed, nr_parts;
static pthread_mutex_t in_sink = PTHREAD_MUTEX_INITIALIZER;
static const struct tail *label_cache_by_number[NR_TAILS];
static struct label_cache label_cache;
static struct label_cache_texts texts;
static struct btsrec_record records[NR_LINES];

static bool take(void *arg, const char *text, size_t nr_bytes)
{
	(void)arg;
	/* One at a time. */
	if (pthread_mutex_trylock(&in_sink))
		abort();
	/* Writes end where a page of the file ends, but for the last one. */
	if (nr_written % PAGE_BYTES)
		nr_parts++;
	if (nr_written + nr_bytes > nr_room) {
		nr_room = 2 * (nr_written + nr_bytes);
		written = realloc(written, nr_room);
	}
	memcpy(written + nr_written, text, nr_bytes);
	nr_written += nr_bytes;
	pthread_mutex_unlock(&in_sink);
	return nr_written <= nr_allowed;
}

static const struct btsrec_sink sink = { .write = take };

/**
 * struct teller - how the lines are told
 * @fails_at: of this line.
 * @refuses: to be shared; @nr_threads: between at most so many.
 * @session: what only one may change at a time: how many lines have been told.
 * @others: lines of other threads than the owner.
 */
struct teller {
	struct press *press;
	uint64_t fails_at;
	bool refuses;
	bool shared;
	unsigned int nr_threads;
	uint64_t session;
	uint64_t others;
};

static void head(struct out *out, unsigned int cpu, uint64_t n, const struct btsrec_record *branch)
{
	out_dec(out, cpu, 0);
	out_char(out, ' ');
	out_dec(out, n, 0);
	out_char(out, ' ');
	out_hex(out, branch->from);
}

static bool share(void *arg, unsigned int nr_threads)
{
	struct teller *teller = arg;

	teller->shared = !teller->refuses;
	teller->nr_threads = nr_threads;
	return teller->shared;
}

static bool print(void *arg, unsigned int thread, struct out *out, const struct press_run *run)
{
	struct teller *teller = arg;

	press_enter(teller->press);
	if (thread >= PRESS_MAX_THREADS ||
	    (thread && (!teller->shared || thread >= teller->nr_threads)))
		abort();
	teller->session += run->nr;
	teller->others += thread ? run->nr : 0;
	press_leave(teller->press);
	if (teller->fails_at - run->n < run->nr)
		return false;
	for (size_t i = 0; i < run->nr; i++) {
		struct press_run line = { run->cpu, run->n + i, run->span, &run->records[i], 1 };

		press_lines(out, &line, &label_cache_by_number[line.n % NR_TAILS], head);
	}
	return true;
}

static struct press *begin(struct teller *teller, unsigned int nr_threads)
{
	const struct press_work work = {share, print, PRESS_MAX_TOGETHER, teller};

	nr_written = 0;
	nr_parts = 0;
	teller->press = press_new(&sink, &work, nr_threads);
	return teller->press;
}

static void setup(void)
{
	static char text[LONG_TAIL_BYTES];

	memset(text, '-', sizeof(text));
	text[sizeof(text) - 1] = '\n';
	for (uint64_t i = 0; i < NR_TAILS; i++) {
		struct label_cache_key key = {.from = i};
		size_t nr_bytes = i % 50 ? i + 1 : sizeof(text);

		label_cache_by_number[i] = label_cache_add(
			&label_cache, &texts, &key, text + sizeof(text) - nr_bytes, nr_bytes, 0);
	}
	for (uint64_t i = 0; i < NR_LINES; i++)
		records[i].from = 3 * i;
	nr_allowed = SIZE_MAX;
}

static void teardown(void)
{
	label_cache_fini(&label_cache);
	label_cache_texts_fini(&texts);
	free(written);
	written = NULL;
	nr_room = 0;
}

static bool put_run(struct press *press, uint64_t n, size_t nr)
{
	const struct press_run run = { (unsigned int)(n / 20000), n, NULL, &records[n], nr };

	return press_put(press, &run);
}

/* Runs of all lengths, with text between, some of it as long as may be. */
static enum btsrec_status put_lines(struct teller *teller)
{
	static const char text[OUT_WRITE_BYTES];
	const struct btsrec_sink *between = press_sink(teller->press);
	bool goes_on = true;
	size_t nr = 1;

	for (uint64_t n = 0; n < NR_LINES && goes_on; n += nr) {
		nr = n % 5 ? n % 17 + 1 : n % 3001 + 1;
		nr = nr < NR_LINES - n ? nr : NR_LINES - n;
		goes_on = put_run(teller->press, n, nr);
		if (goes_on && n % 77 == 0)
			goes_on = between->write(between->arg, text, n % 2 ? sizeof(text) : 7);
	}
	return press_wait(teller->press);
}

/* A copy of what was written. */
static char *take_written(size_t *ret_bytes)
{
	char *all = malloc(nr_written);

	memcpy(all, written, nr_written);
	*ret_bytes = nr_written;
	return all;
}

/* Was the same written as @one? */
static void ck_written(const char *one, size_t one_bytes)
{
	ck_assert_uint_eq(nr_written, one_bytes);
	ck_assert(!memcmp(written, one, one_bytes));
}

static void check_with(unsigned int nr_threads)
{
	struct teller teller = { .fails_at = NEVER };
	struct press *press = begin(&teller, nr_threads);

	btsrec_ck_ok(put_lines(&teller));
	ck_assert(!press_failed(press));
	press_free(press);
	ck_assert_uint_eq(teller.session, NR_LINES);
	ck_assert_uint_eq(nr_parts, 0);
	if (nr_threads > 1)
		ck_assert(teller.shared);
	else
		ck_assert_uint_eq(teller.others, 0);
}

START_TEST(text_of_one_thread)
{
	static const char want[] = "0 1 0x3-\ntwo\n1 20003 0xea69---\n1 20004 0xea6c----\n";
	struct teller teller = { .fails_at = NEVER };
	struct press *press;

	setup();
	press = begin(&teller, 0);
	put_run(press, 1, 1);
	press_sink(press)->write(press_sink(press)->arg, "two\n", 4);
	put_run(press, 20003, 2);
	press_settle(press);
	btsrec_ck_ok(press_wait(press));
	press_free(press);
	ck_assert_uint_eq(nr_written, sizeof(want) - 1);
	ck_assert_mem_eq(written, want, nr_written);
	teardown();
}
END_TEST

START_TEST(any_number_of_threads_writes_the_same)
{
	size_t one_bytes;
	char *one;

	setup();
	check_with(1);
	one = take_written(&one_bytes);
	for (unsigned int nr_threads = 2; nr_threads <= PRESS_MAX_THREADS + 1; nr_threads += 5) {
		check_with(nr_threads);
		ck_written(one, one_bytes);
	}
	free(one);
	teardown();
}
END_TEST

/* --- From a ring, which is read ahead --- */

#define NR_RING_PAGES	(NR_LINES * BTSREC_RECORD_BYTES / BTSREC_PAGE_BYTES + 1)

static uint64_t page_pa[NR_RING_PAGES];

static enum btsrec_status read_pa(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				  size_t *ret_bytes)
{
	size_t at = pa - BTSREC_PAGE_BYTES, room = sizeof(records) - at;

	(void)arg;
	*ret_bytes = len_bytes < room ? len_bytes : room;
	memcpy(buf, (const uint8_t *)records + at, *ret_bytes);
	return *ret_bytes < len_bytes ? BTSREC_ERR_NODATA : BTSREC_OK;
}

static bool read_pages(void *arg, const uint64_t *pa, size_t nr, void *buf)
{
	size_t nr_bytes;

	for (size_t i = 0; i < nr; i++)
		if (read_pa(arg, pa[i], (uint8_t *)buf + i * BTSREC_PAGE_BYTES, BTSREC_PAGE_BYTES,
			    &nr_bytes))
			return false;
	return true;
}

static const struct btsrec_image image = { .read_pa = read_pa, .read_pages = read_pages };

/* Of @nr slots from @slot on, each branch, and text for each hole. */
static void put_slots(struct teller *teller, struct fetch *fetch, uint64_t slot, uint64_t nr)
{
	const struct btsrec_sink *between = press_sink(teller->press);
	struct ring_run run;

	fetch_seek(fetch, slot, nr);
	for (;;) {
		btsrec_ck_ok(fetch_next(fetch, &run));
		if (!run.nr_slots)
			return;
		if (run.records)
			press_put(teller->press, &(struct press_run){ 1, run.slot, NULL,
								      run.records, run.nr_slots });
		else
			between->write(between->arg, "hole\n", 5);
	}
}

/* A ring with holes that begins somewhere, and meanwhile a part of another one. */
static void print_ring(unsigned int nr_threads, bool begin_late)
{
	const struct fetch_ring ring = { &image, page_pa, NR_LINES * BTSREC_RECORD_BYTES, 48 };
	struct teller teller = { .fails_at = NEVER };
	struct press *press = begin(&teller, nr_threads);
	struct fetch fetch, other;

	btsrec_ck_ok(fetch_init(&fetch, &ring));
	btsrec_ck_ok(fetch_init(&other, &ring));
	fetch.ahead = press_ahead(press);
	other.ahead = press_ahead(press);
	if (begin_late)
		put_run(press, 0, NR_LINES);
	put_slots(&teller, &fetch, NR_LINES / 3, NR_LINES / 3);
	put_slots(&teller, &other, 500, 2000);
	put_slots(&teller, &fetch, 2 * (NR_LINES / 3), NR_LINES / 3);
	fetch_fini(&fetch);
	put_slots(&teller, &other, 0, NR_LINES / 3 + 100);
	fetch_fini(&other);
	press_settle(press);
	btsrec_ck_ok(press_wait(press));
	press_free(press);
}

START_TEST(what_is_read_ahead)
{
	size_t one_bytes;
	char *one;

	setup();
	for (size_t i = 0; i < NR_RING_PAGES; i++)
		page_pa[i] = i % 97 == 50 ? 0 : (i + 1) * BTSREC_PAGE_BYTES;
	for (int begin_late = 0; begin_late < 2; begin_late++) {
		print_ring(1, begin_late);
		one = take_written(&one_bytes);
		for (unsigned int nr_threads = 2; nr_threads <= PRESS_MAX_THREADS; nr_threads += 7) {
			print_ring(nr_threads, begin_late);
			ck_written(one, one_bytes);
		}
		free(one);
	}
	teardown();
}
END_TEST

/* In two parts, of which the first is sent if @sends. */
static void print_parts(unsigned int nr_threads, bool sends)
{
	struct teller teller = { .fails_at = NEVER };
	struct press *press = begin(&teller, nr_threads);

	put_run(press, 0, 5000);
	if (sends)
		btsrec_ck_ok(press_send(press));
	if (sends && nr_threads == 1)
		ck_assert_uint_gt(nr_written, 4 * PAGE_BYTES);
	put_run(press, 5000, 10000);
	btsrec_ck_ok(press_wait(press));
	press_free(press);
	ck_assert_uint_eq(nr_parts, 0);
}

/* Whatever is sent before the end, writes begin at whole pages, and are of the same text. */
START_TEST(sends)
{
	struct teller stopped = { .fails_at = NEVER };
	size_t one_bytes;
	char *one;

	setup();
	print_parts(1, false);
	one = take_written(&one_bytes);
	for (unsigned int nr_threads = 1; nr_threads <= 4; nr_threads++) {
		print_parts(nr_threads, true);
		ck_written(one, one_bytes);
	}
	nr_allowed = 0;
	begin(&stopped, 1);
	put_run(stopped.press, 0, 5000);
	btsrec_ck_status(press_send(stopped.press), BTSREC_ERR_STOPPED);
	press_free(stopped.press);
	free(one);
	teardown();
}
END_TEST

START_TEST(settles)
{
	struct teller teller = { .fails_at = NEVER };
	struct press *press;
	uint64_t n;

	setup();
	press = begin(&teller, 3);
	for (n = 0; n < NR_LINES; n += 100) {
		put_run(press, n, 100);
		/* The session is the caller's again. */
		teller.session++;
		if (n % 1700)
			continue;
		press_settle(press);
		ck_assert_uint_eq(teller.session, n + 100 + n / 100 + 1);
	}
	btsrec_ck_ok(press_wait(press));
	press_free(press);
	teardown();
}
END_TEST

START_TEST(one_thread_if_it_cannot_be_shared)
{
	struct teller teller = { .fails_at = NEVER, .refuses = true };
	struct press *press;

	setup();
	press = begin(&teller, 3);
	btsrec_ck_ok(put_lines(&teller));
	press_free(press);
	ck_assert_uint_eq(teller.session, NR_LINES);
	ck_assert_uint_eq(teller.others, 0);
	teardown();
}
END_TEST

START_TEST(stops_with_the_sink)
{
	setup();
	for (unsigned int nr_threads = 1; nr_threads <= 3; nr_threads++) {
		struct teller teller = { .fails_at = NEVER };
		struct press *press = begin(&teller, nr_threads);

		nr_allowed = 5000000;
		btsrec_ck_status(put_lines(&teller), BTSREC_ERR_STOPPED);
		ck_assert(!press_failed(press));
		ck_assert_uint_gt(nr_written, nr_allowed);
		ck_assert_uint_le(nr_written, nr_allowed + OUT_WRITE_BYTES + OUT_BUFFER_BYTES);
		ck_assert_uint_lt(teller.session, NR_LINES);
		press_free(press);
	}
	teardown();
}
END_TEST

START_TEST(ends_with_who_tells)
{
	setup();
	for (unsigned int nr_threads = 1; nr_threads <= 3; nr_threads++) {
		/* At once, and when there are several threads. */
		for (uint64_t fails_at = 7; fails_at < NR_LINES; fails_at += NR_LINES / 2) {
			struct teller teller = { .fails_at = fails_at };
			struct press *press = begin(&teller, nr_threads);

			(void)put_lines(&teller);
			ck_assert(press_failed(press));
			ck_assert_uint_lt(teller.session, NR_LINES);
			ck_assert(!put_run(press, 0, 1));
			press_free(press);
		}
	}
	teardown();
}
END_TEST

START_TEST(ends_with_lines_left)
{
	setup();
	for (unsigned int nr_threads = 1; nr_threads <= 3; nr_threads++) {
		struct teller teller = { .fails_at = NEVER };
		struct press *press = begin(&teller, nr_threads);

		put_run(press, 0, NR_LINES / 2);
		put_run(press, NR_LINES / 2, NR_LINES / 2);
		press_free(press);
	}
	press_free(NULL);
	teardown();
}
END_TEST

START_TEST(out_of_memory)
{
	struct teller teller = { .fails_at = NEVER };
	struct press *press;

	failing_alloc_arm(1);
	press = begin(&teller, 2);
	ck_assert(failing_alloc_disarm());
	ck_assert_ptr_null(press);
	/* Without batches there is one thread. */
	setup();
	press = begin(&teller, 2);
	put_run(press, 0, NR_LINES / 2);
	failing_alloc_arm(1);
	put_run(press, NR_LINES / 2, NR_LINES / 2);
	ck_assert(failing_alloc_disarm());
	btsrec_ck_ok(press_wait(press));
	press_free(press);
	ck_assert_uint_eq(teller.session, NR_LINES);
	ck_assert_uint_eq(teller.others, 0);
	teardown();
}
END_TEST

BTSREC_CK_MAIN("press", text_of_one_thread, any_number_of_threads_writes_the_same, sends, settles,
	       what_is_read_ahead, one_thread_if_it_cannot_be_shared, stops_with_the_sink, ends_with_who_tells,
	       ends_with_lines_left, out_of_memory)
