// SPDX-License-Identifier: GPL-2.0-or-later
/* The verdict of a summary: the callers of what is at fault, and what it came upon. */
#include <inttypes.h>

#include "flow/trace.h"
#include "symbols/symbol.h"
#include "views/view_summary.h"
#include "views/view_summary_sentence.h"

/* --- Interrupts ---------------------------------------------------------- */

static void add_bystander(struct sentence *sentence, const struct btsrec_freeze *freeze)
{
	if (!freeze->pid) {
		sentence_add(sentence, ", which came upon the idle thread");
		return;
	}
	sentence_add(sentence, ", which came upon thread %" PRIu32, freeze->pid);
	sentence_add_comm(sentence, freeze->comm);
}

/** struct softirq_code - what runs softirqs: the section of its code, and a function it leads to */
struct softirq_code {
	uint64_t begin;
	uint64_t end;
	uint64_t target;
};

/* If the section has no more than this, it is __do_softirq() that leads to handle_softirqs(). */
#define SOFTIRQ_SMALL_BYTES	64

static struct softirq_code find_softirq(struct btsrec *rec)
{
	struct softirq_code ret = {
		.begin = symbols_place(rec, SYMBOL_DUMP_SOFTIRQ_TEXT),
		.end = symbols_place(rec, SYMBOL_DUMP_SOFTIRQ_TEXT_END),
	};
	struct code *code = trace_code(rec);
	struct code_insn insn;

	if (!code || !ret.begin || ret.end - ret.begin > SOFTIRQ_SMALL_BYTES)
		return ret;
	for (uint64_t va = ret.begin; va < ret.end && !code_insn(code, 0, va, false, &insn);
	     va += insn.length_bytes)
		if (insn.has_target && !insn.there &&
		    insn.target - ret.begin >= ret.end - ret.begin)
			ret.target = insn.target;
	return ret;
}

static bool runs_softirqs(const struct softirq_code *code, uint64_t va)
{
	return code->begin && (va - code->begin < code->end - code->begin || va == code->target);
}

bool summary_begins_softirqs(void *arg, uint64_t ip)
{
	struct btsrec *rec = arg;
	struct softirq_code softirq = find_softirq(rec);
	struct symbol_name name;

	return symbol_find(rec, ip, &name) && runs_softirqs(&softirq, ip - name.offset_bytes);
}

/*
 * If the innermost entry on the way is an interrupt, what it came upon is not at fault.  Softirqs
 * run at the end of one, or in a thread of their own.
 */
void summary_say_interrupt(struct sentence *sentence, const struct summary *view,
			  const struct btsrec_freeze *freeze)
{
	const struct calltree *tree = &view->calls.tree;
	struct softirq_code softirq = find_softirq(view->calls.renderer.rec);
	bool is_softirq = false;

	for (size_t i = view->nr_open; i; i--) {
		struct calltree_line line = calltree_line(tree, tree->open[i - 1]);

		is_softirq |= runs_softirqs(&softirq, line.to);
		if (!frame_is_entry(line.frame) || line.n == view->calls.fault.n ||
		    line.frame == FRAME_EXCEPTION)
			continue;
		if (line.frame != FRAME_IRQ && line.frame != FRAME_NMI)
			break;
		sentence_add(sentence, "; in %s",
			     line.frame == FRAME_NMI ? "an NMI" : is_softirq ? "a softirq" :
								       "an interrupt");
		add_bystander(sentence, freeze);
		return;
	}
	if (is_softirq)
		sentence_add(sentence, "; in a softirq");
}

bool summary_failed_too(const struct btsrec *rec, const struct btsrec_cpu *failed,
			const struct btsrec_cpu *cpu)
{
	return cpu && failed && cpu != failed && cpu->frozen && !cpu->freeze.via_nmi &&
	       cpu->freeze.reason == failed->freeze.reason &&
	       cpu->freeze.tsc <= btsrec_root(rec)->freeze_tsc;
}

void summary_say_others(struct sentence *sentence, const struct summary *view)
{
	const struct btsrec *rec = view->calls.renderer.rec;
	const struct btsrec_cpu *failed = session_failed_cpu(rec);

	if (failed != view->judged)
		sentence_add(sentence, "; on CPU %u, reported by CPU %u",
			     view->judged->cpu, failed->cpu);
	for (unsigned int i = 0; i < btsrec_nr_cpu_ids(rec); i++) {
		const struct btsrec_cpu *cpu = btsrec_cpu(rec, i);

		if (summary_failed_too(rec, failed, cpu))
			sentence_add(sentence, "; CPU %u failed, too", i);
	}
}

/* --- Callers ------------------------------------------------------------- */

/* More callers are not in the sentence; the path has them. */
#define MAX_CALLERS 3

/**
 * struct callers - where the function of a fault was called, the innermost first
 * @nr_all: so many are known; the first few are in @list.
 * @module: the innermost one that is in a module; its place from 0; @nr_all: none is.
 */
struct callers {
	uint64_t list[MAX_CALLERS];
	size_t nr_all;
	uint64_t module;
	size_t at_module;
};

/* A direct call from @from to @to, and it is one that the kernel has put into a function. */
static bool is_hook(struct btsrec *rec, uint64_t from, uint64_t to)
{
	struct code_insn insn;

	return to && trace_is_trampoline(rec, to) &&
	       !code_insn(trace_code(rec), 0, from, false, &insn) && insn.has_target;
}

/* What comes between a function and its caller is none: @to is 0 if it is not known. */
static void callers_add(struct callers *callers, struct btsrec *rec, uint64_t from, uint64_t to)
{
	from = trace_probed(rec, from);
	if (trace_is_trampoline(rec, from) || is_hook(rec, from, to))
		return;
	if (callers->nr_all < MAX_CALLERS)
		callers->list[callers->nr_all] = from;
	if (!callers->module && btsrec_module_at(rec, from)) {
		callers->module = from;
		callers->at_module = callers->nr_all;
	}
	callers->nr_all++;
}

/* By the history, up to an entry into the kernel; not what may have ended unseen. */
static void callers_of_calls(const struct summary *view, struct callers *callers)
{
	const struct calltree *tree = &view->calls.tree;
	uint64_t unreliable_n = summary_unreliable_n(view, view->calls.fault.n);

	for (size_t i = view->nr_open; i; i--) {
		struct calltree_line line = calltree_line(tree, tree->open[i - 1]);

		/* The fault itself has entered its handler, or called panic(), or no code. */
		if (line.n == view->calls.fault.n ||
		    (line.from == view->verdict.ip && !callers->nr_all))
			continue;
		if (frame_is_entry(line.frame) || line.n < unreliable_n)
			return;
		callers_add(callers, view->calls.renderer.rec, line.from, line.to);
	}
}

static void callers_of_stack(const struct summary *view, struct callers *callers)
{
	const struct summary_stack *stack = &view->stack;

	for (size_t i = 1; i < stack->nr && stack->places[i].how == UNWIND_CALLED; i++)
		callers_add(callers, view->calls.renderer.rec, stack->places[i].ip,
			    stack->places[i].target);
}

/* What overflowed its stack is said to call itself; what was returned from has no caller. */
static bool has_callers(const struct verdict *verdict)
{
	switch (verdict->kind) {
	case VERDICT_NULL:
	case VERDICT_ADDRESS:
	case VERDICT_READ_ONLY:
	case VERDICT_USER_MEMORY:
	case VERDICT_PAGE_TABLE:
	case VERDICT_NON_CANONICAL:
	case VERDICT_ACCESS:
	case VERDICT_PROTECTION:
	case VERDICT_BUG:
	case VERDICT_WARN:
	case VERDICT_EXCEPTION:
	case VERDICT_PANIC:
		return true;
	case VERDICT_NO_CODE:
		return verdict->ip && verdict->access != VERDICT_RETURN;
	default:
		return false;
	}
}

/*
 * The caller; if the function and its callers are of the kernel itself, which many call, up to the
 * first that is of a module.
 */
void summary_say_callers(struct sentence *sentence, const struct summary *view)
{
	struct callers callers = { 0 };
	bool by_module;
	size_t nr;

	if (!has_callers(&view->verdict))
		return;
	if (!view->stack.nr || view->stack.beyond)
		callers_of_calls(view, &callers);
	callers_of_stack(view, &callers);
	if (!callers.nr_all)
		return;
	by_module = callers.module &&
		    !btsrec_module_at(view->calls.renderer.rec, view->verdict.ip);
	nr = !by_module ? 1 : callers.at_module < MAX_CALLERS ? callers.at_module + 1 : 1;
	for (size_t i = 0; i < nr; i++) {
		sentence_add(sentence, i ? " < " : "; called from ");
		sentence_add_place(sentence, callers.list[i]);
	}
	if (!by_module || nr > callers.at_module)
		return;
	sentence_add(sentence, " < ... < ");
	sentence_add_place(sentence, callers.module);
}
