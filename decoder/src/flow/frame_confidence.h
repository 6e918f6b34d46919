/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What makes an open frame unreliable: its thread may have run elsewhere since, or code ran that is
 * not in the dump.
 */
#ifndef BTSREC_FRAME_CONFIDENCE_H
#define BTSREC_FRAME_CONFIDENCE_H

#include "base/counter_map.h"
#include "flow/thread_residency.h"
#include "flow/trace_frames.h"

/** enum unreliable_why - why older frames may be gone, or others may have taken their place */
enum unreliable_why {
	UNRELIABLE_NOT,
	UNRELIABLE_GAP,		/* a part of the history is missing */
	UNRELIABLE_ELSEWHERE,	/* the thread ran on another CPU */
	UNRELIABLE_UNKNOWN,		/* it may have: the history of another CPU has no answer */
	UNRELIABLE_UNFIT,		/* a return does not fit them */
	UNRELIABLE_ORDER,		/* nothing proves when it ran on which CPU */
	UNRELIABLE_UNSEEN,		/* code ran that is not in the dump: calls may be missing */
};

/**
 * struct unreliable - about the frames of a thread
 * @n: those that were entered before this event.
 * @cpu: of ELSEWHERE, UNKNOWN and ORDER.
 */
struct unreliable {
	enum unreliable_why why;
	uint64_t n;
	unsigned int cpu;
};

/**
 * struct frame_confidence - one CPU under way
 * @residencies: of all CPUs, borrowed.
 * @gap: about every thread; @recovers: since the last branch.
 * @threads, @unseen: by thread.
 * @nomem: something was forgotten for lack of memory, in @nowhere.
 */
struct frame_confidence {
	const struct residencies *residencies;
	struct unreliable gap;
	bool recovers;
	struct counter_map threads;
	struct counter_map unseen;
	uint64_t nowhere[COUNTER_MAP_NR];
	bool nomem;
};

/** frame_confidence_init() - before the first event of a CPU */
void frame_confidence_init(struct frame_confidence *frame_confidence,
			   const struct residencies *residencies);

/**
 * frame_confidence_feed() - the next event and what it did
 *
 * Sets the cookie of each frame that it entered; see frame_confidence_unseen().
 */
void frame_confidence_feed(struct frame_confidence *frame_confidence,
			   const struct trace_event *event, const struct frames_step *step,
			   struct frames *frames);

/** frame_confidence_cookie() - of each frame that plain branches enter on @stack, which runs */
uint64_t frame_confidence_cookie(struct frame_confidence *frame_confidence,
				 const struct stack *stack);

/** frame_confidence_feed_fast() - frame_confidence_feed() of plain branches, without cookies */
void frame_confidence_feed_fast(struct frame_confidence *frame_confidence);

/** frame_confidence_thread() - @unreliable is about the frames of thread @pid, which is followed */
void frame_confidence_thread(struct frame_confidence *frame_confidence, uint32_t pid,
			     const struct unreliable *unreliable);

/** frame_confidence_of() - about the frames on @stack */
struct unreliable frame_confidence_of(struct frame_confidence *frame_confidence,
				      const struct stack *stack);

/**
 * frame_confidence_unseen() - may calls be missing between @outer and @inner?
 * @stack: of both.
 * @outer: NULL: before the history begins.
 * @inner: NULL: up to what runs now.
 * @ret: true: why.
 */
bool frame_confidence_unseen(struct frame_confidence *frame_confidence, const struct stack *stack,
			     const struct frame *outer, const struct frame *inner,
			     struct unreliable *ret);

/** frame_confidence_fini() - free what frame_confidence_feed() allocated */
void frame_confidence_fini(struct frame_confidence *frame_confidence);

#endif /* BTSREC_FRAME_CONFIDENCE_H */
