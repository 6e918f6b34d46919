// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether each history can have happened: the proof of all CPUs, told in a few lines. */
#include <stdlib.h>

#include "render.h"
#include "render_branch.h"
#include "symbol.h"
#include "trace.h"

/* The same address broken so often is no damaged record. */
#define NR_BREAKS_OF_CHANGED_CODE 3

/**
 * struct prove_first - the first step of one kind, with both its neighbours
 * @record: the branch; none if @is_stop.
 * @nr_here: steps with the same fault at the same address.
 */
struct prove_first {
	bool any;
	bool is_stop;
	uint64_t n;
	struct proof_step step;
	struct btsrec_record record;
	uint64_t nr_here;
};

/** struct prove - one CPU under way */
struct prove {
	bool stop_proven;
	struct prove_first broken;
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
		if (!first->is_stop)
			first->record = traced->event->branch;
	}
	first->nr_here += step->fault == first->step.fault &&
			  step->fault_va == first->step.fault_va;
}

static bool prove_event(void *arg, const struct trace_event *traced)
{
	struct prove *prove = arg;

	if (!traced->step)
		return true;
	if (traced->event->kind == BTSREC_EVENT_FREEZE)
		prove->stop_proven = traced->step->kind == PROOF_PROVEN;
	if (traced->step->kind == PROOF_BROKEN)
		note_first(&prove->broken, traced);
	else if (traced->step->kind == PROOF_UNKNOWN)
		note_first(&prove->unknown, traced);
	return true;
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

static void text_va(struct renderer *r, uint64_t va)
{
	struct symbol_name name;

	out_hex16(&r->out, va);
	if (!symbol_find(r->rec, va, &name))
		return;
	out_literal(&r->out, " (");
	out_name(&r->out, &name);
	out_char(&r->out, ')');
}

static void text_first(struct renderer *r, const struct prove_first *first)
{
	struct out *out = &r->out;

	out_literal(out, "first event ");
	out_dec(out, first->n, 0);
	out_literal(out, ": from ");
	text_va(r, first->step.start);
	out_str(out, first->is_stop ? " to the stop at " : " to the branch ");
	text_va(r, first->step.end);
	if (!first->is_stop) {
		out_literal(out, " -> ");
		text_va(r, first->record.to);
	}
	out_literal(out, ": ");
	out_str(out, code_fault_str(first->step.fault));
	out_literal(out, ": ");
	text_va(r, first->step.fault_va);
}

static void text_proven(struct renderer *r, unsigned int cpu, const struct proof *proof,
			const struct prove *prove)
{
	struct out *out = &r->out;
	bool all = !prove->broken.any && !prove->unknown.any;

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
	if (tally(proof, PROOF_FILTERED)) {
		out_literal(out, "; pairs that span what was not recorded: ");
		out_dec(out, tally(proof, PROOF_FILTERED), 0);
	}
	out_char(out, '\n');
}

static void text_cpu(struct renderer *r, unsigned int cpu, const struct proof *proof,
		     const struct prove *prove)
{
	struct out *out = &r->out;

	text_proven(r, cpu, proof, prove);
	if (prove->unknown.any) {
		text_line(out, "note", cpu);
		out_literal(out, "pairs that cannot be told: ");
		out_dec(out, tally(proof, PROOF_UNKNOWN), 0);
		out_literal(out, ", ");
		text_first(r, &prove->unknown);
		out_char(out, '\n');
	}
	if (prove->broken.any) {
		text_line(out, "fault", cpu);
		out_literal(out, "impossible pairs: ");
		out_dec(out, tally(proof, PROOF_BROKEN), 0);
		out_literal(out, ", ");
		text_first(r, &prove->broken);
		out_literal(out, "; ");
		out_str(out, likely_cause(&prove->broken));
		out_char(out, '\n');
	}
}

/* --- JSON lines --------------------------------------------------------- */

static void json_va(struct renderer *r, const char *key, uint64_t va)
{
	out_literal(&r->out, ",\"");
	out_str(&r->out, key);
	out_literal(&r->out, "\":\"");
	out_hex16(&r->out, va);
	out_char(&r->out, '"');
}

static void json_count(struct renderer *r, const char *key, uint64_t count)
{
	out_literal(&r->out, ",\"");
	out_str(&r->out, key);
	out_literal(&r->out, "\":");
	out_dec(&r->out, count, 0);
}

static void json_text(struct renderer *r, const char *key, const char *text)
{
	out_literal(&r->out, ",\"");
	out_str(&r->out, key);
	out_literal(&r->out, "\":\"");
	out_str(&r->out, text);
	out_char(&r->out, '"');
}

static void json_first(struct renderer *r, const char *key, const struct prove_first *first,
		       bool with_likely)
{
	struct out *out = &r->out;

	if (!first->any)
		return;
	out_literal(out, ",\"");
	out_str(out, key);
	out_literal(out, "\":{\"n\":");
	out_dec(out, first->n, 0);
	json_va(r, "start", first->step.start);
	json_va(r, first->is_stop ? "stop" : "from", first->step.end);
	if (!first->is_stop)
		json_va(r, "to", first->record.to);
	json_va(r, "at", first->step.fault_va);
	json_text(r, "cause", code_fault_str(first->step.fault));
	if (with_likely)
		json_text(r, "likely", likely_cause(first));
	out_char(out, '}');
}

static void json_cpu(struct renderer *r, unsigned int cpu, const struct proof *proof,
		     const struct prove *prove)
{
	struct out *out = &r->out;

	out_literal(out, "{\"cpu\":");
	out_dec(out, cpu, 0);
	json_text(r, "kind", "proof");
	json_count(r, "kernel_proven", proof->kernel.nr[PROOF_PROVEN]);
	json_count(r, "user_proven", proof->user.nr[PROOF_PROVEN]);
	json_count(r, "unknown", tally(proof, PROOF_UNKNOWN));
	json_count(r, "broken", tally(proof, PROOF_BROKEN));
	json_count(r, "filtered", tally(proof, PROOF_FILTERED));
	json_count(r, "instructions", proof->nr_insns);
	out_str(out, prove->stop_proven ? ",\"stop_proven\":true" : ",\"stop_proven\":false");
	json_first(r, "first_unknown", &prove->unknown, false);
	json_first(r, "first_broken", &prove->broken, true);
	out_literal(out, "}\n");
}

/* --- Both --------------------------------------------------------------- */

static enum btsrec_status prove_cpus(struct renderer *r, bool json, uint64_t *nr_faults)
{
	for (unsigned int cpu = 0; cpu < btsrec_nr_cpu_ids(r->rec); cpu++) {
		struct prove prove = { 0 };
		enum btsrec_status status;
		struct proof proof;

		if (!btsrec_cpu(r->rec, cpu))
			continue;
		status = trace_events(r->rec, cpu, 0, prove_event, &prove, &proof);
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
	return status ? status : flushed;
}
