// SPDX-License-Identifier: GPL-2.0-or-later
/* What all threads of the press do. */
#include "render/press_workers.h"

#include <sched.h>
#include <time.h>

#include "base/populate.h"

/* To be woken takes some 50 us; what is waited for is often there sooner. */
#define MOMENT_NS	30000

static struct batch *batch_at(struct press *press, uint64_t number)
{
	return press->order[number % press->nr_batches];
}

/* The batch whose turn it is to be written, if there is nothing to be added to it. */
static struct batch *due_batch(struct press *press)
{
	struct batch *batch;

	if (press->writing || press->nr_written == press->nr_filled)
		return NULL;
	batch = batch_at(press, press->nr_written);
	return batch->state == BATCH_DONE ? batch : NULL;
}

/* --- Sleep -------------------------------------------------------------- */

void press_wake(struct press *press, unsigned int thread)
{
	struct worker *worker;

	if (thread > press->nr_helpers)
		return;
	worker = &press->workers[thread];
	worker->idle = false;
	__atomic_store_n(&worker->nr_wakes, worker->nr_wakes + 1, __ATOMIC_RELAXED);
	pthread_cond_signal(&worker->woken);
}

void press_wake_any(struct press *press)
{
	for (unsigned int number = 1; number <= press->nr_helpers; number++) {
		if (!press->workers[number].idle)
			continue;
		press_wake(press, number);
		return;
	}
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * With a processor for each thread, nobody else is let in: two threads that wait for each
 * other on the same one would stay there, while who is woken gets one that is free.
 */
static void pause_briefly(bool has_processors)
{
	if (!has_processors)
		sched_yield();
#ifdef __SSE2__
	else
		_mm_pause();
#endif
}

static void wait_a_moment(const struct press *press, const struct worker *worker,
			  unsigned int nr_wakes)
{
	uint64_t end_ns = now_ns() + MOMENT_NS;

	while (__atomic_load_n(&worker->nr_wakes, __ATOMIC_RELAXED) == nr_wakes &&
	       now_ns() < end_ns)
		pause_briefly(press->has_processors);
}

void press_sleep(struct press *press, unsigned int thread)
{
	struct worker *worker = &press->workers[thread];
	unsigned int nr_wakes = worker->nr_wakes;

	pthread_mutex_unlock(&press->lock);
	wait_a_moment(press, worker, nr_wakes);
	pthread_mutex_lock(&press->lock);
	if (worker->nr_wakes == nr_wakes)
		pthread_cond_wait(&worker->woken, &press->lock);
}

void press_take_session(struct press *press)
{
	uint64_t end_ns;

	if (!pthread_mutex_trylock(&press->session))
		return;
	end_ns = now_ns() + MOMENT_NS;
	while (now_ns() < end_ns) {
		pause_briefly(press->has_processors);
		if (!pthread_mutex_trylock(&press->session))
			return;
	}
	pthread_mutex_lock(&press->session);
}

/* --- Writing ------------------------------------------------------------ */

bool press_write_pages(struct press *press, const char *text, size_t nr_bytes)
{
	size_t nr_rest = nr_bytes % OUT_PAGE_BYTES;

	memcpy(press->page, text + nr_bytes - nr_rest, nr_rest);
	press->page_bytes = nr_rest;
	nr_bytes -= nr_rest;
	return !nr_bytes || press->sink.write(press->sink.arg, text, nr_bytes);
}

/* Behind what waits, which has no room in front of @text. */
static bool write_behind(struct press *press, const char *text, size_t nr_bytes)
{
	size_t nr_fill = OUT_PAGE_BYTES - press->page_bytes;

	if (nr_fill > nr_bytes)
		nr_fill = nr_bytes;
	memcpy(press->page + press->page_bytes, text, nr_fill);
	press->page_bytes += nr_fill;
	if (press->page_bytes < OUT_PAGE_BYTES)
		return true;
	return press->sink.write(press->sink.arg, press->page, OUT_PAGE_BYTES) &&
	       press_write_pages(press, text + nr_fill, nr_bytes - nr_fill);
}

static bool write_batch(struct batch *batch, char *text, size_t nr_bytes)
{
	struct press *press = batch->press;

	if (!batch->fresh)
		return write_behind(press, text, nr_bytes);
	batch->fresh = false;
	text += OUT_PAGE_BYTES - press->page_bytes;
	memcpy(text, press->page, press->page_bytes);
	return press_write_pages(press, text, nr_bytes - OUT_PAGE_BYTES + press->page_bytes);
}

/* Whose turn it is now may have waited for that. */
static void wrote(struct press *press, unsigned int thread)
{
	const struct batch *next;

	press->nr_written++;
	if (press->nr_written == press->turn_at)
		press_wake(press, 0);
	if (press->nr_written == press->nr_filled)
		return;
	next = batch_at(press, press->nr_written);
	if (next->thread != thread && next->state != BATCH_WAITING)
		press_wake(press, next->thread);
}

bool press_write_own(struct press *press, unsigned int thread)
{
	struct batch *batch = due_batch(press);

	if (!batch || batch->thread != thread)
		return false;
	press->writing = true;
	batch->due = true;
	pthread_mutex_unlock(&press->lock);
	(void)out_flush(&batch->out);
	pthread_mutex_lock(&press->lock);
	batch->state = BATCH_FREE;
	press->writing = false;
	wrote(press, thread);
	return true;
}

/* False: the press ends before. */
static bool wait_until_due(struct press *press, struct batch *batch)
{
	pthread_mutex_lock(&press->lock);
	while (press->nr_written != batch->number && !press->ended)
		if (!press_write_own(press, batch->thread))
			press_sleep(press, batch->thread);
	batch->due = !press->ended;
	pthread_mutex_unlock(&press->lock);
	return batch->due;
}

bool press_write_in_turn(void *arg, const char *text, size_t nr_bytes)
{
	struct batch *batch = arg;
	struct press *press = batch->press;

	if (!batch->due && !wait_until_due(press, batch))
		return false;
	/* Nobody else's turn comes before this batch is written; the text is in its buffer. */
	if (!press_is_over(press) &&
	    write_batch(batch, batch->out.buf + (text - batch->out.buf), nr_bytes))
		return true;
	__atomic_store_n(&press->stopped, true, __ATOMIC_RELAXED);
	return false;
}

/* --- Work --------------------------------------------------------------- */

static bool print_batch(struct press *press, struct batch *batch, unsigned int thread)
{
	if (!batch->populated)
		populate(batch->out.buf, OUT_PAGE_BYTES + OUT_WRITE_BYTES);
	batch->populated = true;
	for (size_t i = 0; i < batch->nr_runs; i++)
		if (!press->print.print(press->print.arg, thread, &batch->out, &batch->runs[i]))
			return false;
	return true;
}

/* The oldest batch that waits for @thread, or NULL. */
static struct batch *waiting_batch(struct press *press, unsigned int thread)
{
	for (uint64_t number = press->nr_written; number < press->nr_filled; number++) {
		struct batch *batch = batch_at(press, number);

		if (batch->state == BATCH_WAITING &&
		    (batch->thread == thread || batch->thread == ANY_THREAD))
			return batch;
	}
	return NULL;
}

bool press_print_once(struct press *press, unsigned int thread)
{
	struct batch *batch = waiting_batch(press, thread);

	if (!batch)
		return false;
	batch->state = BATCH_IN_WORK;
	batch->thread = thread;
	pthread_mutex_unlock(&press->lock);
	if (!press_failed(press) && !print_batch(press, batch, thread))
		__atomic_store_n(&press->failed, true, __ATOMIC_RELAXED);
	pthread_mutex_lock(&press->lock);
	batch->state = BATCH_DONE;
	if (batch->window)
		ahead_drop(batch->window);
	return true;
}

bool press_read_once(struct press *press, unsigned int thread)
{
	struct ahead_window *window = ahead_claim(&press->ahead, thread);
	enum ahead_state state;

	if (!window)
		return false;
	pthread_mutex_unlock(&press->lock);
	state = ahead_read(window);
	pthread_mutex_lock(&press->lock);
	window->state = state;
	if (thread)
		press_wake(press, 0);
	return true;
}

void *press_help(void *arg)
{
	struct worker *worker = arg;
	struct press *press = worker->press;

	pthread_mutex_lock(&press->lock);
	while (!press->ended) {
		worker->idle = !press_write_own(press, worker->number) &&
			       !press_read_once(press, worker->number) &&
			       !press_print_once(press, worker->number);
		if (worker->idle)
			press_sleep(press, worker->number);
	}
	pthread_mutex_unlock(&press->lock);
	return NULL;
}
