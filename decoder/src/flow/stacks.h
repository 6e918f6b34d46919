/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call stacks of the threads of one CPU, as containers: bounded in depth and in
 * number.  Frames decides what belongs on them.
 */
#ifndef BTSREC_STACKS_H
#define BTSREC_STACKS_H

#include "base/bounds.h"
#include "flow/proof.h"

/*
 * A kernel stack of 16 KiB holds fewer calls; what a user program nests deeper is
 * forgotten from the outside.
 */
#define STACKS_MAX_DEPTH	BOUND(1024, 64)
/* Threads per CPU that are remembered while others run. */
#define STACKS_MAX		BOUND(512, 16)

/** enum frame_kind - what put a frame on the stack */
enum frame_kind {
	FRAME_CALL,
	FRAME_CALL_IND,
	FRAME_TAIL,		/* a jump to another function, which returns for this one */
	FRAME_SYSCALL,		/* from here on: into the kernel, or deeper into it */
	FRAME_INT,
	FRAME_IRQ,
	FRAME_NMI,
	FRAME_EXCEPTION,
	FRAME_ENTRY,		/* into the kernel, in a way that is not in the history */
	FRAME_DIVERT,		/* the kernel resumed elsewhere than it interrupted: a signal */
};

/** frame_is_entry() - does IRET or SYSRET end it? */
static inline bool frame_is_entry(enum frame_kind kind)
{
	return kind >= FRAME_SYSCALL && kind <= FRAME_ENTRY;
}

/**
 * struct frame - one call that has not returned
 * @vector: as in struct branch.
 * @n: event that entered it.
 * @level, @segment: of what runs in it; 1 more than that of its caller.
 * @from: the calling instruction, or where it was interrupted.
 * @entered: where it began.
 * @return_va: where it returns to; 0: unknown.  Of a DIVERT and of entries: the
 *	interrupted instruction, or the one after a SYSCALL or INT.
 * @back_va: of a TAIL that a trampoline made: where it had been called from; else 0.
 * @nr_before: branches of the thread up to and with the one that entered it.
 * @nr_branches: of one that was left: branches of the thread on this CPU since then,
 *	called functions and interrupts included, less what is lost in gaps.
 * @entry: the innermost frame up to this one that is an entry, as its place on the stack
 *	from 1; 0: none is.
 * @cookie: of the reader; 0 when the frame is new.
 * @thunk: the branch by way of a thunk that an entry interrupted.
 */
struct frame {
	enum frame_kind kind;
	int vector;
	uint64_t n;
	int64_t level;
	uint32_t segment;
	uint64_t from;
	uint64_t entered;
	uint64_t return_va;
	uint64_t back_va;
	uint64_t nr_before;
	uint64_t nr_branches;
	size_t entry;
	uint64_t cookie;
	struct frame_thunk {
		enum branch_type type;	/* BRANCH_UNKNOWN: none */
		uint64_t from;
		uint64_t return_va;
	} thunk;
};

/**
 * struct stack - of one thread
 * @known: it is the stack of @pid; else of an unknown thread.
 * @frames: outermost first, @nr of them; owned.
 * @nr_old: so many were there before the thread was out of sight, and may be gone.
 * @attached: what was seen since then is right on top of them.
 * @kernel: the processor is at that level; else in user code.
 * @level: of what runs now.  Counts from 0 where the stack was first seen, so it can
 *	be negative.
 * @segment: levels of one segment can be compared.
 * @nr_branches: of the thread on this CPU.
 */
struct stack {
	bool known;
	uint32_t pid;
	uint64_t last_used;
	struct frame *frames;
	size_t nr;
	size_t nr_room;
	size_t nr_old;
	bool attached;
	bool kernel;
	int64_t level;
	uint32_t segment;
	uint64_t nr_branches;
};

/**
 * struct stacks - all of one CPU
 * @current: one of @all.
 * @nomem: something was forgotten for lack of memory.
 */
struct stacks {
	struct stack *all;
	size_t nr;
	struct stack *current;
	uint64_t clock;
	uint32_t nr_segments;
	bool nomem;
};

/** stacks_init() - one empty stack of an unknown thread; false: out of memory. */
bool stacks_init(struct stacks *stacks);

/** stacks_fini() - free all; allowed after stacks_init() failed. */
void stacks_fini(struct stacks *stacks);

/**
 * stacks_select() - make the stack of thread @pid the current one
 * @known: false: of a thread that nobody knows; always a new one.
 *
 * All of its frames are old then; they are attached.
 */
void stacks_select(struct stacks *stacks, bool known, uint32_t pid);

/** stacks_name() - the current stack turns out to be that of @pid. */
void stacks_name(struct stacks *stacks, uint32_t pid);

/** stack_make_room() - for one more frame on the current stack; false: out of memory. */
bool stack_make_room(struct stacks *stacks);

/**
 * stack_push() - a frame on top of the current stack
 *
 * The caller sets @n, @from, @entered and @return_va.  NULL: out of memory.
 */
static inline struct frame *stack_push(struct stacks *stacks, enum frame_kind kind)
{
	struct stack *stack = stacks->current;
	struct frame *frame;
	size_t entry;

	if ((stack->nr == stack->nr_room || stack->nr == STACKS_MAX_DEPTH) &&
	    !stack_make_room(stacks))
		return NULL;
	entry = stack->nr ? stack->frames[stack->nr - 1].entry : 0;
	frame = &stack->frames[stack->nr++];
	/* One by one: to clear it as a whole first takes longer than all of this. */
	frame->kind = kind;
	frame->vector = -1;
	frame->level = ++stack->level;
	frame->segment = stack->segment;
	frame->nr_before = stack->nr_branches;
	frame->nr_branches = 0;
	frame->back_va = 0;
	frame->entry = frame_is_entry(kind) ? stack->nr : entry;
	frame->cookie = 0;
	frame->thunk.type = BRANCH_UNKNOWN;
	frame->thunk.from = 0;
	frame->thunk.return_va = 0;
	return frame;
}

/** stack_top() - the innermost frame that is known to be there; NULL: none is. */
struct frame *stack_top(const struct stacks *stacks);

/** stack_forget() - drop the @nr outermost frames of @stack */
void stack_forget(struct stack *stack, size_t nr);

/** stack_cut() - leave only the @nr outermost frames; the level is the caller's. */
static inline void stack_cut(struct stacks *stacks, size_t nr)
{
	struct stack *stack = stacks->current;

	stack->nr = nr;
	if (stack->nr_old > nr)
		stack->nr_old = nr;
}

/** stack_detach() - what follows is not known to be on top of what is there. */
void stack_detach(struct stacks *stacks);

/** stack_clear() - forget everything of the current stack, levels included. */
void stack_clear(struct stacks *stacks);

#endif /* BTSREC_STACKS_H */
