// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/frames_fast.h"

#include <stdlib.h>
#include <string.h>

#define SYSCALL_BYTES 2

struct frames *frames_new(const struct frames_source *source)
{
	struct frames *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->source = *source;
	f->lost = true;
	if (stacks_init(&f->stacks))
		return f;
	free(f);
	return NULL;
}

void frames_free(struct frames *frames)
{
	if (!frames)
		return;
	stacks_fini(&frames->stacks);
	free(frames);
}

/* --- Branches ----------------------------------------------------------- */

static enum frame_kind entry_kind(enum branch_type type)
{
	switch (type) {
	case BRANCH_SYSCALL:
		return FRAME_SYSCALL;
	case BRANCH_INT:
		return FRAME_INT;
	case BRANCH_IRQ:
		return FRAME_IRQ;
	case BRANCH_NMI:
		return FRAME_NMI;
	case BRANCH_EXCEPTION:
		return FRAME_EXCEPTION;
	default:
		return FRAME_ENTRY;
	}
}

/*
 * What enters the kernel past the IDT is SYSCALL, of 2 bytes (SDM vol. 2B); without an IDT the
 * place is that of the instruction.
 */
static void enter_unknown(struct frames *f, const struct btsrec_record *branch)
{
	bool syscall = f->source.idt_known;

	frames_enter_kernel(f, syscall ? FRAME_SYSCALL : FRAME_ENTRY, -1, branch->from, branch->to,
			    branch->from + (syscall ? SYSCALL_BYTES : 0));
}

/* The code at its source is not in the dump. */
static void do_unknown(struct frames *f, const struct btsrec_record *branch)
{
	const struct frame *top = stack_top(&f->stacks);

	if (!code_is_kernel(branch->from) && code_is_kernel(branch->to))
		enter_unknown(f, branch);
	else if (code_is_kernel(branch->from) && !code_is_kernel(branch->to))
		frames_leave_kernel(f, branch->to);
	else if (top && !frame_is_entry(top->kind) && branch->to &&
		 frames_returns_to(top, branch->to))
		frames_leave(f, frames_chain_start(f->stacks.current, f->stacks.current->nr - 1));
}

static void do_thunk(struct frames *f, const struct branch *branch, uint64_t to)
{
	struct frame_thunk flow = f->thunk;

	if (branch->to_thunk)
		return;
	f->thunk.type = BRANCH_UNKNOWN;
	frames_flow(f, &flow, to);
}

static void do_branch(struct frames *f, const struct btsrec_record *record,
		      const struct proof_step *step)
{
	const struct branch *branch = &step->branch;
	struct frame_thunk flow = { .type = branch->type, .from = record->from };

	if (step->length_bytes)
		flow.return_va = record->from + step->length_bytes;
	switch (branch->type) {
	case BRANCH_UNKNOWN:
		do_unknown(f, record);
		break;
	case BRANCH_NONE:
		f->lost = true;
		break;
	case BRANCH_SYSCALL:
	case BRANCH_INT:
		frames_enter_kernel(f, entry_kind(branch->type), branch->vector, record->from,
				    record->to, flow.return_va);
		break;
	case BRANCH_IRQ:
	case BRANCH_NMI:
	case BRANCH_EXCEPTION:
	case BRANCH_ENTRY:
		frames_enter_kernel(f, entry_kind(branch->type), branch->vector, record->from,
				    record->to, record->from);
		break;
	case BRANCH_SYSRET:
	case BRANCH_IRET:
		frames_resume(f, record->from, record->to);
		break;
	case BRANCH_THUNK:
		do_thunk(f, branch, record->to);
		break;
	default:
		f->noted = step->noted;
		if (branch->to_thunk)
			f->thunk = flow;
		else
			frames_flow(f, &flow, record->to);
		f->noted = NULL;
	}
}

/* --- Events ------------------------------------------------------------- */

static void take_stack(struct frames *f, bool known, uint32_t pid)
{
	const struct stack *current = f->stacks.current;

	if (known && current->known && current->pid == pid)
		return;
	stacks_select(&f->stacks, known, pid);
	f->step.switched = true;
}

/*
 * The owner of the stack after something is missing.  A switch that comes first is annotated on the
 * stack of the thread that ends.  That one goes on until the stack pointer changes.
 */
static void recover(struct frames *f, const struct btsrec_side *side, uint64_t from)
{
	struct stack *current;

	f->lost = false;
	f->step.lost = true;
	f->has_switch = f->has_switch && f->is_first && code_is_kernel(from);
	f->switching = false;
	f->thunk.type = BRANCH_UNKNOWN;
	if (f->has_switch)
		take_stack(f, true, f->prev_pid);
	else
		take_stack(f, side, side ? side->pid : 0);
	current = f->stacks.current;
	if (!code_is_kernel(from))
		stack_cut(&f->stacks, frames_kernel_part(current));
	stack_detach(&f->stacks);
	current->kernel = code_is_kernel(from);
}

/* The branch before may have been at the other level, which is not recorded. */
static void follow_level(struct frames *f, uint64_t from, const struct proof_step *step)
{
	struct stack *stack;

	if (!code_is_kernel(from) && f->has_switch)
		frames_switch_stack(f);
	stack = f->stacks.current;
	if (stack->kernel == code_is_kernel(from))
		return;
	if (stack->kernel) {
		f->step.unseen_exit = true;
		frames_leave_kernel(f, from);
	} else {
		f->step.unseen_entry = true;
		if (step && step->kind == PROOF_FILTERED && stack->nr)
			stack_clear(&f->stacks);	/* user calls since then are not known */
		frames_enter_kernel(f, FRAME_ENTRY, -1, f->prev_to, from, 0);
		stack->kernel = true;
	}
}

static void feed_branch(struct frames *f, const struct btsrec_record *branch,
			const struct btsrec_side *side, const struct proof_step *step)
{
	if (step && proof_fails(step))
		f->lost = true;
	if (f->lost)
		recover(f, side, branch->from);
	follow_level(f, branch->from, step);
	f->stacks.current->nr_branches++;
	f->cr3 = side ? side->cr3 : 0;
	if (step)
		do_branch(f, branch, step);
	f->stacks.current->kernel = code_is_kernel(branch->to);
	f->prev_to = branch->to;
}

static void feed_switch(struct frames *f, const struct btsrec_event *event)
{
	if (event->mm_only)
		return;
	if (!f->lost && !f->stacks.current->known)
		stacks_name(&f->stacks, event->sw.prev.pid);
	f->has_switch = true;
	f->is_first = f->lost;
	f->prev_pid = event->sw.prev.pid;
	f->switch_pid = event->sw.next.pid;
	if (f->source.place)
		return;
	frames_switch_stack(f);
	f->stacks.current->kernel = code_is_kernel(f->prev_to);
}

/* The user's part of the stack is no more; the kernel returns to wherever it likes. */
static void feed_exec(struct frames *f)
{
	struct stack *stack = f->stacks.current;
	size_t i = frames_kernel_part(stack);

	if (i == stack->nr)
		return;
	stack_forget(stack, i);
	if (frame_is_entry(stack->frames[0].kind))
		stack->frames[0].return_va = 0;
}

const struct frames_step *frames_feed(struct frames *frames, const struct btsrec_event *event,
				      const struct btsrec_side *side,
				      const struct proof_step *step)
{
	memset(&frames->step, 0, sizeof(frames->step));
	frames->n = event->n;
	switch (event->kind) {
	case BTSREC_EVENT_BRANCH:
		feed_branch(frames, &event->branch, side, step);
		break;
	case BTSREC_EVENT_SWITCH:
		feed_switch(frames, event);
		break;
	case BTSREC_EVENT_EXEC:
		feed_exec(frames);
		break;
	case BTSREC_EVENT_ARM:
	case BTSREC_EVENT_GAP:
		frames->lost = true;
		frames->has_switch = false;
		break;
	default:
		break;
	}
	frames->step.level = frames->stacks.current->level;
	frames->step.segment = frames->stacks.current->segment;
	/* No copy: what was just stored in parts is slow to load as a whole. */
	return &frames->step;
}

/* --- Plain branches ----------------------------------------------------- */

const struct frames_step *frames_feed_plain(struct frames *frames, uint64_t n,
					    const struct btsrec_record *branch,
					    const struct code_brief *run)
{
	const struct stack *stack;
	struct frame *frame;
	enum frames_move move = FRAMES_NOT_PLAIN;

	if (frames_are_plain(frames))
		move = frames_fast(frames, n, branch, run, &frame);
	if (move == FRAMES_NOT_PLAIN)
		return NULL;
	stack = frames->stacks.current;
	memset(&frames->step, 0, sizeof(frames->step));
	frames->n = n;
	if (move == FRAMES_LEAVES)
		frames->left[frames->step.nr_left++] = *frame;
	else if (frame)
		frames->step.nr_entered++;
	frames->step.level = stack->level;
	frames->step.segment = stack->segment;
	return &frames->step;
}

void frames_join(struct frames *frames)
{
	stacks_select(&frames->stacks, false, 0);
	frames->lost = false;
	frames->has_switch = false;
	frames->switching = false;
	frames->thunk.type = BRANCH_UNKNOWN;
	frames->stacks.current->kernel = true;
}

void frames_select(struct frames *frames, uint32_t pid)
{
	struct stack *current = frames->stacks.current;

	if (!current->known || current->pid != pid)
		stacks_select(&frames->stacks, true, pid);
}

/* --- Questions ---------------------------------------------------------- */

bool frames_nomem(const struct frames *frames)
{
	return frames->stacks.nomem;
}

const struct stack *frames_stack(const struct frames *frames)
{
	return frames->stacks.current;
}

const struct stacks *frames_stacks(const struct frames *frames)
{
	return &frames->stacks;
}

const struct frame_thunk *frames_thunk(const struct frames *frames)
{
	return frames_is_thunk_call(&frames->thunk) ? &frames->thunk : NULL;
}

const struct frame *frames_left(const struct frames *frames, unsigned int i)
{
	return &frames->left[i];
}

struct frame *frames_entered(const struct frames *frames, unsigned int i)
{
	const struct stack *stack = frames->stacks.current;

	return &stack->frames[stack->nr - frames->step.nr_entered + i];
}

const char *frame_kind_str(enum frame_kind kind)
{
	static const char *const names[] = {
		[FRAME_CALL] = "call",
		[FRAME_CALL_IND] = "icall",
		[FRAME_TAIL] = "tail",
		[FRAME_SYSCALL] = "syscall",
		[FRAME_INT] = "int",
		[FRAME_IRQ] = "irq",
		[FRAME_NMI] = "nmi",
		[FRAME_EXCEPTION] = "exception",
		[FRAME_ENTRY] = "entry",
		[FRAME_DIVERT] = "divert",
	};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}
