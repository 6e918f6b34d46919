/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of one CPU, one at a time, for readers of several CPUs at once.
 * session_tail() and btsrec_events() are the same with a callback.
 */
#ifndef BTSREC_HISTORY_H
#define BTSREC_HISTORY_H

#include "recorder/fetch.h"
#include "recorder/session.h"
#include "recorder/timeline.h"

struct checkpoints;

/* In the order of a history; a step may feed several runs. */
enum history_step {
	HISTORY_OVERWRITTEN,	/* what the ring has forgotten */
	HISTORY_OLD_PENDING,	/* oldest slots, taken by an unfinished annotation */
	HISTORY_SPANS,
	HISTORY_NEW_PENDING,	/* the same, but in a ring that has room */
	HISTORY_NO_INDEX,
	HISTORY_END,
	HISTORY_DONE,
};

/**
 * struct history_passed - what history_next_other() has come by
 * @nr_events: @nr_branches of them are branches.
 * @newest: the last branch, event @newest_n; if there is one.
 */
struct history_passed {
	uint64_t nr_events;
	uint64_t nr_branches;
	uint64_t newest_n;
	struct btsrec_record newest;
};

/**
 * struct history - one way through one history
 * @cpu: borrowed.
 * @first_n: the first event that is wanted.
 * @losses: of the events up to here.
 * @checkpoints: NULL, or where places are noted from which it can go on; borrowed.
 * @init_failed: there is a message that says so.
 * @status: why history_init() failed or history_next() returned false; BTSREC_OK: this
 *	was the end.
 *
 * A copy taken between two runs resumes there, by history_go_on().
 */
struct history {
	const struct btsrec_cpu *cpu;
	struct session_ring ring;
	enum history_step step;
	unsigned int span;
	struct fetch fetch;
	struct timeline timeline;
	uint64_t first_n;
	struct located_losses losses;
	struct history_passed passed;
	struct checkpoints *checkpoints;
	bool init_failed;
	enum btsrec_status status;
};

/**
 * history_init() - before the oldest of the newest @max_events events of @cpu
 * @max_events: 0: all.
 *
 * With @max_events the whole ring is read and classified here, unless that was done before.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NO_CPU; BTSREC_ERR_INVAL before btsrec_locate();
 * BTSREC_ERR_IO; BTSREC_ERR_NOMEM.  history_fini() is allowed after all of them.
 */
enum btsrec_status history_init(struct history *history, struct btsrec *rec, unsigned int cpu,
				uint64_t max_events);

/**
 * history_init_empty() - without events yet, for history_go_on()
 *
 * Return: as history_init().
 */
enum btsrec_status history_init_empty(struct history *history, struct btsrec *rec,
				      unsigned int cpu);

/** history_go_on() - let @history go on where @from is, between two runs; its window stays */
void history_go_on(struct history *history, const struct history *from);

/**
 * history_pass_window() - pass the events by up to where another window is wanted, or to the end
 *
 * Return: as btsrec_events(), without a message.
 */
enum btsrec_status history_pass_window(struct history *history);

/** history_next() - the next event; false: none, see @history->status */
bool history_next(struct history *history, struct btsrec_event *ret);

/**
 * history_branches() - the branches that come next, but none from event @end_n on
 * @end_n: UINT64_MAX: no such bound.
 * @ret: valid until the next call.
 *
 * Return: false: ask history_next(), which may give a branch as well.
 */
bool history_branches(struct history *history, uint64_t end_n, struct timeline_branches *ret);

/** history_next_other() - the next event that is no branch; as history_next() */
bool history_next_other(struct history *history, struct btsrec_event *ret);

/**
 * history_others() - all events of @cpu that are no branches, oldest first
 * @ret: NULL, or what there is, up to where @fn stopped.
 *
 * Return: as btsrec_events().
 */
enum btsrec_status history_others(struct btsrec *rec, unsigned int cpu, btsrec_event_fn fn,
				  void *arg, struct history_passed *ret);

/**
 * history_read() - all events of @cpu, for what is kept of them: losses, and checkpoints
 *
 * Return: as btsrec_events().
 */
enum btsrec_status history_read(struct btsrec *rec, unsigned int cpu);

/**
 * history_has_more() - are there at least @nr branches behind where @history is?
 *
 * Looks at the newest slots only, twice as many as branches at most; nothing changes.
 *
 * Return: false: there are less, or that is not known.
 */
bool history_has_more(const struct history *history, uint64_t nr);

/**
 * history_end() - history_fini() with what came of it
 * @wanted: false: the reader of the events did not want to go on.
 *
 * Return: as btsrec_events(), with a message.
 */
enum btsrec_status history_end(struct history *history, struct btsrec *rec, unsigned int cpu,
			       bool wanted);

/** history_fini() - free what history_init() allocated */
void history_fini(struct history *history);

#endif /* BTSREC_HISTORY_H */
