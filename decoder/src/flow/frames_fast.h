/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shortest way of a plain branch, for a view of a history with its calls.  All
 * it reports is what became of one frame.  frames_feed() is the same for any
 * branch, and the rules are there.
 */
#ifndef BTSREC_FRAMES_FAST_H
#define BTSREC_FRAMES_FAST_H

#include "flow/frames_impl.h"

/** frames_move_of() - what branches along @run, from proof_plain(), do */
static inline enum frames_move frames_move_of(const struct code_brief *run)
{
	static const uint8_t moves[BRANCH_COND + 1][FRAMES_NR_NOTES] = {
		[BRANCH_CALL] = { [FRAMES_NOTE(FRAMES_START)] = FRAMES_ENTERS },
		[BRANCH_JUMP] = { [FRAMES_NOTE(FRAMES_SAME)] = FRAMES_STAYS,
				  [FRAMES_NOTE(FRAMES_SAME_START)] = FRAMES_STAYS },
		[BRANCH_COND] = { [FRAMES_NOTE(FRAMES_SAME)] = FRAMES_STAYS,
				  [FRAMES_NOTE(FRAMES_SAME_START)] = FRAMES_STAYS },
		/* These have no target, so there is no note. */
		[BRANCH_CALL_IND] = { FRAMES_ENTERS },
		[BRANCH_RET] = { FRAMES_LEAVES },
	};

	return (enum frames_move)moves[run->judged][run->note];
}

/**
 * frames_are_plain() - may frames_fast() be asked?  Plain branches do not change that.
 *
 * Nothing is under way but the code of the kernel.
 */
static inline bool frames_are_plain(const struct frames *f)
{
	return !f->lost && f->stacks.current->kernel && f->thunk.type == BRANCH_UNKNOWN;
}

/** frames_fast_stack() - frames_stack() */
static inline const struct stack *frames_fast_stack(const struct frames *f)
{
	return f->stacks.current;
}

/* What was interrupted may go on with any jump. */
static inline bool frames_are_diverted(const struct stack *stack)
{
	return stack->nr && stack->frames[stack->nr - 1].kind == FRAME_DIVERT;
}

/* A return from the innermost function, which was called and has no tails; NULL: it is not. */
static inline struct frame *frames_fast_top(const struct stack *stack, uint64_t to)
{
	struct frame *top = stack->nr ? &stack->frames[stack->nr - 1] : NULL;

	return top && (top->kind == FRAME_CALL || top->kind == FRAME_CALL_IND) &&
	       top->return_va == to && frames_may_be_there(stack, stack->nr - 1) ? top : NULL;
}

/* Nothing is forgotten that frames_entered() would need. */
static inline struct frame *frames_enter_plain(struct frames *f, uint64_t n,
					       const struct btsrec_record *branch,
					       const struct code_brief *run)
{
	bool direct = run->judged == BRANCH_CALL;
	struct frame *frame = stack_push(&f->stacks, direct ? FRAME_CALL : FRAME_CALL_IND);

	if (frame)
		frame_begin(frame, n, branch->from, branch->to,
			    branch->from + run->length_bytes);
	return frame;
}

static inline void frames_leave_plain(struct frames *f, struct frame *top)
{
	struct stack *stack = f->stacks.current;

	top->nr_branches = stack->nr_branches - top->nr_before;
	stack->level = top->level - 1;
	stack->segment = top->segment;
	stack_cut(&f->stacks, stack->nr - 1);
}

/**
 * frames_fast() - frames_feed() of a branch with the @run that proof_plain() returned
 * @n: the number of the event.
 * @ret_frame: that was entered or left, valid until the next event; NULL: none.
 *
 * Return: FRAMES_NOT_PLAIN: nothing was done, and frames_feed() must be asked.
 */
static inline enum frames_move frames_fast(struct frames *f, uint64_t n,
					   const struct btsrec_record *branch,
					   const struct code_brief *run, struct frame **ret_frame)
{
	enum frames_move move = frames_move_of(run);
	struct stack *stack = f->stacks.current;
	struct frame *top = NULL;

	*ret_frame = NULL;
	if (move == FRAMES_LEAVES)
		top = frames_fast_top(stack, branch->to);
	if (move == FRAMES_NOT_PLAIN || (move == FRAMES_LEAVES && !top) ||
	    (move == FRAMES_STAYS && frames_are_diverted(stack)))
		return FRAMES_NOT_PLAIN;
	stack->nr_branches++;
	if (move == FRAMES_ENTERS)
		*ret_frame = frames_enter_plain(f, n, branch, run);
	else if (top)
		frames_leave_plain(f, *ret_frame = top);
	f->prev_to = branch->to;
	return move;
}

#endif /* BTSREC_FRAMES_FAST_H */
