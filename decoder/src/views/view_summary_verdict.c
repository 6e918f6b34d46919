// SPDX-License-Identifier: GPL-2.0-or-later
/* The verdict of a summary: its sentence. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/escape.h"
#include "kernel/poison.h"
#include "flow/trace.h"
#include "recorder/record.h"
#include "symbols/symbol.h"
#include "views/view_summary.h"

/* Of five levels: what is not canonical there is so nowhere. */
#define VA_BITS_MAX	57

/* No function is as long: what the compiler has split off lies there, and how far says nothing. */
#define FAR_BYTES	0x10000

/** struct sentence - @nr_bytes of @text so far, which has SUMMARY_SENTENCE_BYTES */
struct sentence {
	struct renderer *r;
	char *text;
	size_t nr_bytes;
};

/* What does not fit is cut. */
static void __attribute__((format(printf, 2, 3)))
add(struct sentence *sentence, const char *format, ...)
{
	size_t room = SUMMARY_SENTENCE_BYTES - sentence->nr_bytes;
	va_list args;
	int nr;

	va_start(args, format);
	nr = vsnprintf(sentence->text + sentence->nr_bytes, room, format, args);
	va_end(args);
	if (nr > 0)
		sentence->nr_bytes += (size_t)nr < room ? (size_t)nr : room - 1;
}

/* The function of @ip, and where in it if that is @wanted; without a name the address. */
static void add_name(struct sentence *sentence, uint64_t ip, bool wanted)
{
	struct symbol_name name;
	enum symbol_why why;

	if (!render_find(sentence->r, ip, &name, &why)) {
		add(sentence, "0x%016" PRIx64, ip);
		return;
	}
	if (!name.name_bytes) {
		add(sentence, "[%s]+0x%" PRIx64, name.module, name.offset_bytes);
		return;
	}
	add(sentence, "%.*s", (int)name.name_bytes, name.name);
	if (wanted && name.offset_bytes < FAR_BYTES)
		add(sentence, "+0x%" PRIx64, name.offset_bytes);
	if (*name.module)
		add(sentence, " [%s]", name.module);
}

static void add_place(struct sentence *sentence, uint64_t ip)
{
	add_name(sentence, ip, true);
}

static void add_function(struct sentence *sentence, uint64_t va)
{
	add_name(sentence, va, false);
}

static void add_access(struct sentence *sentence, const struct verdict *verdict)
{
	bool read = verdict->access == VERDICT_READ;

	add_place(sentence, verdict->ip);
	switch (verdict->kind) {
	case VERDICT_NULL:
		add(sentence, " %s a NULL pointer: address 0x%" PRIx64,
		    read ? "read through" : "wrote through", verdict->address);
		return;
	case VERDICT_NON_CANONICAL:
		add(sentence, " %s 0x%" PRIx64 ", which is not a canonical address",
		    read ? "read from" : "wrote to", verdict->address);
		return;
	case VERDICT_READ_ONLY:
		add(sentence, " wrote to ");
		add_place(sentence, verdict->address);
		add(sentence, ", which is read-only");
		return;
	case VERDICT_ADDRESS:
		add(sentence, " %s the bad address 0x%" PRIx64, read ? "read from" : "wrote to",
		    verdict->address);
		return;
	default:
		break;
	}
	add(sentence, " had a page fault");
	if (verdict->access)
		add(sentence, " when it %s memory", read ? "read" : "wrote");
}

/* An address that the kernel cannot execute. */
static void add_target(struct sentence *sentence, uint64_t va)
{
	struct code *code = trace_code(sentence->r->rec);

	if (code && code_is_kernel(va) && code_access(code, va) >= WALK_ACCESS_READ) {
		add(sentence, " ");
		add_place(sentence, va);
		add(sentence, ", where data is and no code");
		return;
	}
	add(sentence, " 0x%" PRIx64 "%s", va,
	    va < BTSREC_PAGE_BYTES ? ", a NULL pointer" :
	    !record_canonical(va, VA_BITS_MAX) ? ", which is not a canonical address" :
						 ", where no code is");
}

static void add_no_code(struct sentence *sentence, const struct verdict *verdict)
{
	if (verdict->ip)
		add_place(sentence, verdict->ip);
	else
		add(sentence, "the kernel");
	switch (verdict->access) {
	case VERDICT_CALL:
		add(sentence, " called");
		break;
	case VERDICT_JUMP:
		add(sentence, " jumped to");
		break;
	case VERDICT_RETURN:
		add(sentence, " returned to");
		break;
	default:
		add(sentence, " came to");
		break;
	}
	if (verdict->has_address)
		add_target(sentence, verdict->address);
	else
		add(sentence, " what is not a canonical address");
	if (verdict->access == VERDICT_RETURN)
		add(sentence, ": its return address or its stack pointer was wrong");
}

/* So many of the open calls were made before the fault, which itself has entered its handler. */
static size_t nr_before_fault(const struct summary *view)
{
	const struct calltree *tree = &view->calls.tree;
	size_t nr = view->nr_open;

	if (!view->calls.fault.kind)
		return 0;
	while (nr && calltree_line(tree, tree->open[nr - 1]).n == view->calls.fault.n)
		nr--;
	return nr;
}

/* How many calls of the innermost function were open at the fault. */
static size_t nr_recursions(const struct summary *view)
{
	const struct calltree *tree = &view->calls.tree;
	size_t nr = 0, end = nr_before_fault(view);
	uint64_t to;

	if (!end)
		return 0;
	to = calltree_line(tree, tree->open[end - 1]).to;
	for (size_t i = 0; i < end; i++)
		nr += calltree_line(tree, tree->open[i]).to == to;
	return nr;
}

/* More functions than these that call each other in turn are not named. */
#define MAX_TURN 4

/* So many functions call each other in turn, and the innermost is one of them; 0: not known. */
static size_t turn_of(const struct summary *view, size_t end)
{
	const struct calltree *tree = &view->calls.tree;
	uint64_t to = calltree_line(tree, tree->open[end - 1]).to;

	for (size_t turn = 1; turn <= MAX_TURN && turn < end; turn++)
		if (calltree_line(tree, tree->open[end - 1 - turn]).to == to)
			return turn;
	return 0;
}

static void add_recursion(struct sentence *sentence, const struct summary *view)
{
	const struct calltree *tree = &view->calls.tree;
	size_t end = nr_before_fault(view), nr = nr_recursions(view), turn;

	if (nr < 2)
		return;
	add(sentence, ": at least %zu calls of that function were open", nr);
	turn = turn_of(view, end);
	for (size_t i = 1; i < turn; i++) {
		add(sentence, i == 1 ? ", each by way of " : " < ");
		add_function(sentence, calltree_line(tree, tree->open[end - 1 - i]).to);
	}
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

	add_place(sentence, verdict->ip);
	switch (verdict->kind) {
	case VERDICT_BUG:
		add(sentence, " executed UD2, as BUG() does");
		return;
	case VERDICT_WARN:
		add(sentence, " executed UD2, as WARN() does%s",
		    view->survived ? "" : ", and a warning panics");
		return;
	case VERDICT_PROTECTION:
		add(sentence, " had a general protection fault");
		return;
	case VERDICT_STACK_OVERFLOW:
		add(sentence, " overflowed its stack");
		add_recursion(sentence, view);
		return;
	case VERDICT_BAD_STACK:
		add(sentence, " had a double fault: no memory is at its stack pointer, 0x%" PRIx64,
		    verdict->address);
		return;
	default:
		break;
	}
	name = vector < 0 ? NULL : idt_exception_str((unsigned int)vector);
	add(sentence, " had %s", exception_words(vector));
	if (name)
		add(sentence, " (%s)", name);
}

static void add_ms(struct sentence *sentence, const struct summary *view, uint64_t ticks)
{
	uint64_t khz = view->calls.tsc_khz;

	if (khz)
		add(sentence, "%" PRIu64 " ms", ticks / khz);
	else
		add(sentence, "%" PRIu64 " ticks", ticks);
}

static void add_stuck(struct sentence *sentence, const struct summary *view,
		      enum btsrec_reason reason)
{
	const struct verdict_stay *stay = &view->verdict.stay;

	add(sentence, "%s in ", btsrec_reason_str(reason));
	add_place(sentence, stay->ip);
	add(sentence, ": it has not returned for at least %" PRIu64 " branches", stay->nr_branches);
	if (!stay->ticks)
		return;
	add(sentence, ", and no thread was switched for ");
	add_ms(sentence, view, stay->ticks);
}

/* Its name is not ours: what is not printable is escaped. */
static void add_comm(struct sentence *sentence, const char *comm)
{
	char text[ESCAPED_MAX_BYTES * BTSREC_COMM_BYTES + 1];

	(void)escaped_copy(text, comm, BTSREC_COMM_BYTES);
	add(sentence, " (%s)", text);
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
			add(sentence, ", which waits in %.*s", (int)name.name_bytes, name.name);
			return;
		}
}

static void add_hung(struct sentence *sentence, const struct summary *view,
		     const struct btsrec_freeze *freeze)
{
	const struct summary_subject *subject = &view->subject;

	if (!subject->pid) {
		add(sentence, "a thread hung, which is not the one that reported it");
		return;
	}
	add(sentence, "thread %" PRIu32, subject->pid);
	if (subject->seen || view->stack.pid)
		add_comm(sentence, subject->seen ? subject->comm : view->stack.comm);
	add(sentence, " hung");
	if (view->verdict.ip) {
		add(sentence, " in ");
		add_place(sentence, view->verdict.ip);
		add_waiting(sentence, view);
	}
	if (!subject->seen) {
		add(sentence, ", and ran on no CPU within this history");
		return;
	}
	add(sentence, ": it last ran on CPU %u", subject->cpu);
	if (freeze->tsc < subject->tsc)
		return;
	add(sentence, ", ");
	add_ms(sentence, view, freeze->tsc - subject->tsc);
	add(sentence, " before the fault; its calls: btsrec stack --thread %" PRIu32,
	    subject->pid);
}

/* A place or a text that is not ours, as above. */
static void add_trigger(struct sentence *sentence, const struct summary *view,
			enum btsrec_reason reason)
{
	const struct btsrec_root *root = btsrec_root(view->calls.renderer.rec);
	char text[ESCAPED_MAX_BYTES * BTSREC_TRIGGER_BYTES + 1];

	(void)escaped_copy(text, root->freeze_trigger, sizeof(root->freeze_trigger));
	if (reason == BTSREC_REASON_REQUEST) {
		add(sentence, "the recorder was asked to freeze: %s", text);
		return;
	}
	if (view->verdict.ip) {
		add_place(sentence, view->verdict.ip);
		add(sentence, " called the function %s", text);
	} else {
		add(sentence, "the %s %s was reached", btsrec_reason_str(reason), text);
	}
	add(sentence, ", at which the recorder was to freeze");
}

/* What the NMI came upon: a place in the kernel, or user code of a thread. */
static void add_interrupted(struct sentence *sentence, const struct summary *view,
			    const struct btsrec_freeze *freeze)
{
	if (code_is_kernel(view->verdict.ip)) {
		add_place(sentence, view->verdict.ip);
		return;
	}
	add(sentence, "user code of thread %" PRIu32, freeze->pid);
	add_comm(sentence, freeze->comm);
}

static void say(struct sentence *sentence, const struct summary *view,
		const struct btsrec_freeze *freeze)
{
	const struct verdict *verdict = &view->verdict;

	switch (verdict->kind) {
	case VERDICT_NONE:
		add(sentence, "%s", view->calls.fault.kind || view->stack.fault.kind ? "no rule knows such a fault" :
							      fault_why_str(view->calls.fault.why));
		break;
	case VERDICT_NULL:
	case VERDICT_ADDRESS:
	case VERDICT_READ_ONLY:
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
		add_place(sentence, verdict->ip);
		add(sentence, " called panic()");
		break;
	case VERDICT_NMI:
		if (verdict->handler)
			add_place(sentence, verdict->handler);
		add(sentence, verdict->handler ? " called panic() in an NMI handler" :
						 "an NMI handler crashed");
		add(sentence, "; it had interrupted ");
		add_interrupted(sentence, view, freeze);
		break;
	case VERDICT_MACHINE_CHECK:
		add(sentence, "a machine check");
		if (!verdict->ip)
			break;
		add(sentence, " interrupted ");
		add_place(sentence, verdict->ip);
		add(sentence, ", which need not be its cause");
		break;
	case VERDICT_STUCK:
		add_stuck(sentence, view, (enum btsrec_reason)freeze->reason);
		break;
	case VERDICT_LOCKUP:
		add(sentence, "%s was reported; what does not go on is not in this history",
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

static void add_bystander(struct sentence *sentence, const struct btsrec_freeze *freeze)
{
	if (!freeze->pid) {
		add(sentence, ", which came upon the idle thread");
		return;
	}
	add(sentence, ", which came upon thread %" PRIu32, freeze->pid);
	add_comm(sentence, freeze->comm);
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

/*
 * If the innermost entry on the way is an interrupt, what it came upon is not at fault.  Softirqs
 * run at the end of one, or in a thread of their own.
 */
static void add_interrupt(struct sentence *sentence, const struct summary *view,
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
		add(sentence, "; in %s",
		    line.frame == FRAME_NMI ? "an NMI" : is_softirq ? "a softirq" :
							      "an interrupt");
		add_bystander(sentence, freeze);
		return;
	}
	if (is_softirq)
		add(sentence, "; in a softirq");
}

bool summary_failed_too(const struct btsrec *rec, const struct btsrec_cpu *failed,
			const struct btsrec_cpu *cpu)
{
	return cpu && failed && cpu != failed && cpu->frozen && !cpu->freeze.via_nmi &&
	       cpu->freeze.reason == failed->freeze.reason &&
	       cpu->freeze.tsc <= btsrec_root(rec)->freeze_tsc;
}

static void add_others(struct sentence *sentence, const struct summary *view,
		       const struct btsrec_cpu *failed)
{
	const struct btsrec *rec = view->calls.renderer.rec;

	for (unsigned int i = 0; i < btsrec_nr_cpu_ids(rec); i++) {
		const struct btsrec_cpu *cpu = btsrec_cpu(rec, i);

		if (summary_failed_too(rec, failed, cpu))
			add(sentence, "; CPU %u failed, too", i);
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

static void callers_add(struct callers *callers, struct btsrec *rec, uint64_t from)
{
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
		callers_add(callers, view->calls.renderer.rec, line.from);
	}
}

static void callers_of_stack(const struct summary *view, struct callers *callers)
{
	const struct summary_stack *stack = &view->stack;

	for (size_t i = 1; i < stack->nr && stack->places[i].how == UNWIND_CALLED; i++)
		callers_add(callers, view->calls.renderer.rec, stack->places[i].ip);
}

/* What overflowed its stack is said to call itself; what was returned from has no caller. */
static bool has_callers(const struct verdict *verdict)
{
	switch (verdict->kind) {
	case VERDICT_NULL:
	case VERDICT_ADDRESS:
	case VERDICT_READ_ONLY:
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
static void add_callers(struct sentence *sentence, const struct summary *view)
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
		add(sentence, i ? " < " : "; called from ");
		add_place(sentence, callers.list[i]);
	}
	if (!by_module || nr > callers.at_module)
		return;
	add(sentence, " < ... < ");
	add_place(sentence, callers.module);
}

/* --- Locks --------------------------------------------------------------- */

static void add_thread(struct sentence *sentence, const struct summary_lock *lock)
{
	add(sentence, "CPU %u, thread %" PRIu32, lock->cpu, lock->task.pid);
	add_comm(sentence, lock->task.comm);
}

/* What holds the lock that @lock waits for; NULL: not known. */
static const struct summary_lock *holder_of(const struct summary_locks *locks,
					    const struct summary_lock *lock)
{
	for (size_t i = 0; lock->address && i < locks->nr_held; i++)
		if (locks->held[i].address == lock->address)
			return &locks->held[i];
	return NULL;
}

static const struct summary_lock *wait_of(const struct summary_locks *locks,
					  const struct summary_lock *holder)
{
	for (size_t i = 0; i < locks->nr_waits; i++)
		if (locks->waits[i].cpu == holder->cpu &&
		    locks->waits[i].task.pid == holder->task.pid)
			return &locks->waits[i];
	return NULL;
}

/* Does what holds it wait for what waits for it, and so on?  No lock is in a circle twice. */
static bool is_deadlock(const struct summary_locks *locks, const struct summary_lock *lock)
{
	const struct summary_lock *at = lock, *holder;

	for (size_t i = 0; at && i < locks->nr_waits; i++) {
		holder = holder_of(locks, at);
		at = holder ? wait_of(locks, holder) : NULL;
		if (at == lock)
			return true;
	}
	return false;
}

void summary_say_lock(struct summary *view, const struct summary_lock *lock, char *ret)
{
	struct sentence sentence = { .r = &view->calls.renderer, .text = ret };
	const struct summary_lock *holder = holder_of(view->locks, lock);

	if (is_deadlock(view->locks, lock))
		add(&sentence, "deadlock: ");
	add_thread(&sentence, lock);
	add(&sentence, " waits for a %s", lock->lock);
	if (lock->address) {
		add(&sentence, " at ");
		add_place(&sentence, lock->address);
	}
	add(&sentence, " in ");
	add_place(&sentence, lock->from ? lock->from : lock->wait);
	if (!holder)
		return;
	add(&sentence, "; ");
	add_thread(&sentence, holder);
	add(&sentence, " took it in ");
	add_place(&sentence, holder->from);
	add(&sentence, " and has not released it");
}

/* --- The operand --------------------------------------------------------- */

/* Where a hop of the way back is, with its function. */
static void add_hop(struct sentence *sentence, const struct why *why, const struct origin_hop *hop)
{
	struct why_place place;

	why_place(why, &why->values, why->cpu, hop, &place);
	add_place(sentence, place.ip);
}

/* The first hop from @i on of @kind that is no register that a function keeps; NULL: none. */
static const struct origin_hop *find_hop(const struct origin *origin, size_t i,
					 enum origin_kind kind)
{
	for (; i < origin->nr; i++)
		if (origin->hops[i].kind == kind && !why_is_kept(&origin->hops[i]))
			return &origin->hops[i];
	return NULL;
}

/* What wrote the memory that was loaded by hop @i. */
static const struct origin_hop *find_store(const struct origin *origin, size_t i)
{
	const struct origin_hop *stored = find_hop(origin, i, ORIGIN_STORED);
	const struct origin_hop *copied = find_hop(origin, i, ORIGIN_COPIED);

	return copied && (!stored || copied < stored) ? copied : stored;
}

static const struct origin_hop *last_load(const struct origin *origin)
{
	const struct origin_hop *found = NULL;

	for (size_t i = 0; i < origin->nr; i++)
		if (origin->hops[i].kind == ORIGIN_LOADED)
			found = &origin->hops[i];
	return found;
}

/* What the oldest value means that is known, if that @is_same as @value. */
static void add_meaning(struct sentence *sentence, const struct origin *origin, uint64_t value,
			bool is_same)
{
	const struct origin_hop *oldest = why_oldest(origin);
	char text[POISON_TEXT_BYTES];

	if (oldest && (oldest->value == value) == is_same && poison_text(oldest->value, text))
		add(sentence, " (%s)", text);
}

/* A branch took its target from memory. */
static void add_operand(struct sentence *sentence, const struct origin *origin)
{
	const struct origin_hop *asked = &origin->hops[0], *known = asked;

	if (asked->target.reg == SEM_NO_REG && asked->value_class == ORIGIN_UNKNOWN &&
	    origin->nr > 1)
		known++;
	add(sentence, "%s", asked->target.reg == SEM_NO_REG ? "the target" :
							       sem_reg_name(asked->target.reg));
	if (known->value_class != ORIGIN_UNKNOWN)
		add(sentence, "%s0x%" PRIx64, known->value_class == ORIGIN_LIKELY ? "~" : "=",
		    known->value);
	add_meaning(sentence, origin, known->value, true);
}

static void add_load(struct sentence *sentence, const struct why *why,
		     const struct origin_hop *loaded)
{
	if (loaded->has_address) {
		add(sentence, ", loaded from ");
		add_place(sentence, loaded->address);
	} else {
		add(sentence, ", loaded by ");
		add_hop(sentence, why, loaded);
	}
}

/* Beyond @stored there is another load, of memory that nobody is known to have written. */
static void add_older(struct sentence *sentence, const struct why *why,
		      const struct origin_hop *stored, const struct origin_hop *last)
{
	const struct origin_hop *load = last_load(&why->origin);
	bool is_memory = last->target.reg == SEM_NO_REG;

	if (stored && load > stored && load->has_address) {
		add(sentence, ", from ");
		add_place(sentence, load->address);
	}
	add(sentence, stored ? "; " : "");
	if (last->why == REG_VALUES_WINDOW)
		add(sentence, "%s newest events; btsrec why looks at all",
		    is_memory ? "not stored there in the" : "older than the");
	else
		add(sentence, "%s", is_memory ? "no store to it is known" : why_end_str(last));
}

static const char *made_str(const struct origin_hop *last)
{
	switch (last->kind) {
	case ORIGIN_CONSTANT: return "a constant of ";
	case ORIGIN_STORED: return "a constant that was stored by ";
	case ORIGIN_JOINED: return "made of several values by ";
	case ORIGIN_NO_RULE: return "written by ";
	case ORIGIN_SPOILED: return "made of an address of the kernel by ";
	case ORIGIN_USER: return "loaded from memory of the user by ";
	default: return "maybe by ";
	}
}

/* When, by which thread if it was another one, and how sure that is. */
static void add_circumstances(struct sentence *sentence, const struct why *why,
			      const struct origin_hop *last)
{
	struct why_place asked, place;

	why_place(why, &why->values, why->cpu, &why->origin.hops[0], &asked);
	why_place(why, &why->values, why->cpu, last, &place);
	if (place.n < why->fault.n)
		add(sentence, ", %" PRIu64 " events before the fault", why->fault.n - place.n);
	if (place.side && (!asked.side || asked.side->pid != place.side->pid)) {
		add(sentence, ", by thread %" PRIu32, place.side->pid);
		add_comm(sentence, place.side->comm);
	}
	if (last->kind != ORIGIN_JOINED && last->class != ORIGIN_UNKNOWN)
		add(sentence, "; %s", why_class_str(last->class));
}

/* Does @last say more than that it is not known? */
static bool is_useful(const struct origin_hop *last)
{
	if (last->kind == ORIGIN_OLDER)
		return true;
	return last->insn && last->insn->length_bytes && last->insn->op != SEM_IRET &&
	       last->kind != ORIGIN_NO_ADDRESS && last->kind != ORIGIN_CHANGED &&
	       last->kind != ORIGIN_TOO_LONG;
}

static void say_from(struct sentence *from, const struct why *why, const struct origin_hop *stored)
{
	const struct origin_hop *last = &why->origin.hops[why->origin.nr - 1];

	if (stored) {
		add(from, stored->kind == ORIGIN_COPIED ? "copied there by " : "stored there by ");
		add_hop(from, why, stored);
	}
	if (!is_useful(last))
		return;
	if (last->kind == ORIGIN_OLDER) {
		add_older(from, why, stored, last);
		return;
	}
	if (last == stored) {
		add(from, ", as a constant");
	} else {
		add(from, "%s%s", stored ? "; " : "", made_str(last));
		add_hop(from, why, last);
	}
	add_meaning(from, &why->origin, why->origin.hops[0].value, false);
	if (last->kind == ORIGIN_SUSPECT)
		add(from, ", which has stored that value, but where is not known");
	add_circumstances(from, why, last);
}

bool summary_say_operand(struct summary *view)
{
	const struct why *why = view->operand;
	const struct origin *origin = &why->origin;
	const struct origin_hop *loaded = find_hop(origin, 0, ORIGIN_LOADED), *stored = NULL;
	const struct origin_hop *last = &origin->hops[origin->nr - 1];
	struct sentence what = { .r = &view->calls.renderer, .text = view->operand_text.what };
	struct sentence from = { .r = &view->calls.renderer, .text = view->operand_text.from };

	*what.text = *from.text = '\0';
	add_operand(&what, origin);
	if (loaded)
		add_load(&what, why, loaded);
	if (loaded || origin->hops[0].target.reg == SEM_NO_REG)
		stored = find_store(origin, loaded ? (size_t)(loaded - origin->hops) : 0);
	say_from(&from, why, stored);
	return loaded || stored || origin->hops[0].value_class != ORIGIN_UNKNOWN ||
	       last->kind == ORIGIN_CONSTANT;
}

void summary_say(struct summary *view, const struct btsrec_cpu *failed)
{
	struct sentence sentence = { .r = &view->calls.renderer, .text = view->sentence };

	*view->sentence = '\0';
	say(&sentence, view, &failed->freeze);
	if (!view->verdict.kind)
		return;
	add_callers(&sentence, view);
	if (view->calls.fault.kind == FAULT_EXCEPTION || view->calls.fault.kind == FAULT_CALL)
		add_interrupt(&sentence, view, &failed->freeze);
	if (view->stack.fault.kind)
		add(&sentence, "; by its stack, since the history does not show the fault");
	if (view->moved)
		add(&sentence, "; on CPU %u, and its handler went on on CPU %u", view->fault_cpu,
		    failed->cpu);
	if (view->survived)
		add(&sentence, "; the system went on");
	add_others(&sentence, view, failed);
}
