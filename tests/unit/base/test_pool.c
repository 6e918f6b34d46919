// SPDX-License-Identifier: GPL-2.0-or-later
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "check_btsrec.h"
#include "failing_alloc.h"

#define NR_TASKS	20
#define LINE_BYTES	16
#define MAX_LINES	100000
#define NOBODY		SIZE_MAX

/* With so much of each task, what may be kept of all is not enough. */
#define TOGETHER	4096
#define LARGE_LINES	((size_t)POOL_MAX_KEPT_BUFFERS / 4 * TOGETHER)

/**
 * struct plan - what the tasks do
 * @nr_lines: of each task, but for @large, LARGE_LINES.
 * @fails: this one does, after its text.
 * @waits: this one, until all others that can be have been begun.
 * @outlasts: this one, until all text has been printed.
 * @has_quiet: those without lines are.
 * @elsewhere: text is not in the buffers of the pool.
 * @nr_allowed: lines; then the sink wants no more.
 */
static struct plan {
	size_t nr_lines;
	size_t fails;
	size_t waits;
	size_t outlasts;
	bool has_quiet;
	bool elsewhere;
	bool large;
	size_t nr_allowed;
	size_t nr_begun;
	bool workers[POOL_MAX_WORKERS];
} plan;

static char *printed;
static size_t nr_printed;

static size_t nr_lines_of(size_t task)
{
	return plan.nr_lines * (task % 3);
}

/* One at a time: a second caller would be a race. */
static bool take(void *arg, const char *text, size_t nr_bytes)
{
	static bool busy;

	(void)arg;
	/* Nor once more when it has said that it wants no more. */
	if (__atomic_exchange_n(&busy, true, __ATOMIC_ACQ_REL) || nr_printed > plan.nr_allowed)
		abort();
	if (!plan.large)
		memcpy(printed + LINE_BYTES * nr_printed, text, nr_bytes);
	__atomic_add_fetch(&nr_printed, nr_bytes / LINE_BYTES, __ATOMIC_ACQ_REL);
	__atomic_store_n(&busy, false, __ATOMIC_RELEASE);
	return nr_printed <= plan.nr_allowed;
}

static const struct btsrec_sink sink = { .write = take };

static void line_of(size_t task, size_t i, char *ret)
{
	snprintf(ret, LINE_BYTES + 1, "%05zu %09zu\n", task % 100000, i % 1000000000);
}

/* So many at a time, in the buffer of the pool. */
#define NR_AT_ONCE	100

static bool print_large(const struct pool_text *to)
{
	bool more = true;

	for (size_t i = 0; i < LARGE_LINES && more; i += TOGETHER)
		more = to->sink.write(to->sink.arg, to->buffer, TOGETHER * LINE_BYTES);
	return more;
}

static bool print(size_t task, const struct pool_text *to)
{
	char elsewhere[NR_AT_ONCE * LINE_BYTES + 1];
	bool more = true;
	size_t nr;

	if (plan.large)
		return print_large(to);
	for (size_t i = 0; i < nr_lines_of(task) && more; i += nr) {
		char *lines = plan.elsewhere || !to->buffer ? elsewhere : to->buffer;

		for (nr = 0; nr < NR_AT_ONCE && i + nr < nr_lines_of(task); nr++)
			line_of(task, i + nr, lines + nr * LINE_BYTES);
		more = to->sink.write(to->sink.arg, lines, nr * LINE_BYTES);
		/* What was there stays, whoever has printed it meanwhile. */
		line_of(task, i, elsewhere);
		if (memcmp(lines, elsewhere, LINE_BYTES) != 0)
			abort();
	}
	return more;
}

static size_t nr_all_lines(void)
{
	size_t nr = 0;

	for (size_t task = 0; task < NR_TASKS; task++)
		nr += nr_lines_of(task);
	return nr;
}

static bool is_quiet(void *arg, size_t task)
{
	if (arg != &plan)
		abort();
	return plan.has_quiet && !nr_lines_of(task);
}

static enum btsrec_status run(void *arg, unsigned int worker, size_t task,
			      const struct pool_text *to)
{
	/* Allocates nothing, unlike an assert. */
	if (arg != &plan)
		abort();
	__atomic_store_n(&plan.workers[worker], true, __ATOMIC_RELAXED);
	__atomic_add_fetch(&plan.nr_begun, 1, __ATOMIC_ACQ_REL);
	while (task == plan.waits && __atomic_load_n(&plan.nr_begun, __ATOMIC_ACQUIRE) < NR_TASKS)
		sched_yield();
	while (task == plan.outlasts &&
	       __atomic_load_n(&nr_printed, __ATOMIC_ACQUIRE) < nr_all_lines())
		sched_yield();
	if (!print(task, to))
		return BTSREC_ERR_STOPPED;
	return task == plan.fails ? BTSREC_ERR_IO : BTSREC_OK;
}

static void setup(void)
{
	plan = (struct plan){ .nr_lines = 700, .fails = NOBODY, .waits = NOBODY,
			      .outlasts = NOBODY, .nr_allowed = NOBODY };
	printed = malloc(MAX_LINES * LINE_BYTES);
	ck_assert_ptr_nonnull(printed);
	nr_printed = 0;
}

static void teardown(void)
{
	free(printed);
}

static enum btsrec_status pool(unsigned int nr_workers, size_t nr_tasks, unsigned int *ret_worker)
{
	const struct pool_work work = {
		.nr_tasks = nr_tasks,
		.nr_workers = nr_workers,
		.run = run,
		.is_quiet = is_quiet,
		.arg = &plan,
	};

	nr_printed = 0;
	plan.nr_begun = 0;
	memset(plan.workers, 0, sizeof(plan.workers));
	return pool_run(&work, &sink, ret_worker);
}

/* All lines of the first @nr_tasks tasks, in order, and none else. */
static void ck_tasks(size_t nr_tasks)
{
	size_t at = 0;

	for (size_t task = 0; task < nr_tasks; task++) {
		for (size_t i = 0; i < nr_lines_of(task); i++, at++) {
			char line[LINE_BYTES + 1];

			line_of(task, i, line);
			if (at >= nr_printed ||
			    memcmp(printed + at * LINE_BYTES, line, LINE_BYTES))
				ck_abort_msg("line %zu of task %zu is not there", i, task);
		}
	}
	ck_assert_uint_eq(nr_printed, at);
}

START_TEST(in_order)
{
	unsigned int worker = 77;

	setup();
	for (unsigned int nr = 1; nr < POOL_MAX_WORKERS + 3; nr++) {
		btsrec_ck_ok(pool(nr, NR_TASKS, &worker));
		ck_tasks(NR_TASKS);
		ck_assert_uint_eq(worker, 77);
	}
	teardown();
}
END_TEST

/* Text that is not kept waits for its turn. */
START_TEST(elsewhere)
{
	unsigned int worker;

	setup();
	plan.elsewhere = true;
	for (unsigned int nr = 1; nr < POOL_MAX_WORKERS; nr++) {
		btsrec_ck_ok(pool(nr, NR_TASKS, &worker));
		ck_tasks(NR_TASKS);
	}
	teardown();
}
END_TEST

/* No worker without a task. */
START_TEST(more_workers_than_tasks)
{
	unsigned int worker;

	setup();
	btsrec_ck_ok(pool(POOL_MAX_WORKERS, 3, &worker));
	ck_tasks(3);
	for (unsigned int i = 3; i < POOL_MAX_WORKERS; i++)
		ck_assert(!plan.workers[i]);
	btsrec_ck_ok(pool(POOL_MAX_WORKERS, 0, &worker));
	ck_tasks(0);
	teardown();
}
END_TEST

/* The others are done before it is their turn. */
START_TEST(the_first_is_last)
{
	unsigned int worker;

	setup();
	plan.waits = 0;
	btsrec_ck_ok(pool(2, NR_TASKS, &worker));
	ck_tasks(NR_TASKS);
	teardown();
}
END_TEST

/* Its turn does not come until it is done, and that is when all others are. */
START_TEST(quiet_tasks_hold_nobody_up)
{
	unsigned int worker;

	setup();
	plan.has_quiet = true;
	for (unsigned int nr = 1; nr < POOL_MAX_WORKERS; nr++) {
		btsrec_ck_ok(pool(nr, NR_TASKS, &worker));
		ck_tasks(NR_TASKS);
	}
	for (plan.outlasts = 0; plan.outlasts < NR_TASKS; plan.outlasts += 3) {
		btsrec_ck_ok(pool(2, NR_TASKS, &worker));
		ck_tasks(NR_TASKS);
	}
	btsrec_ck_ok(pool(2, 1, &worker));
	teardown();
}
END_TEST

/* A worker has to wait for its turn, and it is not the one that has it. */
START_TEST(more_than_is_kept)
{
	unsigned int worker;

	setup();
	plan.large = true;
	btsrec_ck_ok(pool(3, NR_TASKS, &worker));
	ck_assert_uint_eq(nr_printed, NR_TASKS * LARGE_LINES);
	teardown();
}
END_TEST

/* What one worker would have printed is printed, and no more. */
START_TEST(a_task_fails)
{
	unsigned int worker;

	setup();
	plan.fails = 4;
	for (unsigned int nr = 1; nr <= 5; nr++) {
		worker = POOL_MAX_WORKERS;
		btsrec_ck_status(pool(nr, NR_TASKS, &worker), BTSREC_ERR_IO);
		ck_tasks(5);
		ck_assert_uint_lt(worker, nr);
	}
	/* Also if all the others are done before. */
	plan.fails = 0;
	plan.waits = 0;
	btsrec_ck_status(pool(3, NR_TASKS, &worker), BTSREC_ERR_IO);
	ck_tasks(1);
	teardown();
}
END_TEST

START_TEST(the_sink_stops)
{
	unsigned int worker = 77;

	setup();
	for (plan.nr_allowed = 0; plan.nr_allowed < 10000; plan.nr_allowed += 999) {
		btsrec_ck_status(pool(3, NR_TASKS, &worker), BTSREC_ERR_STOPPED);
		ck_assert_uint_gt(nr_printed, plan.nr_allowed);
		ck_assert_uint_eq(worker, 77);
	}
	teardown();
}
END_TEST

/* Without memory for what is kept, tasks wait for their turn. */
START_TEST(out_of_memory)
{
	unsigned int worker;

	setup();
	failing_alloc_arm(1);
	btsrec_ck_status(pool(3, NR_TASKS, &worker), BTSREC_ERR_NOMEM);
	ck_assert(failing_alloc_disarm());
	ck_assert_uint_eq(nr_printed, 0);
	ck_assert_uint_eq(plan.nr_begun, 0);
	for (unsigned int nth = 2; nth < 12; nth++) {
		enum btsrec_status status;

		failing_alloc_arm(nth);
		status = pool(3, NR_TASKS, &worker);
		(void)failing_alloc_disarm();
		btsrec_ck_ok(status);
		ck_tasks(NR_TASKS);
	}
	teardown();
}
END_TEST

static void *signals(void *arg)
{
	pthread_sigmask(SIG_SETMASK, NULL, arg);
	return arg;
}

START_TEST(threads_get_no_signals)
{
	sigset_t before, after, of_thread;
	pthread_t thread;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	ck_assert(pool_thread(&thread, signals, &of_thread));
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(sigismember(&of_thread, SIGINT), 1);
	ck_assert_int_eq(sigismember(&of_thread, SIGTERM), 1);
	ck_assert_int_eq(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
}
END_TEST

BTSREC_CK_MAIN("pool", in_order, elsewhere, more_workers_than_tasks, the_first_is_last,
	       quiet_tasks_hold_nobody_up, more_than_is_kept, a_task_fails, the_sink_stops, out_of_memory, threads_get_no_signals)
