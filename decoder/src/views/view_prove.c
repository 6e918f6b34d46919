// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether each history can have happened: the proof of all CPUs, in a few lines. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "symbols/symbol.h"
#include "flow/trace.h"
#include "recorder/cpus.h"
#include "views/values.h"
#include "views/view_prove.h"

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

static enum btsrec_status prove_events(struct btsrec *rec, struct prove *prove)
{
	struct trace_event event;
	struct trace trace;
	enum btsrec_status status = trace_open(&trace, rec, prove->cpu, 0, true);

	while (!status && next_event(&trace, &event))
		prove_event(prove, &event);
	if (!status)
		status = trace.status;
	prove->proof = trace.proof;
	trace_close(&trace);
	return status;
}

/* --- All ---------------------------------------------------------------- */

static enum btsrec_status prove_cpu(struct btsrec *rec, struct prove *prove)
{
	struct code *code = trace_code(rec);
	uint64_t nr_before = code ? code_from_files(code) : 0;
	enum btsrec_status status = prove_events(rec, prove);

	prove->nr_file_pages = code ? code_from_files(code) - nr_before : 0;
	return status;
}

static enum btsrec_status prove_cpus(struct prove_view *view, uint64_t *nr_faults)
{
	struct btsrec *rec = view->renderer.rec;

	for (unsigned int cpu = 0; cpu < btsrec_nr_cpu_ids(rec); cpu++) {
		struct prove prove = { .cpu = cpu };
		enum btsrec_status status;

		if (!btsrec_cpu(rec, cpu))
			continue;
		status = prove_cpu(rec, &prove);
		if (status)
			return status;
		*nr_faults += prove_nr(&prove, PROOF_BROKEN);
		view->print(view, &prove);
		if (view->renderer.out.stopped)
			break;
	}
	return BTSREC_OK;
}

/* As @format to @sink, or, if there is @fn, as values to it. */
static enum btsrec_status put_proof(struct btsrec *rec, enum btsrec_format format,
				    const struct btsrec_sink *sink, btsrec_proof_fn fn, void *arg,
				    uint64_t *ret_nr_faults)
{
	_cleanup_free_ struct prove_view *view = NULL;
	enum btsrec_status status, flushed;

	*ret_nr_faults = 0;
	if (!btsrec_root(rec))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no recorder located yet");
	if (format != BTSREC_FORMAT_TEXT && format != BTSREC_FORMAT_JSONL)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "a proof is text or JSON lines");
	view = calloc(1, sizeof(*view));
	if (!view)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	view->renderer.rec = rec;
	view->print = format == BTSREC_FORMAT_JSONL ? prove_json : prove_text;
	if (fn)
		view->print = prove_value;
	view->fn = fn;
	view->arg = arg;
	out_init(&view->renderer.out, sink);
	status = prove_cpus(view, ret_nr_faults);
	flushed = out_flush(&view->renderer.out);
	return cpus_end(rec, NULL, status ? status : flushed);
}

enum btsrec_status btsrec_prove(struct btsrec *rec, enum btsrec_format format,
				const struct btsrec_sink *sink, uint64_t *ret_nr_faults)
{
	return put_proof(rec, format, sink, NULL, NULL, ret_nr_faults);
}

enum btsrec_status btsrec_prove_each(struct btsrec *rec, btsrec_proof_fn fn, void *arg)
{
	uint64_t nr_faults;

	return put_proof(rec, BTSREC_FORMAT_TEXT, &values_sink, fn, arg, &nr_faults);
}
