// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/trace_irqs.h"

#include "base/counter_map.h"
#include "flow/fault_frame.h"
#include "flow/trace.h"
#include "recorder/record.h"

/* SDM vol. 1, "EFLAGS Register": bit 1 is always set. */
#define RFLAGS_ALWAYS	(1ULL << 1)
#define RFLAGS_IF	(1ULL << 9)

/**
 * struct reader - one trace_irqs() under way
 * @known: by the first and last address of a run, the last change of the flag in it: its enum
 *	irq_flag_op, plus 1, and where.
 * @last_n: the newest event before the fault.
 * @is_over: the fault has come; @flags are those before it.
 */
struct reader {
	struct code *code;
	const struct fault *fault;
	struct irq_flags flags;
	struct counter_map known;
	uint64_t last_n;
	bool is_over;
	bool nomem;
};

/* Those that change the flag are one byte long. */
static enum irq_flag_op op_at(struct code *code, uint64_t ip, const struct code_insn *insn)
{
	uint8_t opcode;
	size_t nr_bytes;

	if (insn->length_bytes > sizeof(opcode))
		return IRQ_FLAG_NO_OP;
	(void)code_bytes(code, 0, ip, &opcode, sizeof(opcode), &nr_bytes);
	return irq_flag_op(&opcode, nr_bytes);
}

static void find_op(struct reader *r, const struct proof_range *range, struct count *ret)
{
	struct code_insn insn;

	ret->nr[0] = IRQ_FLAG_NO_OP + 1;
	for (uint64_t ip = range->start; ip < range->stop; ip += insn.length_bytes) {
		enum irq_flag_op op;

		if (code_insn(r->code, 0, ip, false, &insn))
			return;
		op = op_at(r->code, ip, &insn);
		if (op == IRQ_FLAG_NO_OP)
			continue;
		ret->nr[0] = op + 1U;
		ret->nr[1] = ip;
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
		find_op(r, range, known);
	irq_flags_insn(&r->flags, (enum irq_flag_op)(known->nr[0] - 1), n, known->nr[1]);
}

static void read_step(struct reader *r, const struct trace_event *traced)
{
	const struct proof_step *step = traced->step;

	if (step->kind != PROOF_PROVEN)
		irq_flags_cut(&r->flags, traced->event->n);
	for (unsigned int i = 0; i < step->nr_ranges; i++)
		read_range(r, traced->event->n, &step->ranges[i]);
}

static void read_other(struct reader *r, const struct btsrec_event *event)
{
	bool is_lost = event->kind == BTSREC_EVENT_GAP && !record_is_own_pause(&event->gap);

	if (is_lost || event->kind == BTSREC_EVENT_ARM)
		irq_flags_cut(&r->flags, event->n);
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
		irq_flags_branch(&r->flags, traced->step->branch.type, event->n,
				 event->branch.from, event->branch.to);
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

enum btsrec_status trace_irqs(struct btsrec *rec, unsigned int cpu, const struct fault *fault,
			      struct irq_flag *ret)
{
	const struct btsrec_cpu *page = btsrec_cpu(rec, cpu);
	struct reader r = { .code = trace_code(rec), .fault = fault };
	enum btsrec_status status = BTSREC_OK;
	bool on;

	r.nomem = !r.code;
	if (!r.nomem)
		status = trace_events(rec, cpu, 0, read_event, &r, NULL);
	counter_map_fini(&r.known);
	if (r.nomem)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (status)
		return status;
	if (page && page->frozen && is_on(r.code, btsrec_root(rec), page, fault, &on))
		irq_flags_known(&r.flags, on, r.last_n);
	*ret = r.flags.now;
	return BTSREC_OK;
}
