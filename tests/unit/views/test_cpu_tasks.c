// SPDX-License-Identifier: GPL-2.0-or-later
#include <sched.h>
#include <stdio.h>

#include "check_btsrec.h"
#include "fixture.h"
#include "symbols/lines.h"
#include "render/out.h"
#include "recorder/session.h"
#include "symbols/symbol.h"
#include "views/cpu_tasks.h"
#include "base/pool.h"

#define NR_CPUS		10
#define MAX_TEXT	(1 << 20)
/* With so much of each, what may be kept of all is not enough. */
#define LARGE_BYTES	((size_t)POOL_MAX_KEPT_BUFFERS / 4 * OUT_WRITE_BYTES)
#define NOBODY		UINT32_MAX

static struct fixture *fix;
static struct btsrec *rec;
static struct btsrec_image image;
static char *printed;
static size_t nr_printed, nr_allowed;
static unsigned int nr_open, nr_closed, nr_may_open, nr_clones;

/**
 * struct plan - how CPUs are printed
 * @fails: this one does, after its text; @fails_to_plan: this one before it; @fails_at_first: this
 *	one, if it is the first, behind its first lines.
 * @waits: this one, until all others have been begun.
 * @large: LARGE_BYTES of each.
 */
static struct plan {
	unsigned int fails;
	unsigned int fails_to_plan;
	unsigned int fails_at_first;
	unsigned int waits;
	bool large;
	unsigned int nr_begun;
	unsigned int nr_counted;
} plan;

/** struct view - one thread's; @nr: CPUs that it has printed */
struct view {
	struct btsrec *rec;
	struct out out;
	unsigned int nr;
};

bool symbols_clone(struct btsrec *clone, struct btsrec *of)
{
	ck_assert_ptr_eq(clone->clone_of, of);
	nr_clones++;
	return true;
}

bool lines_clone(struct btsrec *clone, const struct btsrec *of)
{
	ck_assert_ptr_eq(clone->clone_of, of);
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
		if (nr_printed + nr_bytes > MAX_TEXT)
			abort();
		memcpy(printed + nr_printed, text, nr_bytes);
	}
	nr_printed += nr_bytes;
	__atomic_store_n(&busy, false, __ATOMIC_RELEASE);
	return nr_printed <= nr_allowed;
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

static void put_lines(struct view *view, unsigned int cpu, unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to && !view->out.stopped; i++) {
		char text[9];

		snprintf(text, sizeof(text), "%02u%06u", cpu % 100, i % 1000000);
		out_bytes(&view->out, text, 8);
	}
}

static enum btsrec_status print_cpu(void *data, unsigned int cpu)
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
	put_lines(view, cpu, 0, nr);
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

static const struct cpu_tasks work = {
	.view_bytes = sizeof(struct view),
	.out_at = offsetof(struct view, out),
	.open = view_open,
	.cpu = print_cpu,
	.close = view_close,
};

/* --- In parts --- */

#define NR_FIRST	100
/* Of the last CPU, which has the most; the others have as many. */
#define NR_PARTS	(6 + NR_CPUS)

/** struct shared - what the parts of one CPU share; each counts itself in @done */
struct shared {
	unsigned int cpu;
	const unsigned int *first;
	unsigned int nr_parts;
	unsigned int done[NR_PARTS];
};

static unsigned int nr_plans, first_cpu;

static enum btsrec_status print_first(void *data, unsigned int cpu, void *first)
{
	unsigned int nr = cpu * 7919 % 5000, *nr_first = first;
	struct view *view = data;

	ck_assert_uint_eq(*nr_first, 0);
	put_lines(view, cpu, 0, nr < NR_FIRST ? nr : NR_FIRST);
	*nr_first = NR_FIRST;
	return cpu == plan.fails_at_first ?
		       msg_set(&view->rec->msg, BTSREC_ERR_IO, "CPU %u has no beginning", cpu) :
		       BTSREC_OK;
}

static unsigned int max_parts(const struct btsrec *of, unsigned int cpu)
{
	(void)of;
	return 7 + cpu;
}

static enum btsrec_status plan_cpu(void *data, unsigned int cpu, const void *first,
				   unsigned int nr_parts, void **ret)
{
	struct shared *shared = calloc(1, sizeof(*shared));
	struct view *view = data;

	if (!shared)
		abort();
	*ret = shared;
	shared->cpu = cpu;
	shared->first = first;
	shared->nr_parts = nr_parts;
	ck_assert(nr_parts == 1 || (nr_parts >= 7 + cpu && nr_parts <= NR_PARTS));
	__atomic_add_fetch(&nr_plans, 1, __ATOMIC_RELAXED);
	ck_assert(!first == (cpu != first_cpu));
	return cpu == plan.fails_to_plan ?
		       msg_set(&view->rec->msg, BTSREC_ERR_IO, "CPU %u has no plan", cpu) :
		       BTSREC_OK;
}

static enum btsrec_status print_part(void *data, void *what, unsigned int part,
				     unsigned int nr_parts)
{
	struct shared *shared = what;
	struct view *view = data;
	unsigned int cpu = shared->cpu, nr = cpu * 7919 % 5000, from = nr * part / nr_parts;

	ck_assert_uint_eq(nr_parts, shared->nr_parts);
	shared->done[part]++;
	if (shared->first) {
		ck_assert_uint_eq(*shared->first, NR_FIRST);
		from = from < NR_FIRST ? NR_FIRST : from;
	}
	put_lines(view, cpu, from, nr * (part + 1) / nr_parts);
	if (cpu != plan.fails || part != nr_parts - 1)
		return BTSREC_OK;
	return msg_set(&view->rec->msg, BTSREC_ERR_IO, "CPU %u is lost", cpu);
}

static enum btsrec_status end_cpu(void *data, void *what)
{
	const struct shared *shared = what;
	struct view *view = data;

	view->nr++;
	for (unsigned int part = 0; part < shared->nr_parts; part++)
		ck_assert_uint_eq(shared->done[part], 1);
	return BTSREC_OK;
}

static void drop_plan(void *what)
{
	nr_plans--;
	free(what);
}

static const struct cpu_tasks work_in_parts = {
	.view_bytes = sizeof(struct view),
	.out_at = offsetof(struct view, out),
	.open = view_open,
	.first_bytes = sizeof(unsigned int),
	.first = print_first,
	.max_parts = max_parts,
	.plan = plan_cpu,
	.part = print_part,
	.end = end_cpu,
	.drop = drop_plan,
	.close = view_close,
};

static const struct cpu_tasks *doing;

static bool read_pages(void *arg, const uint64_t *page_pa, size_t nr, void *buf)
{
	(void)arg, (void)page_pa, (void)nr, (void)buf;
	return false;
}

static void setup(void)
{
	fix = fixture_new(NR_CPUS, 100);
	rec = session_new(NULL);
	image = mem_image(&fix->mem);
	image.read_pages = read_pages;
	printed = malloc(MAX_TEXT);
	nr_may_open = NOBODY;
	nr_allowed = SIZE_MAX;
	nr_open = nr_closed = nr_clones = 0;
	nr_printed = 0;
	plan = (struct plan){ .fails = NOBODY, .fails_to_plan = NOBODY,
			      .fails_at_first = NOBODY, .waits = NOBODY };
	first_cpu = 0;
	doing = &work;
}

static void teardown(void)
{
	btsrec_free(rec);
	fixture_free(fix);
	free(printed);
}

static enum btsrec_status print(unsigned int nr_threads, bool alone)
{
	if (!rec->located) {
		btsrec_ck_ok(btsrec_open_image(rec, &image));
		btsrec_ck_ok(btsrec_locate(rec, FIX_ROOT_PA, BTSREC_SCAN_NONE));
	}
	btsrec_set_threads(rec, nr_threads);
	return cpu_tasks_print(rec, NULL, 0, alone, doing, &plan, &sink);
}

/* The lines of CPUs up to @last, in order, and @nr_dots last words. */
static void ck_printed(unsigned int last, unsigned int nr_dots)
{
	size_t at = 0;

	for (unsigned int cpu = 0; cpu <= last; cpu++) {
		for (unsigned int i = 0; i < cpu * 7919 % 5000; i++, at += 8) {
			char text[9];

			snprintf(text, sizeof(text), "%02u%06u", cpu, i);
			if (at + 8 > nr_printed || memcmp(printed + at, text, 8))
				ck_abort_msg("line %u of CPU %u is not there", i, cpu);
		}
	}
	ck_assert_uint_eq(nr_printed, at + nr_dots);
	for (; nr_dots; nr_dots--)
		ck_assert_int_eq(printed[at++], '.');
}

START_TEST(in_order)
{
	setup();
	for (unsigned int nr_threads = 0; nr_threads < POOL_MAX_WORKERS + 3; nr_threads++) {
		unsigned int nr = !nr_threads ? 1 : nr_threads;

		nr = nr < POOL_MAX_WORKERS ? nr : POOL_MAX_WORKERS;
		nr_printed = nr_open = nr_closed = 0;
		plan.nr_counted = 0;
		btsrec_ck_ok(print(nr_threads, false));
		ck_assert_uint_eq(nr_open, nr);
		ck_assert_uint_eq(nr_closed, nr);
		ck_assert_uint_eq(plan.nr_counted, NR_CPUS);
		ck_printed(NR_CPUS - 1, nr);
	}
	teardown();
}
END_TEST

/* All others are printed before it is their turn. */
START_TEST(first_is_last)
{
	setup();
	plan.waits = 0;
	btsrec_ck_ok(print(2, false));
	ck_printed(NR_CPUS - 1, 2);
	teardown();
}
END_TEST

/* Somebody has to wait for its turn, and it is not who has it. */
START_TEST(more_than_is_kept)
{
	setup();
	plan.large = true;
	btsrec_ck_ok(print(3, false));
	ck_assert_uint_eq(nr_printed, NR_CPUS * LARGE_BYTES + 3);
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
	btsrec_ck_ok(cpu_tasks_print(rec, cpus, 2, false, &work, &plan, &sink));
	ck_assert_uint_eq(nr_open, 2);
	ck_assert_uint_eq(nr_printed, 8 * (7 * 7919 % 5000 + 3 * 7919 % 5000) + 2);
	ck_assert_mem_eq(printed, "07000000", 8);
	ck_assert_mem_eq(printed + 8 * (7 * 7919 % 5000), "03000000", 8);
	teardown();
}
END_TEST

/* What one thread would have printed is printed, and no more; the message is that of the
 * failure. */
START_TEST(fails)
{
	setup();
	plan.fails = 4;
	for (unsigned int nr_threads = 1; nr_threads < 6; nr_threads++) {
		nr_printed = nr_open = nr_closed = 0;
		btsrec_ck_fails(print(nr_threads, false), BTSREC_ERR_IO, btsrec_errmsg(rec),
				"CPU 4 is lost");
		ck_printed(4, nr_threads == 1);
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
		nr_printed = plan.nr_begun = 0;
		plan.waits = i % 2 ? 0 : NOBODY;
		btsrec_ck_fails(print(3, false), BTSREC_ERR_IO, btsrec_errmsg(rec),
				"CPU 1 is lost");
		ck_printed(1, 0);
	}
	teardown();
}
END_TEST

START_TEST(stops)
{
	setup();
	for (nr_allowed = 0; nr_allowed < 100000; nr_allowed += 9999) {
		nr_printed = nr_open = nr_closed = 0;
		btsrec_ck_status(print(3, false), BTSREC_ERR_STOPPED);
		ck_assert_uint_eq(nr_closed, 3);
	}
	teardown();
}
END_TEST

/* With any number of workers; more than CPUs have something to do. */
START_TEST(in_parts)
{
	setup();
	doing = &work_in_parts;
	for (unsigned int nr = 1; nr <= POOL_MAX_WORKERS; nr++) {
		nr_printed = nr_open = plan.nr_counted = 0;
		btsrec_ck_ok(print(nr, false));
		ck_assert_uint_eq(nr_open, nr);
		ck_assert_uint_eq(plan.nr_counted, NR_CPUS);
		ck_assert_uint_eq(nr_plans, 0);
		ck_printed(NR_CPUS - 1, nr);
	}
	teardown();
}
END_TEST

/* A CPU that cannot be planned fails behind the text of those before it. */
START_TEST(parts_fail)
{
	setup();
	doing = &work_in_parts;
	for (unsigned int nr = 1; nr < 6; nr++) {
		plan.fails = 4;
		nr_printed = 0;
		btsrec_ck_fails(print(nr, false), BTSREC_ERR_IO, btsrec_errmsg(rec),
				"CPU 4 is lost");
		ck_printed(4, nr == 1);
		plan.fails = NOBODY;
		plan.fails_to_plan = 4;
		nr_printed = 0;
		btsrec_ck_fails(print(nr, false), BTSREC_ERR_IO, btsrec_errmsg(rec),
				"CPU 4 has no plan");
		ck_printed(3, nr == 1);
		plan.fails_to_plan = NOBODY;
		ck_assert_uint_eq(nr_plans, 0);
	}
	teardown();
}
END_TEST

/* Lines that come while the first CPU is planned are not printed again. */
START_TEST(first_lines)
{
	static const unsigned int cpus[] = { 7, 3 };
	size_t nr_lines = 7 * 7919 % 5000 + 3 * 7919 % 5000;

	setup();
	first_cpu = 7;
	btsrec_ck_ok(btsrec_open_image(rec, &image));
	btsrec_ck_ok(btsrec_locate(rec, FIX_ROOT_PA, BTSREC_SCAN_NONE));
	for (rec->nr_threads = 1; rec->nr_threads < 5; rec->nr_threads++) {
		nr_printed = 0;
		plan.fails_at_first = NOBODY;
		btsrec_ck_ok(cpu_tasks_print(rec, cpus, 2, false, &work_in_parts, &plan, &sink));
		ck_assert_uint_eq(nr_printed, 8 * nr_lines + rec->nr_threads);
		for (unsigned int i = 0; i < 7 * 7919 % 5000; i++) {
			char text[9];

			snprintf(text, sizeof(text), "07%06u", i);
			ck_assert_mem_eq(printed + 8 * (size_t)i, text, 8);
		}
		nr_printed = 0;
		plan.fails_at_first = 7;
		btsrec_ck_fails(cpu_tasks_print(rec, cpus, 2, false, &work_in_parts, &plan, &sink),
				BTSREC_ERR_IO, btsrec_errmsg(rec), "CPU 7 has no beginning");
		ck_assert_uint_eq(nr_printed, 8 * NR_FIRST + (rec->nr_threads == 1));
		ck_assert_uint_eq(nr_plans, 0);
	}
	teardown();
}
END_TEST

START_TEST(parts_stop)
{
	setup();
	doing = &work_in_parts;
	for (nr_allowed = 0; nr_allowed < 100000; nr_allowed += 9999) {
		nr_printed = nr_open = nr_closed = 0;
		btsrec_ck_status(print(3, false), BTSREC_ERR_STOPPED);
		ck_assert_uint_eq(nr_closed, 3);
		ck_assert_uint_eq(nr_plans, 0);
	}
	teardown();
}
END_TEST

START_TEST(alone)
{
	setup();
	btsrec_ck_ok(print(4, true));
	ck_assert_uint_eq(nr_open, 1);
	ck_assert_uint_eq(nr_clones, 0);
	ck_printed(NR_CPUS - 1, 1);
	teardown();
}
END_TEST

/* The program's own callbacks are for its own thread. */
START_TEST(alone_with_callbacks)
{
	setup();
	rec->has_resolver = true;
	btsrec_ck_ok(print(4, false));
	ck_assert_uint_eq(nr_open, 1);
	btsrec_free(rec);
	rec = session_new(NULL);
	image.read_pages = NULL;
	btsrec_ck_ok(print(4, false));
	ck_assert_uint_eq(nr_open, 2);
	ck_assert_uint_eq(nr_clones, 0);
	teardown();
}
END_TEST

START_TEST(without_memory)
{
	setup();
	nr_may_open = 2;
	btsrec_ck_ok(print(4, false));
	ck_assert_uint_eq(nr_closed, 2);
	ck_printed(NR_CPUS - 1, 2);
	nr_may_open = nr_open;
	btsrec_ck_fails(print(4, false), BTSREC_ERR_NOMEM, btsrec_errmsg(rec), "out of memory");
	teardown();
}
END_TEST

/* What is printed of all at once, with the session itself. */
static enum btsrec_status print_all(void *data)
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
	struct cpu_tasks closes_nothing = work;

	setup();
	btsrec_ck_ok(cpu_tasks_one(rec, &work, print_all, &plan, &sink));
	ck_assert_uint_eq(nr_printed, 4);
	ck_assert_mem_eq(printed, "all.", 4);
	closes_nothing.close = NULL;
	btsrec_ck_ok(cpu_tasks_one(rec, &closes_nothing, print_all, &plan, &sink));
	ck_assert_uint_eq(nr_printed, 7);
	ck_assert_uint_eq(nr_closed, 1);
	nr_allowed = 0;
	btsrec_ck_status(cpu_tasks_one(rec, &work, print_all, &plan, &sink), BTSREC_ERR_STOPPED);
	plan.fails = 0;
	btsrec_ck_fails(cpu_tasks_one(rec, &work, print_all, &plan, &sink), BTSREC_ERR_IO,
			btsrec_errmsg(rec), "all are lost");
	ck_assert_uint_eq(nr_closed, 3);
	nr_may_open = nr_open;
	btsrec_ck_fails(cpu_tasks_one(rec, &work, print_all, &plan, &sink), BTSREC_ERR_NOMEM,
			btsrec_errmsg(rec), "out of memory");
	ck_assert_uint_eq(nr_closed, 3);
	teardown();
}
END_TEST

/* What a clone had to leave out is left out of the whole. */
static enum btsrec_status forget(void *data, unsigned int cpu)
{
	struct view *view = data;

	view->rec->nomem |= cpu == 6;
	return BTSREC_OK;
}

START_TEST(clone_without_memory)
{
	struct cpu_tasks forgets = work;

	forgets.cpu = forget;
	setup();
	btsrec_ck_ok(print(2, false));
	ck_assert(!rec->nomem);
	btsrec_ck_ok(cpu_tasks_print(rec, NULL, 0, false, &forgets, &plan, &sink));
	ck_assert(rec->nomem);
	btsrec_ck_status(session_end(rec, BTSREC_OK), BTSREC_ERR_NOMEM);
	teardown();
}
END_TEST

/* Clones read what the session reads, and what the source refuses is known to it. */
START_TEST(clone_reads)
{
	struct btsrec *clone;
	uint64_t magic;

	setup();
	btsrec_ck_ok(btsrec_open_image(rec, &image));
	btsrec_ck_ok(btsrec_locate(rec, FIX_ROOT_PA, BTSREC_SCAN_NONE));
	rec->no_user = true;
	rec->no_paths = true;
	rec->sysroot = strdup("/sysroot");
	clone = session_clone(rec);
	ck_assert(clone->no_user);
	ck_assert(clone->no_paths);
	ck_assert_ptr_eq(btsrec_root(clone), btsrec_root(rec));
	ck_assert_str_eq(clone->sysroot, "/sysroot");
	btsrec_ck_ok(clone->image.read_pa(clone->image.arg, FIX_ROOT_PA, &magic, sizeof(magic),
					  &(size_t){0}));
	ck_assert_mem_eq(&magic, btsrec_root(rec), sizeof(magic));
	btsrec_free(clone);
	ck_assert_ptr_nonnull(btsrec_root(rec));
	teardown();
}
END_TEST

BTSREC_CK_MAIN("cpu_tasks", in_order, first_is_last, more_than_is_kept, some_of_them, fails,
	       fails_out_of_turn, stops, in_parts, parts_fail, first_lines, parts_stop, alone,
	       alone_with_callbacks, without_memory, one, clone_without_memory, clone_reads)
