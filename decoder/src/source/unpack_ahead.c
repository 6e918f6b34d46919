// SPDX-License-Identifier: GPL-2.0-or-later
/*
 *      nr_gone         nr_begun        nr_expected
 *         v               v               v
 *   ... gone | in work, done | waiting    | free ...
 *
 * Pages are begun in the order in which they are expected, by the threads and by whoever wants
 * a page that is not done; so they mostly are done in this order.
 */
#include "source/unpack_ahead.h"

#include <stdlib.h>
#include <string.h>

#include "base/helper.h"

/** enum job_state - of a page that is expected */
enum job_state {
	JOB_WAITING,
	JOB_IN_WORK,
	JOB_DONE,
};

/* Of a page that somebody has taken, or nobody wants any more. */
#define NO_NUMBER UINT64_MAX

/** struct job - a page; @status: of unpack_page(), once it is done */
struct job {
	struct unpack_page page;
	enum job_state state;
	enum btsrec_status status;
	uint8_t bytes[BTSREC_PAGE_BYTES];
};

/**
 * struct unpack_ahead - see above; what is not constant is under @lock
 * @nr_threads: wanted, without the owner; @nr_started: of them, in @threads.
 * @own: of the owner's thread.
 * @numbers: of the pages of @jobs, or NO_NUMBER; only the owner's.
 * @work: signalled when pages wait, or at the end; @done: when one is done.
 */
struct unpack_ahead {
	const struct mkdump_file *flat;
	unsigned int nr_threads;
	unsigned int nr_started;
	pthread_t threads[UNPACK_AHEAD_MAX_THREADS];
	struct unpack own;
	pthread_mutex_t lock;
	pthread_cond_t work;
	pthread_cond_t done;
	bool ended;
	uint64_t nr_gone;
	uint64_t nr_begun;
	uint64_t nr_expected;
	uint64_t numbers[UNPACK_AHEAD_MAX];
	struct job jobs[UNPACK_AHEAD_MAX];
};

static struct job *job_at(struct unpack_ahead *ahead, uint64_t i)
{
	return &ahead->jobs[i % UNPACK_AHEAD_MAX];
}

/* --- Work --------------------------------------------------------------- */

/* The oldest page that waits; locked. */
static void work_once(struct unpack_ahead *ahead, struct unpack *unpack)
{
	struct job *job = job_at(ahead, ahead->nr_begun++);
	enum btsrec_status status;

	job->state = JOB_IN_WORK;
	pthread_mutex_unlock(&ahead->lock);
	status = unpack_page(unpack, ahead->flat, &job->page, job->bytes);
	pthread_mutex_lock(&ahead->lock);
	job->status = status;
	job->state = JOB_DONE;
	pthread_cond_signal(&ahead->done);
}

static void *work(void *arg)
{
	struct unpack_ahead *ahead = arg;
	struct unpack unpack = { 0 };

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->ended) {
		if (ahead->nr_begun < ahead->nr_expected)
			work_once(ahead, &unpack);
		else
			pthread_cond_wait(&ahead->work, &ahead->lock);
	}
	pthread_mutex_unlock(&ahead->lock);
	unpack_fini(&unpack);
	return NULL;
}

void unpack_ahead_help(struct unpack_ahead *ahead, struct unpack *unpack)
{
	pthread_mutex_lock(&ahead->lock);
	while (ahead->nr_begun < ahead->nr_expected)
		work_once(ahead, unpack);
	pthread_mutex_unlock(&ahead->lock);
}

/* --- The owner ---------------------------------------------------------- */

/* Until nobody works on @job; meanwhile on what waits, that is, on @job if it does; locked. */
static void finish(struct unpack_ahead *ahead, const struct job *job)
{
	while (job->state != JOB_DONE) {
		if (ahead->nr_begun < ahead->nr_expected)
			work_once(ahead, &ahead->own);
		else
			pthread_cond_wait(&ahead->done, &ahead->lock);
	}
}

static uint64_t *number_at(struct unpack_ahead *ahead, uint64_t i)
{
	return &ahead->numbers[i % UNPACK_AHEAD_MAX];
}

/* Page @i of those that are expected is not wanted any more; locked. */
static void forget(struct unpack_ahead *ahead, uint64_t i)
{
	*number_at(ahead, i) = NO_NUMBER;
	while (ahead->nr_gone < ahead->nr_begun && *number_at(ahead, ahead->nr_gone) == NO_NUMBER)
		ahead->nr_gone++;
}

/* Which of those that are expected; or false. */
static bool find(struct unpack_ahead *ahead, uint64_t number, uint64_t *ret)
{
	for (uint64_t i = ahead->nr_gone; i < ahead->nr_expected; i++) {
		if (*number_at(ahead, i) != number)
			continue;
		*ret = i;
		return true;
	}
	return false;
}

bool unpack_ahead_expects(struct unpack_ahead *ahead, uint64_t number)
{
	uint64_t i;

	return find(ahead, number, &i);
}

void unpack_ahead_expect(struct unpack_ahead *ahead, uint64_t number,
			 const struct unpack_page *page)
{
	struct job *job;

	pthread_mutex_lock(&ahead->lock);
	if (ahead->nr_expected - ahead->nr_gone == UNPACK_AHEAD_MAX) {
		finish(ahead, job_at(ahead, ahead->nr_gone));
		forget(ahead, ahead->nr_gone);
	}
	*number_at(ahead, ahead->nr_expected) = number;
	job = job_at(ahead, ahead->nr_expected++);
	job->page = *page;
	job->state = JOB_WAITING;
	pthread_mutex_unlock(&ahead->lock);
}

void unpack_ahead_start(struct unpack_ahead *ahead)
{
	while (ahead->nr_started < ahead->nr_threads &&
	       helper_start(&ahead->threads[ahead->nr_started], work, ahead))
		ahead->nr_started++;
	ahead->nr_threads = ahead->nr_started;
	pthread_cond_broadcast(&ahead->work);
}

bool unpack_ahead_take(struct unpack_ahead *ahead, uint64_t number, uint8_t *ret,
		       enum btsrec_status *ret_status)
{
	const struct job *job;
	uint64_t i;

	if (!find(ahead, number, &i))
		return false;
	job = job_at(ahead, i);
	pthread_mutex_lock(&ahead->lock);
	finish(ahead, job);
	*ret_status = job->status;
	pthread_mutex_unlock(&ahead->lock);
	/* Its place is not used again before it is forgotten. */
	if (!*ret_status)
		memcpy(ret, job->bytes, sizeof(job->bytes));
	pthread_mutex_lock(&ahead->lock);
	forget(ahead, i);
	pthread_mutex_unlock(&ahead->lock);
	return true;
}

/* --- Life --------------------------------------------------------------- */

struct unpack_ahead *unpack_ahead_new(const struct mkdump_file *flat, unsigned int nr_threads)
{
	struct unpack_ahead *ahead = nr_threads > 1 ? calloc(1, sizeof(*ahead)) : NULL;

	if (!ahead)
		return NULL;
	ahead->flat = flat;
	ahead->nr_threads = nr_threads - 1 < UNPACK_AHEAD_MAX_THREADS ? nr_threads - 1 :
								       UNPACK_AHEAD_MAX_THREADS;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->work, NULL);
	pthread_cond_init(&ahead->done, NULL);
	return ahead;
}

void unpack_ahead_free(struct unpack_ahead *ahead)
{
	if (!ahead)
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->ended = true;
	pthread_cond_broadcast(&ahead->work);
	pthread_mutex_unlock(&ahead->lock);
	for (unsigned int i = 0; i < ahead->nr_started; i++)
		pthread_join(ahead->threads[i], NULL);
	pthread_cond_destroy(&ahead->work);
	pthread_cond_destroy(&ahead->done);
	pthread_mutex_destroy(&ahead->lock);
	unpack_fini(&ahead->own);
	free(ahead);
}
