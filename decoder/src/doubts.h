/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What speaks against an open frame: its thread has been out of sight since, or code
 * ran that is not in the dump.
 */
#ifndef BTSREC_DOUBTS_H
#define BTSREC_DOUBTS_H

#include "counts.h"
#include "sightings.h"
#include "trace_frames.h"

/** enum doubt_why - why older frames may be gone, or others may have taken their place */
enum doubt_why {
	DOUBT_NONE,
	DOUBT_GAP,		/* a part of the history is missing */
	DOUBT_ELSEWHERE,	/* the thread ran on another CPU */
	DOUBT_UNKNOWN,		/* it may have: the history of another CPU has no answer */
	DOUBT_UNFIT,		/* a return does not fit them */
	DOUBT_ORDER,		/* nothing proves when it ran on which CPU */
	DOUBT_UNSEEN,		/* code ran that is not in the dump: calls may be missing */
};

/**
 * struct doubt - about the frames of a thread
 * @n: those that were entered before this event.
 * @cpu: of ELSEWHERE, UNKNOWN and ORDER.
 */
struct doubt {
	enum doubt_why why;
	uint64_t n;
	unsigned int cpu;
};

/**
 * struct doubts - one CPU under way
 * @sightings: of all CPUs, borrowed.
 * @gap: about every thread; @recovers: since the last branch.
 * @threads, @unseen: by thread.
 * @nomem: something was forgotten for lack of memory, in @nowhere.
 */
struct doubts {
	const struct sightings *sightings;
	struct doubt gap;
	bool recovers;
	struct counts threads;
	struct counts unseen;
	uint64_t nowhere[COUNTS_NR];
	bool nomem;
};

/** doubts_init() - before the first event of a CPU */
void doubts_init(struct doubts *doubts, const struct sightings *sightings);

/**
 * doubts_feed() - the next event and what it did
 *
 * Sets the cookie of each frame that it entered; see doubts_unseen().
 */
void doubts_feed(struct doubts *doubts, const struct trace_event *event,
		 const struct frames_step *step, struct frames *frames);

/** doubts_cookie() - of each frame that plain branches enter on @stack, the one that runs */
uint64_t doubts_cookie(struct doubts *doubts, const struct stack *stack);

/** doubts_feed_plain() - doubts_feed() of plain branches, but for doubts_cookie() */
void doubts_feed_plain(struct doubts *doubts);

/** doubts_thread() - whoever follows thread @pid knows better: @doubt is about its frames */
void doubts_thread(struct doubts *doubts, uint32_t pid, const struct doubt *doubt);

/** doubts_of() - about the frames on @stack */
struct doubt doubts_of(struct doubts *doubts, const struct stack *stack);

/**
 * doubts_unseen() - may calls be missing between @outer and @inner?
 * @stack: of both.
 * @outer: NULL: before the history begins.
 * @inner: NULL: up to what runs now.
 * @ret: true: why.
 */
bool doubts_unseen(struct doubts *doubts, const struct stack *stack, const struct frame *outer,
		   const struct frame *inner, struct doubt *ret);

/** doubts_fini() - free what doubts_feed() allocated */
void doubts_fini(struct doubts *doubts);

#endif /* BTSREC_DOUBTS_H */
