// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One thread writes lines where it is given branches.  From MIN_LINES on, others help:
 *
 *           nr_written       nr_taken       nr_filled
 *               v               v               v
 *   ... written | in work, done | waiting       | being filled | free ...
 *
 * Batches are numbered, and taken and written in this order.  A batch whose text does
 * not fit into its buffer waits for its turn and writes what it has.  The oldest batch in
 * work never waits, so there always is one that goes on.
 *
 * Of what there is to do, the owner fills batches first, for nobody else can, then makes
 * text, and writes last; the others write first: the system takes one write at a time.
 */
#include "press.h"

#include <stdlib.h>

#include "helper.h"

/* Of a listing of what a filter wants, each may be of one branch. */
#define BATCH_RUNS	128
/* So many lines are told sooner than a thread has started. */
#define MIN_LINES	8192
/* Writes begin at whole pages of a file. */
#define PAGE_BYTES	4096

/**
 * struct batch - branches, and the lines before and of them
 * @sink: of @out: to the press's, in turn.
 * @done: nothing is to be added to @out.
 * @runs: @nr_runs of them; their @records are the batch's.
 * @fresh: @out begins with PAGE_BYTES for the end of the batch before.
 * @out: text that comes before the branches, then all of it.
 */
struct batch {
	struct press *press;
	struct btsrec_sink sink;
	uint64_t number;
	bool done;
	bool fresh;
	size_t nr_runs;
	size_t nr_records;
	struct press_run runs[BATCH_RUNS];
	struct btsrec_record records[PRESS_BATCH_BRANCHES];
	struct out out;
};

/** struct helper - a thread, number @number */
struct helper {
	struct press *press;
	unsigned int number;
	pthread_t thread;
};

/**
 * struct press - see above; what several threads change is under @lock
 * @text: see press_sink().
 * @out: before there are batches.
 * @nr_threads: wanted, with the owner; @nr_helpers: without it, in @helpers.
 * @nr_lines: given before there are batches.
 * @batches: @nr_batches of them, 0 before others help; number i is at i % @nr_batches.
 * @work: signalled when there is something to do, or at the end.
 * @turn: signalled when batches up to @turn_at are written, for the owner; when any was, for
 *	@nr_eager others.
 * @writing: somebody writes the oldest batch, which is done.
 * @page: of whose turn it is: @page_bytes that are less than a page.
 * @session: held by who may ask the session; the owner, but in here.
 */
struct press {
	struct btsrec_sink sink;
	struct btsrec_sink text;
	struct press_work tell;
	struct out out;
	unsigned int nr_threads;
	unsigned int nr_helpers;
	struct helper helpers[PRESS_MAX_THREADS];
	uint64_t nr_lines;
	size_t nr_batches;
	struct batch *batches;
	pthread_mutex_t session;
	pthread_mutex_t lock;
	pthread_cond_t work;
	pthread_cond_t turn;
	uint64_t turn_at;
	unsigned int nr_eager;
	uint64_t nr_filled;
	uint64_t nr_taken;
	uint64_t nr_written;
	bool writing;
	bool ended;
	bool stopped;
	bool failed;
	size_t page_bytes;
	char page[PAGE_BYTES];
};

static struct batch *batch_at(struct press *press, uint64_t number)
{
	return &press->batches[number % press->nr_batches];
}

static struct batch *current_batch(struct press *press)
{
	return batch_at(press, press->nr_filled);
}

/* --- Writing ------------------------------------------------------------ */

/* Whole pages of @text; the rest waits for more. */
static bool write_pages(struct press *press, const char *text, size_t nr_bytes)
{
	size_t nr_rest = nr_bytes % PAGE_BYTES;

	memcpy(press->page, text + nr_bytes - nr_rest, nr_rest);
	press->page_bytes = nr_rest;
	nr_bytes -= nr_rest;
	return !nr_bytes || press->sink.write(press->sink.arg, text, nr_bytes);
}

/* Behind what waits, which has no room in front of @text. */
static bool write_behind(struct press *press, const char *text, size_t nr_bytes)
{
	size_t nr_fill = PAGE_BYTES - press->page_bytes;

	if (nr_fill > nr_bytes)
		nr_fill = nr_bytes;
	memcpy(press->page + press->page_bytes, text, nr_fill);
	press->page_bytes += nr_fill;
	if (press->page_bytes < PAGE_BYTES)
		return true;
	return press->sink.write(press->sink.arg, press->page, PAGE_BYTES) &&
	       write_pages(press, text + nr_fill, nr_bytes - nr_fill);
}

static bool write_batch(struct batch *batch, char *text, size_t nr_bytes)
{
	struct press *press = batch->press;

	if (!batch->fresh)
		return write_behind(press, text, nr_bytes);
	batch->fresh = false;
	text += PAGE_BYTES - press->page_bytes;
	memcpy(text, press->page, press->page_bytes);
	return write_pages(press, text, nr_bytes - PAGE_BYTES + press->page_bytes);
}

static void wrote(struct press *press)
{
	press->nr_written++;
	if (press->nr_eager || press->nr_written >= press->turn_at)
		pthread_cond_broadcast(&press->turn);
}

/* The oldest batch, if it is done and nobody else is at it; locked. */
static bool write_once(struct press *press)
{
	struct batch *batch = batch_at(press, press->nr_written);

	if (press->writing || !batch->done)
		return false;
	press->writing = true;
	pthread_mutex_unlock(&press->lock);
	(void)out_flush(&batch->out);
	pthread_mutex_lock(&press->lock);
	batch->done = false;
	press->writing = false;
	wrote(press);
	return true;
}

/* The sink of a batch: to that of the press when all batches before are written. */
static bool write_in_turn(void *arg, const char *text, size_t nr_bytes)
{
	struct batch *batch = arg;
	struct press *press = batch->press;
	bool stopped;

	pthread_mutex_lock(&press->lock);
	while (press->nr_written != batch->number) {
		if (write_once(press))
			continue;
		press->nr_eager++;
		pthread_cond_wait(&press->turn, &press->lock);
		press->nr_eager--;
	}
	stopped = press->stopped || press->failed;
	pthread_mutex_unlock(&press->lock);
	/* Nobody else's turn comes before this batch is written; the text is in its buffer. */
	stopped = stopped || !write_batch(batch, batch->out.buf + (text - batch->out.buf), nr_bytes);
	if (!stopped)
		return true;
	pthread_mutex_lock(&press->lock);
	press->stopped = true;
	pthread_mutex_unlock(&press->lock);
	return false;
}

/* --- Work --------------------------------------------------------------- */

static bool tell_batch(struct press *press, struct batch *batch, unsigned int thread)
{
	for (size_t i = 0; i < batch->nr_runs; i++)
		if (!press->tell.tell(press->tell.arg, thread, &batch->out, &batch->runs[i]))
			return false;
	return true;
}

/* Turn the oldest batch that waits into text; locked. */
static bool tell_once(struct press *press, unsigned int thread)
{
	struct batch *batch;
	bool failed;

	if (press->nr_taken == press->nr_filled)
		return false;
	batch = batch_at(press, press->nr_taken++);
	failed = press->failed;
	pthread_mutex_unlock(&press->lock);
	failed = failed || !tell_batch(press, batch, thread);
	pthread_mutex_lock(&press->lock);
	batch->done = true;
	press->failed |= failed;
	/* The owner may have other things to do than to write it. */
	if (!thread && batch->number == press->nr_written)
		pthread_cond_signal(&press->work);
	return true;
}

static void *help(void *arg)
{
	struct helper *helper = arg;
	struct press *press = helper->press;

	pthread_mutex_lock(&press->lock);
	while (!press->ended)
		if (!write_once(press) && !tell_once(press, helper->number))
			pthread_cond_wait(&press->work, &press->lock);
	pthread_mutex_unlock(&press->lock);
	return NULL;
}

/* --- The owner ---------------------------------------------------------- */

/* Until at most @nr batches are not written, or if it takes a while, @nr_then; locked. */
static void wait_for_room(struct press *press, uint64_t nr, uint64_t nr_then)
{
	while (press->nr_filled - press->nr_written > nr) {
		if (tell_once(press, 0) || write_once(press))
			continue;
		nr = nr_then;
		press->turn_at = press->nr_filled - nr;
		pthread_cond_wait(&press->turn, &press->lock);
	}
}

static void begin_batch(struct press *press)
{
	struct batch *batch = current_batch(press);

	batch->number = press->nr_filled;
	batch->nr_runs = 0;
	batch->nr_records = 0;
	out_init(&batch->out, &batch->sink);
	batch->out.stopped = press->stopped || press->failed;
	batch->out.at += PAGE_BYTES;
	batch->fresh = true;
}

/* The batch that is being filled may go; the next one is begun when @nr are left. */
static void hand_over(struct press *press, uint64_t nr)
{
	pthread_mutex_unlock(&press->session);
	pthread_mutex_lock(&press->lock);
	press->nr_filled++;
	pthread_cond_signal(&press->work);
	wait_for_room(press, nr, nr / 2);
	begin_batch(press);
	pthread_mutex_unlock(&press->lock);
	pthread_mutex_lock(&press->session);
}

static bool continues(const struct press_run *last, const struct press_run *run)
{
	return run->cpu == last->cpu && run->span == last->span && run->n == last->n + last->nr;
}

/* Of @run as many as there is room for; returns how many. */
static size_t fill(struct batch *batch, const struct press_run *run)
{
	size_t nr_room = PRESS_BATCH_BRANCHES - batch->nr_records;
	size_t nr = run->nr < nr_room ? run->nr : nr_room;
	struct btsrec_record *records = &batch->records[batch->nr_records];

	if (!nr)
		return 0;
	if (!batch->nr_runs || !continues(&batch->runs[batch->nr_runs - 1], run)) {
		if (batch->nr_runs == BATCH_RUNS)
			return 0;
		batch->runs[batch->nr_runs] = *run;
		batch->runs[batch->nr_runs].records = records;
		batch->runs[batch->nr_runs++].nr = 0;
	}
	memcpy(records, run->records, nr * sizeof(*records));
	batch->runs[batch->nr_runs - 1].nr += nr;
	batch->nr_records += nr;
	return nr;
}

static bool goes_on(struct press *press)
{
	bool on;

	pthread_mutex_lock(&press->lock);
	on = !press->stopped && !press->failed;
	pthread_mutex_unlock(&press->lock);
	return on;
}

static bool take_text(void *arg, const char *text, size_t nr_bytes)
{
	struct press *press = arg;

	if (!press->nr_batches) {
		out_long(&press->out, text, nr_bytes);
		return !press->out.stopped && !press->failed;
	}
	while (nr_bytes) {
		struct batch *batch = current_batch(press);
		size_t nr = nr_bytes < OUT_BUFFER_BYTES ? nr_bytes : OUT_BUFFER_BYTES;

		/* A batch that is not handed over yet must not wait for its turn. */
		if (batch->nr_runs || batch->out.at + nr > batch->out.buf + OUT_WRITE_BYTES) {
			hand_over(press, press->nr_batches - 1);
			batch = current_batch(press);
		}
		out_bytes(&batch->out, text, nr);
		text += nr;
		nr_bytes -= nr;
	}
	return goes_on(press);
}

const struct btsrec_sink *press_sink(struct press *press)
{
	return &press->text;
}

/* --- Help --------------------------------------------------------------- */

static void start_helpers(struct press *press)
{
	while (press->nr_helpers + 1 < press->nr_threads) {
		struct helper *helper = &press->helpers[press->nr_helpers];

		*helper = (struct helper){ .press = press, .number = press->nr_helpers + 1 };
		if (!helper_start(&helper->thread, help, helper))
			break;
		press->nr_helpers++;
	}
}

/* What was written before others help ends with a page: it was OUT_WRITE_BYTES each time. */
static void make_batches(struct press *press)
{
	size_t nr_batches = PRESS_BATCHES_EACH * (size_t)press->nr_threads;

	press->batches = calloc(nr_batches, sizeof(*press->batches));
	if (!press->batches)
		return;
	for (size_t i = 0; i < nr_batches; i++) {
		press->batches[i].press = press;
		press->batches[i].sink = (struct btsrec_sink){ .write = write_in_turn,
							       .arg = &press->batches[i] };
	}
	press->nr_batches = nr_batches;
	press->stopped = press->out.stopped ||
			 !write_pages(press, press->out.buf,
				      (size_t)(press->out.at - press->out.buf));
	begin_batch(press);
}

/* Whoever gets no help goes on alone, and does not ask again. */
static void get_help(struct press *press)
{
	bool shared = press->nr_threads > 1 && press->tell.share(press->tell.arg);

	if (shared)
		make_batches(press);
	if (press->nr_batches) {
		pthread_mutex_lock(&press->session);
		start_helpers(press);
	}
	press->nr_threads = press->nr_helpers + 1;
}

bool press_put(struct press *press, const struct press_run *run)
{
	struct press_run rest = *run;

	if (press->nr_lines >= MIN_LINES && press->nr_threads > 1 && !press->nr_batches)
		get_help(press);
	if (!press->nr_batches) {
		press->nr_lines += run->nr;
		press->failed = press->failed ||
				!press->tell.tell(press->tell.arg, 0, &press->out, run);
		return !press->failed && !press->out.stopped;
	}
	while (rest.nr) {
		size_t nr = fill(current_batch(press), &rest);

		if (!nr)
			hand_over(press, press->nr_batches - 1);
		rest.n += nr;
		rest.records += nr;
		rest.nr -= nr;
	}
	return goes_on(press);
}

void press_settle(struct press *press)
{
	if (press->nr_batches)
		hand_over(press, 0);
}

enum btsrec_status press_wait(struct press *press)
{
	struct out *out = &press->out;

	if (!press->nr_batches)
		return out_flush(out);
	hand_over(press, 0);
	press->stopped = press->stopped || press->failed ||
			 (press->page_bytes && !press->sink.write(press->sink.arg, press->page,
								  press->page_bytes));
	press->page_bytes = 0;
	return press->stopped ? BTSREC_ERR_STOPPED : BTSREC_OK;
}

bool press_failed(struct press *press)
{
	bool failed;

	pthread_mutex_lock(&press->lock);
	failed = press->failed;
	pthread_mutex_unlock(&press->lock);
	return failed;
}

void press_enter(struct press *press)
{
	if (press->nr_batches)
		pthread_mutex_lock(&press->session);
}

void press_leave(struct press *press)
{
	if (press->nr_batches)
		pthread_mutex_unlock(&press->session);
}

/* --- Life --------------------------------------------------------------- */

struct press *press_new(const struct btsrec_sink *sink, const struct press_work *work,
			unsigned int nr_threads)
{
	struct press *press = calloc(1, sizeof(*press));

	if (!press)
		return NULL;
	press->sink = *sink;
	press->text = (struct btsrec_sink){ .write = take_text, .arg = press };
	press->tell = *work;
	press->nr_threads = nr_threads < PRESS_MAX_THREADS ? nr_threads : PRESS_MAX_THREADS;
	out_init(&press->out, &press->sink);
	pthread_mutex_init(&press->session, NULL);
	pthread_mutex_init(&press->lock, NULL);
	pthread_cond_init(&press->work, NULL);
	pthread_cond_init(&press->turn, NULL);
	return press;
}

void press_free(struct press *press)
{
	if (!press)
		return;
	if (press->nr_batches)
		pthread_mutex_unlock(&press->session);
	pthread_mutex_lock(&press->lock);
	press->ended = true;
	pthread_cond_broadcast(&press->work);
	pthread_mutex_unlock(&press->lock);
	for (unsigned int i = 0; i < press->nr_helpers; i++)
		pthread_join(press->helpers[i].thread, NULL);
	pthread_cond_destroy(&press->turn);
	pthread_cond_destroy(&press->work);
	pthread_mutex_destroy(&press->lock);
	pthread_mutex_destroy(&press->session);
	free(press->batches);
	free(press);
}
