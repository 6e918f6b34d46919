// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether each history can have happened: the proof of all CPUs, in a few lines. */
#include <stdlib.h>
#include <string.h>

#include "render/json.h"
#include "render/render_branch.h"
#include "symbols/symbol.h"
#include "flow/trace.h"
#include "recorder/cpus.h"

/* The same address broken so often is no damaged record. */
#define NR_BREAKS_OF_CHANGED_CODE 3

/**
 * struct prove_first - the first step of one kind, with both its neighbours
 * @record: the branch; none if @is_stop.
 * @side: the thread that ran, if @has_side.
 * @nr_here: steps with the same fault at the same address.
 */
struct prove_first {
	bool any;
	bool is_stop;
	uint64_t n;
	struct proof_step step;
	struct btsrec_record record;
	bool has_side;
	struct btsrec_side side;
	uint64_t nr_here;
};

/**
 * struct prove - one CPU under way
 * @nr_file_pages: pages of code that this CPU was the first to need and that came from
 *	files.
 */
struct prove {
	bool stop_proven;
	uint64_t nr_file_pages;
	struct prove_first broken;
	struct prove_first patched;
	struct prove_first unknown;
};

static void note_first(struct prove_first *first, const struct trace_event *traced)
{
	const struct proof_step *step = traced->step;

	if (!first->any) {
		first->any = true;
		first->is_stop = traced->event->kind == BTSREC_EVENT_FREEZE;
		first->n = traced->event->n;
		first->step = *step;
		first->has_side = traced->side;
		if (traced->side)
			first->side = *traced->side;
		if (!first->is_stop)
			first->record = traced->event->branch;
	}
	first->nr_here += step->fault == first->step.fault &&
			  step->fault_va == first->step.fault_va;
}

/* --- Steps -------------------------------------------------------------- */

static void prove_event(struct prove *prove, const struct trace_event *traced)
{
	if (!traced->step)
		return;
	if (traced->event->kind == BTSREC_EVENT_FREEZE)
		prove->stop_proven = traced->step->kind == PROOF_PROVEN;
	if (traced->step->kind == PROOF_BROKEN)
		note_first(&prove->broken, traced);
	else if (traced->step->kind == PROOF_PATCHED)
		note_first(&prove->patched, traced);
	else if (traced->step->kind == PROOF_UNKNOWN)
		note_first(&prove->unknown, traced);
}

/* Of plain branches there is nothing to say but how many they are. */
static bool next_event(struct trace *trace, struct trace_event *ret)
{
	trace_pass(trace);
	return trace_next(trace, ret);
}

static enum btsrec_status prove_events(struct btsrec *rec, unsigned int cpu, struct prove *prove,
				       struct proof *ret)
{
	struct trace_event event;
	struct trace trace;
	enum btsrec_status status = trace_open(&trace, rec, cpu, 0, true);

	while (!status && next_event(&trace, &event))
		prove_event(prove, &event);
	if (!status)
		status = trace.status;
	*ret = trace.proof;
	trace_close(&trace);
	return status;
}

/* What most likely made a pair impossible. */
static const char *likely_cause(const struct prove_first *first)
{
	if (first->nr_here >= NR_BREAKS_OF_CHANGED_CODE)
		return "the code there has changed since it ran";
	if (!code_is_kernel(first->step.fault_va))
		return "a record is damaged or missing, or the process's memory has been reused";
	return "a record is damaged or missing";
}

static uint64_t tally(const struct proof *proof, enum proof_kind kind)
{
	return proof->kernel.nr[kind] + proof->user.nr[kind];
}

/* --- Text --------------------------------------------------------------- */

static void text_line(struct out *out, const char *what, unsigned int cpu)
{
	out_pad(out, what, 6);
	out_literal(out, "CPU ");
	out_dec(out, cpu, 0);
	out_literal(out, ": ");
}

static void text_first(struct renderer *r, const struct prove_first *first)
{
	struct out *out = &r->out;

	r->side = first->has_side ? &first->side : NULL;
	out_literal(out, "first event ");
	out_dec(out, first->n, 0);
	out_literal(out, ": from ");
	text_address(r, first->step.start);
	out_str(out, first->is_stop ? " to the stop at " : " to the branch ");
	text_address(r, first->step.end);
	if (!first->is_stop) {
		out_literal(out, " -> ");
		text_address(r, first->record.to);
	}
	out_literal(out, ": ");
	out_str(out, code_fault_str(first->step.fault));
	out_literal(out, ": ");
	text_address(r, first->step.fault_va);
}

static void text_proven(struct renderer *r, unsigned int cpu, const struct proof *proof,
			const struct prove *prove)
{
	struct out *out = &r->out;
	bool all = !prove->broken.any && !prove->patched.any && !prove->unknown.any;

	text_line(out, all ? "ok" : "note", cpu);
	out_str(out, all ? "all pairs proven: " : "pairs proven: ");
	out_dec(out, tally(proof, PROOF_PROVEN), 0);
	out_literal(out, " (kernel ");
	out_dec(out, proof->kernel.nr[PROOF_PROVEN], 0);
	out_literal(out, ", user ");
	out_dec(out, proof->user.nr[PROOF_PROVEN], 0);
	out_literal(out, "); instructions: ");
	out_dec(out, proof->nr_insns, 0);
	if (prove->stop_proven)
		out_literal(out, "; the newest branch leads to the stop");
	if (prove->nr_file_pages) {
		out_literal(out, "; pages of code from files: ");
		out_dec(out, prove->nr_file_pages, 0);
	}
	if (tally(proof, PROOF_FILTERED)) {
		out_literal(out, "; pairs that span what was not recorded: ");
		out_dec(out, tally(proof, PROOF_FILTERED), 0);
	}
	out_char(out, '\n');
}

static void text_pairs(struct renderer *r, const char *what, unsigned int cpu, const char *pairs,
		       uint64_t nr, const struct prove_first *first)
{
	struct out *out = &r->out;

	text_line(out, what, cpu);
	out_str(out, pairs);
	out_literal(out, ": ");
	out_dec(out, nr, 0);
	out_literal(out, ", ");
	text_first(r, first);
}

static void text_cpu(struct renderer *r, unsigned int cpu, const struct proof *proof,
		     const struct prove *prove)
{
	struct out *out = &r->out;

	text_proven(r, cpu, proof, prove);
	if (prove->unknown.any) {
		text_pairs(r, "note", cpu, "pairs that could not be checked",
			   tally(proof, PROOF_UNKNOWN), &prove->unknown);
		out_char(out, '\n');
	}
	if (prove->patched.any) {
		text_pairs(r, "note", cpu, "pairs at code that was patched since it ran",
			   tally(proof, PROOF_PATCHED), &prove->patched);
		out_char(out, '\n');
	}
	if (prove->broken.any) {
		text_pairs(r, "fault", cpu, "impossible pairs", tally(proof, PROOF_BROKEN),
			   &prove->broken);
		out_literal(out, "; ");
		out_str(out, likely_cause(&prove->broken));
		out_char(out, '\n');
	}
}

/* --- JSON lines --------------------------------------------------------- */

static void json_first(struct out *out, const char *key, const struct prove_first *first,
		       bool with_likely)
{
	if (!first->any)
		return;
	json_key(out, key);
	out_literal(out, "{\"n\":");
	out_dec(out, first->n, 0);
	json_address(out, "start", first->step.start);
	json_address(out, first->is_stop ? "stop" : "from", first->step.end);
	if (!first->is_stop)
		json_address(out, "to", first->record.to);
	json_address(out, "at", first->step.fault_va);
	json_word(out, "cause", code_fault_str(first->step.fault));
	if (with_likely)
		json_word(out, "likely", likely_cause(first));
	out_char(out, '}');
}

static void json_cpu(struct renderer *r, unsigned int cpu, const struct proof *proof,
		     const struct prove *prove)
{
	struct out *out = &r->out;

	out_literal(out, "{\"cpu\":");
	out_dec(out, cpu, 0);
	json_word(out, "kind", "proof");
	json_number(out, "kernel_proven", proof->kernel.nr[PROOF_PROVEN]);
	json_number(out, "user_proven", proof->user.nr[PROOF_PROVEN]);
	json_number(out, "unknown", tally(proof, PROOF_UNKNOWN));
	json_number(out, "patched", tally(proof, PROOF_PATCHED));
	json_number(out, "broken", tally(proof, PROOF_BROKEN));
	json_number(out, "filtered", tally(proof, PROOF_FILTERED));
	json_number(out, "instructions", proof->nr_insns);
	json_number(out, "file_pages", prove->nr_file_pages);
	json_bool(out, "stop_proven", prove->stop_proven);
	json_first(out, "first_unknown", &prove->unknown, false);
	json_first(out, "first_patched", &prove->patched, false);
	json_first(out, "first_broken", &prove->broken, true);
	out_literal(out, "}\n");
}

/* --- Both --------------------------------------------------------------- */

static enum btsrec_status prove_cpu(struct btsrec *rec, unsigned int cpu, struct prove *prove,
				    struct proof *proof)
{
	struct code *code = trace_code(rec);
	uint64_t nr_before = code ? code_from_files(code) : 0;
	enum btsrec_status status = prove_events(rec, cpu, prove, proof);

	prove->nr_file_pages = code ? code_from_files(code) - nr_before : 0;
	return status;
}

static enum btsrec_status prove_cpus(struct renderer *r, bool json, uint64_t *nr_faults)
{
	for (unsigned int cpu = 0; cpu < btsrec_nr_cpu_ids(r->rec); cpu++) {
		struct prove prove = { 0 };
		enum btsrec_status status;
		struct proof proof;

		if (!btsrec_cpu(r->rec, cpu))
			continue;
		status = prove_cpu(r->rec, cpu, &prove, &proof);
		if (status)
			return status;
		*nr_faults += tally(&proof, PROOF_BROKEN);
		if (json)
			json_cpu(r, cpu, &proof, &prove);
		else
			text_cpu(r, cpu, &proof, &prove);
		if (r->out.stopped)
			break;
	}
	return BTSREC_OK;
}

enum btsrec_status btsrec_prove(struct btsrec *rec, enum btsrec_format format,
				const struct btsrec_sink *sink, uint64_t *ret_nr_faults)
{
	enum btsrec_status status, flushed;
	struct renderer *r;

	*ret_nr_faults = 0;
	if (!btsrec_root(rec))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no recorder located yet");
	if (format != BTSREC_FORMAT_TEXT && format != BTSREC_FORMAT_JSONL)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "a proof is text or JSON lines");
	r = calloc(1, sizeof(*r));
	if (!r)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	r->rec = rec;
	r->names = symbols_present(rec);
	out_init(&r->out, sink);
	status = prove_cpus(r, format == BTSREC_FORMAT_JSONL, ret_nr_faults);
	flushed = out_flush(&r->out);
	free(r);
	return cpus_end(rec, NULL, status ? status : flushed);
}
