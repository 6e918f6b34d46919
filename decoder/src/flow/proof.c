// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/proof.h"

#include <string.h>

#include "code/kernel_code.h"
#include "recorder/record.h"

/* The recorder's own module, as the module map has it. */
#define RECORDER_MODULE "btsrec"

/* WRMSR is 0F 30 (SDM vol. 2D); code goes on after its two bytes. */
#define WRMSR_BYTES	2
static const uint8_t wrmsr[WRMSR_BYTES] = { 0x0f, 0x30 };

/* How far the WRMSRs of a probe may be from the branches next to them. */
#define PAUSE_MAX_BYTES	1024

static void find_recorder(struct proof *proof, const struct located *located)
{
	for (size_t i = 0; i < located->nr_modules; i++) {
		const struct btsrec_module *module = &located->modules[i];

		if (module->state != BTSREC_MODULE_LIVE || strcmp(module->name, RECORDER_MODULE))
			continue;
		proof->recorder_kva = module->text_kva;
		proof->recorder_bytes = module->text_bytes;
		return;
	}
}

void proof_init(struct proof *proof, struct code *code, const struct located *located,
		bool filtered)
{
	memset(proof, 0, sizeof(*proof));
	proof->code = code;
	proof->runs = code_runs(code);
	proof->idt = code_idt(code);
	proof->located = located;
	proof->filtered = filtered;
	find_recorder(proof, located);
}

const char *proof_kind_str(enum proof_kind kind)
{
	switch (kind) {
	case PROOF_PROVEN:
		return "proven";
	case PROOF_START:
		return "start";
	case PROOF_FILTERED:
		return "filtered";
	case PROOF_UNKNOWN:
		return "unknown";
	case PROOF_PATCHED:
		return "patched";
	case PROOF_BROKEN:
		return "broken";
	}
	return "unknown";
}

static bool in_recorder(const struct proof *proof, uint64_t va)
{
	return va - proof->recorder_kva < proof->recorder_bytes;
}

static void step_fails(struct proof_step *step, enum code_fault fault, uint64_t va)
{
	step->kind = code_fault_unknown(fault) ? PROOF_UNKNOWN : PROOF_BROKEN;
	step->fault = fault;
	step->fault_va = va;
	step->nr_ranges = 0;
	step->nr_insns = 0;
}

static void add_range(struct proof_step *step, uint64_t start, uint64_t stop, uint64_t nr_insns)
{
	if (start == stop)
		return;
	step->ranges[step->nr_ranges++] = (struct proof_range){ start, stop };
	step->nr_insns += nr_insns;
}

/* --- Annotations -------------------------------------------------------- */

/* From @step->start straight to a WRMSR of the recorder. */
static enum code_fault leads_to_pause(const struct proof *proof, uint64_t cr3,
				      struct proof_step *step)
{
	uint64_t va = step->start, nr_insns = 0;
	struct code_insn insn;

	while (in_recorder(proof, va) && va - step->start < PAUSE_MAX_BYTES) {
		enum code_fault fault = code_insn(proof->code, cr3, va, false, &insn);

		if (fault)
			return fault;
		va += insn.length_bytes;
		nr_insns++;
		if (insn.class == CODE_WRMSR) {
			add_range(step, step->start, va, nr_insns);
			return CODE_OK;
		}
		if (insn.class != CODE_PLAIN && insn.class != CODE_COND)
			break;
	}
	return CODE_NO_PAUSE;
}

/* From after the nearest WRMSR of the recorder straight to @end. */
static enum code_fault leads_from_pause(const struct proof *proof, uint64_t cr3, uint64_t end,
					const struct code_run **ret)
{
	uint8_t bytes[PAUSE_MAX_BYTES];
	uint64_t first = end - proof->recorder_kva < sizeof(bytes) ?
		proof->recorder_kva : end - sizeof(bytes);
	enum code_fault fault;
	size_t nr_bytes;

	if (!in_recorder(proof, end))
		return CODE_NO_PAUSE;
	fault = code_bytes(proof->code, cr3, first, bytes, end - first, &nr_bytes);
	if (fault)
		return fault;
	for (size_t at = nr_bytes; at >= WRMSR_BYTES; at--) {
		if (memcmp(bytes + at - WRMSR_BYTES, wrmsr, WRMSR_BYTES))
			continue;
		*ret = code_run(proof->code, cr3, first + at, end);
		if ((*ret)->fault == CODE_OK)
			return CODE_OK;
	}
	return CODE_NO_PAUSE;
}

/* The run is interrupted by the recorder: NULL with @step failed, or its second half. */
static const struct code_run *judge_pause(const struct proof *proof, uint64_t cr3,
					  struct proof_step *step)
{
	const struct code_run *run = NULL;
	enum code_fault fault = CODE_NO_RECORDER;

	if (proof->recorder_bytes)
		fault = leads_to_pause(proof, cr3, step);
	if (fault) {
		step_fails(step, fault, step->start);
		return NULL;
	}
	fault = leads_from_pause(proof, cr3, step->end, &run);
	if (!fault)
		return run;
	step_fails(step, fault, step->end);
	return NULL;
}

/* --- Pairs -------------------------------------------------------------- */

/* The way to @step->end; NULL with @step failed. */
static const struct code_run *judge_way(const struct proof *proof, uint64_t cr3,
					struct proof_step *step)
{
	const struct code_run *run;

	if (proof->annotated)
		return judge_pause(proof, cr3, step);
	run = code_run(proof->code, cr3, step->start, step->end);
	if (run->fault == CODE_OK)
		return run;
	step_fails(step, run->fault, run->fault_va);
	return NULL;
}

static bool other_level(uint64_t a, uint64_t b)
{
	return code_is_kernel(a) != code_is_kernel(b);
}

/* The branch alone: what runs before it is not known. */
static void judge_alone(const struct proof *proof, const struct btsrec_record *branch,
			uint64_t cr3, struct proof_step *step)
{
	const struct code_run *run = code_run(proof->code, cr3, branch->from, branch->from);

	step->compat = run->compat;
	step->guessed = run->guessed;
	step->branch = branch_judge(&run->last, proof->idt, branch->to);
	step->length_bytes = run->last.length_bytes;
	if (branch_executes(&step->branch))
		add_range(step, branch->from, branch->from + run->last.length_bytes, 1);
}

static bool is_plain(enum branch_type type)
{
	return type == BRANCH_CALL || type == BRANCH_CALL_IND || type == BRANCH_RET ||
	       type == BRANCH_JUMP || type == BRANCH_COND;
}

/* Does @last lead to @to, as far as is known without a search?  Neither is in a thunk. */
static bool leads_to(const struct proof *proof, const struct code_insn *last, uint64_t to)
{
	if (last->has_target)
		return last->target == to;
	return code_is_kernel(to) && !idt_may_be(proof->idt, to);
}

/* What was judged holds for all branches that this instruction makes in this way. */
static void note_judged(const struct proof *proof, struct proof_step *step, uint64_t to,
			const struct code_run *run)
{
	if (run->last.here || run->last.there || !leads_to(proof, &run->last, to))
		return;
	if (run->last.has_target)
		step->noted = &proof->runs->places[run->place];
	if (!step->fault && is_plain(step->branch.type))
		code_judged(proof->code, run, (uint8_t)step->branch.type);
}

static void judge_pair(const struct proof *proof, const struct btsrec_record *branch,
		       uint64_t cr3, struct proof_step *step)
{
	const struct code_run *run = judge_way(proof, cr3, step);
	bool executes;

	if (!run) {
		judge_alone(proof, branch, cr3, step);
		return;
	}
	step->compat = run->compat;
	step->guessed = run->guessed;
	step->branch = branch_judge(&run->last, proof->idt, branch->to);
	step->length_bytes = run->last.length_bytes;
	executes = branch_executes(&step->branch);
	add_range(step, run->start, run->end + (executes ? run->last.length_bytes : 0),
		  run->nr_insns + executes);
	if (step->branch.fault)
		step_fails(step, step->branch.fault, branch->from);
	else if (step->branch.type == BRANCH_UNKNOWN || (executes && !step->length_bytes))
		step_fails(step, CODE_NOT_MAPPED, branch->from);
	note_judged(proof, step, branch->to, run);
}

/* What the code does not have now, it may have had when it ran. */
static void judge_change(const struct proof *proof, const struct btsrec_record *branch,
			 uint64_t cr3, struct proof_step *step)
{
	if (step->kind != PROOF_BROKEN)
		return;
	if (kernel_code_patched(proof->code, proof->located, step->start, branch, cr3,
				step->fault, step->fault_va))
		step->kind = PROOF_PATCHED;
	else if (kernel_code_maybe_patched(proof->code, step->fault, step->fault_va))
		step_fails(step, CODE_NO_SITES, step->fault_va);
}

static void feed_branch(struct proof *proof, const struct btsrec_record *branch, uint64_t cr3,
			struct proof_step *step)
{
	step->start = proof->prev_to;
	step->end = branch->from;
	if (!proof->has_prev)
		step->kind = PROOF_START;
	else if (proof->filtered && other_level(step->start, step->end))
		step->kind = PROOF_FILTERED;
	if (step->kind == PROOF_PROVEN)
		judge_pair(proof, branch, cr3, step);
	else
		judge_alone(proof, branch, cr3, step);
	judge_change(proof, branch, cr3, step);
	proof->has_prev = true;
	proof->annotated = false;
	proof->prev_to = branch->to;
}

/* The stop may be after the pause of an annotation that the freeze found under way. */
static void feed_freeze(struct proof *proof, const struct btsrec_freeze *freeze, uint64_t cr3,
			struct proof_step *step)
{
	const struct code_run *run = code_run(proof->code, cr3, proof->prev_to, freeze->stop_ip);

	step->start = proof->prev_to;
	step->end = freeze->stop_ip;
	step->branch.vector = -1;
	if (proof->filtered && other_level(step->start, step->end))
		step->kind = PROOF_FILTERED;
	else if (proof->annotated && run->fault)
		run = judge_pause(proof, cr3, step);
	else if (run->fault)
		step_fails(step, run->fault, run->fault_va);
	if (run && step->kind == PROOF_PROVEN) {
		step->compat = run->compat;
		step->guessed = run->guessed;
		add_range(step, run->start, run->end, run->nr_insns);
	}
	judge_change(proof, &(struct btsrec_record){ .from = freeze->stop_ip }, cr3, step);
	proof->has_prev = false;
}

static void count(struct proof *proof, const struct proof_step *step)
{
	struct proof_tally *tally = code_is_kernel(step->end) ? &proof->kernel : &proof->user;

	tally->nr[step->kind]++;
	proof->nr_insns += step->nr_insns;
}

bool proof_feed(struct proof *proof, const struct btsrec_event *event, uint64_t cr3,
		struct proof_step *ret)
{
	switch (event->kind) {
	case BTSREC_EVENT_BRANCH:
		memset(ret, 0, sizeof(*ret));
		feed_branch(proof, &event->branch, cr3, ret);
		break;
	case BTSREC_EVENT_FREEZE:
		if (!proof->has_prev || !event->freeze.stop_ip) {
			proof->has_prev = false;
			return false;
		}
		memset(ret, 0, sizeof(*ret));
		feed_freeze(proof, &event->freeze, cr3, ret);
		break;
	case BTSREC_EVENT_GAP:
		/* The history goes on: code in between is in no record, as in an annotation. */
		proof->annotated = record_is_own_pause(&event->gap);
		proof->has_prev &= proof->annotated;
		return false;
	case BTSREC_EVENT_ARM:
		proof->has_prev = false;
		proof->annotated = false;
		return false;
	default:
		/* Any other annotation. */
		proof->annotated = true;
		return false;
	}
	count(proof, ret);
	return true;
}
