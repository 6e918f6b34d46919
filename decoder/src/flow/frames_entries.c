// SPDX-License-Identifier: GPL-2.0-or-later
/* Interrupts, exceptions and system calls, and the ways back. */
#include "flow/frames_impl.h"

/* Where the frames of the kernel begin, if it is the kernel that runs. */
size_t frames_kernel_part(const struct stack *stack)
{
	size_t i = stack->nr;

	while (i && code_is_kernel(stack->frames[i - 1].entered))
		i--;
	return i;
}

void frames_enter_kernel(struct frames *f, enum frame_kind kind, int vector, uint64_t from,
			 uint64_t to, uint64_t return_va)
{
	struct frame *frame = frames_enter(f, kind, from, to, return_va);

	if (frame) {
		frame->vector = vector;
		frame->thunk = f->thunk;
	}
	f->thunk.type = BRANCH_UNKNOWN;
}

static void leave_entry(struct frames *f, size_t i)
{
	f->thunk = f->stacks.current->frames[i].thunk;
	frames_leave(f, i);
}

/* Not to where it was interrupted: back from a signal, or to a handler. */
static void divert(struct frames *f, uint64_t from, uint64_t to, uint64_t return_va)
{
	struct stack *stack = f->stacks.current;

	f->thunk.type = BRANCH_UNKNOWN;
	for (size_t i = stack->nr; i && frames_may_be_there(stack, i - 1); i--) {
		const struct frame *frame = &stack->frames[i - 1];

		if (frame_is_entry(frame->kind))
			break;
		if (frame->kind == FRAME_DIVERT && frames_is_back(frame, to)) {
			frames_leave(f, i - 1);
			return;
		}
	}
	f->step.elsewhere = true;
	frames_enter(f, FRAME_DIVERT, from, to, return_va);
}

/*
 * The innermost entry from user addresses, else where the frames of the kernel begin.  The kernel
 * may have jumped to such an address, and an interrupt have come before the fault.
 */
static size_t user_entry(const struct stack *stack)
{
	size_t first = frames_kernel_part(stack);

	for (size_t i = stack->nr; i > first; i--)
		if (frame_is_entry(stack->frames[i - 1].kind) &&
		    !code_is_kernel(stack->frames[i - 1].from))
			return i - 1;
	return first;
}

void frames_leave_kernel(struct frames *f, uint64_t to)
{
	struct stack *stack = f->stacks.current;
	size_t i = user_entry(stack);
	struct frame entry;

	f->thunk.type = BRANCH_UNKNOWN;
	stack->kernel = false;
	if (i == stack->nr || !frame_is_entry(stack->frames[i].kind) ||
	    code_is_kernel(stack->frames[i].from)) {
		frames_leave_base(f, i);
		return;
	}
	entry = stack->frames[i];
	if (!frames_may_be_there(stack, i) && !frames_is_back(&entry, to)) {
		frames_leave_base(f, i);
		return;
	}
	leave_entry(f, i);
	if (!frames_is_back(&entry, to))
		divert(f, entry.from, to, entry.return_va);
}

/* The innermost entry that was interrupted at @to, else the innermost one. */
static bool find_entry(const struct stack *stack, uint64_t to, size_t *ret)
{
	bool found = false;

	for (size_t i = stack->nr; i > frames_kernel_part(stack); i--) {
		const struct frame *frame = &stack->frames[i - 1];

		if (!frame_is_entry(frame->kind) || !code_is_kernel(frame->from))
			continue;
		if (frames_is_back(frame, to)) {
			*ret = i - 1;
			return true;
		}
		if (!found && frames_may_be_there(stack, i - 1))
			*ret = i - 1;
		found = found || frames_may_be_there(stack, i - 1);
	}
	return found;
}

/* Of IRETQ in 64-bit code, 48 CF (SDM vol. 2A). */
#define IRETQ_BYTES 2

static void resume_kernel(struct frames *f, uint64_t from, uint64_t to)
{
	struct stack *stack = f->stacks.current;
	size_t i = 0, first = frames_kernel_part(stack);
	bool found = find_entry(stack, to, &i);
	enum frames_place place;

	/* To what is next: it serialises, as in iret_to_self(), or opens the NMI window. */
	if (to - from == IRETQ_BYTES)
		return;
	if (found && frames_is_back(&stack->frames[i], to)) {
		leave_entry(f, i);
		return;
	}
	place = frames_place_of(f, from, to);
	/* IRET within a function. */
	if (place == FRAMES_SAME || place == FRAMES_SAME_START)
		return;
	if (found) {
		struct frame entry = stack->frames[i];

		leave_entry(f, i);
		if (frames_place_of(f, entry.from, to) == FRAMES_START)
			divert(f, entry.from, to, entry.return_va);
		f->step.elsewhere = true;
	} else {
		/*
		 * It was entered before the history begins, or in a gap: where to go back is not
		 * known.  What was open before the gap may be so still.
		 */
		frames_leave_base(f, stack->attached || stack->nr_old < first ? first :
										stack->nr_old);
	}
}

void frames_resume(struct frames *f, uint64_t from, uint64_t to)
{
	if (code_is_kernel(to))
		resume_kernel(f, from, to);
	else
		frames_leave_kernel(f, to);
}
