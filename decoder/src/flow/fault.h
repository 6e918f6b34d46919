/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the fault lies in the history of a frozen CPU.  From that branch on the history shows how
 * the kernel dealt with the fault, and no longer what led to it.  Pure.
 *
 * The freeze says what to look for.  An oops: the exception that was entered and not
 * left.  A panic: the call of the function that froze.  A CPU that another one
 * stopped: its NMI.  Interrupts that came and went in between, and threads that ran in
 * between, are skipped.  What the history does not show is not guessed.
 */
#ifndef BTSREC_FAULT_H
#define BTSREC_FAULT_H

#include "code/branch.h"

/** enum fault_kind - what the branch at the fault is */
enum fault_kind {
	FAULT_UNKNOWN,		/* see enum fault_why */
	FAULT_EXCEPTION,	/* of the instruction at its source */
	FAULT_NMI,		/* at its source; the hardware or a watchdog sent it */
	FAULT_CALL,		/* of panic(), from its source */
	FAULT_STOP,		/* the NMI of the CPU that crashed */
};

/** enum fault_why - why the fault is not known */
enum fault_why {
	FAULT_FOUND,
	FAULT_NOT_FROZEN,
	FAULT_NO_FAULT,		/* frozen by hand */
	FAULT_LATE,		/* frozen on the way into the next kernel */
	FAULT_PAUSED,		/* the recorder had paused this CPU, why is not known */
	FAULT_COPIED,		/* ... because the rings were being copied */
	FAULT_IN_NMI,		/* ... because NMI handlers were running */
	FAULT_PRINTED,		/* ... because a console's driver was writing */
	FAULT_NOT_CHOSEN,	/* ... because tasks= did not choose the thread that ran */
	FAULT_RATE,		/* ... because there was more than max_rate= allows */
	FAULT_HANDLED,		/* ... because what it handled might have been a fault */
	FAULT_REPORT,		/* ... at the beginning of the kernel's report, and there it is */
	FAULT_TRIGGER,		/* ... at the tracepoint or request to freeze, and there it is */
	FAULT_INCOMPLETE,	/* a part of the history is missing on the way there */
	FAULT_NOT_KEPT,		/* LBR keeps the last branches only, and they do not have it */
	FAULT_NOT_ENTERED,	/* the way there is whole and holds no such branch */
	FAULT_MOVED,		/* the thread ran on another CPU on the way there */
	FAULT_TOO_OLD,		/* the search was given up */
};

/* Interrupts within interrupts: more are counted, but where they returned to is not kept. */
#define FAULT_MAX_RETURNS	16

/**
 * struct fault_returns - ends of interrupts that have been seen, and not yet their beginnings
 * @to: where they led, the newest first, @nr of them; of the first few.
 * @nr_over_pause: of them the newest, which are newer than a pause that something else than its own
 *	end has ended: what they end may have begun in that pause, unrecorded.
 */
struct fault_returns {
	uint64_t to[FAULT_MAX_RETURNS];
	unsigned int nr;
	unsigned int nr_over_pause;
};

/* A thunk may have so many branches (arch/x86/lib/retpoline.S), and one leads there. */
#define FAULT_NR_BEFORE	8

/**
 * struct fault - the answer
 * @why: FAULT_FOUND unless @kind is FAULT_UNKNOWN; the rest is valid if it is.
 * @vector: of an exception; -1: unknown, and for the other kinds.
 * @n: number of the event.
 * @nr_newer: branches from this one on.
 * @from, @to: the branch; @from is the address of the fault.
 * @before: the branches right before it, the newest first, @nr_before of them.
 */
struct fault {
	enum fault_kind kind;
	enum fault_why why;
	int vector;
	uint64_t n;
	uint64_t nr_newer;
	uint64_t from;
	uint64_t to;
	unsigned int nr_before;
	struct btsrec_record before[FAULT_NR_BEFORE];
};

/**
 * struct fault_search - a search under way, from the newest event to older ones
 * @freeze: borrowed.
 * @registers: what was kept at the freeze, borrowed, set by the caller; NULL: nothing.
 * @source: enum btsrec_source of its CPU.
 * @site: of a call: where the function calls the freezing hook; 0: not there yet.
 * @returns: of interrupts that are older than the event at hand.
 * @was_annotation: the event fed before was no branch.
 * @away: another thread ran.
 * @trap: of an oops: the newest INT that was not left and is not the recorder's; unknown: none.
 * @left_tsc, @back_tsc: other threads ran between these, between the fault and the
 *	freeze; @back_tsc 0: none did.
 */
struct fault_search {
	const struct btsrec_freeze *freeze;
	const struct btsrec_registers *registers;
	uint32_t source;
	bool wants_call;
	bool done;
	bool away;
	bool was_annotation;
	struct fault_returns returns;
	uint64_t site;
	uint64_t nr_branches;
	uint64_t left_tsc;
	uint64_t back_tsc;
	struct fault trap;
	struct fault fault;
};

/**
 * fault_ends_before() - does the history end some time before the freeze, in another pause?
 * @freeze: of a frozen CPU; its pause_tsc says since when.
 *
 * What the freeze is about is not in the history then, nor is what led to it.
 */
bool fault_ends_before(const struct btsrec_freeze *freeze);

/** fault_why_paused() - what the pause was about that the freeze found open */
enum fault_why fault_why_paused(const struct btsrec_freeze *freeze);

/**
 * fault_begin() - look for the fault of one CPU
 * @freeze: its snapshot, borrowed; NULL: it is not frozen.
 * @source: enum btsrec_source of the CPU.
 *
 * Return: false: there is nothing to look for, and the answer is final.
 */
bool fault_begin(struct fault_search *search, const struct btsrec_freeze *freeze, uint32_t source);

/**
 * fault_feed() - the next event, newest first
 * @branch: of a branch, what it is; else ignored.
 *
 * Return: false: the answer is final.
 */
bool fault_feed(struct fault_search *search, const struct btsrec_event *event,
		const struct branch *branch);

/**
 * fault_moved() - the thread ran on another CPU between @left_tsc and @back_tsc
 *
 * Then what was found may be over, and what the freeze is about may be there.
 */
void fault_moved(struct fault_search *search);

/**
 * fault_is_here() - does the fault belong in front of @event?
 *
 * One that was looked for in vain belongs in front of the freeze.
 */
static inline bool fault_is_here(const struct fault *fault, const struct btsrec_event *event)
{
	if (fault->kind)
		return event->kind == BTSREC_EVENT_BRANCH && event->n == fault->n;
	return event->kind == BTSREC_EVENT_FREEZE && fault->why != FAULT_NO_FAULT;
}

/** fault_kind_str() - the kind as one word; static. */
const char *fault_kind_str(enum fault_kind kind);

/** fault_why_str() - the reason as a phrase; static. */
const char *fault_why_str(enum fault_why why);

#endif /* BTSREC_FAULT_H */
