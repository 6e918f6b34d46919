// SPDX-License-Identifier: GPL-2.0-or-later
/* The verdict of a summary: the facts for its rules. */
#include <string.h>

#include "flow/trace.h"
#include "flow/trace_values.h"
#include "symbols/symbol.h"
#include "views/view_summary.h"

#define STALL_MIN_MS	2000

/* --- The fault ---------------------------------------------------------- */

/** struct evidence - the facts, and what they point to; @below: of @stay.below_interrupt */
struct evidence {
	struct verdict_facts facts;
	struct sem_insn insn;
	struct fault_frame frame;
	struct verdict_stay stay;
	struct unwind below;
};

static void find_insn(struct evidence *found, struct code *code, uint64_t va)
{
	struct code_insn insn;

	found->facts.is_none = code_is_none(code, va);
	if (found->facts.is_none)
		return;
	if (trace_values_insn(code, va, &found->insn))
		found->facts.insn = &found->insn;
	found->facts.is_trap = !code_insn(code, 0, va, false, &insn) && insn.class == CODE_TRAP;
}

static enum walk_access access_at(void *arg, uint64_t va)
{
	return code_access(arg, va);
}

/* The handler of a fault puts the place of what a kprobe has copied into the frame. */
static bool find_probed(const struct summary *view, struct evidence *found, struct code *code,
			const struct btsrec_cpu *cpu)
{
	struct fault fault = *found->facts.fault;
	uint64_t from = fault.from;

	fault.from = summary_probed(view, from);
	return fault.from != from && fault_frame_get(code, btsrec_root(view->calls.renderer.rec),
						     cpu, &fault, &found->frame);
}

static void find_frame(const struct summary *view, struct evidence *found, struct code *code,
		       const struct btsrec_cpu *cpu)
{
	const struct btsrec_root *root = btsrec_root(view->calls.renderer.rec);

	if (!fault_frame_get(code, root, cpu, found->facts.fault, &found->frame) &&
	    !find_probed(view, found, code, cpu))
		return;
	found->facts.frame = &found->frame;
	if (!fault_frame_is_kept(root, cpu))
		return;
	found->facts.access_at = access_at;
	found->facts.arg = code;
}

/* What the branch at @insn does; one to a thunk stands for what the thunk does. */
static enum verdict_access branch_of(const struct code_insn *insn)
{
	if (insn->there == CODE_THUNK_RETURN)
		return VERDICT_RETURN;
	switch (insn->class) {
	case CODE_CALL:
	case CODE_CALL_IND:
		return VERDICT_CALL;
	case CODE_JUMP:
	case CODE_JUMP_IND:
		return VERDICT_JUMP;
	case CODE_RET:
		return VERDICT_RETURN;
	default:
		return VERDICT_UNKNOWN_ACCESS;
	}
}

/* The newest branch that was not made in a thunk led there. */
static void find_thunk_user(struct evidence *found, struct code *code)
{
	const struct fault *fault = found->facts.fault;
	struct code_insn insn;

	for (unsigned int i = 0; i < fault->nr_before; i++) {
		if (code_insn(code, 0, fault->before[i].from, false, &insn))
			return;
		if (insn.here)
			continue;
		found->facts.came = &fault->before[i];
		found->facts.came_by = branch_of(&insn);
		return;
	}
}

/* The branch that led to the fault, or the one that led to the thunk from which that came. */
static void find_branch(struct evidence *found, struct code *code)
{
	const struct fault *fault = found->facts.fault;

	if (!fault->nr_before || fault->before[0].to != fault->from)
		return;
	find_thunk_user(found, code);
}

/* Where the memory operand of a branch is, or the word that it takes from the stack. */
static bool target_word(const struct evidence *found, struct code *code, uint64_t *ret)
{
	const struct verdict_facts *facts = &found->facts;
	uint64_t va = facts->frame->regs[SEM_RSP];
	size_t nr_bytes;

	if (facts->insn->op != SEM_RET && !verdict_address(facts, &va))
		return false;
	return facts->access_at &&
	       !code_bytes(code, 0, va, (uint8_t *)ret, sizeof(*ret), &nr_bytes);
}

/* A branch that faulted itself: where it would have led, and whose it is. */
static void find_target(struct evidence *found, struct code *code)
{
	struct verdict_facts *facts = &found->facts;
	const struct sem_operand *operand;
	struct code_insn insn;

	if (!facts->insn || !verdict_is_indirect(facts->insn) ||
	    code_insn(code, 0, facts->fault->from, false, &insn))
		return;
	operand = &facts->insn->operands[0];
	facts->has_target = facts->frame && (operand->kind == SEM_REGISTER ||
					     target_word(found, code, &facts->target));
	if (facts->has_target && operand->kind == SEM_REGISTER)
		facts->target = facts->frame->regs[operand->reg];
	if (insn.here)
		find_thunk_user(found, code);
	else
		facts->came_by = branch_of(&insn);
}

/* --- Where a lockup is --------------------------------------------------- */

/*
 * The entry of what interrupted the thread and reports it: its place among the open calls.  What
 * reports it, or another CPU's NMI, may have come in another interrupt, or in a softirq at its end.
 * That one has lasted less than what it came upon.
 */
static bool find_report(const struct summary *view, size_t *ret)
{
	const struct calltree *tree = &view->calls.tree;
	bool found = false;

	for (size_t i = view->nr_open; i; i--) {
		struct calltree_line line = calltree_line(tree, tree->open[i - 1]);

		if (line.frame != FRAME_IRQ && line.frame != FRAME_NMI)
			continue;
		if (found && line.call.nr_branches > view->nr_branches / 2)
			break;
		*ret = i - 1;
		found = true;
	}
	return found;
}

/* NULL: there is none. */
static const struct btsrec_event *newest_switch(const struct summary *view)
{
	return view->nr_switches ? &view->switches[(view->nr_switches - 1) % SUMMARY_SWITCHES] :
				   NULL;
}

/* Branches of the thread since the newest task switch, if nothing was lost since. */
static uint64_t nr_since_switch(const struct summary *view)
{
	const struct btsrec_event *newest = newest_switch(view);

	if (view->loses)
		return 0;
	return newest ? view->nr_events - newest->n - 1 : view->nr_branches;
}

/* The event of the report, or of the NMI by which the CPU that reports stopped this one. */
static uint64_t report_n(const struct summary *view, size_t report)
{
	const struct calltree *tree = &view->calls.tree;

	return report < view->nr_open ? calltree_line(tree, tree->open[report]).n :
					view->calls.fault.n;
}

/* Branches that have run in the open call @i, up to the report of the lockup. */
static uint64_t nr_within(const struct summary *view, size_t i, size_t report)
{
	const struct calltree *tree = &view->calls.tree;
	uint64_t nr = calltree_line(tree, tree->open[i]).call.nr_branches, nr_report = 0;

	if (report < view->nr_open)
		nr_report = calltree_line(tree, tree->open[report]).call.nr_branches + 1;
	return nr > nr_report ? nr - nr_report : 0;
}

/*
 * A hard lockup is one of interrupts that are off: so many branches have run since then, up to the
 * report; UINT64_MAX: it is none, or not known.
 */
static uint64_t nr_masked(const struct summary *view, size_t report)
{
	const struct summary_irqs *irqs = &view->locks->irqs;
	uint64_t end_n = report_n(view, report);

	if (view->judged->freeze.reason != BTSREC_REASON_HARD_LOCKUP || !irqs->by ||
	    !irqs->was_on || irqs->n >= end_n)
		return UINT64_MAX;
	return end_n - irqs->n;
}

/*
 * Of the open calls of the kernel before @report the innermost that has lasted at least half as
 * long as the outermost.  A caller that is not in the history has lasted all the time.  Calls that
 * may have ended before the newest switch are left out: see is_unreliable().
 */
static void find_longest(const struct summary *view, size_t report, uint64_t ip,
			 struct verdict_stay *ret)
{
	const struct calltree *tree = &view->calls.tree;
	uint64_t all = nr_since_switch(view), masked = nr_masked(view, report);
	uint64_t unreliable_n = summary_unreliable_n(view, UINT64_MAX);
	size_t first = 0, begin = 0;

	while (begin < report && calltree_line(tree, tree->open[begin]).n < unreliable_n)
		begin++;
	/* What an interrupt or a system call came upon does not matter. */
	for (size_t i = begin; i < report; i++)
		if (frame_is_entry(calltree_line(tree, tree->open[i]).frame))
			first = i + 1;
	if (first)
		all = nr_within(view, first - 1, report);
	else
		all -= view->nr_events - report_n(view, report);
	if (all > masked)
		all = masked;
	if (first < begin)
		first = begin;
	*ret = (struct verdict_stay){ .ip = ip, .nr_branches = all, .nr_open = first };
	for (size_t i = first; i < report; i++) {
		uint64_t nr = nr_within(view, i, report);

		if (nr < all / 2) {
			ret->ip = calltree_line(tree, tree->open[i]).from;
			return;
		}
		ret->nr_branches = nr;
		ret->nr_open = i + 1;
	}
}

/*
 * A CPU reports a stall of another one, too.  A switch of threads ends a stall, and none is
 * reported within 3 s (rcu_jiffies_till_stall_check(), kernel/rcu/tree_stall.h).  A CPU learns of a
 * grace period up to a tick after it began, and clocks differ.
 */
static bool stalls_elsewhere(const struct summary *view, const struct btsrec_cpu *cpu)
{
	uint64_t least = (uint64_t)btsrec_root(view->calls.renderer.rec)->tsc_khz * STALL_MIN_MS;
	const struct btsrec_event *newest = newest_switch(view);

	return cpu->freeze.reason == BTSREC_REASON_RCU_STALL && newest &&
	       cpu->freeze.tsc - newest->sw.tsc < least;
}

/*
 * What may have ended is not said to last.  Where calls went astray before the newest switch of
 * threads, those since then are known; another thread that came from before the history does that.
 */
static bool is_unreliable(const struct summary *view)
{
	const struct btsrec_event *newest = newest_switch(view);

	return summary_unreliable_n(view, UINT64_MAX) > (newest ? newest->n : 0);
}

/* Is it known to be what an interrupt came upon that lasts, and not the interrupt? */
static bool lasts_below(struct btsrec *rec, const struct btsrec_cpu *cpu)
{
	if (cpu->freeze.reason == BTSREC_REASON_RCU_STALL)
		return summary_stalls_below(rec, cpu);
	/* The interrupt is the one that reports it. */
	return cpu->freeze.reason == BTSREC_REASON_SOFT_LOCKUP && !cpu->freeze.via_nmi;
}

/* The CPU is in an interrupt that its history began in: it reports, or another one's NMI came. */
static enum fault_below find_below(struct evidence *found, const struct summary *view,
				   const struct btsrec_cpu *cpu, struct verdict_stay *ret)
{
	struct btsrec *rec = view->calls.renderer.rec;
	const struct fault *fault = &view->calls.fault;
	uint64_t nr_stop = fault->kind ? view->nr_events - fault->n : 0;
	struct unwind *below = &found->below;
	enum fault_below how;

	if (!lasts_below(rec, cpu))
		return FAULT_BELOW_NONE;
	how = fault_frame_below(trace_code(rec), &cpu->freeze, summary_begins_softirqs, rec,
				below);
	if (how != FAULT_BELOW_FOUND)
		return how;
	*ret = (struct verdict_stay){ .ip = below->ip, .report_ip = below->ip,
				      .nr_branches = nr_since_switch(view) - nr_stop,
				      .below_interrupt = true };
	return how;
}

/* Another CPU reports it, and nothing interrupted this one but its NMI. */
static bool find_stopped(const struct summary *view, struct verdict_stay *ret)
{
	const struct fault *fault = &view->calls.fault;

	if (fault->kind != FAULT_STOP)
		return false;
	find_longest(view, view->nr_open, fault->from, ret);
	ret->report_ip = fault->from;
	ret->report_n = fault->n;
	ret->at_stop = true;
	return true;
}

static void find_stay(struct evidence *found, const struct summary *view,
		      const struct btsrec_cpu *cpu)
{
	const struct calltree *tree = &view->calls.tree;
	struct verdict_stay *stay = &found->stay;
	size_t end;

	/* An idle thread reports for others. */
	if (!verdict_is_lockup(found->facts.reason) || !cpu->freeze.pid || is_unreliable(view) ||
	    stalls_elsewhere(view, cpu))
		return;
	if (find_report(view, &end)) {
		struct calltree_line line = calltree_line(tree, tree->open[end]);

		find_longest(view, end, line.from, stay);
		stay->report_ip = line.from;
		stay->report_n = line.n;
	} else {
		enum fault_below below = find_below(found, view, cpu, stay);

		if (below == FAULT_BELOW_EITHER ||
		    (below == FAULT_BELOW_NONE && !find_stopped(view, stay)))
			return;
	}
	if (!code_is_kernel(stay->report_ip) || !stay->nr_branches ||
	    stay->nr_branches > view->nr_branches)
		return;
	if (cpu->context.tsc && cpu->freeze.tsc > cpu->context.tsc)
		stay->ticks = cpu->freeze.tsc - cpu->context.tsc;
	found->facts.stay = stay;
}

/* --- Which thread hung --------------------------------------------------- */

/** struct hung_search - a search for the newest switch from the thread of @subject on @cpu */
struct hung_search {
	struct summary_subject *subject;
	unsigned int cpu;
};

static bool compare_switch(void *arg, const struct btsrec_event *event)
{
	const struct hung_search *search = arg;
	struct summary_subject *subject = search->subject;

	if (event->kind != BTSREC_EVENT_SWITCH || event->mm_only ||
	    event->sw.prev.pid != subject->pid || event->sw.tsc < subject->tsc)
		return true;
	subject->seen = true;
	subject->cpu = search->cpu;
	subject->tsc = event->sw.tsc;
	memcpy(subject->comm, event->sw.prev.comm, sizeof(subject->comm));
	return true;
}

/* A CPU without a usable history says nothing of it, and has its own line on the page. */
static enum btsrec_status find_subject(struct summary *view, struct btsrec *rec,
				       const struct btsrec_cpu *cpu)
{
	struct hung_search search = { .subject = &view->subject };
	enum btsrec_status status;

	view->subject = (struct summary_subject){ 0 };
	if (cpu->freeze.reason != BTSREC_REASON_HUNG_TASK || !cpu->freeze.subject_pid)
		return BTSREC_OK;
	view->subject.pid = cpu->freeze.subject_pid;
	for (unsigned int i = 0; i < btsrec_nr_cpu_ids(rec); i++) {
		if (!btsrec_cpu(rec, i))
			continue;
		search.cpu = i;
		status = history_others(rec, i, compare_switch, &search, NULL);
		if (status == BTSREC_ERR_NOMEM || status == BTSREC_ERR_IO)
			return status;
	}
	return BTSREC_OK;
}

/* Where the lockup is among its places; they are only those of its caller then. */
static void find_callers(struct summary *view)
{
	struct summary_stack *stack = &view->stack;
	size_t i = 0;

	while (i < stack->nr && stack->places[i].ip != view->verdict.ip)
		i++;
	/* The history knows more: it has what called that, too. */
	if (i == stack->nr || view->verdict.stay.nr_open)
		stack->nr = 0;
}

static void judge(struct summary *view, struct evidence *found, struct code *code,
		  const struct btsrec_cpu *cpu)
{
	const struct btsrec_root *root = btsrec_root(view->calls.renderer.rec);
	const struct fault *fault = &view->calls.fault;
	bool is_oops = cpu->freeze.reason == BTSREC_REASON_OOPS && !cpu->freeze.via_nmi;

	view->stack = (struct summary_stack){ 0 };
	if (!fault->kind && is_oops && fault_frame_is_kept(root, cpu) &&
	    summary_stack_fault(view, code, cpu))
		fault = &view->stack.fault;
	found->facts.fault = fault;
	found->facts.reason = (enum btsrec_reason)cpu->freeze.reason;
	if (fault->kind == FAULT_EXCEPTION) {
		find_insn(found, code, fault->from);
		find_frame(view, found, code, cpu);
		find_branch(found, code);
		find_target(found, code);
	}
	find_stay(found, view, cpu);
	view->below = found->below;
	view->survived = cpu->survived;
	view->verdict = verdict_of(&found->facts);
	if (view->verdict.kind == VERDICT_NMI && (cpu->freeze.reason == BTSREC_REASON_PANIC ||
						  cpu->freeze.reason == BTSREC_REASON_NMI))
		summary_stack_panic(view, code, cpu);
	if (view->verdict.kind == VERDICT_STUCK && fault_frame_is_kept(root, cpu)) {
		summary_stack_lockup(view, code, cpu);
		find_callers(view);
	}
	if ((fault->kind == FAULT_CALL || fault->kind == FAULT_EXCEPTION) &&
	    fault_frame_is_kept(root, cpu))
		summary_stack_beyond(view, code, cpu, found->facts.frame);
	if (view->verdict.kind == VERDICT_NMI && view->stack.nr)
		view->verdict.handler = view->stack.places[0].ip;
}

bool summary_in_sched(struct btsrec *rec, uint64_t ip)
{
	uint64_t begin = symbols_place(rec, SYMBOL_DUMP_SCHED_TEXT);
	uint64_t end = symbols_place(rec, SYMBOL_DUMP_SCHED_TEXT_END);

	return !begin || (ip >= begin && ip < end);
}

/* What called the functions that only wait. */
static void find_blocked(struct summary *view, struct btsrec *rec)
{
	for (size_t i = 0; i < view->stack.nr && !view->verdict.ip; i++)
		if (!summary_in_sched(rec, view->stack.places[i].ip))
			view->verdict.ip = view->stack.places[i].ip;
}

enum btsrec_status summary_judge(struct summary *view, struct btsrec *rec,
				 const struct btsrec_cpu *failed)
{
	struct code *code = trace_code(rec);
	struct evidence found = { 0 };
	enum btsrec_status status;

	if (!code)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	judge(view, &found, code, failed);
	status = find_subject(view, rec, failed);
	if (status)
		return status;
	view->nr_blocked = 0;
	view->nr_chain = 0;
	view->lock_unknown = false;
	if (view->subject.pid && !view->survived) {
		summary_stack_thread(view, rec, code);
		find_blocked(view, rec);
		summary_waits_read(view, rec, code);
	}
	view->verdict.ip = summary_probed(view, view->verdict.ip);
	status = summary_spin_read(view, rec, failed);
	if (!status)
		summary_say(view, failed);
	return status;
}
