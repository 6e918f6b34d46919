// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/fault.h"

#include "code/kernel_code.h"
#include "recorder/record.h"

/* DEBUGCTL.TR and .BTS (SDM vol. 3B, "IA32_DEBUGCTL MSR"): both are needed to record; or .LBR. */
#define DEBUGCTL_RECORDS	(1U << 6 | 1U << 7)
#define DEBUGCTL_LBR		(1U << 0)

/* ftrace's call at the beginning of a function, maybe after an ENDBR. */
#define HOOK_CALL_BYTES		5

/* With REX.W, SDM vol. 2A. */
#define IRET_BYTES		2

#define VECTOR_MC		18

static bool search_end(struct fault_search *search, enum fault_why why)
{
	search->fault.why = why;
	search->done = true;
	return false;
}

static void note_fault(const struct fault_search *search, enum fault_kind kind,
		       const struct btsrec_event *event, const struct branch *branch,
		       struct fault *fault)
{
	fault->kind = kind;
	fault->vector = kind == FAULT_EXCEPTION ? branch->vector : -1;
	fault->n = event->n;
	fault->nr_newer = search->nr_branches;
	fault->from = event->branch.from;
	fault->to = event->branch.to;
	fault->why = FAULT_FOUND;
}

static bool search_found(struct fault_search *search, enum fault_kind kind,
			 const struct btsrec_event *event, const struct branch *branch)
{
	note_fault(search, kind, event, branch, &search->fault);
	return true;
}

/* The way to the fault is whole.  If there is nothing else on it, it was a trap. */
static bool search_end_entered(struct fault_search *search)
{
	if (!search->trap.kind)
		return search_end(search, FAULT_NOT_ENTERED);
	search->fault = search->trap;
	return search_end(search, FAULT_FOUND);
}

/* Did the hook that froze run with recording on? Then its call is in the history. */
static bool was_recording(const struct fault_search *search)
{
	uint64_t bits = search->source == BTSREC_SOURCE_LBR ? DEBUGCTL_LBR : DEBUGCTL_RECORDS;

	return (search->freeze->debugctl & bits) == bits;
}

enum fault_why fault_why_paused(const struct btsrec_freeze *freeze)
{
	bool own = !freeze->via_nmi;	/* else a report there was of something else */

	switch (freeze->pause_reason) {
	case BTSREC_REASON_SNAPSHOT:
		return FAULT_COPIED;
	case BTSREC_REASON_NMI:
		return FAULT_IN_NMI;
	case BTSREC_REASON_CONSOLE:
		return FAULT_PRINTED;
	case BTSREC_REASON_FILTERED:
		return FAULT_NOT_CHOSEN;
	case BTSREC_REASON_RATE:
		return FAULT_RATE;
	case BTSREC_REASON_OOPS:
		return FAULT_HANDLED;
	case BTSREC_REASON_SOFT_LOCKUP:
	case BTSREC_REASON_HUNG_TASK:
	case BTSREC_REASON_RCU_STALL:
		return own ? FAULT_REPORT : FAULT_HANDLED;
	default:
		return FAULT_PAUSED;
	}
}

/* On the CPU at fault the other pauses begin with what turns out to be it. */
bool fault_ends_before(const struct btsrec_freeze *freeze)
{
	if (freeze->via_nmi)
		return freeze->pause_reason;
	switch (freeze->pause_reason) {
	case BTSREC_REASON_SNAPSHOT:
	case BTSREC_REASON_CONSOLE:
	case BTSREC_REASON_FILTERED:
	case BTSREC_REASON_RATE:
		return true;
	default:
		return false;
	}
}

bool fault_begin(struct fault_search *search, const struct btsrec_freeze *freeze, uint32_t source)
{
	*search = (struct fault_search){ .freeze = freeze, .source = source };
	search->fault.vector = -1;
	search->fault.why = FAULT_TOO_OLD;
	if (!freeze)
		return search_end(search, FAULT_NOT_FROZEN);
	if (freeze->reason == BTSREC_REASON_MANUAL)
		return search_end(search, FAULT_NO_FAULT);
	if (freeze->via_nmi)
		return was_recording(search) || search_end(search, fault_why_paused(freeze));
	if (fault_ends_before(freeze))
		return search_end(search, fault_why_paused(freeze));
	switch (freeze->reason) {
	case BTSREC_REASON_SOFT_LOCKUP:
	case BTSREC_REASON_HUNG_TASK:
	case BTSREC_REASON_RCU_STALL:
		if (!was_recording(search))
			return search_end(search, FAULT_REPORT);
		search->wants_call = true;
		return true;
	case BTSREC_REASON_PANIC:
		search->wants_call = was_recording(search);
		return true;
	case BTSREC_REASON_FUNCTION:
		/* Its hook pauses first: that is no other pause. */
		if (!was_recording(search) && freeze->pause_reason != BTSREC_REASON_FUNCTION)
			return search_end(search, fault_why_paused(freeze));
		search->wants_call = true;
		return true;
	case BTSREC_REASON_TRACEPOINT:
	case BTSREC_REASON_REQUEST:
		return search_end(search, freeze->pause_reason == freeze->reason ?
				  FAULT_TRIGGER : fault_why_paused(freeze));
	case BTSREC_REASON_WARN:
	case BTSREC_REASON_OOPS:
	case BTSREC_REASON_HARD_LOCKUP:
	case BTSREC_REASON_MCE:
	case BTSREC_REASON_NMI:
		return true;
	default:
		return search_end(search, FAULT_LATE);
	}
}

/*
 * An entry that may be anything, from @from: a notifier has the registers of the exception, and of
 * others they are kept.  Else it may have been an interrupt.
 */
static bool is_exception_at(const struct fault_search *search, uint64_t from)
{
	const struct btsrec_registers *kept = search->registers;

	return search->freeze->ip == from ||
	       (kept && kept->flags & BTSREC_REGISTERS_ENTRY && kept->entry.ip == from);
}

/* What the freeze is about, given that @branch entered the kernel and nothing left it since. */
static enum fault_kind kind_of_entry(const struct fault_search *search, uint64_t from,
				     const struct branch *branch)
{
	const struct btsrec_freeze *freeze = search->freeze;
	bool is_nmi = branch->type == BRANCH_NMI;
	bool is_exception = branch->type == BRANCH_EXCEPTION ||
			    (branch->type == BRANCH_ENTRY && is_exception_at(search, from));

	if (freeze->via_nmi)
		return is_nmi || branch->type == BRANCH_ENTRY ? FAULT_STOP : FAULT_UNKNOWN;
	switch (freeze->reason) {
	case BTSREC_REASON_WARN:
	case BTSREC_REASON_OOPS:
		/* NMI handlers are not recorded: all that is known is that it was one. */
		if (is_nmi && !was_recording(search))
			return FAULT_NMI;
		return is_exception ? FAULT_EXCEPTION : FAULT_UNKNOWN;
	case BTSREC_REASON_MCE:
		return is_exception && (branch->vector == VECTOR_MC || branch->vector < 0) ?
		       FAULT_EXCEPTION : FAULT_UNKNOWN;
	case BTSREC_REASON_HARD_LOCKUP:
	case BTSREC_REASON_NMI:
		return is_nmi || branch->type == BRANCH_ENTRY ? FAULT_NMI : FAULT_UNKNOWN;
	default:
		if (is_nmi)
			return FAULT_NMI;
		return is_exception ? FAULT_EXCEPTION : FAULT_UNKNOWN;
	}
}

/* A breakpoint of kprobes: the recorder itself has one on the way, where the freeze found it. */
static void note_trap(struct fault_search *search, const struct btsrec_event *event,
		      const struct branch *branch)
{
	uint64_t distance = search->freeze->ip - event->branch.from;

	if (search->freeze->reason == BTSREC_REASON_OOPS && !search->trap.kind &&
	    distance > HOOK_CALL_BYTES + KERNEL_CODE_ENDBR_BYTES)
		note_fault(search, FAULT_EXCEPTION, event, branch, &search->trap);
}

/* --- Interrupts ---------------------------------------------------------- */

static void returned(struct fault_returns *returns, uint64_t to)
{
	if (returns->nr < FAULT_MAX_RETURNS)
		returns->to[returns->nr] = to;
	returns->nr++;
}

/*
 * A pause of ours ends by itself in the handler that it began in.  If the annotation that follows
 * has ended it, interrupts may have begun in it that ended later.
 */
static void paused(struct fault_returns *returns)
{
	returns->nr_over_pause = returns->nr;
}

/*
 * Did what was entered from @from, when the pause began, return later?  Then it led back there, or
 * behind the instruction.  What the interrupts of the pause led back to is its handler.
 */
static bool returned_over_pause(struct fault_returns *returns, uint64_t from)
{
	for (unsigned int i = returns->nr; i; i--)
		if (i <= FAULT_MAX_RETURNS &&
		    returns->to[i - 1] - from <= CODE_INSN_MAX_BYTES) {
			returns->nr = returns->nr_over_pause = i - 1;
			return true;
		}
	returns->nr = returns->nr_over_pause = 0;
	return false;
}

/* Has the end of what was entered from @from been seen? */
static bool has_returned(struct fault_returns *returns, uint64_t from)
{
	if (returns->nr > returns->nr_over_pause) {
		returns->nr--;
		return true;
	}
	return returns->nr && returned_over_pause(returns, from);
}

static bool feed_entry(struct fault_search *search, const struct btsrec_event *event,
		       const struct branch *branch)
{
	enum fault_kind kind;

	if (has_returned(&search->returns, event->branch.from))
		return true;
	if (branch->type == BRANCH_INT) {
		note_trap(search, event, branch);
		return true;
	}
	if (search->wants_call)
		return search_end(search, FAULT_NOT_ENTERED);
	kind = kind_of_entry(search, event->branch.from, branch);
	if (!kind)
		return search_end_entered(search);
	return search_found(search, kind, event, branch);
}

/* Does an IRET end what entered?  One that leads behind itself is sync_core(). */
static bool is_return(const struct btsrec_record *record)
{
	return record->to != record->from + IRET_BYTES;
}

/* Is it outside of interrupts that came and went? */
static bool is_outside(struct fault_returns *returns, const struct btsrec_record *record,
		       const struct branch *branch)
{
	switch (branch->type) {
	case BRANCH_EXCEPTION:
	case BRANCH_NMI:
	case BRANCH_IRQ:
	case BRANCH_ENTRY:
		return !has_returned(returns, record->from);
	case BRANCH_IRET:
		if (!code_is_kernel(record->from) || !is_return(record))
			break;
		returned(returns, record->to);
		return false;
	default:
		break;
	}
	return !returns->nr;
}

/*
 * The fault was found: what led there is its neighbour.  An interrupt that came when the processor
 * was there, and before it had the fault, has led back there.
 */
static bool feed_before(struct fault_search *search, const struct btsrec_event *event,
			const struct branch *branch)
{
	struct fault *fault = &search->fault;

	if (event->kind == BTSREC_EVENT_GAP && search->returns.nr &&
	    record_is_own_pause(&event->gap))
		return true;
	if (event->kind != BTSREC_EVENT_BRANCH)
		return search_end(search, FAULT_FOUND);
	if (!is_outside(&search->returns, &event->branch, branch))
		return true;
	fault->before[fault->nr_before++] = event->branch;
	return fault->nr_before < FAULT_NR_BEFORE || search_end(search, FAULT_FOUND);
}

/* The function's first instruction, or ftrace's call in it, is where its caller leads. */
static bool is_call(const struct fault_search *search, const struct btsrec_record *record)
{
	return search->site && !search->returns.nr &&
	       (record->to == search->site || record->to == search->site - KERNEL_CODE_ENDBR_BYTES);
}

static bool feed_branch(struct fault_search *search, const struct btsrec_event *event,
			const struct branch *branch)
{
	const struct btsrec_record *record = &event->branch;

	search->nr_branches++;
	switch (branch->type) {
	case BRANCH_EXCEPTION:
	case BRANCH_NMI:
	case BRANCH_IRQ:
	case BRANCH_ENTRY:
	case BRANCH_INT:
		return feed_entry(search, event, branch);
	case BRANCH_IRET:
		if (code_is_kernel(record->to)) {
			if (is_return(record))
				returned(&search->returns, record->to);
			return true;
		}
		break;
	default:
		break;
	}
	if (!code_is_kernel(record->from) || !code_is_kernel(record->to))
		return search_end_entered(search);
	if (search->wants_call && is_call(search, record))
		return search_found(search, FAULT_CALL, event, branch);
	if (!search->site && record->from + HOOK_CALL_BYTES == search->freeze->ip)
		search->site = record->from;
	return true;
}

static void feed_switch(struct fault_search *search, const struct btsrec_event *event)
{
	bool away = event->sw.prev.pid != search->freeze->pid;

	if (away && !search->back_tsc)
		search->back_tsc = event->sw.tsc;
	if (search->away && !away)
		search->left_tsc = event->sw.tsc;
	search->away = away;
}

static bool feed_gap(struct fault_search *search, const struct btsrec_gap *gap, bool was_annotation)
{
	if (gap->resume.reason == BTSREC_REASON_LBR)
		return search_end(search, FAULT_NOT_KEPT);
	if (!record_is_own_pause(gap))
		return search_end(search, FAULT_INCOMPLETE);
	if (was_annotation && !search->away && gap->resume.reason != BTSREC_REASON_NMI)
		paused(&search->returns);
	return true;
}

bool fault_feed(struct fault_search *search, const struct btsrec_event *event,
		const struct branch *branch)
{
	bool was_annotation = search->was_annotation;

	if (search->done)
		return false;
	if (search->fault.kind)
		return feed_before(search, event, branch);
	search->was_annotation = event->kind != BTSREC_EVENT_BRANCH;
	switch (event->kind) {
	case BTSREC_EVENT_BRANCH:
		if (!search->away)
			return feed_branch(search, event, branch);
		search->nr_branches++;
		return true;
	case BTSREC_EVENT_SWITCH:
		if (!event->mm_only)
			feed_switch(search, event);
		return true;
	case BTSREC_EVENT_GAP:
		return feed_gap(search, &event->gap, was_annotation);
	case BTSREC_EVENT_ARM:
		return search_end(search, FAULT_INCOMPLETE);
	default:
		return true;
	}
}

void fault_moved(struct fault_search *search)
{
	search->fault = (struct fault){ .why = FAULT_MOVED, .vector = -1 };
}

const char *fault_kind_str(enum fault_kind kind)
{
	switch (kind) {
	case FAULT_EXCEPTION:
		return "exception";
	case FAULT_NMI:
		return "nmi";
	case FAULT_CALL:
		return "call";
	case FAULT_STOP:
		return "stop";
	case FAULT_UNKNOWN:
		break;
	}
	return "unknown";
}

const char *fault_why_str(enum fault_why why)
{
	switch (why) {
	case FAULT_FOUND:
		return "found";
	case FAULT_NOT_FROZEN:
		return "not frozen";
	case FAULT_NO_FAULT:
		return "frozen by hand";
	case FAULT_LATE:
		return "frozen only on the way into the next kernel";
	case FAULT_PAUSED:
		return "not recorded, the recorder had paused";
	case FAULT_COPIED:
		return "not recorded, the rings were being copied";
	case FAULT_IN_NMI:
		return "not recorded, NMI handlers were running";
	case FAULT_PRINTED:
		return "not recorded, a console's driver was writing";
	case FAULT_NOT_CHOSEN:
		return "not recorded, tasks= does not choose the thread that ran";
	case FAULT_RATE:
		return "not recorded, there were more branches than max_rate= allows";
	case FAULT_HANDLED:
		return "not recorded, what may have been a fault was being handled";
	case FAULT_REPORT:
		return "at the end of the history, the report of it is not recorded";
	case FAULT_TRIGGER:
		return "at the end of the history, where it was to freeze";
	case FAULT_INCOMPLETE:
		return "a part of the history is missing before the freeze";
	case FAULT_NOT_KEPT:
		return "older than the last branches (LBR)";
	case FAULT_NOT_ENTERED:
		return "the history before the freeze shows nothing that belongs to it";
	case FAULT_MOVED:
		return "the thread ran on another CPU between it and the freeze";
	case FAULT_TOO_OLD:
		return "too far before the freeze";
	}
	return "unknown";
}
