// SPDX-License-Identifier: GPL-2.0-or-later
/*
 *           nr_written       nr_taken       nr_filled
 *               v               v               v
 *   ... written | in work, done | waiting       | being filled | free ...
 *
 * Batches are numbered, and taken and written in this order.  A batch whose text does
 * not fit into its buffer waits for its turn and writes what it has.  The oldest batch in
 * work never waits, so there always is one that goes on.
 *
 * Of one thread there is one batch, which writes when its buffer is full.
 */
#include "press.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

/* Some 100 bytes each are OUT_BUFFER_BYTES. */
#define BATCH_BRANCHES	512
#define BATCHES_EACH	8	/* per thread */
/* So many lines are told sooner than a thread has started. */
#define MIN_BATCHES	16

/**
 * struct batch - lines in a row
 * @sink: of @out: to the press's, in turn.
 * @out: text that comes before the branches, then all of it.
 * @done: nothing is to be added to @out.
 */
struct batch {
	struct press *press;
	struct btsrec_sink sink;
	uint64_t number;
	bool done;
	unsigned int cpu;
	size_t nr_branches;
	struct press_branch branches[BATCH_BRANCHES];
	struct out out;
};

/**
 * struct press - see above; what is not constant is under @lock
 * @text: see press_sink().
 * @nr_threads: wanted, with the owner; @nr_started: without it, in @threads.
 * @batches: @nr_batches of them; number i is at i % @nr_batches.
 * @work: signalled when a batch is filled, or at the end; @turn: when one was written.
 * @writing: somebody is in the sink.
 */
struct press {
	struct btsrec_sink sink;
	struct btsrec_sink text;
	press_lines_fn lines;
	unsigned int nr_threads;
	unsigned int nr_started;
	pthread_t threads[PRESS_MAX_THREADS];
	size_t nr_batches;
	struct batch *batches;
	pthread_mutex_t lock;
	pthread_cond_t work;
	pthread_cond_t turn;
	uint64_t nr_filled;
	uint64_t nr_taken;
	uint64_t nr_written;
	bool ended;
	bool stopped;
};

static struct batch *batch_at(struct press *press, uint64_t number)
{
	return &press->batches[number % press->nr_batches];
}

/* --- Writing ------------------------------------------------------------ */

/* The sink of a batch: to that of the press when all batches before are written. */
static bool write_in_turn(void *arg, const char *text, size_t nr_bytes)
{
	struct batch *batch = arg;
	struct press *press = batch->press;
	bool stopped;

	pthread_mutex_lock(&press->lock);
	while (press->nr_written != batch->number)
		pthread_cond_wait(&press->turn, &press->lock);
	stopped = press->stopped;
	pthread_mutex_unlock(&press->lock);
	/* Nobody else's turn comes before this batch is written. */
	stopped = stopped || !press->sink.write(press->sink.arg, text, nr_bytes);
	if (!stopped)
		return true;
	pthread_mutex_lock(&press->lock);
	press->stopped = true;
	pthread_mutex_unlock(&press->lock);
	return false;
}

static bool is_alone(const struct press *press)
{
	return press->nr_batches == 1;
}

/* @batch is complete: write it and all that waited for it; locked. */
static void write_done(struct press *press, struct batch *batch)
{
	if (is_alone(press)) {
		press->nr_written++;
		return;
	}
	batch->done = true;
	if (batch->number != press->nr_written)
		return;
	while (batch->done && batch->number == press->nr_written) {
		pthread_mutex_unlock(&press->lock);
		(void)out_flush(&batch->out);
		pthread_mutex_lock(&press->lock);
		batch->done = false;
		press->nr_written++;
		pthread_cond_broadcast(&press->turn);
		batch = batch_at(press, press->nr_written);
	}
}

/* --- Work --------------------------------------------------------------- */

/* Turn the oldest batch that waits into text; locked. */
static void work_once(struct press *press)
{
	struct batch *batch = batch_at(press, press->nr_taken++);

	pthread_mutex_unlock(&press->lock);
	if (batch->nr_branches)
		press->lines(&batch->out, batch->cpu, batch->branches, batch->nr_branches);
	pthread_mutex_lock(&press->lock);
	write_done(press, batch);
}

static void *work(void *arg)
{
	struct press *press = arg;

	pthread_mutex_lock(&press->lock);
	while (!press->ended) {
		if (press->nr_taken < press->nr_filled)
			work_once(press);
		else
			pthread_cond_wait(&press->work, &press->lock);
	}
	pthread_mutex_unlock(&press->lock);
	return NULL;
}

/* Signals are the business of the program's own threads. */
static void start_threads(struct press *press)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (press->nr_started + 1 < press->nr_threads &&
	       !pthread_create(&press->threads[press->nr_started], NULL, work, press))
		press->nr_started++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	press->nr_threads = press->nr_started + 1;
}

/* --- The owner ---------------------------------------------------------- */

/* Until at most @nr batches are not written; the owner works as well; locked. */
static void wait_for_room(struct press *press, uint64_t nr)
{
	while (press->nr_filled - press->nr_written > nr) {
		if (press->nr_taken < press->nr_filled)
			work_once(press);
		else
			pthread_cond_wait(&press->turn, &press->lock);
	}
}

static struct batch *current_batch(struct press *press)
{
	return batch_at(press, press->nr_filled);
}

static void begin_batch(struct press *press)
{
	struct batch *batch = current_batch(press);

	batch->number = press->nr_filled;
	batch->nr_branches = 0;
	if (is_alone(press))
		return;
	out_init(&batch->out, &batch->sink);
	batch->out.stopped = press->stopped;
}

/* The batch that is being filled may go; the next one is begun. */
static void hand_over(struct press *press)
{
	if (press->nr_filled >= MIN_BATCHES && press->nr_started + 1 < press->nr_threads)
		start_threads(press);
	pthread_mutex_lock(&press->lock);
	press->nr_filled++;
	if (press->nr_started)
		pthread_cond_signal(&press->work);
	wait_for_room(press, press->nr_started ? press->nr_batches - 1 : 0);
	begin_batch(press);
	pthread_mutex_unlock(&press->lock);
}

struct press_branch *press_room(struct press *press, unsigned int cpu, size_t *ret_nr)
{
	struct batch *batch = current_batch(press);

	if (batch->nr_branches == BATCH_BRANCHES ||
	    (batch->nr_branches && batch->cpu != cpu)) {
		hand_over(press);
		batch = current_batch(press);
	}
	batch->cpu = cpu;
	*ret_nr = BATCH_BRANCHES - batch->nr_branches;
	return &batch->branches[batch->nr_branches];
}

void press_filled(struct press *press, size_t nr)
{
	current_batch(press)->nr_branches += nr;
}

static bool take_text(void *arg, const char *text, size_t nr_bytes)
{
	struct press *press = arg;
	struct batch *batch = current_batch(press);

	if (batch->nr_branches || batch->out.at + nr_bytes > batch->out.buf + OUT_BUFFER_BYTES) {
		hand_over(press);
		batch = current_batch(press);
	}
	out_long(&batch->out, text, nr_bytes);
	return !press_stopped(press);
}

const struct btsrec_sink *press_sink(struct press *press)
{
	return &press->text;
}

bool press_stopped(struct press *press)
{
	bool stopped;

	pthread_mutex_lock(&press->lock);
	stopped = press->stopped;
	pthread_mutex_unlock(&press->lock);
	return stopped;
}

enum btsrec_status press_wait(struct press *press)
{
	hand_over(press);
	pthread_mutex_lock(&press->lock);
	wait_for_room(press, 0);
	pthread_mutex_unlock(&press->lock);
	if (is_alone(press))
		(void)out_flush(&current_batch(press)->out);
	return press_stopped(press) ? BTSREC_ERR_STOPPED : BTSREC_OK;
}

/* --- Life --------------------------------------------------------------- */

struct press *press_new(const struct btsrec_sink *sink, press_lines_fn lines,
			unsigned int nr_threads)
{
	struct press *press = calloc(1, sizeof(*press));

	if (!press)
		return NULL;
	press->sink = *sink;
	press->text = (struct btsrec_sink){ .write = take_text, .arg = press };
	press->lines = lines;
	press->nr_threads = nr_threads < PRESS_MAX_THREADS ? nr_threads : PRESS_MAX_THREADS;
	press->nr_batches = press->nr_threads > 1 ? BATCHES_EACH * press->nr_threads : 1;
	press->batches = calloc(press->nr_batches, sizeof(*press->batches));
	if (!press->batches) {
		free(press);
		return NULL;
	}
	for (size_t i = 0; i < press->nr_batches; i++) {
		press->batches[i].press = press;
		press->batches[i].sink = (struct btsrec_sink){ .write = write_in_turn,
							       .arg = &press->batches[i] };
		out_init(&press->batches[i].out, &press->batches[i].sink);
	}
	pthread_mutex_init(&press->lock, NULL);
	pthread_cond_init(&press->work, NULL);
	pthread_cond_init(&press->turn, NULL);
	begin_batch(press);
	return press;
}

void press_free(struct press *press)
{
	if (!press)
		return;
	pthread_mutex_lock(&press->lock);
	press->ended = true;
	pthread_cond_broadcast(&press->work);
	pthread_mutex_unlock(&press->lock);
	for (unsigned int i = 0; i < press->nr_started; i++)
		pthread_join(press->threads[i], NULL);
	pthread_cond_destroy(&press->turn);
	pthread_cond_destroy(&press->work);
	pthread_mutex_destroy(&press->lock);
	free(press->batches);
	free(press);
}
