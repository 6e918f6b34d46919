/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of one CPU that somebody asks for, in the order of their events, with the time and the
 * thread of each.  Nothing else of the history is kept.
 */
#ifndef BTSREC_CALL_LIST_H
#define BTSREC_CALL_LIST_H

#include "base/bounds.h"
#include "flow/time_axis.h"
#include "flow/trace_fault.h"
#include "flow/trace_frames.h"

/* What one CPU may have in memory: 640 MiB.  A ring of 1 MiB has at most 43,690 records. */
#define CALL_LIST_MAX BOUND(8U << 20, 1U << 12)

#define CALL_LIST_NONE SIZE_MAX

/**
 * struct listed_call - a call
 * @n: the event that entered it.  @last_n: the event that left it; UINT64_MAX: none has.
 * @from, @to: as in struct frame.
 * @nr_branches: of the thread on this CPU until it was left, or up to now.
 * @caller: the number of the call that made it; CALL_LIST_NONE: not known.
 * @chain, @nr_chain: see struct call_list_fns.
 * @side: the number of the stay in which it was entered.
 * @depth: so many listed calls are open around it, as far as the history shows.
 * @tags: why it is wanted; 0: it is only the caller of one that is.
 * @entry_n: the event of the innermost interrupt, exception or NMI that it runs in; 0: none is
 *	known.
 * @argument: the first one, in RDI, if @has_argument.
 * @late: how it was entered is not in the history: at @n it was seen, at @to, and until @last_n.
 *	There is no @from and no @caller.
 * @lost: a part of the history is missing between @n and @last_n, or @n and now.
 */
struct listed_call {
	uint64_t n;
	uint64_t last_n;
	uint64_t from;
	uint64_t to;
	uint64_t nr_branches;
	uint64_t entry_n;
	uint64_t argument;
	size_t caller;
	size_t chain;
	uint32_t nr_chain;
	uint32_t side;
	uint32_t depth;
	enum frame_kind kind : 8;
	uint8_t tags;
	int16_t vector;
	bool has_argument;
	bool late;
	bool lost;
};

/** struct call_link - a call on the way to a listed one, as in struct frame */
struct call_link {
	uint64_t n;
	uint64_t from;
	uint64_t to;
	enum frame_kind kind;
	int vector;
};

/** struct call_stay - @side runs from event @first_n to @last_n; not @known: nobody knows it */
struct call_stay {
	uint64_t first_n;
	uint64_t last_n;
	bool known;
	struct btsrec_side side;
};

/**
 * struct call_list - of one CPU; all zero is an empty one; all arrays are owned
 * @calls: ascending by @n, but for callers that were known only later.
 * @stays: without a hole between them.
 * @gaps: numbers of the events that are gaps, without what rings have forgotten.
 * @begins: nothing is missing before the first event.
 * @end_n: after the newest event.
 * @interrupted_va: where the thread at the end was interrupted outside of all calls that are known
 *	to be open; 0: it was not.
 * @complete: there was room for all.
 */
struct call_list {
	struct listed_call *calls;
	size_t nr;
	size_t nr_room;
	struct call_link *links;
	size_t nr_links;
	size_t nr_links_room;
	struct call_stay *stays;
	size_t nr_stays;
	size_t nr_stays_room;
	uint64_t *gaps;
	size_t nr_gaps;
	size_t nr_gaps_room;
	struct time_axis times;
	struct fault fault;
	bool begins;
	uint64_t end_n;
	uint64_t interrupted_va;
	bool complete;
	bool nomem;
};

/**
 * struct call_list_fns - what is asked for
 * @event: is the branch, which enters or runs in what is asked for, wanted?  NULL: each is.
 * @tags: why the function at @va is wanted; 0: it is not.
 * @late: calls that are seen without their beginning are wanted, too.
 * @starts: NULL, or: does the chain of calls to a wanted one begin with the function at @va?  Then
 *	only calls with such a chain are listed, and it with them: from the call that the innermost
 *	such function makes, to the listed call itself.
 * @timed: of the calls that end only those are listed in which a time stamp is.
 * @argument: NULL, or: what RDI is behind the instructions of @range, which ran in one go; false:
 *	it is not known.  Then calls have arguments.
 * @over_nmis: a pause during NMI handlers is no gap: the thread goes on where it was.
 */
struct call_list_fns {
	bool (*event)(void *arg, const struct btsrec_event *event);
	uint8_t (*tags)(void *arg, const struct btsrec_side *side, uint64_t va);
	bool (*starts)(void *arg, const struct btsrec_side *side, uint64_t va);
	bool (*argument)(void *arg, const struct proof_range *range, uint64_t *ret);
	bool late;
	bool timed;
	bool over_nmis;
	void *arg;
};

/**
 * call_list_read() - the calls of @cpu
 * @list: all zero.
 *
 * Return: as btsrec_events(); call_list_fini() is allowed after all of them.
 */
enum btsrec_status call_list_read(struct call_list *list, struct btsrec *rec, unsigned int cpu,
				  const struct call_list_fns *fns);

/** call_list_side() - the thread of a stay; NULL: not known */
static inline const struct btsrec_side *call_list_side(const struct call_list *list, uint32_t stay)
{
	return list->stays[stay].known ? &list->stays[stay].side : NULL;
}

/** call_list_fini() - free all; an empty list is left */
void call_list_fini(struct call_list *list);

#endif /* BTSREC_CALL_LIST_H */
