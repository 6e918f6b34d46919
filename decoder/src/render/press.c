// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the owner does in the press.  It fills batches first, for nobody else can; all write
 * what is theirs when it is its turn, then read ahead, so that there is what to fill
 * batches with, then make text.
 */
#include "render/press_workers.h"

#include <sched.h>
#include <stdlib.h>

#include "base/helper.h"

/* So many lines are told sooner than a thread has started. */
#define MIN_LINES	8192

/* --- Batches ------------------------------------------------------------ */

/* Until the batch number @number is the oldest that is not written; locked. */
static void wait_for_turn(struct press *press, uint64_t number)
{
	while (press->nr_written < number) {
		if (press_write_own(press, 0) || press_print_once(press, 0))
			continue;
		press->turn_at = number;
		press_sleep(press, 0);
	}
}

static struct batch *free_batch(struct press *press, unsigned int home)
{
	struct batch *batches = &press->batches[(size_t)home * PRESS_BATCHES_EACH];

	for (size_t i = 0; i < PRESS_BATCHES_EACH; i++)
		if (batches[i].state == BATCH_FREE)
			return &batches[i];
	return NULL;
}

bool press_begin_batch(struct press *press, unsigned int home)
{
	struct batch *batch = free_batch(press, home);

	if (!batch)
		return false;
	batch->state = BATCH_FILLING;
	batch->number = press->nr_filled;
	batch->window = NULL;
	batch->nr_runs = 0;
	batch->nr_records = 0;
	out_init(&batch->out, &batch->sink);
	batch->out.stopped = press_is_over(press);
	batch->due = false;
	batch->out.at += OUT_PAGE_BYTES;
	batch->fresh = true;
	press->order[batch->number % press->nr_batches] = batch;
	press->filling = batch;
	return true;
}

/* A batch to be filled, of @home unless one is being filled already. */
static struct batch *open_batch(struct press *press, unsigned int home)
{
	if (press->filling)
		return press->filling;
	pthread_mutex_unlock(&press->session);
	pthread_mutex_lock(&press->lock);
	while (!press_begin_batch(press, home))
		wait_for_turn(press, press->nr_written + 1);
	pthread_mutex_unlock(&press->lock);
	press_take_session(press);
	return press->filling;
}

/* Who is to word @batch; locked. */
static void assign(struct press *press, struct batch *batch)
{
	batch->state = BATCH_WAITING;
	batch->thread = batch->window ? batch->window->thread : ANY_THREAD;
	if (batch->window)
		batch->window->nr_users++;
	if (batch->thread == ANY_THREAD)
		press_wake_any(press);
	else
		press_wake(press, batch->thread);
}

void press_hand_over(struct press *press)
{
	if (!press->filling)
		return;
	assign(press, press->filling);
	press->nr_filled++;
	press->filling = NULL;
}

static void hand_over(struct press *press)
{
	pthread_mutex_lock(&press->lock);
	press_hand_over(press);
	pthread_mutex_unlock(&press->lock);
}

/* All may go; until they are written. */
static void hand_over_all(struct press *press)
{
	pthread_mutex_unlock(&press->session);
	pthread_mutex_lock(&press->lock);
	press_hand_over(press);
	wait_for_turn(press, press->nr_filled);
	pthread_mutex_unlock(&press->lock);
	press_take_session(press);
}

static bool continues(const struct press_run *last, const struct press_run *run)
{
	return run->cpu == last->cpu && run->span == last->span && run->n == last->n + last->nr;
}

/* The window that has @records, or NULL: they are somewhere else. */
static struct ahead_window *window_of(struct press *press, const struct btsrec_record *records)
{
	return ahead_has(press->ahead.given, records) ? press->ahead.given : NULL;
}

/* Of @run, which is in @window, as many as there is room for; returns how many. */
static size_t fill(struct batch *batch, struct ahead_window *window, const struct press_run *run)
{
	size_t nr_room = batch->press->print.nr_together - batch->nr_records;
	size_t nr = run->nr < nr_room ? run->nr : nr_room;
	struct btsrec_record *records = &batch->records[batch->nr_records];

	if (!nr || (batch->nr_runs && batch->window != window))
		return 0;
	if (!batch->nr_runs || !continues(&batch->runs[batch->nr_runs - 1], run)) {
		if (batch->nr_runs == BATCH_RUNS)
			return 0;
		batch->runs[batch->nr_runs] = *run;
		batch->runs[batch->nr_runs].records = window ? run->records : records;
		batch->runs[batch->nr_runs++].nr = 0;
	}
	batch->window = window;
	if (!window)
		memcpy(records, run->records, nr * sizeof(*records));
	batch->runs[batch->nr_runs - 1].nr += nr;
	batch->nr_records += nr;
	return nr;
}

/* In whose batch goes what is in @window or behind it; NULL: in everybody's in turn. */
static unsigned int home_of(const struct press *press, const struct ahead_window *window)
{
	if (window)
		return window->thread;
	return (unsigned int)(press->nr_filled % press->nr_threads);
}

static bool take_text(void *arg, const char *text, size_t nr_bytes)
{
	struct press *press = arg;

	if (!press->nr_batches) {
		out_long(&press->out, text, nr_bytes);
		return !press->out.stopped && !press->failed;
	}
	while (nr_bytes) {
		struct batch *batch = open_batch(press, home_of(press, press->ahead.given));
		size_t nr = nr_bytes < OUT_BUFFER_BYTES ? nr_bytes : OUT_BUFFER_BYTES;

		/* A batch that is not handed over yet must not wait for its turn. */
		if (batch->nr_runs || batch->out.at + nr > batch->out.buf + OUT_WRITE_BYTES) {
			hand_over(press);
			continue;
		}
		out_bytes(&batch->out, text, nr);
		text += nr;
		nr_bytes -= nr;
	}
	return !press_is_over(press);
}

/* --- Help --------------------------------------------------------------- */

static void start_helpers(struct press *press)
{
	for (unsigned int number = 1; number < press->nr_threads; number++) {
		struct worker *worker = &press->workers[number];
		bool started = helper_start(&worker->thread, press_help, worker);

		if (!started)
			return;
		pthread_mutex_lock(&press->lock);
		press->nr_helpers++;
		pthread_mutex_unlock(&press->lock);
	}
}

static unsigned int nr_processors(void)
{
	cpu_set_t allowed;

	return sched_getaffinity(0, sizeof(allowed), &allowed) ? 1 :
								 (unsigned int)CPU_COUNT(&allowed);
}

/* Whoever gets no help goes on alone, and does not ask again. */
bool press_get_help(struct press *press)
{
	if (press->has_help || press->nr_threads < 2)
		return press->has_help;
	press->has_processors = press->nr_threads <= nr_processors();
	press->has_help = ahead_init(&press->ahead, press->nr_threads);
	if (press->has_help)
		start_helpers(press);
	press->nr_threads = press->nr_helpers + 1;
	return press->has_help;
}

/* What was written before others help ends with a page: it was OUT_WRITE_BYTES each time. */
static void make_batches(struct press *press)
{
	size_t nr_batches = PRESS_BATCHES_EACH * (size_t)press->nr_threads;

	press->batches = calloc(nr_batches, sizeof(*press->batches));
	press->order = calloc(nr_batches, sizeof(struct batch *));
	if (!press->batches || !press->order)
		return;
	for (size_t i = 0; i < nr_batches; i++) {
		press->batches[i].press = press;
		press->batches[i].sink = (struct btsrec_sink){ .write = press_write_in_turn,
							       .arg = &press->batches[i] };
	}
	press->nr_batches = nr_batches;
	press->stopped = press->out.stopped ||
			 !press_write_pages(press, press->out.buf,
					    (size_t)(press->out.at - press->out.buf));
	press_take_session(press);
}

/* From here on others word, too; if they cannot, nobody asks again. */
static void share_work(struct press *press)
{
	if (press->nr_threads > 1 && press->print.share(press->print.arg, press->nr_threads) &&
	    press_get_help(press))
		make_batches(press);
	press->alone = !press->nr_batches;
}

bool press_put(struct press *press, const struct press_run *run)
{
	struct press_run rest = *run;

	if (press->nr_lines >= MIN_LINES && !press->alone && !press->nr_batches)
		share_work(press);
	if (!press->nr_batches) {
		press->nr_lines += run->nr;
		press->failed =
			press->failed || !press->print.print(press->print.arg, 0, &press->out, run);
		return !press->failed && !press->out.stopped;
	}
	while (rest.nr) {
		struct ahead_window *window = window_of(press, rest.records);
		size_t nr = fill(open_batch(press, home_of(press, window)), window, &rest);

		if (!nr)
			hand_over(press);
		rest.n += nr;
		rest.records += nr;
		rest.nr -= nr;
	}
	return !press_is_over(press);
}

const struct btsrec_sink *press_sink(struct press *press)
{
	return &press->text;
}

const struct fetch_ahead *press_ahead(struct press *press)
{
	return &press->read_ahead;
}

void press_settle(struct press *press)
{
	if (press->nr_batches)
		hand_over_all(press);
}

enum btsrec_status press_send(struct press *press)
{
	if (!press->nr_batches)
		return out_pages(&press->out);
	hand_over_all(press);
	return press_is_over(press) ? BTSREC_ERR_STOPPED : BTSREC_OK;
}

enum btsrec_status press_wait(struct press *press)
{
	struct out *out = &press->out;

	if (!press->nr_batches)
		return out_flush(out);
	hand_over_all(press);
	press->stopped = press->stopped || press->failed ||
			 (press->page_bytes && !press->sink.write(press->sink.arg, press->page,
								  press->page_bytes));
	press->page_bytes = 0;
	return press->stopped ? BTSREC_ERR_STOPPED : BTSREC_OK;
}

bool press_failed(struct press *press)
{
	return __atomic_load_n(&press->failed, __ATOMIC_RELAXED);
}

void press_enter(struct press *press)
{
	if (press->nr_batches)
		press_take_session(press);
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
	press->print = *work;
	press->read_ahead = (struct fetch_ahead){ press_take_window, press_leave_windows, press };
	press->nr_threads = nr_threads < PRESS_MAX_THREADS ? nr_threads : PRESS_MAX_THREADS;
	out_init(&press->out, &press->sink);
	pthread_mutex_init(&press->session, NULL);
	helper_lock_init(&press->lock);
	for (unsigned int i = 0; i < press->nr_threads; i++) {
		press->workers[i].press = press;
		press->workers[i].number = i;
		pthread_cond_init(&press->workers[i].woken, NULL);
	}
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
	for (unsigned int i = 1; i <= press->nr_helpers; i++)
		press_wake(press, i);
	pthread_mutex_unlock(&press->lock);
	for (unsigned int i = 1; i <= press->nr_helpers; i++)
		pthread_join(press->workers[i].thread, NULL);
	for (unsigned int i = 0; i < PRESS_MAX_THREADS; i++)
		if (press->workers[i].press)
			pthread_cond_destroy(&press->workers[i].woken);
	ahead_fini(&press->ahead);
	pthread_mutex_destroy(&press->lock);
	pthread_mutex_destroy(&press->session);
	free(press->batches);
	free(press->order);
	free(press);
}
