// SPDX-License-Identifier: GPL-2.0-or-later
/* What the history of a summary lacks, from the memory of stacks. */
#include <string.h>

#include "flow/saved_frame.h"
#include "flow/trace.h"
#include "recorder/cpus.h"
#include "symbols/symbol.h"
#include "symbols/user.h"
#include "views/view_summary.h"

#define VECTOR_NMI	2

/* @to_history: up to what was interrupted, which the history has. */
static void add_places(struct summary_stack *stack, struct unwind *unwind, bool to_history)
{
	while (stack->nr < SUMMARY_MAX_PLACES && unwind->how < UNWIND_USER) {
		struct summary_place *place = &stack->places[stack->nr];

		place->how = stack->nr ? unwind->how : UNWIND_STOPPED;
		place->vector = unwind->vector;
		place->ip = unwind->from;
		place->target = 0;
		if (place->how == UNWIND_CALLED)
			(void)unwind_call(unwind->code, unwind->ip, &place->target);
		stack->nr++;
		if (to_history && stack->nr > 1 && unwind->how == UNWIND_INTERRUPTED)
			return;
		(void)unwind_next(unwind);
	}
	stack->to_user = unwind->how == UNWIND_USER;
}

/*
 * The recorder kept the exception at which it paused, and its frame is on the stack still.  Without
 * the latter it may have been handled, and left.
 */
static bool kept_fault(struct code *code, const struct btsrec_cpu *failed, struct fault *ret,
		       struct fault_frame *ret_frame)
{
	const struct btsrec_registers *registers = cpus_registers(failed);

	if (failed->freeze.pause_reason != BTSREC_REASON_OOPS || !registers ||
	    !(registers->flags & BTSREC_REGISTERS_ENTRY) || registers->vector == VECTOR_NMI)
		return false;
	*ret = (struct fault){ .kind = FAULT_EXCEPTION, .why = FAULT_FOUND,
			       .vector = (int)registers->vector, .from = registers->entry.ip };
	return fault_frame_find(code, &failed->freeze, ret, ret_frame);
}

bool summary_stack_fault(struct summary *view, struct code *code, const struct btsrec_cpu *failed)
{
	struct summary_stack *stack = &view->stack;
	struct fault_frame frame;
	struct unwind unwind;

	if (!kept_fault(code, failed, &stack->fault, &frame) &&
	    (!fault_frame_exception(code, &failed->freeze, &stack->fault) ||
	     !fault_frame_find(code, &failed->freeze, &stack->fault, &frame))) {
		stack->fault = (struct fault){ 0 };
		return false;
	}
	unwind_begin(&unwind, code, stack->fault.from, frame.regs[SEM_RSP],
		     frame.regs[SEM_RBP]);
	add_places(stack, &unwind, false);
	return true;
}

void summary_stack_panic(struct summary *view, struct code *code, const struct btsrec_cpu *failed)
{
	struct unwind unwind;

	unwind_freeze(&unwind, code, &failed->freeze);
	if (unwind.entry && unwind_next(&unwind))
		add_places(&view->stack, &unwind, true);
}

bool summary_stack_stuck(const struct summary *view, struct code *code,
			 const struct btsrec_cpu *failed, struct fault_frame *ret, bool *ret_whole)
{
	const struct btsrec_registers *registers = cpus_registers(failed);
	const struct btsrec_freeze *freeze = &failed->freeze;
	uint64_t ip = view->verdict.stay.report_ip;

	/* What our own NMI came upon is in the freeze.  Interrupts may loop where threads do. */
	if (!view->verdict.stay.at_stop || !freeze->via_nmi || freeze->ip != ip)
		return fault_frame_interrupted(code, freeze, ip, ret, ret_whole);
	*ret = (struct fault_frame){ 0 };
	*ret_whole = registers && registers->flags & BTSREC_REGISTERS_STOP;
	if (*ret_whole)
		fault_frame_of(&registers->stop, ret);
	ret->regs[SEM_RSP] = freeze->sp;
	ret->regs[SEM_RBP] = freeze->bp;
	return true;
}

void summary_stack_lockup(struct summary *view, struct code *code,
			  const struct btsrec_cpu *failed)
{
	struct fault_frame frame;
	struct unwind unwind;
	bool is_whole;

	if (view->verdict.stay.below_interrupt) {
		unwind = view->below;
		add_places(&view->stack, &unwind, false);
		return;
	}
	if (!summary_stack_stuck(view, code, failed, &frame, &is_whole))
		return;
	unwind_begin(&unwind, code, view->verdict.stay.report_ip, frame.regs[SEM_RSP],
		     frame.regs[SEM_RBP]);
	add_places(&view->stack, &unwind, false);
}

/*
 * The outermost call on the path that a stack has, too: *@ret; that of the fault itself, if there
 * is none.  False: the path is whole.
 */
static bool outermost(const struct summary *view, uint64_t *ret)
{
	const struct calltree *tree = &view->calls.tree;
	uint64_t unreliable_n = summary_unreliable_n(view, view->calls.fault.n);

	*ret = view->calls.fault.from;
	for (size_t i = view->nr_open; i; i--) {
		struct calltree_line line = calltree_line(tree, tree->open[i - 1]);

		if (line.n == view->calls.fault.n)
			continue;
		if (line.n < unreliable_n)
			break;
		if (frame_is_entry(line.frame))
			return false;
		if (line.frame != FRAME_TAIL)
			*ret = line.from;
	}
	return true;
}

/* The fault is on the stack that the freeze found: a call, or an exception with @frame. */
static bool begin_at_fault(const struct summary *view, struct code *code,
			   const struct btsrec_cpu *failed, const struct fault_frame *frame,
			   struct unwind *ret)
{
	if (view->calls.fault.kind == FAULT_CALL) {
		unwind_freeze(ret, code, &failed->freeze);
		return ret->entry && unwind_next(ret);
	}
	if (!frame)
		return false;
	unwind_begin(ret, code, view->calls.fault.from, frame->regs[SEM_RSP],
		     frame->regs[SEM_RBP]);
	return true;
}

void summary_stack_beyond(struct summary *view, struct code *code, const struct btsrec_cpu *failed,
			  const struct fault_frame *frame)
{
	struct summary_stack *stack = &view->stack;
	struct unwind unwind;
	size_t i = 0;
	uint64_t ip;

	if (stack->nr || view->moved || !outermost(view, &ip) ||
	    !begin_at_fault(view, code, failed, frame, &unwind))
		return;
	add_places(stack, &unwind, false);
	while (i < stack->nr && stack->places[i].ip != ip)
		i++;
	stack->nr = i + 1 < stack->nr ? stack->nr - i : 0;
	memmove(stack->places, stack->places + i, stack->nr * sizeof(stack->places[0]));
	stack->beyond = stack->nr;
}

bool summary_thread_runs(const struct btsrec *rec, uint32_t pid, unsigned int *ret_cpu,
			 bool *ret_sure)
{
	bool may = false;

	for (unsigned int i = 0; i < btsrec_nr_cpu_ids(rec); i++) {
		const struct btsrec_cpu *cpu = btsrec_cpu(rec, i);
		bool is_there = cpu && cpu->frozen && cpu->freeze.pid == pid;

		may |= !cpu || !cpu->frozen || is_there;
		if (!is_there)
			continue;
		if (ret_cpu)
			*ret_cpu = i;
		if (ret_sure)
			*ret_sure = true;
		return true;
	}
	if (ret_sure)
		*ret_sure = false;
	return may;
}

/* The thread was found; NULL: its stack was, too. */
static const char *begin_thread(struct btsrec *rec, struct code *code,
				const struct tasks_thread *thread, struct unwind *ret)
{
	uint8_t byte;
	size_t nr_bytes;

	if (summary_thread_runs(rec, thread->pid, NULL, NULL))
		return "it runs, or a CPU did not stop on which it may run";
	if (unwind_switched(ret, code, thread->sp))
		return NULL;
	return code_bytes(code, 0, thread->sp, &byte, sizeof(byte), &nr_bytes) ?
		       "its stack is not in the dump" :
		       "its stack does not begin with a switch of threads";
}

/* When it came to run the last time, if the history does not have that. */
static void find_arrival(struct summary *view, struct btsrec *rec,
			 const struct tasks_thread *thread)
{
	struct summary_subject *subject = &view->subject;
	struct sched_clock clock;

	if (subject->seen || !thread->arrival_ns ||
	    kernel_log_clock(rec, symbols_kread(rec), &clock))
		return;
	subject->arrived = sched_clock_tsc(&clock, thread->arrival_ns, &subject->tsc);
	subject->cpu = thread->cpu;
}

void summary_stack_thread(struct summary *view, struct btsrec *rec, struct code *code)
{
	struct user *user = symbols_user(rec);
	struct tasks_thread thread;
	struct unwind unwind;

	view->subject.why = user ? user_missing(user) : "out of memory";
	if (view->subject.why)
		return;
	if (!user_thread(user, view->subject.pid, &thread)) {
		view->subject.why = "the dump does not have this thread";
		return;
	}
	find_arrival(view, rec, &thread);
	view->subject.why = begin_thread(rec, code, &thread, &unwind);
	if (view->subject.why)
		return;
	view->stack.pid = thread.pid;
	memcpy(view->stack.comm, thread.comm, sizeof(thread.comm));
	add_places(&view->stack, &unwind, false);
}

bool summary_interrupts_off(const struct summary *view, const struct btsrec_cpu *cpu)
{
	const struct btsrec_freeze *freeze = &cpu->freeze;

	return cpu->state == BTSREC_CPU_FROZEN && freeze->via_nmi && freeze->ip == view->ip &&
	       code_is_kernel(freeze->ip) && freeze->rflags & RFLAGS_ALWAYS &&
	       !(freeze->rflags & RFLAGS_IF);
}

/* PANIC_CPU_INVALID of include/linux/panic.h; since v4.4. */
#define NO_PANIC_CPU	(-1)

bool summary_panic_cpu(struct btsrec *rec, unsigned int *ret)
{
	uint64_t at = symbols_place(rec, SYMBOL_DUMP_PANIC_CPU);
	struct code *code = trace_code(rec);
	size_t nr_bytes;
	int32_t cpu;

	if (!at || !code || code_bytes(code, 0, at, (uint8_t *)&cpu, sizeof(cpu), &nr_bytes) ||
	    cpu == NO_PANIC_CPU || cpu < 0)
		return false;
	*ret = (unsigned int)cpu;
	return true;
}

const char *summary_place_str(const struct summary_place *place)
{
	if (place->how == UNWIND_STOPPED)
		return "stop";
	if (place->how == UNWIND_CALLED)
		return "call";
	if (place->vector < 0)
		return "entry";
	return place->vector == VECTOR_NMI ? "nmi" : "exception";
}
