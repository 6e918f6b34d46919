// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/pool.h"

#include <signal.h>
#include <stdlib.h>

/** struct chunk - a buffer; if it waits for a turn, with @nr_bytes of text */
struct chunk {
	struct chunk *next;
	size_t nr_bytes;
	char bytes[POOL_BUFFER_BYTES];
};

/**
 * struct task - one of them, in their order
 * @worker: the worker that does it; valid if @done.
 * @kept, @last: what waits, oldest first; the worker's until the task is @done.
 */
struct task {
	bool done;
	enum btsrec_status status;
	unsigned int worker;
	struct chunk *kept;
	struct chunk *last;
};

/** struct worker - @task: that it does now; @text: of this, in @chunk */
struct worker {
	struct pool *pool;
	unsigned int number;
	struct task *task;
	struct pool_text text;
	struct chunk *chunk;
	pthread_t thread;
	bool started;
};

/**
 * struct pool - tasks on their way
 * @lock: of what follows up to @failed.
 * @turned: @turn has moved, or @ended.
 * @nr_taken: of @tasks, by a worker.
 * @turn: whose text may go to the sink; written by the worker whose task it is.
 * @nr_kept: chunks that wait.
 * @spare: those that have been used, the last one first: it is still in the cache.
 * @ended: nothing more is done.
 * @stopped: because the sink said so.
 * @failed: NULL, or the first task that did.
 */
struct pool {
	const struct pool_work *work;
	const struct btsrec_sink *sink;
	pthread_mutex_t lock;
	pthread_cond_t turned;
	size_t nr_taken;
	size_t turn;
	size_t nr_kept;
	struct chunk *spare;
	bool ended;
	bool stopped;
	const struct task *failed;
	struct worker workers[POOL_MAX_WORKERS];
	struct task tasks[];
};

/* --- Text --------------------------------------------------------------- */

static bool has_turn(const struct pool *pool, const struct task *task)
{
	return pool->turn == (size_t)(task - pool->tasks);
}

static void end(struct pool *pool)
{
	pool->ended = true;
	pthread_cond_broadcast(&pool->turned);
}

static void stop(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->stopped = true;
	end(pool);
	pthread_mutex_unlock(&pool->lock);
}

/* The oldest text of @task that waits goes; @wanted: to the sink. */
static bool drop_chunk(struct pool *pool, struct task *task, bool wanted)
{
	struct chunk *chunk = task->kept;

	task->kept = chunk->next;
	wanted = wanted && pool->sink->write(pool->sink->arg, chunk->bytes, chunk->nr_bytes);
	pthread_mutex_lock(&pool->lock);
	pool->nr_kept--;
	chunk->next = pool->spare;
	pool->spare = chunk;
	pthread_mutex_unlock(&pool->lock);
	return wanted;
}

/* What @task, whose turn it is, has said before. */
static bool write_kept(struct pool *pool, struct task *task)
{
	bool wanted = true;

	while (task->kept)
		wanted = drop_chunk(pool, task, wanted);
	return wanted;
}

/* Another buffer for @worker; false: out of memory. */
static bool take_chunk(struct worker *worker)
{
	struct pool *pool = worker->pool;
	struct chunk *chunk;

	pthread_mutex_lock(&pool->lock);
	chunk = pool->spare;
	if (chunk)
		pool->spare = chunk->next;
	pthread_mutex_unlock(&pool->lock);
	if (!chunk)
		chunk = malloc(sizeof(*chunk));
	if (!chunk)
		return false;
	worker->chunk = chunk;
	worker->text.buffer = chunk->bytes;
	return true;
}

static bool reserve(struct pool *pool)
{
	bool has_room;

	pthread_mutex_lock(&pool->lock);
	has_room = pool->nr_kept < POOL_MAX_KEPT_BUFFERS;
	pool->nr_kept += has_room;
	pthread_mutex_unlock(&pool->lock);
	return has_room;
}

static void release(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->nr_kept--;
	pthread_mutex_unlock(&pool->lock);
}

/* False: there is no room, and it has to wait for its turn. */
static bool keep(struct worker *worker, const char *text, size_t nr_bytes)
{
	struct chunk *chunk = worker->chunk;
	struct task *task = worker->task;

	if (!chunk || text != chunk->bytes || !reserve(worker->pool))
		return false;
	if (!take_chunk(worker)) {
		release(worker->pool);
		return false;
	}
	chunk->next = NULL;
	chunk->nr_bytes = nr_bytes;
	if (task->kept)
		task->last->next = chunk;
	else
		task->kept = chunk;
	task->last = chunk;
	return true;
}

/* False: it never comes. */
static bool wait_for_turn(struct pool *pool, const struct task *task)
{
	bool ended;

	pthread_mutex_lock(&pool->lock);
	while (!pool->ended && !has_turn(pool, task))
		pthread_cond_wait(&pool->turned, &pool->lock);
	ended = pool->ended;
	pthread_mutex_unlock(&pool->lock);
	return !ended;
}

static bool write_now(struct pool *pool, struct task *task, const char *text, size_t nr_bytes)
{
	if (write_kept(pool, task) && pool->sink->write(pool->sink->arg, text, nr_bytes))
		return true;
	stop(pool);
	return false;
}

static bool write_text(void *arg, const char *text, size_t nr_bytes)
{
	struct worker *worker = arg;
	struct pool *pool = worker->pool;
	struct task *task = worker->task;
	bool ended, now;

	pthread_mutex_lock(&pool->lock);
	ended = pool->ended;
	now = has_turn(pool, task);
	pthread_mutex_unlock(&pool->lock);
	if (ended)
		return false;
	if (!now && keep(worker, text, nr_bytes))
		return true;
	return (now || wait_for_turn(pool, task)) && write_now(pool, task, text, nr_bytes);
}

/* --- Tasks -------------------------------------------------------------- */

static bool is_quiet(const struct pool *pool, size_t task)
{
	const struct pool_work *work = pool->work;

	return work->is_quiet && work->is_quiet(work->arg, task);
}

/* Nothing more comes of it; the turn of a quiet one is over when that of the one before is. */
static bool is_over(const struct pool *pool, size_t task)
{
	return pool->tasks[task].done || is_quiet(pool, task);
}

/* The turn of @task, which is_over(), ends: does that of the next one as well? */
static bool pass_turn(struct pool *pool, struct task *task)
{
	bool more;

	if (!write_kept(pool, task))
		stop(pool);
	pthread_mutex_lock(&pool->lock);
	if (task->status && !pool->ended) {
		pool->failed = task;
		end(pool);
	}
	pool->turn++;
	pthread_cond_broadcast(&pool->turned);
	more = !pool->ended && pool->turn < pool->work->nr_tasks && is_over(pool, pool->turn);
	pthread_mutex_unlock(&pool->lock);
	return more;
}

static void finish(struct pool *pool, struct task *task, unsigned int worker,
		   enum btsrec_status status)
{
	bool more;

	pthread_mutex_lock(&pool->lock);
	task->status = status;
	task->worker = worker;
	task->done = true;
	more = !pool->ended && has_turn(pool, task) &&
	       !is_quiet(pool, (size_t)(task - pool->tasks));
	pthread_mutex_unlock(&pool->lock);
	for (; more; task++)
		more = pass_turn(pool, task);
}

static struct task *take_task(struct pool *pool)
{
	struct task *task = NULL;

	pthread_mutex_lock(&pool->lock);
	if (!pool->ended && pool->nr_taken < pool->work->nr_tasks)
		task = &pool->tasks[pool->nr_taken++];
	pthread_mutex_unlock(&pool->lock);
	return task;
}

/* A worker whose task has failed takes no more: what it knows of the failure stays. */
static void *work(void *arg)
{
	struct worker *worker = arg;
	struct pool *pool = worker->pool;
	enum btsrec_status status = BTSREC_OK;

	while (!status && (worker->task = take_task(pool)) != NULL) {
		status = pool->work->run(pool->work->arg, worker->number,
					 (size_t)(worker->task - pool->tasks), &worker->text);
		finish(pool, worker->task, worker->number, status);
	}
	return NULL;
}

/* --- The pool ----------------------------------------------------------- */

bool pool_thread(pthread_t *ret, void *(*fn)(void *arg), void *arg)
{
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = !pthread_create(ret, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

static void work_together(struct pool *pool)
{
	unsigned int nr = pool->work->nr_workers;

	while (pool->turn < pool->work->nr_tasks && is_quiet(pool, pool->turn))
		pool->turn++;
	if (nr > POOL_MAX_WORKERS)
		nr = POOL_MAX_WORKERS;
	for (unsigned int i = 0; i < nr && (!i || i < pool->work->nr_tasks); i++) {
		struct worker *worker = &pool->workers[i];

		worker->pool = pool;
		worker->number = i;
		worker->text.sink = (struct btsrec_sink){ .write = write_text, .arg = worker };
		if (pool->sink)
			(void)take_chunk(worker);
		worker->started = i && pool_thread(&worker->thread, work, worker);
	}
	work(&pool->workers[0]);
	for (unsigned int i = 0; i < nr; i++) {
		if (pool->workers[i].started)
			pthread_join(pool->workers[i].thread, NULL);
		free(pool->workers[i].chunk);
	}
}

static enum btsrec_status outcome(const struct pool *pool, unsigned int *ret_worker)
{
	if (!pool->failed)
		return pool->stopped ? BTSREC_ERR_STOPPED : BTSREC_OK;
	*ret_worker = pool->failed->worker;
	return pool->failed->status;
}

enum btsrec_status pool_run(const struct pool_work *work, const struct btsrec_sink *sink,
			    unsigned int *ret_worker)
{
	struct pool *pool = calloc(1, sizeof(*pool) + work->nr_tasks * sizeof(pool->tasks[0]));
	enum btsrec_status status;

	if (!pool)
		return BTSREC_ERR_NOMEM;
	pool->work = work;
	pool->sink = sink;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->turned, NULL);
	work_together(pool);
	status = outcome(pool, ret_worker);
	for (size_t i = 0; i < work->nr_tasks; i++)
		while (pool->tasks[i].kept)
			(void)drop_chunk(pool, &pool->tasks[i], false);
	for (struct chunk *next; pool->spare; pool->spare = next) {
		next = pool->spare->next;
		free(pool->spare);
	}
	pthread_cond_destroy(&pool->turned);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
	return status;
}
