// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls, jumps and returns. */
#include "flow/frames_impl.h"

/* An interrupted instruction and the one after it: an IRET goes to either. */
#define BACK_BYTES	(CODE_INSN_MAX_BYTES + 1)

/*
 * A call of code right after it only fills the return stack buffer, or asks where
 * it is.  The longest such gap is that of FILL_RETURN_BUFFER before v5.19: PAUSE,
 * LFENCE, JMP (arch/x86/include/asm/nospec-branch.h).
 */
#define NEAR_CALL_BYTES	8

static enum frames_place find_place(struct frames *f, uint64_t from, uint64_t to)
{
	/* Fibonacci hashing, as in code.c. */
	uint64_t hash = (from ^ to << 24 ^ to >> 40) * 0x9e3779b97f4a7c15ULL;
	struct place_entry *entry = &f->places[(hash >> 32) % NR_PLACES];

	if (entry->from != from || entry->to != to) {
		entry->place = f->source.place(f->source.arg, from, to);
		entry->from = from;
		entry->to = to;
	}
	return entry->place;
}

/* A branch with a note is asked about itself only. */
enum frames_place frames_place_of(struct frames *f, uint64_t from, uint64_t to)
{
	if (!f->source.place)
		return FRAMES_UNKNOWN;
	if (!f->noted)
		return find_place(f, from, to);
	if (!f->noted->note)
		f->noted->note = FRAMES_NOTE(f->source.place(f->source.arg, from, to)) & 0xf;
	return (enum frames_place)(f->noted->note - FRAMES_NOTE(0));
}

/* --- Up and down -------------------------------------------------------- */

/* On another stack: what this event did before does not count there. */
static void begin_anew(struct frames *f)
{
	f->step.nr_entered = 0;
	f->step.bridged = false;
}

struct frame *frames_enter(struct frames *f, enum frame_kind kind, uint64_t from, uint64_t entered,
			   uint64_t return_va)
{
	struct frame *frame = stack_push(&f->stacks, kind);

	if (!frame) {
		begin_anew(f);
		return NULL;
	}
	frame_begin(frame, f->n, from, entered, return_va);
	f->step.nr_entered++;
	return frame;
}

/* What this event has entered itself is not reported at all. */
static void keep_left(struct frames *f, size_t i)
{
	const struct stack *stack = f->stacks.current;
	size_t nr = stack->nr - i, nr_new = f->step.nr_entered < nr ? f->step.nr_entered : nr;

	f->step.nr_entered -= (unsigned int)nr_new;
	nr -= nr_new;
	if (nr > STACKS_MAX_DEPTH - f->step.nr_left)
		nr = STACKS_MAX_DEPTH - f->step.nr_left;
	for (; nr; nr--, i++) {
		struct frame *left = &f->left[f->step.nr_left++];

		*left = stack->frames[i];
		left->nr_branches = stack->nr_branches - left->nr_before;
	}
}

/* Frame @i is left, with all that are above it. */
void frames_leave(struct frames *f, size_t i)
{
	struct stack *stack = f->stacks.current;
	const struct frame *frame = &stack->frames[i];

	if (i < stack->nr_old && !stack->attached) {
		f->step.bridged = true;
		f->step.bridged_segment = stack->segment;
		f->step.shift = frame->level - stack->level;
		stack->attached = true;
	}
	stack->level = frame->level - 1;
	stack->segment = frame->segment;
	keep_left(f, i);
	stack_cut(&f->stacks, i);
}

/* Frames from @i on, and the function below them, which has none. */
void frames_leave_base(struct frames *f, size_t i)
{
	struct stack *stack = f->stacks.current;

	if (i < stack->nr)
		stack->level = stack->frames[i].level - 1;
	keep_left(f, i);
	stack_cut(&f->stacks, i);
	stack->level--;
	f->step.deeper = true;
}

/* The lowest frame that a return may leave: the old ones only if they are next. */
static size_t floor_of(const struct stack *stack)
{
	return stack->attached || stack->nr == stack->nr_old ? 0 : stack->nr_old;
}

static bool is_tail_of(const struct frame *tail, const struct frame *frame)
{
	return tail->kind == FRAME_TAIL && !frame_is_entry(frame->kind) &&
	       tail->return_va == frame->return_va;
}

/* What returns together with frame @i: the calls that it is a tail of. */
size_t frames_chain_start(const struct stack *stack, size_t i)
{
	while (i && frames_may_be_there(stack, i - 1) &&
	       is_tail_of(&stack->frames[i], &stack->frames[i - 1]))
		i--;
	return i;
}

bool frames_is_back(const struct frame *frame, uint64_t to)
{
	return !frame->return_va || to - frame->from < BACK_BYTES;
}

/* --- Returns ------------------------------------------------------------ */

bool frames_returns_to(const struct frame *frame, uint64_t to)
{
	if (frame->kind == FRAME_DIVERT)
		return frames_is_back(frame, to);
	return frame->return_va == to;
}

static bool find_return(const struct stack *stack, uint64_t to, size_t *ret)
{
	size_t low = floor_of(stack);

	for (size_t i = stack->nr; i > low && !frame_is_entry(stack->frames[i - 1].kind); i--) {
		if (!frames_returns_to(&stack->frames[i - 1], to))
			continue;
		*ret = i - 1;
		return true;
	}
	return false;
}

/* The innermost frames may be there no more: what returned was called by one that is not known. */
static void return_detached(struct frames *f)
{
	stack_detach(&f->stacks);
	f->step.bridged = false;
	f->step.lost = true;
	frames_leave_base(f, f->stacks.current->nr);
}

/*
 * Below which frame is what returned?  Not with its tail calls, if it was entered before all this.
 * Nor if it was put aside with its thread, which may have run on elsewhere since.
 */
static size_t below_tails(const struct stack *stack, size_t low)
{
	size_t old = stack->nr, entered = old;

	while (entered > low && stack->frames[entered - 1].kind == FRAME_TAIL &&
	       !stack->frames[entered - 1].return_va)
		entered--;
	while (old > stack->nr_old && stack->frames[old - 1].kind == FRAME_TAIL)
		old--;
	return entered == low || old > stack->nr_old ? entered : old;
}

/* Nothing open returns to where it went. */
static void return_astray(struct frames *f, enum frames_site site)
{
	struct stack *stack = f->stacks.current;
	size_t low = stack->attached ? 0 : stack->nr_old, i = below_tails(stack, low);

	if (i == low) {
		frames_leave_base(f, i);
	} else if (site == FRAMES_SITE_UNKNOWN || stack->frames[i - 1].kind == FRAME_DIVERT) {
		/* Its call was not seen; or a handler goes to code that makes a system call. */
	} else if (site == FRAMES_SITE_CALL || i <= stack->nr_old) {
		return_detached(f);
	} else if (frame_is_entry(stack->frames[i - 1].kind)) {
		f->step.mismatch = true;
	} else {
		f->step.mismatch = true;
		frames_leave(f, frames_chain_start(stack, i - 1));
	}
}

static uint64_t return_of_tail(const struct frames *f)
{
	const struct frame *top = stack_top(&f->stacks);

	return top && !frame_is_entry(top->kind) && top->kind != FRAME_DIVERT ? top->return_va : 0;
}

/* The outermost frame that returns with the innermost one, if it may be a trampoline; else NULL. */
static const struct frame *trampoline_of(const struct frames *f)
{
	const struct stack *stack = f->stacks.current;
	const struct frame *top = stack_top(&f->stacks);
	const struct frame *frame;

	if (!f->source.is_trampoline || !top || frame_is_entry(top->kind) ||
	    top->kind == FRAME_DIVERT || !frames_may_be_there(stack, stack->nr - 1))
		return NULL;
	frame = &stack->frames[frames_chain_start(stack, stack->nr - 1)];
	return f->source.is_trampoline(f->source.arg, frame->from, frame->entered) ? frame : NULL;
}

static bool is_redirected(const struct frames *f, uint64_t to)
{
	return trampoline_of(f) && f->source.is_start(f->source.arg, to);
}

/* It was called by the code that goes on elsewhere now. */
static void return_redirected(struct frames *f, uint64_t to)
{
	const struct frame trampoline = *trampoline_of(f);
	struct stack *stack = f->stacks.current;
	struct frame *frame;

	frames_leave(f, frames_chain_start(stack, stack->nr - 1));
	if (f->source.is_made(f->source.arg, to)) {
		frames_enter(f, trampoline.kind, trampoline.from, to, trampoline.return_va);
		return;
	}
	frame = frames_enter(f, FRAME_TAIL, trampoline.from, to, return_of_tail(f));
	if (frame)
		frame->back_va = trampoline.return_va;
}

/*
 * The code that a change of stacks has jumped to returns; or nothing is known to be open, and a
 * change of stacks is due.
 */
static bool is_switched_to(struct frames *f)
{
	const struct frame *top = stack_top(&f->stacks);

	if (!top)
		return f->has_switch;
	return top->kind == FRAME_TAIL &&
	       frames_place_of(f, top->from, top->entered) == FRAMES_SWITCH;
}

static void begin_thread(struct frames *f, uint64_t from, uint64_t to)
{
	if (f->has_switch)
		frames_switch_stack(f);
	stack_clear(&f->stacks);
	begin_anew(f);
	frames_enter(f, FRAME_TAIL, from, to, 0);
}

/* A known call is open, and the way to another stack was not recognised. */
static bool is_unseen_switch(const struct frames *f)
{
	return f->has_switch && return_of_tail(f);
}

/* It did not replace its caller. */
static bool returns_back(const struct frames *f, uint64_t to)
{
	const struct frame *top = stack_top(&f->stacks);

	return top && top->back_va && top->back_va == to;
}

static bool return_matched(struct frames *f, uint64_t to)
{
	struct stack *stack = f->stacks.current;
	size_t i;

	if (returns_back(f, to))
		frames_leave(f, stack->nr - 1);
	else if (find_return(stack, to, &i))
		frames_leave(f, frames_chain_start(stack, i));
	else
		return false;
	return true;
}

/* The kernel keeps to its stacks. */
static enum frames_site site_of(const struct frames *f, uint64_t from, uint64_t to)
{
	if (code_is_kernel(from) || !f->source.site)
		return FRAMES_SITE_NONE;
	return f->source.site(f->source.arg, f->cr3, to);
}

static void return_elsewhere(struct frames *f, uint64_t from, uint64_t to)
{
	if (is_unseen_switch(f)) {
		frames_switch_stack(f);
		if (return_matched(f, to))
			return;
	}
	return_astray(f, site_of(f, from, to));
}

static void do_return(struct frames *f, uint64_t from, uint64_t to)
{
	enum kernel_code code = KERNEL_CODE_PLAIN;

	if (return_matched(f, to))
		return;
	if (f->source.code)
		code = f->source.code(f->source.arg, to);
	if (code == KERNEL_CODE_HOOK)
		frames_enter(f, FRAME_TAIL, from, to, return_of_tail(f));
	else if (code == KERNEL_CODE_FORK && is_switched_to(f))
		begin_thread(f, from, to);
	else if (is_redirected(f, to))
		return_redirected(f, to);
	else
		return_elsewhere(f, from, to);
}

/* --- Calls and jumps ---------------------------------------------------- */

void frames_switch_stack(struct frames *f)
{
	stacks_select(&f->stacks, f->has_switch, f->switch_pid);
	f->has_switch = false;
	f->step.switched = true;
	begin_anew(f);
}

/* What runs has changed the stack pointer. */
static void begin_switch(struct frames *f)
{
	if (!f->switching) {
		frames_switch_stack(f);
		f->stacks.current->kernel = true;
	}
	f->switching = true;
}

static bool stays(struct frames *f, uint64_t from, uint64_t to, uint64_t return_va)
{
	enum frames_place place = frames_place_of(f, from, to);

	if (place == FRAMES_SWITCHED)
		begin_switch(f);
	return place == FRAMES_SWITCHED ||
	       ((place == FRAMES_SAME || place == FRAMES_UNKNOWN) &&
		return_va && to - return_va <= NEAR_CALL_BYTES);
}

static void do_call(struct frames *f, enum branch_type type, uint64_t from, uint64_t to,
		    uint64_t return_va)
{
	if (type == BRANCH_CALL_IND)
		frames_enter(f, FRAME_CALL_IND, from, to, return_va);
	else if (!stays(f, from, to, return_va))
		frames_enter(f, FRAME_CALL, from, to, return_va);
}

/* A tail of itself, by way of others, starts anew. */
static void tail_call(struct frames *f, uint64_t from, uint64_t to)
{
	struct stack *stack = f->stacks.current;
	uint64_t return_va = return_of_tail(f);

	for (size_t i = stack->nr; i && frames_may_be_there(stack, i - 1); i--) {
		if (stack->frames[i - 1].kind != FRAME_TAIL)
			break;
		if (stack->frames[i - 1].entered == to) {
			frames_leave(f, i - 1);
			break;
		}
	}
	frames_enter(f, FRAME_TAIL, from, to, return_va);
}

/* Code that stands in for a return jumps to where the return would have led. */
static bool jumps_back(struct frames *f, uint64_t from, uint64_t to)
{
	const struct stack *stack = f->stacks.current;
	const struct frame *top = stack_top(&f->stacks);

	if (!top || top->kind != FRAME_TAIL || frames_place_of(f, from, to) != FRAMES_INSIDE)
		return false;
	if (!top->return_va)
		frames_leave_base(f, frames_chain_start(stack, stack->nr - 1));
	else if (top->return_va == to)
		frames_leave(f, frames_chain_start(stack, stack->nr - 1));
	else
		return false;
	return true;
}

static void do_jump(struct frames *f, enum branch_type type, uint64_t from, uint64_t to)
{
	const struct frame *top = stack_top(&f->stacks);

	if (top && top->kind == FRAME_DIVERT && frames_is_back(top, to)) {
		frames_leave(f, f->stacks.current->nr - 1);
		return;
	}
	if (type == BRANCH_JUMP_IND && jumps_back(f, from, to))
		return;
	switch (frames_place_of(f, from, to)) {
	case FRAMES_SWITCH:
		begin_switch(f);
		f->switching = false;
		frames_enter(f, FRAME_TAIL, from, to, return_of_tail(f));
		break;
	case FRAMES_SWITCHED:
		begin_switch(f);
		break;
	case FRAMES_START:
		tail_call(f, from, to);
		break;
	default:
		break;
	}
}

/* What a branch comes to, once it is through all thunks. */
void frames_flow(struct frames *f, const struct frame_thunk *flow, uint64_t to)
{
	switch (flow->type) {
	case BRANCH_CALL:
	case BRANCH_CALL_IND:
		do_call(f, flow->type, flow->from, to, flow->return_va);
		break;
	case BRANCH_RET:
		do_return(f, flow->from, to);
		break;
	case BRANCH_JUMP:
	case BRANCH_JUMP_IND:
	case BRANCH_COND:
		do_jump(f, flow->type, flow->from, to);
		break;
	default:
		break;
	}
}
