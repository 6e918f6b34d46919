// SPDX-License-Identifier: GPL-2.0-or-later
/* The signature of a summary: which functions are in it. */
#include <string.h>

#include "code/kernel_code.h"
#include "flow/trace.h"
#include "flow/trace_frames.h"
#include "symbols/symbol.h"
#include "views/view_summary.h"

/**
 * struct path - the functions of a signature, from the fault outwards
 * @kind, @vector: what is hashed of the fault; @vector -1: none.
 * @ip: in the first function.
 * @nr_open: the open calls outside of it.
 * @end_n: before this event nothing may have ended unseen.
 */
struct path {
	const char *kind;
	int vector;
	uint64_t ip;
	size_t nr_open;
	uint64_t end_n;
};

/* False: the path is at its end; neither code without a name nor a trampoline is part of it. */
static bool sign_function(struct summary *view, struct btsrec *rec, uint64_t va)
{
	struct symbol_name name;

	va = trace_probed(rec, va);
	if (!symbol_find_as(rec, va, false, &name) || !name.name_bytes ||
	    trace_is_trampoline(rec, va))
		return true;
	return signature_add(&view->signature, name.name, name.name_bytes, name.module);
}

/*
 * Where a thread begins is code that kernels name in several ways.  Since v6.5 it calls a function
 * in C, which is named as that code was before (arch/x86/kernel/process_64.c).
 */
static bool begins_thread(struct btsrec *rec, uint64_t va)
{
	static const char first[] = "ret_from_fork";
	struct symbol_name name;

	if (!symbol_find_as(rec, va, false, &name))
		return false;
	return trace_is_fork(rec, va - name.offset_bytes) ||
	       (!*name.module && name.name_bytes == strlen(first) &&
		!memcmp(name.name, first, name.name_bytes));
}

uint64_t summary_unreliable_n(const struct summary *view, uint64_t end_n)
{
	const struct calltree *tree = &view->calls.tree;
	uint64_t n = 0;

	for (size_t i = 0; i < tree->nr_lines; i++) {
		struct calltree_line line = calltree_line(tree, i);

		if ((line.kind == CALLTREE_ASTRAY || line.kind == CALLTREE_LOST ||
		     line.kind == CALLTREE_BREAK) && line.n < end_n)
			n = line.n;
	}
	return n;
}

/*
 * Not by a jump of its own, but by what ftrace has there, or had: a call, and before and after that
 * a NOP.  A live patch or an injected error has replaced the function.
 */
static bool is_replaced(struct btsrec *rec, const struct calltree_line *tail)
{
	struct code *code = trace_code(rec);
	struct code_insn insn;

	return code && tail->frame == FRAME_TAIL && code_is_kernel(tail->from) &&
	       !code_insn(code, 0, tail->from, false, &insn) &&
	       (insn.class == CODE_PLAIN || insn.class == CODE_CALL);
}

/*
 * Where the open call @i was made.  What is called from a live patch is called from the function
 * that it replaces: one bug has one signature, with the patch and without.
 */
static uint64_t called_from(struct btsrec *rec, const struct calltree *tree, size_t i)
{
	uint64_t from = calltree_line(tree, tree->open[i]).from;
	struct calltree_line outer;

	for (; i; i--) {
		outer = calltree_line(tree, tree->open[i - 1]);
		if (!is_replaced(rec, &outer))
			break;
		from = outer.from;
	}
	return from;
}

/* Thunks are parts of the functions that branch by way of them. */
static bool is_in_function(struct btsrec *rec, uint64_t va)
{
	struct code *code = trace_code(rec);
	struct symbol_name name;

	return symbol_find_as(rec, va, false, &name) && name.name_bytes &&
	       !(code && code_is_kernel(va) && kernel_code_thunk(code, 0, va));
}

/* The function of the innermost call before the fault, which itself has entered its handler. */
static uint64_t innermost(const struct summary *view)
{
	const struct calltree *tree = &view->calls.tree;

	for (size_t i = view->nr_open; i; i--) {
		struct calltree_line line = calltree_line(tree, tree->open[i - 1]);

		if (line.n != view->calls.fault.n)
			return line.to;
	}
	return 0;
}

/*
 * The function at @va, which is not on the stack, since it left by a jump.  Kernels differ in where
 * they jump; a module's function may be the culprit.
 */
static bool sign_jumper(struct summary *view, struct btsrec *rec, uint64_t va)
{
	struct symbol_name name;

	if (!va || !symbol_find_as(rec, va, false, &name) || !*name.module)
		return true;
	return sign_function(view, rec, va);
}

/* A direct call says in which function it began, also where that has left by a jump. */
static bool sign_place(struct summary *view, struct btsrec *rec, const struct summary_place *place)
{
	return sign_jumper(view, rec, place->target) && sign_function(view, rec, place->ip);
}

/* Of what stands still: the code that waits is the same in all of it. */
static size_t first_of_stack(const struct summary *view)
{
	size_t i = 0;

	while ((view->verdict.kind == VERDICT_HUNG_TASK || view->verdict.kind == VERDICT_STUCK) &&
	       i < view->stack.nr &&
	       view->stack.places[i].ip != view->verdict.ip)
		i++;
	return i;
}

/* From the stack, up to where an interrupt came or the kernel was entered. */
static void sign_stack(struct summary *view, struct btsrec *rec, const char *reason)
{
	const struct summary_stack *stack = &view->stack;
	const struct fault *fault = &stack->fault;

	signature_begin(&view->signature, reason,
			fault->kind ? fault_kind_str(fault->kind) :
				      verdict_kind_str(view->verdict.kind),
			fault->kind ? fault->vector : -1);
	for (size_t i = first_of_stack(view); i < stack->nr; i++) {
		const struct summary_place *place = &stack->places[i];
		/* The entry of an NMI has other names in other kernels, and one for user code. */
		bool ends = view->verdict.kind == VERDICT_NMI &&
			    (i + 1 < stack->nr ? place[1].how == UNWIND_INTERRUPTED :
						 stack->to_user);

		if (ends || begins_thread(rec, place->ip) ||
		    (place->how == UNWIND_INTERRUPTED && place->vector < 0) ||
		    !sign_place(view, rec, place) || summary_begins_softirqs(rec, place->ip))
			break;
	}
	signature_end(&view->signature, false);
	if (!view->signature.nr_names)
		view->no_signature = "no function with a name is on the stack";
}

/* The callers that only the stack has; true: the path is whole. */
static bool sign_beyond(struct summary *view, struct btsrec *rec)
{
	const struct summary_stack *stack = &view->stack;

	for (size_t i = 1; i < stack->nr; i++) {
		const struct summary_place *place = &stack->places[i];

		if (begins_thread(rec, place->ip) ||
		    (place->how == UNWIND_INTERRUPTED && place->vector < 0))
			return true;
		if (!sign_place(view, rec, place) || summary_begins_softirqs(rec, place->ip))
			return true;
	}
	return stack->to_user;
}

/* Which leaf of a recursion found the stack full is chance. */
static void begin_at_recursion(const struct summary *view, struct path *path)
{
	const struct calltree *tree = &view->calls.tree;
	struct summary_recursion recursion;

	if (!summary_recursion(view, &recursion) || !recursion.has_leaves)
		return;
	path->ip = calltree_line(tree, tree->open[recursion.end]).from;
	path->nr_open = recursion.end;
}

/* Why there is no path; NULL: there is one. */
static const char *find_path(const struct summary *view, struct btsrec *rec, struct path *ret)
{
	const struct verdict *verdict = &view->verdict;
	const struct fault *fault = &view->calls.fault;

	*ret = (struct path){ .kind = fault_kind_str(fault->kind), .vector = fault->vector,
			      .ip = view->ip, .nr_open = view->nr_open, .end_n = fault->n };
	if (view->stack.fault.kind)
		return NULL;
	switch (verdict->kind) {
	case VERDICT_STUCK:
		*ret = (struct path){ .kind = verdict_kind_str(verdict->kind), .vector = -1,
				      .ip = verdict->stay.ip, .nr_open = verdict->stay.nr_open,
				      .end_n = UINT64_MAX };
		return NULL;
	case VERDICT_NMI:
		return view->stack.nr ? NULL : "handlers of NMIs are not recorded";
	case VERDICT_MACHINE_CHECK:
		return "what a machine check interrupts need not be its cause";
	case VERDICT_LOCKUP:
		return "what hangs is not in this history";
	case VERDICT_HUNG_TASK:
		return verdict->ip ? NULL : "what hangs is not in this history";
	case VERDICT_STACK_OVERFLOW:
		begin_at_recursion(view, ret);
		return NULL;
	case VERDICT_NO_CODE:
		ret->ip = verdict->ip ? verdict->ip : innermost(view);
		/* What led there is no call that may have ended before. */
		ret->end_n = fault->n - 1;
		return NULL;
	default:
		if (!is_in_function(rec, ret->ip))
			ret->ip = innermost(view);
		return fault->kind ? NULL : "where the fault lies in the history is not known";
	}
}

/*
 * Up to where the kernel was entered: by a system call or from user code, or by an interrupt,
 * which has nothing to do with what it interrupted.  Nor has a softirq to do with what runs it: the
 * end of an interrupt, a thread of its own, or code that turns softirqs on again.
 */
void summary_sign(struct summary *view, struct btsrec *rec, const struct btsrec_cpu *failed)
{
	const struct calltree *tree = &view->calls.tree;
	uint64_t unreliable_n;
	struct path path;
	bool complete;

	view->no_signature = find_path(view, rec, &path);
	if (view->no_signature)
		return;
	if (view->stack.nr && !view->stack.beyond) {
		sign_stack(view, rec, btsrec_reason_str(failed->freeze.reason));
		return;
	}
	unreliable_n = summary_unreliable_n(view, path.end_n);
	signature_begin(&view->signature, btsrec_reason_str(failed->freeze.reason), path.kind,
			path.vector);
	complete = !code_is_kernel(path.ip) || !sign_function(view, rec, path.ip);
	if (view->verdict.kind == VERDICT_NO_CODE && view->verdict.access == VERDICT_RETURN)
		(void)sign_function(view, rec, innermost(view));
	for (size_t i = path.nr_open; i && !complete; i--) {
		struct calltree_line line = calltree_line(tree, tree->open[i - 1]);

		if (line.n < unreliable_n)
			break;
		complete = summary_begins_softirqs(rec, line.to);
		if (complete)
			break;
		if (line.frame == FRAME_TAIL) {
			complete = !is_replaced(rec, &line) && !sign_jumper(view, rec, line.from);
			continue;
		}
		/* The first function stands for where the fault is. */
		if (line.n == view->calls.fault.n &&
		    (line.frame == FRAME_EXCEPTION || line.frame == FRAME_INT))
			continue;
		complete = !code_is_kernel(line.from) || begins_thread(rec, line.from) ||
			   (frame_is_entry(line.frame) && line.frame != FRAME_EXCEPTION) ||
			   !sign_function(view, rec, called_from(rec, tree, i - 1));
	}
	if (!complete && view->stack.beyond)
		complete = sign_beyond(view, rec);
	signature_end(&view->signature, complete);
	if (!view->signature.nr_names)
		view->no_signature = "functions have no names; --system-map or --vmlinux gives them";
}

void out_signature(struct out *out, const struct signature *signature)
{
	char text[SIGNATURE_TEXT_BYTES];

	signature_text(signature, text);
	out_str(out, text);
}
