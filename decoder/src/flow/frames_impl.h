/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the stage frames share; nobody else includes this, but frames_fast.h. */
#ifndef BTSREC_FRAMES_IMPL_H
#define BTSREC_FRAMES_IMPL_H

#include "base/bounds.h"
#include "flow/frames.h"

/* A power of two; of a small history only as many pages as it has branches are used. */
#define NR_PLACES	BOUND(1U << 14, 1U << 6)

/* A place as the note of a run; 0 is that of one that was not asked about. */
#define FRAMES_NOTE(place)	((uint8_t)((place) + 1))
#define FRAMES_NR_NOTES		(FRAMES_SWITCHED + 2)

/** struct place_entry - an answer of frames_source.place */
struct place_entry {
	uint64_t from;
	uint64_t to;
	enum frames_place place;
};

/**
 * struct frames - one CPU under way
 * @lost: since the last branch something is missing; true at the start.
 * @has_switch: annotated, but the stack has not changed yet; from thread @prev_pid to thread
 *	@switch_pid.  @is_first: nothing was recorded between the last loss and that.
 * @switching: it has, and the code that did it still runs.
 * @thunk: the branch that led into the thunk that runs.
 * @noted: where to keep what the source says of the way of this branch; NULL: nowhere.
 * @prev_to: target of the last branch.
 * @cr3: of the thread that runs; 0: not known.
 * @n: number of the last event; @step: what it did.
 * @left: the frames that it left.
 */
struct frames {
	struct frames_source source;
	struct stacks stacks;
	bool lost;
	bool has_switch;
	bool is_first;
	bool switching;
	uint32_t prev_pid;
	uint32_t switch_pid;
	struct frame_thunk thunk;
	struct code_brief *noted;
	uint64_t prev_to;
	uint64_t cr3;
	uint64_t n;
	struct frames_step step;
	struct frame left[STACKS_MAX_DEPTH];
	struct place_entry places[NR_PLACES];
};

/* --- frames_calls.c ----------------------------------------------------- */

/** frames_place_of() - what the source says, cached */
enum frames_place frames_place_of(struct frames *f, uint64_t from, uint64_t to);

/** frames_enter() - a new frame; NULL: out of memory. */
struct frame *frames_enter(struct frames *f, enum frame_kind kind, uint64_t from,
			   uint64_t entered, uint64_t return_va);

/** frames_leave() - frame @i of the current stack is left, with all that are above it. */
void frames_leave(struct frames *f, size_t i);

/** frames_leave_base() - frames from @i on, and the function below, which has none. */
void frames_leave_base(struct frames *f, size_t i);

/** frame_begin() - @frame, just pushed, was entered by event @n */
static inline void frame_begin(struct frame *frame, uint64_t n, uint64_t from, uint64_t entered,
			       uint64_t return_va)
{
	frame->n = n;
	frame->from = from;
	frame->entered = entered;
	frame->return_va = return_va;
}

/** frames_may_be_there() - is frame @i of @stack there, as far as is known? */
static inline bool frames_may_be_there(const struct stack *stack, size_t i)
{
	return stack->attached || i >= stack->nr_old;
}

/** frames_is_back() - does @to continue what @frame, an entry or DIVERT, interrupted? */
bool frames_is_back(const struct frame *frame, uint64_t to);

/** frames_chain_start() - the outermost frame that returns together with frame @i */
size_t frames_chain_start(const struct stack *stack, size_t i);

/** frames_returns_to() - does a return to @to end @frame? */
bool frames_returns_to(const struct frame *frame, uint64_t to);

/** frames_flow() - a call, return or jump to @to, through all thunks */
void frames_flow(struct frames *f, const struct frame_thunk *flow, uint64_t to);

/** frames_switch_stack() - the thread that was annotated last goes on */
void frames_switch_stack(struct frames *f);

/* --- frames_entries.c --------------------------------------------------- */

/** frames_kernel_part() - where the frames of the kernel begin, if it is what runs */
size_t frames_kernel_part(const struct stack *stack);

/** frames_enter_kernel() - an interrupt, exception or system call */
void frames_enter_kernel(struct frames *f, enum frame_kind kind, int vector, uint64_t from,
			 uint64_t to, uint64_t return_va);

/** frames_leave_kernel() - to the user address @to */
void frames_leave_kernel(struct frames *f, uint64_t to);

/** frames_resume() - IRET or SYSRET */
void frames_resume(struct frames *f, uint64_t from, uint64_t to);

#endif /* BTSREC_FRAMES_IMPL_H */
