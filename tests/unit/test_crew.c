// SPDX-License-Identifier: GPL-2.0-or-later
#include <sched.h>
#include <stdio.h>

#include "check_btsrec.h"
#include "crew.h"
#include "fixture.h"
#include "lines.h"
#include "out.h"
#include "session.h"
#include "symbol.h"

#define NR_CPUS		10
#define MAX_TEXT	(1 << 20)
/* With so much of each, what may be kept of all is not enough. */
#define LARGE_BYTES	(CREW_MAX_TEXT_BYTES / 4)
#define NOBODY		UINT32_MAX

static struct fixture *fix;
static struct btsrec *rec;
static struct btsrec_image image;
static char *told;
static size_t nr_told, nr_allowed;
static unsigned int nr_open, nr_closed, nr_may_open, nr_twins;

/**
 * struct plan - how CPUs are told
 * @fails: this one does, behind its text.
 * @waits: this one, until all others have been begun.
 * @large: LARGE_BYTES of each.
 */
static struct plan {
	unsigned int fails;
	unsigned int waits;
	bool large;
	unsigned int nr_begun;
	unsigned int nr_counted;
} plan;

/** struct view - one thread's; @nr: CPUs that it has told */
struct view {
	struct btsrec *rec;
	struct out out;
	unsigned int nr;
};

bool symbols_twin(struct btsrec *twin, struct btsrec *of)
{
	ck_assert_ptr_eq(twin->twin_of, of);
	nr_twins++;
	return true;
}

bool lines_twin(struct btsrec *twin, const struct btsrec *of)
{
	ck_assert_ptr_eq(twin->twin_of, of);
	return true;
}

/* One at a time, and each is still the same as the one before. */
static bool take(void *arg, const char *text, size_t nr_bytes)
{
	static bool busy;

	(void)arg;
	if (__atomic_exchange_n(&busy, true, __ATOMIC_ACQ_REL))
		abort();
	if (!plan.large) {
		if (nr_told + nr_bytes > MAX_TEXT)
			abort();
		memcpy(told + nr_told, text, nr_bytes);
	}
	nr_told += nr_bytes;
	__atomic_store_n(&busy, false, __ATOMIC_RELEASE);
	return nr_told <= nr_allowed;
}

static const struct btsrec_sink sink = { .write = take };

static bool view_open(void *arg, void *data, struct btsrec *of)
{
	struct view *view = data;

	ck_assert_ptr_eq(arg, &plan);
	if (nr_open == nr_may_open)
		return false;
	nr_open++;
	ck_assert_uint_eq(view->nr, 0);
	view->rec = of;
	return true;
}

static enum btsrec_status tell_cpu(void *data, unsigned int cpu)
{
	struct view *view = data;
	unsigned int nr = plan.large ? 0 : cpu * 7919 % 5000;

	__atomic_add_fetch(&plan.nr_begun, 1, __ATOMIC_ACQ_REL);
	while (cpu == plan.waits &&
	       __atomic_load_n(&plan.nr_begun, __ATOMIC_ACQUIRE) < NR_CPUS - 1)
		sched_yield();
	view->nr++;
	for (size_t at = 0; plan.large && at < LARGE_BYTES; at += OUT_BUFFER_BYTES)
		out_blanks(&view->out, OUT_BUFFER_BYTES);
	for (unsigned int i = 0; i < nr && !view->out.stopped; i++) {
		char text[9];

		snprintf(text, sizeof(text), "%02u%06u", cpu % 100, i % 1000000);
		out_bytes(&view->out, text, 8);
	}
	if (cpu != plan.fails)
		return BTSREC_OK;
	return msg_set(&view->rec->msg, BTSREC_ERR_IO, "CPU %u is lost", cpu);
}

static enum btsrec_status view_close(void *arg, void *data)
{
	struct view *view = data;

	ck_assert_ptr_eq(arg, &plan);
	plan.nr_counted += view->nr;
	out_char(&view->out, '.');
	nr_closed++;
	return BTSREC_OK;
}

static const struct crew_work work = {
	.view_bytes = sizeof(struct view),
	.out_at = offsetof(struct view, out),
	.open = view_open,
	.cpu = tell_cpu,
	.close = view_close,
};

static bool read_pages(void *arg, const uint64_t *page_pa, size_t nr, void *buf)
{
	(void)arg, (void)page_pa, (void)nr, (void)buf;
	return false;
}

static void setup(void)
{
	fix = fixture_new(NR_CPUS, 100);
	rec = btsrec_new();
	image = mem_image(&fix->mem);
	image.read_pages = read_pages;
	told = malloc(MAX_TEXT);
	nr_may_open = NOBODY;
	nr_allowed = SIZE_MAX;
	nr_open = nr_closed = nr_twins = 0;
	nr_told = 0;
	plan = (struct plan){ .fails = NOBODY, .waits = NOBODY };
}

static void teardown(void)
{
	btsrec_free(rec);
	fixture_free(fix);
	free(told);
}

static enum btsrec_status tell(unsigned int nr_threads, bool alone)
{
	if (!rec->located) {
		btsrec_ck_ok(btsrec_open_image(rec, &image));
		btsrec_ck_ok(btsrec_locate(rec, FIX_ROOT_PA, BTSREC_SCAN_NONE));
	}
	btsrec_set_threads(rec, nr_threads);
	return crew_tell(rec, NULL, 0, alone, &work, &plan, &sink);
}

/* The lines of CPUs up to @last, in order, and @nr_dots last words. */
static void ck_told(unsigned int last, unsigned int nr_dots)
{
	size_t at = 0;

	for (unsigned int cpu = 0; cpu <= last; cpu++) {
		for (unsigned int i = 0; i < cpu * 7919 % 5000; i++, at += 8) {
			char text[9];

			snprintf(text, sizeof(text), "%02u%06u", cpu, i);
			if (at + 8 > nr_told || memcmp(told + at, text, 8))
				ck_abort_msg("line %u of CPU %u is not there", i, cpu);
		}
	}
	ck_assert_uint_eq(nr_told, at + nr_dots);
	for (; nr_dots; nr_dots--)
		ck_assert_int_eq(told[at++], '.');
}

START_TEST(in_order)
{
	setup();
	for (unsigned int nr_threads = 0; nr_threads < CREW_MAX_THREADS + 3; nr_threads++) {
		unsigned int nr = !nr_threads ? 1 : nr_threads;

		nr = nr < CREW_MAX_THREADS ? nr : CREW_MAX_THREADS;
		nr_told = nr_open = nr_closed = 0;
		plan.nr_counted = 0;
		btsrec_ck_ok(tell(nr_threads, false));
		ck_assert_uint_eq(nr_open, nr);
		ck_assert_uint_eq(nr_closed, nr);
		ck_assert_uint_eq(plan.nr_counted, NR_CPUS);
		ck_told(NR_CPUS - 1, nr);
	}
	teardown();
}
END_TEST

/* All others are told before it is their turn. */
START_TEST(first_is_last)
{
	setup();
	plan.waits = 0;
	btsrec_ck_ok(tell(2, false));
	ck_told(NR_CPUS - 1, 2);
	teardown();
}
END_TEST

/* Somebody has to wait for its turn, and it is not who has it. */
START_TEST(more_than_is_kept)
{
	setup();
	plan.large = true;
	btsrec_ck_ok(tell(3, false));
	ck_assert_uint_eq(nr_told, NR_CPUS * LARGE_BYTES + 3);
	teardown();
}
END_TEST

START_TEST(some_of_them)
{
	static const unsigned int cpus[] = { 7, 3 };

	setup();
	rec->nr_threads = 4;
	btsrec_ck_ok(btsrec_open_image(rec, &image));
	btsrec_ck_ok(btsrec_locate(rec, FIX_ROOT_PA, BTSREC_SCAN_NONE));
	btsrec_ck_ok(crew_tell(rec, cpus, 2, false, &work, &plan, &sink));
	ck_assert_uint_eq(nr_open, 2);
	ck_assert_uint_eq(nr_told, 8 * (7 * 7919 % 5000 + 3 * 7919 % 5000) + 2);
	ck_assert_mem_eq(told, "07000000", 8);
	ck_assert_mem_eq(told + 8 * (7 * 7919 % 5000), "03000000", 8);
	teardown();
}
END_TEST

/* What one thread would have told is told, and no more; the message is that of the failure. */
START_TEST(fails)
{
	setup();
	plan.fails = 4;
	for (unsigned int nr_threads = 1; nr_threads < 6; nr_threads++) {
		nr_told = nr_open = nr_closed = 0;
		btsrec_ck_fails(tell(nr_threads, false), BTSREC_ERR_IO, btsrec_errmsg(rec),
				"CPU 4 is lost");
		ck_told(4, nr_threads == 1);
		ck_assert_uint_eq(nr_closed, nr_open);
	}
	teardown();
}
END_TEST

/* A later one, sooner. */
START_TEST(fails_out_of_turn)
{
	setup();
	plan.fails = 1;
	plan.waits = 0;
	for (unsigned int i = 0; i < 20; i++) {
		nr_told = plan.nr_begun = 0;
		plan.waits = i % 2 ? 0 : NOBODY;
		btsrec_ck_fails(tell(3, false), BTSREC_ERR_IO, btsrec_errmsg(rec), "CPU 1 is lost");
		ck_told(1, 0);
	}
	teardown();
}
END_TEST

START_TEST(stops)
{
	setup();
	for (nr_allowed = 0; nr_allowed < 100000; nr_allowed += 9999) {
		nr_told = nr_open = nr_closed = 0;
		btsrec_ck_status(tell(3, false), BTSREC_ERR_STOPPED);
		ck_assert_uint_eq(nr_closed, 3);
	}
	teardown();
}
END_TEST

START_TEST(alone)
{
	setup();
	btsrec_ck_ok(tell(4, true));
	ck_assert_uint_eq(nr_open, 1);
	ck_assert_uint_eq(nr_twins, 0);
	ck_told(NR_CPUS - 1, 1);
	teardown();
}
END_TEST

/* The program's own callbacks are for its own thread. */
START_TEST(alone_with_callbacks)
{
	setup();
	rec->has_resolver = true;
	btsrec_ck_ok(tell(4, false));
	ck_assert_uint_eq(nr_open, 1);
	btsrec_free(rec);
	rec = btsrec_new();
	image.read_pages = NULL;
	btsrec_ck_ok(tell(4, false));
	ck_assert_uint_eq(nr_open, 2);
	ck_assert_uint_eq(nr_twins, 0);
	teardown();
}
END_TEST

START_TEST(without_memory)
{
	setup();
	nr_may_open = 2;
	btsrec_ck_ok(tell(4, false));
	ck_assert_uint_eq(nr_closed, 2);
	ck_told(NR_CPUS - 1, 2);
	nr_may_open = nr_open;
	btsrec_ck_fails(tell(4, false), BTSREC_ERR_NOMEM, btsrec_errmsg(rec), "out of memory");
	teardown();
}
END_TEST

/* What is told of all at once, with the session itself. */
static enum btsrec_status tell_all(void *data)
{
	struct view *view = data;

	ck_assert_ptr_eq(view->rec, rec);
	out_literal(&view->out, "all");
	if (plan.fails == NOBODY)
		return BTSREC_OK;
	return msg_set(&rec->msg, BTSREC_ERR_IO, "all are lost");
}

START_TEST(one)
{
	struct crew_work closes_nothing = work;

	setup();
	btsrec_ck_ok(crew_one(rec, &work, tell_all, &plan, &sink));
	ck_assert_uint_eq(nr_told, 4);
	ck_assert_mem_eq(told, "all.", 4);
	closes_nothing.close = NULL;
	btsrec_ck_ok(crew_one(rec, &closes_nothing, tell_all, &plan, &sink));
	ck_assert_uint_eq(nr_told, 7);
	ck_assert_uint_eq(nr_closed, 1);
	nr_allowed = 0;
	btsrec_ck_status(crew_one(rec, &work, tell_all, &plan, &sink), BTSREC_ERR_STOPPED);
	plan.fails = 0;
	btsrec_ck_fails(crew_one(rec, &work, tell_all, &plan, &sink), BTSREC_ERR_IO,
			btsrec_errmsg(rec), "all are lost");
	ck_assert_uint_eq(nr_closed, 3);
	nr_may_open = nr_open;
	btsrec_ck_fails(crew_one(rec, &work, tell_all, &plan, &sink), BTSREC_ERR_NOMEM,
			btsrec_errmsg(rec), "out of memory");
	ck_assert_uint_eq(nr_closed, 3);
	teardown();
}
END_TEST

/* What a twin had to leave out is left out of the whole. */
static enum btsrec_status forget(void *data, unsigned int cpu)
{
	struct view *view = data;

	view->rec->nomem |= cpu == 6;
	return BTSREC_OK;
}

START_TEST(twin_without_memory)
{
	struct crew_work forgets = work;

	forgets.cpu = forget;
	setup();
	btsrec_ck_ok(tell(2, false));
	ck_assert(!rec->nomem);
	btsrec_ck_ok(crew_tell(rec, NULL, 0, false, &forgets, &plan, &sink));
	ck_assert(rec->nomem);
	btsrec_ck_status(session_end(rec, BTSREC_OK), BTSREC_ERR_NOMEM);
	teardown();
}
END_TEST

/* Twins read what the session reads, and what the source refuses is known to it. */
START_TEST(twin_reads)
{
	struct btsrec *twin;
	uint64_t magic;

	setup();
	btsrec_ck_ok(btsrec_open_image(rec, &image));
	btsrec_ck_ok(btsrec_locate(rec, FIX_ROOT_PA, BTSREC_SCAN_NONE));
	rec->no_user_names = true;
	rec->sysroot = strdup("/sysroot");
	twin = session_twin(rec);
	ck_assert(twin->no_user_names);
	ck_assert_ptr_eq(btsrec_root(twin), btsrec_root(rec));
	ck_assert_str_eq(twin->sysroot, "/sysroot");
	ck_assert_ptr_null(twin->image.expect);
	btsrec_ck_ok(twin->image.read_pa(twin->image.arg, FIX_ROOT_PA, &magic, sizeof(magic),
					 &(size_t){ 0 }));
	ck_assert_mem_eq(&magic, btsrec_root(rec), sizeof(magic));
	btsrec_free(twin);
	ck_assert_ptr_nonnull(btsrec_root(rec));
	teardown();
}
END_TEST

BTSREC_CK_MAIN("crew", in_order, first_is_last, more_than_is_kept, some_of_them, fails,
	       fails_out_of_turn, stops, alone, alone_with_callbacks, without_memory,
	       one, twin_without_memory, twin_reads)
