// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/trace_onoff.h"

#include <stdlib.h>

#include "base/counter_map.h"
#include "base/grow.h"
#include "code/semantics.h"
#include "flow/fault_frame.h"
#include "flow/irq_flag.h"
#include "flow/preempt_count.h"
#include "flow/saved_frame.h"
#include "flow/trace.h"
#include "recorder/record.h"
#include "symbols/symbol.h"

/* SDM vol. 2, "Instruction Prefixes"; INC and DEC of 32 bits at an address of 32 bits. */
#define PREFIX_GS	0x65
#define MIN_COUNT_BYTES	7

/** struct change - an instruction at @ip that changes the flag or the count */
struct change {
	uint64_t ip;
	enum irq_flag_op flag;
	struct preempt_change count;
};

/**
 * struct reader - one trace_onoff() under way
 * @count_at: place of the count in the area of a CPU; 0: not known.
 * @known: by the first and last address of a run how many of @changes it has, plus 1, and which
 *	is the first.
 * @changes: owned; @nr of them, with room for @nr_room.
 * @last_n: the newest event before the fault.
 * @is_over: the fault has come; @flags and @count are those before it.
 */
struct reader {
	struct code *code;
	const struct fault *fault;
	struct irq_flags flags;
	struct preempt_count count;
	uint64_t count_at;
	struct counter_map known;
	struct change *changes;
	size_t nr;
	size_t nr_room;
	uint64_t last_n;
	bool is_over;
	bool nomem;
};

/* What changes the flag is one byte long; what changes the count begins with a prefix for GS. */
static bool find_change(const struct reader *r, uint64_t ip, const struct code_insn *insn,
			struct change *ret)
{
	uint8_t bytes[CODE_INSN_MAX_BYTES];
	struct sem_insn sem;
	size_t nr_bytes;

	*ret = (struct change){ .ip = ip };
	if (insn->length_bytes != 1 && (insn->length_bytes < MIN_COUNT_BYTES || !r->count_at))
		return false;
	(void)code_bytes(r->code, 0, ip, bytes, insn->length_bytes, &nr_bytes);
	ret->flag = irq_flag_op(bytes, nr_bytes);
	if (nr_bytes && bytes[0] == PREFIX_GS && sem_decode(bytes, nr_bytes, ip, &sem))
		ret->count = preempt_change_of(&sem, r->count_at);
	return ret->flag != IRQ_FLAG_NO_OP || ret->count.op != PREEMPT_KEEPS;
}

static void find_changes(struct reader *r, const struct proof_range *range, struct count *ret)
{
	struct code_insn insn;
	struct change change;

	ret->nr[0] = 1;
	ret->nr[1] = r->nr;
	for (uint64_t ip = range->start; ip < range->stop; ip += insn.length_bytes) {
		if (code_insn(r->code, 0, ip, false, &insn))
			return;
		if (!find_change(r, ip, &insn, &change))
			continue;
		if (!grow(&r->changes, sizeof(*r->changes), r->nr, &r->nr_room)) {
			r->nomem = true;
			return;
		}
		r->changes[r->nr++] = change;
		ret->nr[0]++;
	}
}

/* The same run is there many times. */
static void read_range(struct reader *r, uint64_t n, const struct proof_range *range)
{
	const uint64_t key[COUNTER_MAP_KEY_WORDS] = { range->start, range->stop };
	struct count *known;

	if (!code_is_kernel(range->start))
		return;
	known = counter_map_get(&r->known, key);
	if (!known) {
		r->nomem = true;
		return;
	}
	if (!known->nr[0])
		find_changes(r, range, known);
	for (size_t i = 0; i + 1 < known->nr[0]; i++) {
		const struct change *change = &r->changes[known->nr[1] + i];

		irq_flags_insn(&r->flags, change->flag, n, change->ip);
		preempt_count_insn(&r->count, &change->count, n, change->ip);
	}
}

static void cut(struct reader *r, uint64_t n)
{
	irq_flags_cut(&r->flags, n);
	preempt_count_cut(&r->count);
}

static void read_branch(struct reader *r, const struct trace_event *traced)
{
	const struct btsrec_event *event = traced->event;
	enum branch_type type = traced->step->branch.type;

	if (type == BRANCH_UNKNOWN || type == BRANCH_NONE)
		preempt_count_cut(&r->count);
	irq_flags_branch(&r->flags, type, event->n, event->branch.from, event->branch.to);
	if (r->count_at && (!code_is_kernel(event->branch.from) ||
			    !code_is_kernel(event->branch.to)))
		preempt_count_user(&r->count);
}

static void read_step(struct reader *r, const struct trace_event *traced)
{
	const struct proof_step *step = traced->step;

	if (step->kind != PROOF_PROVEN)
		cut(r, traced->event->n);
	for (unsigned int i = 0; i < step->nr_ranges; i++)
		read_range(r, traced->event->n, &step->ranges[i]);
}

static void read_other(struct reader *r, const struct btsrec_event *event)
{
	bool is_lost = event->kind == BTSREC_EVENT_GAP && !record_is_own_pause(&event->gap);

	if (is_lost || event->kind == BTSREC_EVENT_ARM)
		cut(r, event->n);
	else if (event->kind == BTSREC_EVENT_SWITCH && !event->mm_only)
		irq_flags_switch(&r->flags);
}

static bool read_event(void *arg, const struct trace_event *traced)
{
	struct reader *r = arg;
	const struct btsrec_event *event = traced->event;

	if (r->is_over)
		return true;
	r->last_n = event->n;
	if (traced->step)
		read_step(r, traced);
	if (r->fault->kind && event->n == r->fault->n)
		r->is_over = true;
	else if (event->kind != BTSREC_EVENT_BRANCH)
		read_other(r, event);
	else if (traced->step)
		read_branch(r, traced);
	return !r->nomem;
}

/* Are they on, by the registers of what was interrupted?  false: these are not known. */
static bool is_on(struct code *code, const struct btsrec_root *root, const struct btsrec_cpu *page,
		  const struct fault *fault, bool *ret)
{
	const struct btsrec_freeze *freeze = &page->freeze;
	bool is_interrupted = fault->kind == FAULT_STOP || fault->kind == FAULT_NMI ||
			      fault->kind == FAULT_EXCEPTION;
	struct fault_frame frame;

	if (fault_frame_get(code, root, page, fault, &frame))
		*ret = frame.regs[SEM_FLAGS] & RFLAGS_IF;
	else if (is_interrupted && freeze->rflags & RFLAGS_ALWAYS && fault->from == freeze->ip)
		*ret = freeze->rflags & RFLAGS_IF;
	else
		return false;
	return true;
}

enum btsrec_status trace_onoff(struct btsrec *rec, unsigned int cpu, const struct fault *fault,
			      struct trace_onoff *ret)
{
	const struct btsrec_cpu *page = btsrec_cpu(rec, cpu);
	struct reader r = { .code = trace_code(rec), .fault = fault,
			    .count_at = symbols_cpu_place(rec, SYMBOL_DUMP_PREEMPT_COUNT,
							  "preempt_count") };
	enum btsrec_status status = BTSREC_OK;
	bool on;

	r.nomem = !r.code;
	if (!r.nomem)
		status = trace_events(rec, cpu, 0, read_event, &r, NULL);
	counter_map_fini(&r.known);
	free(r.changes);
	if (r.nomem)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (status)
		return status;
	if (page && page->frozen && is_on(r.code, btsrec_root(rec), page, fault, &on))
		irq_flags_known(&r.flags, on, r.last_n);
	*ret = (struct trace_onoff){ r.flags.now, r.count.now };
	return BTSREC_OK;
}
