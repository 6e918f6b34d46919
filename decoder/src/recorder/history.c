// SPDX-License-Identifier: GPL-2.0-or-later
/* The pipeline behind locate: fetch -> head and ring -> timeline. */
#include "recorder/history.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "recorder/checkpoints.h"
#include "recorder/history_ring.h"
#include "base/readat.h"

/* --- The way ------------------------------------------------------------ */

void history_fini(struct history *history)
{
	fetch_fini(&history->fetch);
}

static enum btsrec_status ring_failed(struct btsrec *rec, unsigned int cpu,
				      enum btsrec_status status)
{
	return msg_set(&rec->msg, status, "ring of CPU %u: %s", cpu, btsrec_status_str(status));
}

/* An empty one, with a window of its own. */
static enum btsrec_status set_up(struct history *history, struct btsrec *rec, unsigned int cpu)
{
	const struct located_cpu *lc = session_cpu(rec, cpu);
	struct fetch_ring ring = { .image = &rec->image };
	enum btsrec_status status;

	memset(history, 0, sizeof(*history));
	if (!rec->located)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "the recorder has not been located");
	if (!lc)
		return session_no_cpu(rec, cpu);
	history->cpu = &lc->page;
	ring.page_pa = lc->ring_pa;
	ring.ring_bytes = lc->page.ring_bytes;
	ring.va_bits = rec->located->root.flags & BTSREC_ROOT_F_LA57 ? 57 : 48;
	if (lc->page.source == BTSREC_SOURCE_LBR)
		ring.settle = (struct fetch_settle){ .fn = rec->settle, .arg = rec,
						     .cr3 = lc->page.context.next.cr3 };
	timeline_init(&history->timeline, cpu, ring.va_bits);
	status = fetch_init(&history->fetch, &ring);
	return status ? ring_failed(rec, cpu, status) : BTSREC_OK;
}

static enum btsrec_status history_begin(struct history *history, struct btsrec *rec,
					 unsigned int cpu)
{
	enum btsrec_status status = set_up(history, rec, cpu);

	if (status)
		return status;
	status = history_ring(rec, session_cpu(rec, cpu), &history->fetch, &history->ring);
	fetch_seek(&history->fetch, 0, 0);
	return status ? ring_failed(rec, cpu, status) : BTSREC_OK;
}

static void feed_gap(struct history *history, enum btsrec_gap_kind kind, uint64_t slot,
		     uint64_t nr_slots)
{
	struct ring_run run = { .gap = kind, .slot = slot, .nr_slots = nr_slots };

	timeline_feed(&history->timeline, &run);
}

static void feed_pending(struct history *history, bool wanted)
{
	const struct ring_layout *layout = &history->ring.layout;

	if (wanted && layout->nr_pending)
		feed_gap(history, BTSREC_GAP_TORN, layout->head_slot, layout->nr_pending);
}

static enum btsrec_status feed_spans(struct history *history)
{
	const struct ring_layout *layout = &history->ring.layout;
	enum btsrec_status status;
	struct ring_run run;

	if (!history->fetch.nr_left && history->span < layout->nr_spans) {
		fetch_seek(&history->fetch, layout->spans[history->span].slot,
			   layout->spans[history->span].nr_slots);
		history->span++;
	}
	status = fetch_next(&history->fetch, &run);
	if (status == BTSREC_OK && run.nr_slots)
		timeline_feed(&history->timeline, &run);
	return status;
}

static bool spans_left(const struct history *history)
{
	return history->fetch.nr_left || history->span < history->ring.layout.nr_spans;
}

/* Is the next slot in another one? */
static bool wants_window(const struct history *history)
{
	const struct fetch *fetch = &history->fetch;

	return history->step == HISTORY_SPANS && spans_left(history) &&
	       !fetch_has(fetch, fetch->nr_left ? fetch->next_slot :
				 history->ring.layout.spans[history->span].slot);
}

/* Give the timeline, which has run dry, its next input. */
static enum btsrec_status history_feed(struct history *history)
{
	const struct session_ring *ring = &history->ring;

	switch (history->step) {
	case HISTORY_OVERWRITTEN:
		if (ring->layout.lap == RING_LAP_LATER && !ring->complete)
			feed_gap(history, BTSREC_GAP_OVERWRITTEN, ring->layout.head_slot, 0);
		break;
	case HISTORY_OLD_PENDING:
		feed_pending(history, ring->layout.lap != RING_LAP_FIRST);
		break;
	case HISTORY_SPANS:
		if (spans_left(history))
			return feed_spans(history);
		break;
	case HISTORY_NEW_PENDING:
		feed_pending(history, ring->layout.lap == RING_LAP_FIRST);
		break;
	case HISTORY_NO_INDEX:
		if (ring->index_status != BTSREC_OK)
			feed_gap(history, BTSREC_GAP_NO_INDEX, 0, ring->layout.nr_slots);
		break;
	case HISTORY_END:
		timeline_end(&history->timeline,
			     history->cpu->frozen ? &history->cpu->freeze : NULL);
		break;
	case HISTORY_DONE:
		break;
	}
	history->step++;
	return BTSREC_OK;
}

/* --- Losses ------------------------------------------------------------- */

/*
 * What a wrapped or paused ring leaves out is in order, and so is the rest of an
 * annotation that is half overwritten; anything else is a loss.  In the place of that rest
 * may be parts of the newest annotation, which was never finished.
 */
static bool is_loss(const struct history *history, const struct btsrec_event *event)
{
	if (event->gap.kind == BTSREC_GAP_OVERWRITTEN || event->gap.kind == BTSREC_GAP_PAUSED)
		return false;
	return event->gap.kind != BTSREC_GAP_TORN || !history->losses.wrapped || event->n != 1 ||
	       history->ring.layout.nr_pending;
}

/* timeline_next(), with a note of what it says is lost. */
static bool next_event(struct history *history, struct btsrec_event *ret)
{
	struct located_losses *losses = &history->losses;

	if (!timeline_next(&history->timeline, ret))
		return false;
	if (ret->kind != BTSREC_EVENT_GAP)
		return true;
	if (ret->gap.kind == BTSREC_GAP_OVERWRITTEN)
		losses->wrapped = true;
	if (is_loss(history, ret)) {
		losses->any = true;
		losses->newest_n = ret->n;
	}
	return true;
}

/* Sessions of several threads share what was located, and may read the history of one CPU. */
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;

/* The history of @cpu has been read to its end. */
static void keep_losses(const struct history *history, struct btsrec *rec, unsigned int cpu)
{
	struct located_losses losses = history->losses;

	losses.nr_events = history->timeline.n;
	losses.known = true;
	pthread_mutex_lock(&keeping);
	rec->located->cpus[cpu]->losses = losses;
	pthread_mutex_unlock(&keeping);
}

static struct located_losses kept_losses(const struct located_cpu *located)
{
	struct located_losses losses;

	pthread_mutex_lock(&keeping);
	losses = located->losses;
	pthread_mutex_unlock(&keeping);
	return losses;
}

/* --- Events ------------------------------------------------------------- */

/* Without a caller for the events, to the end or, with @in_window, while the window has slots. */
static enum btsrec_status pass_by(struct history *history, bool in_window)
{
	struct timeline_branches branches;
	struct btsrec_event event;
	enum btsrec_status status;

	while (history->step != HISTORY_DONE && !(in_window && wants_window(history))) {
		if (history->checkpoints)
			checkpoints_add(history->checkpoints, history);
		status = history_feed(history);
		if (status != BTSREC_OK)
			return status;
		while (timeline_branches(&history->timeline, UINT64_MAX, &branches) ||
		       next_event(history, &event))
			;
	}
	return BTSREC_OK;
}

enum btsrec_status history_pass_window(struct history *history)
{
	return pass_by(history, true);
}

/* Its newest @max_events events are next. */
static void go_back(struct history *history, const struct checkpoints *checkpoints,
		    uint64_t max_events)
{
	uint64_t nr_events = checkpoints->nr_events;
	uint64_t first_n = nr_events > max_events ? nr_events - max_events : 0;

	(void)checkpoints_restore(checkpoints, first_n, history);
	history->first_n = first_n;
}

static enum btsrec_status history_to_tail(struct history *history, struct btsrec *rec,
					  unsigned int cpu, uint64_t max_events)
{
	const struct checkpoints *kept = checkpoints_kept(rec, cpu, &history->ring);
	struct checkpoints *checkpoints;
	enum btsrec_status status;

	if (kept) {
		go_back(history, kept, max_events);
		return BTSREC_OK;
	}
	checkpoints = checkpoints_new();
	if (!checkpoints)
		return BTSREC_ERR_NOMEM;
	history->checkpoints = checkpoints;
	status = pass_by(history, false);
	if (status) {
		history->checkpoints = NULL;
		free(checkpoints);
		return status;
	}
	checkpoints->nr_events = history->timeline.n;
	go_back(history, checkpoints, max_events);
	checkpoints_keep(rec, cpu, checkpoints);
	return BTSREC_OK;
}

enum btsrec_status history_init(struct history *history, struct btsrec *rec, unsigned int cpu,
				uint64_t max_events)
{
	enum btsrec_status status = history_begin(history, rec, cpu);

	if (!status && max_events) {
		status = history_to_tail(history, rec, cpu, max_events);
		if (status)
			msg_set(&rec->msg, status, "history of CPU %u: %s", cpu,
				btsrec_status_str(status));
	}
	history->init_failed = status;
	history->status = status;
	return status;
}

enum btsrec_status history_init_empty(struct history *history, struct btsrec *rec,
				      unsigned int cpu)
{
	enum btsrec_status status = set_up(history, rec, cpu);

	history->init_failed = status;
	history->status = status;
	return status;
}

void history_go_on(struct history *history, const struct history *from)
{
	struct fetch fetch = history->fetch;

	*history = *from;
	history->checkpoints = NULL;
	fetch_seek(&fetch, from->fetch.next_slot, from->fetch.nr_left);
	history->fetch = fetch;
}

enum btsrec_status history_end(struct history *history, struct btsrec *rec, unsigned int cpu,
			       bool wanted)
{
	enum btsrec_status status = history->status;

	if (!status && !wanted)
		status = BTSREC_ERR_STOPPED;
	if (!status)
		keep_losses(history, rec, cpu);
	if (status && !history->init_failed)
		msg_set(&rec->msg, status, "history of CPU %u: %s", cpu, btsrec_status_str(status));
	history_fini(history);
	return status;
}

/* What has run dry gets its next input. */
static void feed_next(struct history *history)
{
	if (history->checkpoints)
		checkpoints_add(history->checkpoints, history);
	history->status = history_feed(history);
}

bool history_next(struct history *history, struct btsrec_event *ret)
{
	while (!history->status) {
		while (next_event(history, ret))
			if (ret->n >= history->first_n)
				return true;
		if (history->step == HISTORY_DONE)
			return false;
		feed_next(history);
	}
	return false;
}

/* Take those off that are before the first event that is wanted. */
static bool branches_printed(const struct history *history, struct timeline_branches *branches)
{
	uint64_t nr_old;

	if (branches->n >= history->first_n)
		return true;
	nr_old = history->first_n - branches->n;
	if (nr_old >= branches->nr)
		return false;
	branches->records += nr_old;
	branches->nr -= nr_old;
	branches->n += nr_old;
	branches->slot += nr_old;
	return true;
}

/* Is another part of the ring next, with no event before it? */
static bool is_amid_spans(const struct history *history)
{
	return !history->status && history->step == HISTORY_SPANS && spans_left(history) &&
	       !history->timeline.has_run;
}

bool history_branches(struct history *history, uint64_t end_n, struct timeline_branches *ret)
{
	for (;;) {
		while (timeline_branches(&history->timeline, end_n, ret))
			if (branches_printed(history, ret))
				return true;
		if (!is_amid_spans(history))
			return false;
		feed_next(history);
	}
}

/* There are @nr more branches, the newest is @newest, event @newest_n. */
static void pass_branches(struct history_passed *passed, uint64_t nr, uint64_t newest_n,
			  const struct btsrec_record *newest)
{
	passed->nr_branches += nr;
	passed->newest_n = newest_n;
	passed->newest = *newest;
}

static bool next_other(struct history *history, struct btsrec_event *ret)
{
	struct history_passed *passed = &history->passed;
	struct timeline_branches branches;

	for (;;) {
		while (history_branches(history, UINT64_MAX, &branches))
			pass_branches(passed, branches.nr, branches.n + branches.nr - 1,
				      &branches.records[branches.nr - 1]);
		if (!history_next(history, ret))
			return false;
		if (ret->kind != BTSREC_EVENT_BRANCH)
			return true;
		pass_branches(passed, 1, ret->n, &ret->branch);
	}
}

bool history_next_other(struct history *history, struct btsrec_event *ret)
{
	bool any = next_other(history, ret);

	history->passed.nr_events = history->timeline.n;
	return any;
}

/* --- What is to come ---------------------------------------------------- */

static uint64_t nr_slots_left(const struct history *history)
{
	uint64_t nr = history->fetch.nr_left;

	for (unsigned int i = history->span; i < history->ring.layout.nr_spans; i++)
		nr += history->ring.layout.spans[i].nr_slots;
	return nr;
}

/* How many branches the slots that @fetch was sought for hold, if not more than @nr_wanted. */
static uint64_t count_branches(struct fetch *fetch, uint64_t nr_wanted)
{
	uint64_t nr = 0;
	struct ring_run run;

	while (nr < nr_wanted && !fetch_next(fetch, &run) && run.nr_slots)
		for (uint64_t i = 0; run.records && i < run.nr_slots; i++)
			nr += record_is_branch(&run.records[i], fetch->ring.va_bits);
	return nr;
}

bool history_has_more(const struct history *history, uint64_t nr)
{
	uint64_t nr_slots = 2 * nr, nr_found = 0;
	struct fetch fetch;

	if (nr_slots_left(history) < nr_slots || fetch_init(&fetch, &history->fetch.ring))
		return false;
	for (unsigned int i = history->ring.layout.nr_spans; i && nr_found < nr; i--) {
		const struct ring_span *span = &history->ring.layout.spans[i - 1];
		uint64_t nr_here = min_u64(nr_slots, span->nr_slots);

		fetch_seek(&fetch, span->slot + span->nr_slots - nr_here, nr_here);
		nr_found += count_branches(&fetch, nr - nr_found);
		nr_slots -= nr_here;
	}
	fetch_fini(&fetch);
	return nr_found >= nr;
}

/* --- By callback -------------------------------------------------------- */

enum btsrec_status session_tail(struct btsrec *rec, unsigned int cpu, uint64_t max_events,
				btsrec_event_fn fn, void *arg)
{
	struct btsrec_event event;
	struct history history;
	bool wanted = true;

	history_init(&history, rec, cpu, max_events);
	while (wanted && history_next(&history, &event))
		wanted = fn(arg, &event);
	return history_end(&history, rec, cpu, wanted);
}

enum btsrec_status history_others(struct btsrec *rec, unsigned int cpu, btsrec_event_fn fn,
				  void *arg, struct history_passed *ret)
{
	struct checkpoints *checkpoints = checkpoints_new();
	struct btsrec_event event;
	enum btsrec_status status;
	struct history history;
	bool wanted = true;

	history_init(&history, rec, cpu, 0);
	history.checkpoints = checkpoints;
	while (wanted && history_next_other(&history, &event))
		wanted = fn(arg, &event);
	if (ret)
		*ret = history.passed;
	status = history_end(&history, rec, cpu, wanted);
	if (status || !checkpoints) {
		free(checkpoints);
		return status;
	}
	checkpoints->nr_events = history.timeline.n;
	checkpoints_keep(rec, cpu, checkpoints);
	return BTSREC_OK;
}

enum btsrec_status btsrec_other_events(struct btsrec *rec, unsigned int cpu, btsrec_event_fn fn,
				       void *arg, uint64_t *ret_nr_events)
{
	struct history_passed passed;
	enum btsrec_status status = history_others(rec, cpu, fn, arg, &passed);

	if (ret_nr_events)
		*ret_nr_events = passed.nr_events;
	return status;
}

static bool pass_event(void *arg, const struct btsrec_event *event)
{
	(void)arg;
	(void)event;
	return true;
}

enum btsrec_status history_read(struct btsrec *rec, unsigned int cpu)
{
	return history_others(rec, cpu, pass_event, NULL, NULL);
}

enum btsrec_status session_nr_events(struct btsrec *rec, unsigned int cpu, uint64_t *ret)
{
	const struct located_cpu *located = session_cpu(rec, cpu);
	struct located_losses losses = { 0 };

	if (located)
		losses = kept_losses(located);
	if (!losses.known)
		return btsrec_other_events(rec, cpu, pass_event, NULL, ret);
	*ret = losses.nr_events;
	return BTSREC_OK;
}

enum btsrec_status btsrec_has_losses(struct btsrec *rec, unsigned int cpu, uint64_t max_events,
				     bool *ret)
{
	const struct located_cpu *located = session_cpu(rec, cpu);
	enum btsrec_status status = BTSREC_OK;
	struct located_losses losses;

	if (!located || !kept_losses(located).known)
		status = history_read(rec, cpu);
	if (status || !located)
		return status;
	losses = kept_losses(located);
	*ret = losses.any &&
	       (!max_events || losses.nr_events - 1 - losses.newest_n < max_events);
	return BTSREC_OK;
}

enum btsrec_status btsrec_events(struct btsrec *rec, unsigned int cpu, btsrec_event_fn fn,
				 void *arg)
{
	return session_tail(rec, cpu, 0, fn, arg);
}

/* The branches that come next, as one run; false: none, see @history->status. */
static bool next_branches(struct history *history, struct btsrec_event *event,
			  struct timeline_branches *ret)
{
	for (;;) {
		if (history_branches(history, UINT64_MAX, ret))
			return true;
		if (!history_next(history, event))
			return false;
		if (event->kind == BTSREC_EVENT_BRANCH)
			break;
	}
	*ret = (struct timeline_branches){ .records = &event->branch, .nr = 1, .n = event->n };
	return true;
}

enum btsrec_status btsrec_branches(struct btsrec *rec, unsigned int cpu, btsrec_branches_fn fn,
				   void *arg)
{
	struct timeline_branches run;
	struct btsrec_event event;
	struct history history;
	bool wanted = true;

	history_init(&history, rec, cpu, 0);
	while (wanted && next_branches(&history, &event, &run)) {
		const struct btsrec_branches branches = {
			.size = sizeof(branches),
			.cpu = cpu,
			.n = run.n,
			.records = run.records,
			.nr_records = run.nr,
		};

		wanted = fn(arg, &branches);
	}
	return history_end(&history, rec, cpu, wanted);
}

enum btsrec_status session_ring(struct btsrec *rec, unsigned int cpu, struct session_ring *ret)
{
	struct history history;
	enum btsrec_status status = history_init(&history, rec, cpu, 0);

	if (status == BTSREC_OK)
		*ret = history.ring;
	history_fini(&history);
	return status;
}
