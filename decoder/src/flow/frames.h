/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which calls are open: branches turned into frames that are entered and left, on
 * one stack for each thread.
 *
 * What holds after every event:
 * - A frame is on the stack only if its call is in the history and its end is not.
 *   The address after the calling instruction is known, and a return ends a frame
 *   only by leading there.
 * - What was open before the history begins, or what was forgotten (STACKS_MAX_DEPTH,
 *   STACKS_MAX), is not on the stack.  A return to it is "deeper": the level goes down
 *   and nothing is popped.
 * - A return that leads to an outer frame leaves all inner ones (longjmp, stack
 *   unwinding).  One that leads to no known place, with a known caller, is a
 *   "mismatch" (corrupted stack).  It leaves one frame.
 * - User code may take another stack, or drop frames (coroutines, longjmp).  It may share its stack
 *   with another thread (vfork).  A return of its that leads behind a call is no mismatch: all is
 *   detached.  If the code there cannot be read, the call may have been one that was not seen.
 * - A trampoline that returns to the start of a function does so because the kernel has
 *   changed where its caller goes on: it is left, and its caller makes a tail call.  Should
 *   the function return to that caller all the same, it was called by it.
 * - Interrupts, exceptions and system calls are frames as well; no return gets past
 *   them.  IRET and SYSRET leave them with all that is above.
 * - A tail call is a frame on top of the one that it replaces.  Both are left by one
 *   return.  Functions that jump to each other in turn do not pile up.
 * - Thunks are folded: a call by way of a thunk enters its frame with the branch that
 *   leads out of the thunk.
 * - A thread's stack is put aside at the first branch of __switch_to_asm, where the stack pointer
 *   has changed.  It is resumed when the thread runs here again.  It may have run elsewhere in
 *   between: a return that matches nothing is then no mismatch, and detaches what was put aside.
 * - After a gap everything is detached: it may be gone.  A return into one of the
 *   detached frames attaches it again ("bridged") and says by how much the levels
 *   since the gap were wrong.
 */
#ifndef BTSREC_FRAMES_H
#define BTSREC_FRAMES_H

#include "code/kernel_code.h"
#include "flow/stacks.h"

/** enum frames_place - how two addresses are related by the bounds of functions */
enum frames_place {
	FRAMES_UNKNOWN,		/* one of them is in no known function */
	FRAMES_SAME,		/* one function, its cold part included */
	FRAMES_SAME_START,	/* and the second is its first instruction */
	FRAMES_INSIDE,		/* the second is inside another function */
	FRAMES_START,		/* the second is the first instruction of another one */
	FRAMES_SWITCH,		/* out of the code that has changed stacks */
	FRAMES_SWITCHED,	/* SAME, in that code: since v5.19 it loops and calls first */
};

/** enum frames_site - may code return to an address? */
enum frames_site {
	FRAMES_SITE_UNKNOWN,	/* the code before it is not known */
	FRAMES_SITE_CALL,	/* a call may end before it */
	FRAMES_SITE_NONE,	/* none does */
};

/**
 * struct frames_source - what is known of functions
 * @place: how @to lies to @from; NULL: nothing is known.  Then tail calls are not
 *	seen, and a thread's stack changes at the annotation of the switch.
 * @code: what begins at @va; asked for a return that leads to no known place.  NULL: nothing is
 *	known.
 * @is_trampoline: may the code at @entered, called at @from, return to another function for its
 *	caller?  NULL: none may.
 * @is_start: may a function begin at @va?  @is_made: has the kernel made the code there?  Asked of
 *	where trampolines return to.
 * @site: may user code return to @va, by the code in the page table @cr3?  NULL: it may not.
 * @idt_known: what enters the kernel otherwise than by a system call is judged as such.
 */
struct frames_source {
	enum frames_place (*place)(void *arg, uint64_t from, uint64_t to);
	enum kernel_code (*code)(void *arg, uint64_t va);
	bool (*is_trampoline)(void *arg, uint64_t from, uint64_t entered);
	bool (*is_start)(void *arg, uint64_t va);
	bool (*is_made)(void *arg, uint64_t va);
	enum frames_site (*site)(void *arg, uint64_t cr3, uint64_t va);
	void *arg;
	bool idt_known;
};

/**
 * struct frames_step - what one event did, in this order
 * @lost: what was open may have ended unseen, here or before (gap, contradiction).
 * @unseen_entry, @unseen_exit: the event before was at the other level; how it was
 *	left is not in the history.  An entry is one of @nr_entered, unless it was left
 *	at once.
 * @switched: the stack of another thread from here on.
 * @nr_left: so many frames were left; see frames_left().
 * @deeper: then a function was left that had been entered before what is known.
 * @mismatch: a return to where no return was expected.
 * @elsewhere: IRET or SYSRET to another place than was interrupted.
 * @bridged: an old frame was found again; to the levels of @bridged_segment belongs
 *	@shift to make them levels of @segment, which is lower.
 * @nr_entered: so many frames are new on top of the stack, the last one on top.
 * @level, @segment: of what runs afterwards; see struct stack.
 */
struct frames_step {
	bool lost;
	bool unseen_entry;
	bool unseen_exit;
	bool switched;
	unsigned int nr_left;
	bool deeper;
	bool mismatch;
	bool elsewhere;
	bool bridged;
	uint32_t bridged_segment;
	int64_t shift;
	unsigned int nr_entered;
	int64_t level;
	uint32_t segment;
};

/** enum frames_move - what a plain branch does */
enum frames_move {
	FRAMES_NOT_PLAIN,
	FRAMES_STAYS,		/* in its function */
	FRAMES_ENTERS,		/* one more frame */
	FRAMES_LEAVES,		/* the innermost frame */
};

struct frames;

/** frames_new() - for one CPU, before its first event; NULL: out of memory. */
struct frames *frames_new(const struct frames_source *source);

/** frames_free() - end; NULL is allowed. */
void frames_free(struct frames *frames);

/**
 * frames_feed() - the next event; all events of the CPU, oldest first
 * @side: the thread that runs; NULL: unknown.
 * @step: of the proof; NULL if it has none.
 *
 * Return: what it did, valid until the next.
 */
const struct frames_step *frames_feed(struct frames *frames, const struct btsrec_event *event,
				      const struct btsrec_side *side,
				      const struct proof_step *step);

/**
 * frames_feed_plain() - frames_feed() of a branch with the @run that proof_plain() returned
 * @n: the number of the event.
 *
 * Most branches only stay in a function, enter one or return from the innermost.
 *
 * Return: as frames_feed(); NULL: it is none of these, and frames_feed() must be asked.
 */
const struct frames_step *frames_feed_plain(struct frames *frames, uint64_t n,
					    const struct btsrec_record *branch,
					    const struct code_brief *run);

/**
 * frames_join() - before the first event of another history, which begins with a switch
 *
 * What is remembered of threads stays; how the CPU came to that switch is of no matter.
 */
void frames_join(struct frames *frames);

/** frames_select() - thread @pid, which does not run any more, is what is asked about */
void frames_select(struct frames *frames, uint32_t pid);

/** frames_nomem() - something was forgotten for lack of memory. */
bool frames_nomem(const struct frames *frames);

/**
 * frames_stack() - the stack of the thread that runs
 *
 * Frames from @nr_old on are there.  Older ones are there if the stack is attached,
 * as far as is known, and else perhaps.  A function outside all frames, the one
 * that called the outermost, runs without a frame.  Valid until the next event.
 */
const struct stack *frames_stack(const struct frames *frames);

/** frames_stacks() - those of all threads that are remembered; valid until the next event */
const struct stacks *frames_stacks(const struct frames *frames);

/**
 * frames_thunk() - the call by way of a thunk that runs just now
 *
 * Its frame is entered with the branch that leads out of the thunk.  NULL: none.
 */
const struct frame_thunk *frames_thunk(const struct frames *frames);

/** frames_is_thunk_call() - does @thunk lead to a call, or only to a jump or return? */
static inline bool frames_is_thunk_call(const struct frame_thunk *thunk)
{
	return thunk->type == BRANCH_CALL || thunk->type == BRANCH_CALL_IND;
}

/**
 * frames_left() - a frame that the last event left
 * @i: from 0, outermost, up to @nr_left.
 */
const struct frame *frames_left(const struct frames *frames, unsigned int i);

/** frames_entered() - a frame that the last event entered; @i below @nr_entered. */
struct frame *frames_entered(const struct frames *frames, unsigned int i);

/** frame_kind_str() - the kind as one lower-case word; static. */
const char *frame_kind_str(enum frame_kind kind);

#endif /* BTSREC_FRAMES_H */
