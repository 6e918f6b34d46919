// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One CPU of the report:
 *
 *   {"cpu":0,"state":"frozen (panic)","others":[...],
 *    "threads":[[n,pid,tgid,"comm"],...],"calls":"...","branches":"...","types":"..."}
 *
 * others are the events that are no branch, as btsrec show --format jsonl prints them, so
 * that the number of each branch is known;
 * branches has two 32-bit address numbers for each, types a byte, calls five 32-bit
 * numbers: the event that entered, the one that left (all ones: none), how deep, the
 * address entered, the kind.
 */
#include "report.h"

#include <stdlib.h>

#include "base64.h"
#include "grow.h"
#include "trace.h"
#include "trace_fault.h"

/* --- Events ------------------------------------------------------------- */

/** struct others - events that are no branches on their way; @nr: so many were */
struct others {
	struct report *report;
	size_t nr;
};

static bool put_other(void *arg, const struct btsrec_event *event)
{
	struct others *others = arg;
	struct renderer *r = &others->report->html;

	if (others->nr++)
		out_char(&r->out, ',');
	render_jsonl.event(r, event);
	return !r->out.stopped;
}

/**
 * struct pass - the branches of one CPU on their way into arrays
 * @types: of the @nr_types branches so far; owned.
 */
struct pass {
	struct report *report;
	struct base64 base64;
	uint8_t *types;
	size_t nr_types;
	size_t nr_types_room;
};

static void add_type(struct pass *pass, const struct branch *branch)
{
	if (!grow(&pass->types, sizeof(*pass->types), pass->nr_types, &pass->nr_types_room)) {
		pass->report->nomem = true;
		return;
	}
	pass->types[pass->nr_types++] = (uint8_t)report_branch_kind(pass->report, branch);
}

static void put_branch(struct pass *pass, const struct btsrec_side *side,
		       const struct btsrec_record *record, const struct branch *branch)
{
	base64_u32(&pass->base64, report_address(pass->report, side, record->from));
	base64_u32(&pass->base64, report_address(pass->report, side, record->to));
	add_type(pass, branch);
}

/* As many as there are now of those that are all in the kernel, where nobody asks who ran. */
static void put_plain_branches(struct pass *pass, struct trace *trace)
{
	struct trace_way way = trace_way_begin(trace);
	const struct code_run *run;

	if (!proof_is_plain(&trace->proof))
		return;
	while ((run = trace_way_run(trace, &way)) != NULL) {
		const struct branch branch = { .type = run->judged, .vector = -1 };

		put_branch(pass, NULL, way.branch, &branch);
		trace_way_pass(trace, &way, run);
	}
	trace_way_end(trace, &way);
}

/* --- Calls -------------------------------------------------------------- */

static void put_calls(struct report *report, const struct calltree *tree)
{
	struct base64 base64;

	base64_begin(&base64, &report->html.out);
	for (size_t i = 0; i < tree->nr_lines; i++) {
		struct calltree_line line = calltree_line(tree, i);

		if (line.kind != CALLTREE_CALL)
			continue;
		base64_u32(&base64, (uint32_t)line.n);
		base64_u32(&base64, (uint32_t)line.last_n);
		base64_u32(&base64, calltree_indent(tree, &line));
		base64_u32(&base64, report_address(report, NULL, line.to));
		base64_u32(&base64, report_frame_kind(report, line.frame, line.vector));
	}
	base64_end(&base64);
}

/* Where the stack becomes another thread's, which is a little after the annotation. */
static void put_threads(struct report *report, const struct calltree *tree)
{
	struct out *out = &report->html.out;
	bool first = true;

	for (size_t i = 0; i < tree->nr_lines; i++) {
		struct calltree_line line = calltree_line(tree, i);
		const struct btsrec_side *side = NULL;

		if (line.kind == CALLTREE_THREAD)
			side = calltree_side(tree, &line);
		if (!side)
			continue;
		out_str(out, first ? "[" : ",[");
		first = false;
		out_dec(out, line.n, 0);
		out_char(out, ',');
		out_dec(out, side->pid, 0);
		out_char(out, ',');
		out_dec(out, side->tgid, 0);
		out_char(out, ',');
		out_json_string(out, side->comm, BTSREC_COMM_BYTES);
		out_char(out, ']');
	}
}

static enum btsrec_status report_calls(struct report *report, unsigned int cpu)
{
	struct btsrec *rec = report->html.rec;
	struct calltree tree = { 0 };
	enum btsrec_status status;
	struct fault fault;

	status = trace_fault(rec, cpu, &fault);
	if (!status)
		status = calltree_read(&tree, rec, cpu, 0, UINT64_MAX, 0, &fault);
	if (!status) {
		put_threads(report, &tree);
		out_literal(&report->html.out, "],\"calls\":\"");
		put_calls(report, &tree);
	}
	calltree_fini(&tree);
	return status;
}

/* --- CPU ---------------------------------------------------------------- */

/* Until the end, or until there is no use in going on. */
static enum btsrec_status read_branches(struct pass *pass, struct trace *trace)
{
	struct trace_event event;

	while (!pass->report->html.out.stopped && !pass->report->nomem) {
		put_plain_branches(pass, trace);
		if (!trace_next(trace, &event))
			return trace->status;
		if (event.event->kind == BTSREC_EVENT_BRANCH && event.step)
			put_branch(pass, event.side, &event.event->branch, &event.step->branch);
	}
	return trace_stopped(trace);
}

/* Types wait in memory, so that the code is followed once. */
static enum btsrec_status put_branches(struct report *report, unsigned int cpu)
{
	struct pass pass = { .report = report };
	struct trace trace;
	enum btsrec_status status;

	out_literal(&report->html.out, "\",\"branches\":\"");
	base64_begin(&pass.base64, &report->html.out);
	status = trace_open(&trace, report->html.rec, cpu, 0, true);
	if (!status)
		status = read_branches(&pass, &trace);
	trace_close(&trace);
	base64_end(&pass.base64);
	out_literal(&report->html.out, "\",\"types\":\"");
	base64_bytes(&pass.base64, pass.types, pass.nr_types);
	base64_end(&pass.base64);
	free(pass.types);
	return status;
}

enum btsrec_status report_cpu(struct report *report, unsigned int cpu)
{
	struct others others = { .report = report };
	struct btsrec *rec = report->html.rec;
	struct out *out = &report->html.out;
	enum btsrec_status status;

	out_literal(out, "{\"cpu\":");
	out_dec(out, cpu, 0);
	out_literal(out, ",\"state\":\"");
	render_cpu_state(out, btsrec_cpu(rec, cpu));
	out_literal(out, "\",\"others\":[");
	status = btsrec_other_events(rec, cpu, put_other, &others, NULL);
	out_literal(out, "],\"threads\":[");
	if (!status)
		status = report_calls(report, cpu);
	if (!status)
		status = put_branches(report, cpu);
	out_literal(out, "\"}");
	return status;
}
