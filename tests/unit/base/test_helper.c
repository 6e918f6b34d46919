// SPDX-License-Identifier: GPL-2.0-or-later
#include <semaphore.h>
#include <signal.h>

#include "check_btsrec.h"
#include "base/helper.h"

/** struct seen - what a thread finds once helper_start() has returned, after @started */
struct seen {
	sem_t started;
	cpu_set_t cpus;
	sigset_t blocked;
};

static void *look(void *arg)
{
	struct seen *seen = arg;

	sem_wait(&seen->started);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(seen->cpus), &seen->cpus), 0);
	pthread_sigmask(SIG_SETMASK, NULL, &seen->blocked);
	return seen;
}

static struct seen start(void)
{
	struct seen seen = { 0 };
	pthread_t thread;
	void *ret;

	ck_assert_int_eq(sem_init(&seen.started, 0, 0), 0);
	ck_assert(helper_start(&thread, look, &seen));
	sem_post(&seen.started);
	ck_assert_int_eq(pthread_join(thread, &ret), 0);
	ck_assert_ptr_eq(ret, &seen);
	sem_destroy(&seen.started);
	return seen;
}

/* Wherever it has begun, it may go where the caller may. */
START_TEST(on_all_processors)
{
	struct seen seen = start();
	cpu_set_t cpus;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	ck_assert(CPU_EQUAL(&seen.cpus, &cpus));
}
END_TEST

START_TEST(on_the_only_processor)
{
	cpu_set_t cpus, before;
	struct seen seen;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	seen = start();
	ck_assert(CPU_EQUAL(&seen.cpus, &cpus));
	ck_assert_int_eq(sched_setaffinity(0, sizeof(before), &before), 0);
}
END_TEST

START_TEST(elsewhere)
{
	cpu_set_t allowed, other;

	CPU_ZERO(&allowed);
	CPU_SET(1, &allowed);
	CPU_SET(5, &allowed);
	ck_assert(helper_elsewhere(&allowed, 1, &other));
	ck_assert_int_eq(CPU_COUNT(&other), 1);
	ck_assert(CPU_ISSET(5, &other));
	/* It has moved where it may not be; or nobody knows where it is. */
	ck_assert(helper_elsewhere(&allowed, 2, &other));
	ck_assert(CPU_EQUAL(&other, &allowed));
	ck_assert(!helper_elsewhere(&allowed, -1, &other));
	ck_assert(!helper_elsewhere(&allowed, CPU_SETSIZE, &other));
	CPU_CLR(5, &allowed);
	ck_assert(!helper_elsewhere(&allowed, 1, &other));
}
END_TEST

START_TEST(without_signals)
{
	struct seen seen;
	sigset_t before, after;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	seen = start();
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int signal = 1; signal < SIGRTMIN; signal++)
		ck_assert_int_eq(sigismember(&after, signal), sigismember(&before, signal));
	ck_assert(sigismember(&seen.blocked, SIGINT));
	ck_assert(sigismember(&seen.blocked, SIGTERM));
}
END_TEST

BTSREC_CK_MAIN("helper", on_all_processors, on_the_only_processor, elsewhere, without_signals)
