// SPDX-License-Identifier: GPL-2.0-or-later
/* Of a lockup: the memory that a loop reads which does not end, as one does that waits for it. */
#include "flow/trace_values.h"
#include "symbols/symbol.h"
#include "views/view_summary.h"

/* The newest events of the loop, and as many instructions of each as are looked at. */
#define LOOP_EVENTS	64
#define MAX_INSNS	64

/* So often at least a loop has read. */
#define MIN_READS	8

/**
 * struct spin - a look at the code that ran before the report
 * @start: of the function.
 * @end_n: the event that interrupted it.
 * @ranges: what ran up to there, @nr in all, number i at i % LOOP_EVENTS.
 * @regs: what the report interrupted, but for what has been written since an instruction ran.
 * @address: that @nr_reads instructions have read, and @other no other one.
 */
struct spin {
	struct renderer *r;
	struct code *code;
	uint64_t start;
	uint64_t end_n;
	struct proof_range ranges[LOOP_EVENTS];
	size_t nr;
	struct known regs[SEM_NR_REGS];
	unsigned int nr_reads;
	uint64_t address;
	bool other;
};

/* 0: not known. */
static uint64_t start_of(struct renderer *r, uint64_t ip)
{
	struct symbol_name name;
	enum symbol_why why;

	return render_find(r, ip, &name, &why) && name.name_bytes ? ip - name.offset_bytes : 0;
}

/* What is not followed by its code is older than all that counts. */
static bool add_event(void *arg, const struct trace_event *traced)
{
	const struct proof_step *step = traced->step;
	struct spin *spin = arg;

	if (!step || step->kind != PROOF_PROVEN)
		spin->nr = 0;
	for (unsigned int i = 0; step && i < step->nr_ranges; i++)
		spin->ranges[spin->nr++ % LOOP_EVENTS] = step->ranges[i];
	return traced->event->n < spin->end_n;
}

/* Does it read memory that is neither the stack nor the CPU's own? */
static bool reads(const struct sem_insn *insn)
{
	return insn->load_bytes && insn->base != SEM_RSP && !insn->segment &&
	       insn->op != SEM_POP && insn->op != SEM_RET;
}

/* The newest first; false: no more. */
static bool look_at(struct spin *spin, const struct sem_insn *insn)
{
	struct sem_state state = { 0 };
	struct known address;

	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++) {
		if (insn->writes >> reg & 1)
			spin->regs[reg] = known_none();
		state.before[reg] = state.behind[reg] = &spin->regs[reg];
	}
	if (!reads(insn))
		return true;
	address = sem_address(insn, &state);
	spin->other = address.mask != UINT64_MAX ||
		      (spin->nr_reads && address.value != spin->address);
	spin->address = address.value;
	spin->nr_reads++;
	return !spin->other;
}

/* False: no more. */
static bool look_at_range(struct spin *spin, const struct proof_range *range)
{
	struct sem_insn insns[MAX_INSNS];
	size_t nr = 0;

	if (start_of(spin->r, range->start) != spin->start)
		return false;
	for (uint64_t ip = range->start; ip < range->stop; ip += insns[nr++].length_bytes)
		if (nr == MAX_INSNS || !trace_values_insn(spin->code, ip, &insns[nr]))
			return false;
	while (nr)
		if (!look_at(spin, &insns[--nr]))
			return false;
	return true;
}

static enum btsrec_status look(struct spin *spin, struct summary *view, struct btsrec *rec,
			       unsigned int cpu)
{
	uint64_t nr_events = view->nr_events - spin->end_n + LOOP_EVENTS;
	enum btsrec_status status = trace_events(rec, cpu, nr_events, add_event, spin, NULL);
	size_t oldest = spin->nr > LOOP_EVENTS ? spin->nr - LOOP_EVENTS : 0;

	for (size_t i = status == BTSREC_ERR_STOPPED ? spin->nr : oldest; i > oldest; i--)
		if (!look_at_range(spin, &spin->ranges[(i - 1) % LOOP_EVENTS]))
			break;
	/* A history that cannot be read is said when it is printed. */
	return status == BTSREC_ERR_NOMEM || status == BTSREC_ERR_IO ? status : BTSREC_OK;
}

enum btsrec_status summary_spin_read(struct summary *view, struct btsrec *rec,
				     const struct btsrec_cpu *cpu)
{
	struct verdict *verdict = &view->verdict;
	struct spin spin = { .r = &view->calls.renderer, .code = trace_code(rec),
			     .end_n = verdict->stay.report_n };
	enum btsrec_status status;
	struct fault_frame frame;
	bool is_whole;

	if (verdict->kind != VERDICT_STUCK || verdict->stay.below_interrupt)
		return BTSREC_OK;
	spin.start = start_of(spin.r, verdict->stay.report_ip);
	if (!spin.start || !fault_frame_is_kept(btsrec_root(rec), cpu) ||
	    !summary_stack_stuck(view, spin.code, cpu, &frame, &is_whole) || !is_whole)
		return BTSREC_OK;
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++)
		spin.regs[reg] = known_all(frame.regs[reg]);
	status = look(&spin, view, rec, cpu->cpu);
	if (spin.other || spin.nr_reads < MIN_READS)
		return status;
	verdict->access = VERDICT_READ;
	verdict->has_address = true;
	verdict->address = spin.address;
	return status;
}
