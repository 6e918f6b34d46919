// SPDX-License-Identifier: GPL-2.0-or-later
/* The verdict of a summary: its sentence. */
#include <inttypes.h>

#include "base/escape.h"
#include "flow/trace.h"
#include "recorder/record.h"
#include "symbols/symbol.h"
#include "views/view_summary.h"
#include "views/view_summary_sentence.h"

/* Of five levels: what is not canonical there is so nowhere. */
#define VA_BITS_MAX	57

static void add_access(struct sentence *sentence, const struct verdict *verdict)
{
	bool read = verdict->access == VERDICT_READ;

	sentence_add_place(sentence, verdict->ip);
	switch (verdict->kind) {
	case VERDICT_NULL:
		sentence_add(sentence, " %s a NULL pointer: address 0x%" PRIx64,
			     read ? "read through" : "wrote through", verdict->address);
		return;
	case VERDICT_NON_CANONICAL:
		sentence_add(sentence, " %s 0x%" PRIx64 ", which is not a canonical address",
			     read ? "read from" : "wrote to", verdict->address);
		return;
	case VERDICT_READ_ONLY:
		sentence_add(sentence, " wrote to ");
		sentence_add_place(sentence, verdict->address);
		sentence_add(sentence, ", which is read-only");
		return;
	case VERDICT_USER_MEMORY:
		sentence_add(sentence,
			     " %s user memory at 0x%" PRIx64 ", as only copy_%s_user() and the "
			     "like may", read ? "read" : "wrote", verdict->address,
			     read ? "from" : "to");
		return;
	case VERDICT_PAGE_TABLE:
		sentence_add(sentence,
			     " %s 0x%" PRIx64 ", whose page table is corrupt: reserved bits are set",
			     read ? "read from" : "wrote to", verdict->address);
		return;
	case VERDICT_ADDRESS:
		sentence_add(sentence, " %s the bad address 0x%" PRIx64,
			     read ? "read from" : "wrote to", verdict->address);
		return;
	default:
		break;
	}
	sentence_add(sentence, " had a page fault");
	if (verdict->access)
		sentence_add(sentence, " when it %s memory", read ? "read" : "wrote");
}

/* An address that the kernel cannot execute. */
static void add_target(struct sentence *sentence, uint64_t va)
{
	struct code *code = trace_code(sentence->r->rec);

	if (code && code_is_kernel(va) && code_access(code, va) >= WALK_ACCESS_READ) {
		sentence_add(sentence, " ");
		sentence_add_place(sentence, va);
		sentence_add(sentence, ", where data is and no code");
		return;
	}
	sentence_add(sentence, " 0x%" PRIx64 "%s", va,
		     va < BTSREC_PAGE_BYTES ? ", a NULL pointer" :
		     !record_canonical(va, VA_BITS_MAX) ? ", which is not a canonical address" :
		     !code_is_kernel(va)		? ", an address of user space" :
							  ", where no code is");
}

static void add_no_code(struct sentence *sentence, const struct verdict *verdict)
{
	if (verdict->ip)
		sentence_add_place(sentence, verdict->ip);
	else
		sentence_add(sentence, "the kernel");
	switch (verdict->access) {
	case VERDICT_CALL:
		sentence_add(sentence, " called");
		break;
	case VERDICT_JUMP:
		sentence_add(sentence, " jumped to");
		break;
	case VERDICT_RETURN:
		sentence_add(sentence, " returned to");
		break;
	default:
		sentence_add(sentence, " came to");
		break;
	}
	if (verdict->has_address)
		add_target(sentence, verdict->address);
	else
		sentence_add(sentence, " what is not a canonical address");
	if (verdict->access == VERDICT_RETURN)
		sentence_add(sentence, ": its return address or its stack pointer was wrong");
}

/* The fault that the verdict is on. */
static const struct fault *fault_of(const struct summary *view)
{
	return view->stack.fault.kind ? &view->stack.fault : &view->calls.fault;
}

/* SDM vol. 3A, "Exception and Interrupt Vectors". */
static const char *exception_words(int vector)
{
	static const char *const words[] = {
		[0] = "a divide error",
		[1] = "a debug exception",
		[3] = "a breakpoint",
		[4] = "an overflow trap",
		[5] = "an exceeded bound",
		[6] = "an invalid opcode",
		[7] = "no floating-point unit",
		[8] = "a double fault",
		[10] = "an invalid TSS",
		[11] = "a segment that is not present",
		[12] = "a stack fault",
		[16] = "a floating-point error",
		[17] = "an alignment check",
		[19] = "a SIMD exception",
		[21] = "a control protection fault",
	};

	if (vector < 0)
		return "an exception of an unknown vector";
	return (size_t)vector < sizeof(words) / sizeof(words[0]) && words[vector] ?
		words[vector] : "an exception";
}

static void add_exception(struct sentence *sentence, const struct summary *view)
{
	const struct verdict *verdict = &view->verdict;
	int vector = fault_of(view)->vector;
	const char *name;

	sentence_add_place(sentence, verdict->ip);
	switch (verdict->kind) {
	case VERDICT_BUG:
		sentence_add(sentence, " executed UD2, as BUG() does");
		return;
	case VERDICT_WARN:
		sentence_add(sentence, " executed UD2, as WARN() does%s",
			     view->survived ? "" : ", and a warning panics");
		return;
	case VERDICT_PROTECTION:
		sentence_add(sentence, " had a general protection fault");
		return;
	case VERDICT_STACK_OVERFLOW:
		sentence_add(sentence, " overflowed its stack");
		summary_say_recursion(sentence, view);
		return;
	case VERDICT_BAD_STACK:
		sentence_add(sentence,
			     " had a double fault: no memory is at its stack pointer, 0x%" PRIx64,
			     verdict->address);
		return;
	default:
		break;
	}
	name = vector < 0 ? NULL : idt_exception_str((unsigned int)vector);
	sentence_add(sentence, " had %s", exception_words(vector));
	if (name)
		sentence_add(sentence, " (%s)", name);
}

static void add_ms(struct sentence *sentence, const struct summary *view, uint64_t ticks)
{
	uint64_t khz = view->calls.tsc_khz;

	if (khz)
		sentence_add(sentence, "%" PRIu64 " ms", ticks / khz);
	else
		sentence_add(sentence, "%" PRIu64 " ticks", ticks);
}

static void add_stuck(struct sentence *sentence, const struct summary *view,
		      enum btsrec_reason reason)
{
	const struct verdict_stay *stay = &view->verdict.stay;

	sentence_add(sentence, "%s in ", btsrec_reason_str(reason));
	sentence_add_place(sentence, stay->ip);
	if (stay->below_interrupt)
		sentence_add(sentence, ", by the stack below an older interrupt");
	sentence_add(sentence, ": it has not returned for at least %" PRIu64 " branches",
		     stay->nr_branches);
	if (stay->ticks) {
		sentence_add(sentence, ", and no thread was switched for ");
		add_ms(sentence, view, stay->ticks);
	}
	if (view->verdict.has_address) {
		sentence_add(sentence, "; it reads ");
		sentence_add_data(sentence, view->verdict.address);
		sentence_add(sentence, " again and again");
	}
	summary_say_irqs(sentence, view);
}

/* What the function that waits has called: a lock's, or what sleeps. */
static void add_waiting(struct sentence *sentence, const struct summary *view)
{
	const struct summary_stack *stack = &view->stack;
	struct symbol_name name;
	enum symbol_why why;

	for (size_t i = 1; i < stack->nr; i++)
		if (stack->places[i].ip == view->verdict.ip &&
		    render_find(sentence->r, stack->places[i - 1].ip, &name, &why) &&
		    name.name_bytes) {
			sentence_add(sentence, ", which waits in %.*s", (int)name.name_bytes,
				     name.name);
			return;
		}
}

/* When the thread that hung ran last. */
static void add_last_run(struct sentence *sentence, const struct summary *view,
			 const struct btsrec_freeze *freeze)
{
	const struct summary_subject *subject = &view->subject;

	/* The owner of a lock was named last. */
	if (view->nr_chain)
		sentence_add(sentence, "; thread %" PRIu32, subject->pid);
	else
		sentence_add(sentence, "; it");
	if (!subject->seen)
		sentence_add(sentence, " ran on no CPU within this history");
	if (!subject->seen && !subject->arrived)
		return;
	sentence_add(sentence, subject->seen ? " last ran on CPU %u" : ", and last got CPU %u",
		     subject->cpu);
	if (freeze->tsc < subject->tsc)
		return;
	sentence_add(sentence, ", ");
	add_ms(sentence, view, freeze->tsc - subject->tsc);
	sentence_add(sentence, " before the fault");
}

static void add_hung(struct sentence *sentence, const struct summary *view,
		     const struct btsrec_freeze *freeze)
{
	const struct summary_subject *subject = &view->subject;

	if (!subject->pid) {
		sentence_add(sentence, "a thread hung, which is not the one that reported it");
		return;
	}
	sentence_add(sentence, "thread %" PRIu32, subject->pid);
	if (subject->seen || view->stack.pid)
		sentence_add_comm(sentence, subject->seen ? subject->comm : view->stack.comm);
	sentence_add(sentence, " hung");
	if (view->verdict.ip) {
		sentence_add(sentence, " in ");
		sentence_add_place(sentence, view->verdict.ip);
		add_waiting(sentence, view);
		summary_add_owner(sentence, view);
	} else if (subject->why) {
		sentence_add(sentence, "; where is not known: %s", subject->why);
	}
	add_last_run(sentence, view, freeze);
	if (subject->seen)
		sentence_add(sentence, "; its calls: btsrec stack --thread %" PRIu32,
			     subject->pid);
}

/* A place or a text that is not ours, as above. */
static void add_trigger(struct sentence *sentence, const struct summary *view,
			enum btsrec_reason reason)
{
	const struct btsrec_root *root = btsrec_root(view->calls.renderer.rec);
	char text[ESCAPED_MAX_BYTES * BTSREC_TRIGGER_BYTES + 1];
	const char *space;

	(void)escaped_copy(text, root->freeze_trigger, sizeof(root->freeze_trigger));
	space = *text ? " " : "";
	if (reason == BTSREC_REASON_REQUEST) {
		sentence_add(sentence, "the recorder was asked to freeze%s%s", *text ? ": " : "",
			     text);
		return;
	}
	if (view->verdict.ip) {
		sentence_add_place(sentence, view->verdict.ip);
		sentence_add(sentence, " called the function%s%s", space, text);
	} else {
		sentence_add(sentence, "the %s%s%s was reached", btsrec_reason_str(reason), space,
			     text);
	}
	sentence_add(sentence, ", at which the recorder was to freeze");
}

/* What the NMI came upon: a place in the kernel, or user code of a thread. */
static void add_interrupted(struct sentence *sentence, const struct summary *view,
			    const struct btsrec_freeze *freeze)
{
	if (code_is_kernel(view->verdict.ip)) {
		sentence_add_place(sentence, view->verdict.ip);
		return;
	}
	sentence_add(sentence, "user code of thread %" PRIu32, freeze->pid);
	sentence_add_comm(sentence, freeze->comm);
}

static void say(struct sentence *sentence, const struct summary *view,
		const struct btsrec_freeze *freeze)
{
	const struct verdict *verdict = &view->verdict;

	switch (verdict->kind) {
	case VERDICT_NONE:
		sentence_add(sentence, "%s",
			     view->calls.fault.kind || view->stack.fault.kind ?
				     "no rule knows such a fault" :
				     fault_why_str(view->calls.fault.why));
		break;
	case VERDICT_NULL:
	case VERDICT_ADDRESS:
	case VERDICT_READ_ONLY:
	case VERDICT_USER_MEMORY:
	case VERDICT_PAGE_TABLE:
	case VERDICT_NON_CANONICAL:
	case VERDICT_ACCESS:
		add_access(sentence, verdict);
		break;
	case VERDICT_NO_CODE:
		add_no_code(sentence, verdict);
		break;
	case VERDICT_PROTECTION:
	case VERDICT_BUG:
	case VERDICT_WARN:
	case VERDICT_STACK_OVERFLOW:
	case VERDICT_BAD_STACK:
	case VERDICT_EXCEPTION:
		add_exception(sentence, view);
		break;
	case VERDICT_PANIC:
		sentence_add_place(sentence, verdict->ip);
		sentence_add(sentence, " called panic()");
		summary_say_init(sentence, view, freeze);
		break;
	case VERDICT_NMI:
		if (verdict->handler)
			sentence_add_place(sentence, verdict->handler);
		sentence_add(sentence, verdict->handler ? " called panic() in an NMI handler" :
							  "an NMI handler crashed");
		sentence_add(sentence, "; it had interrupted ");
		add_interrupted(sentence, view, freeze);
		break;
	case VERDICT_MACHINE_CHECK:
		sentence_add(sentence, "a machine check");
		if (!verdict->ip)
			break;
		sentence_add(sentence, " interrupted ");
		sentence_add_place(sentence, verdict->ip);
		sentence_add(sentence, ", which need not be its cause");
		break;
	case VERDICT_STUCK:
		add_stuck(sentence, view, (enum btsrec_reason)freeze->reason);
		break;
	case VERDICT_LOCKUP:
		sentence_add(sentence,
			     "%s was reported; what does not go on is not in this history",
			     btsrec_reason_str(freeze->reason));
		break;
	case VERDICT_HUNG_TASK:
		add_hung(sentence, view, freeze);
		break;
	case VERDICT_TRIGGER:
		add_trigger(sentence, view, (enum btsrec_reason)freeze->reason);
		break;
	}
}

void summary_say(struct summary *view, const struct btsrec_cpu *failed)
{
	struct sentence sentence = { .r = &view->calls.renderer, .text = view->sentence };

	*view->sentence = '\0';
	say(&sentence, view, &failed->freeze);
	if (!view->verdict.kind)
		return;
	summary_say_callers(&sentence, view);
	if (view->calls.fault.kind == FAULT_EXCEPTION || view->calls.fault.kind == FAULT_CALL)
		summary_say_interrupt(&sentence, view, &failed->freeze);
	if (view->stack.fault.kind)
		sentence_add(&sentence,
			     "; by its stack, since the history does not show the fault");
	if (view->moved)
		sentence_add(&sentence, "; on CPU %u, and its handler went on on CPU %u",
			     view->fault_cpu, failed->cpu);
	if (view->survived)
		sentence_add(&sentence, "; the system went on");
	summary_say_others(&sentence, view);
}
