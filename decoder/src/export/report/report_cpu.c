// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One CPU of the report:
 *
 *   {"cpu":0,"state":"frozen (panic)","omitted":3,"others":[...],"before":[n,tsc],
 *    "threads":[[n,pid,tgid,"comm",c],...],"calls":"...","branches":"...","types":"..."}
 *
 * omitted is how many older events the page leaves out, and so the number of the first one
 * that it has; before is the newest of those that carries a time;
 * others are the events that are no branch, as btsrec show --format jsonl prints them, so
 * that the number of each branch is known;
 * branches has two 32-bit address numbers for each, types a byte, calls five 32-bit
 * numbers: the event that entered, the one that left (all ones: none), how deep, the
 * address entered, the kind.  An event that entered may be left out: then the thread is not
 * known by it, but by c, the number of calls before the thread's first.
 *
 * omitted, before and c are there only if something is left out.
 */
#include "export/report/report.h"

#include <stdlib.h>

#include "render/base64.h"
#include "flow/clock.h"
#include "base/grow.h"
#include "render/json.h"
#include "flow/trace.h"
#include "flow/trace_fault.h"

/* --- Events ------------------------------------------------------------- */

/**
 * struct others - events that are no branches on their way
 * @first_n: those before it are left out.
 * @nr: written so far.
 * @before_n, @before_tsc: the newest that is left out and carries a time, if @has_before.
 */
struct others {
	struct report *report;
	uint64_t first_n;
	size_t nr;
	bool has_before;
	uint64_t before_n;
	uint64_t before_tsc;
};

static bool put_other(void *arg, const struct btsrec_event *event)
{
	struct others *others = arg;
	struct renderer *r = &others->report->html;

	if (event->n < others->first_n) {
		if (clock_event(event, &others->before_tsc)) {
			others->has_before = true;
			others->before_n = event->n;
		}
		return true;
	}
	if (others->nr++)
		out_char(&r->out, ',');
	render_jsonl.event(r, event);
	return !r->out.stopped;
}

static enum btsrec_status put_others(struct report *report, unsigned int cpu, uint64_t first_n)
{
	struct others others = { .report = report, .first_n = first_n };
	struct out *out = &report->html.out;
	enum btsrec_status status;

	out_literal(out, ",\"others\":[");
	status = btsrec_other_events(report->html.rec, cpu, put_other, &others, NULL);
	out_char(out, ']');
	if (!others.has_before)
		return status;
	out_literal(out, ",\"before\":[");
	out_dec(out, others.before_n, 0);
	out_char(out, ',');
	out_dec(out, others.before_tsc, 0);
	out_char(out, ']');
	return status;
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

/* As many as there are now of those that are all in the kernel, for any thread. */
static void put_plain_branches(struct pass *pass, struct trace *trace)
{
	struct trace_way way = trace_way_begin(trace);
	const struct code_brief *run;

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

static void put_thread(struct out *out, uint64_t n, const struct btsrec_side *side)
{
	out_dec(out, n, 0);
	out_char(out, ',');
	out_dec(out, side->pid, 0);
	out_char(out, ',');
	out_dec(out, side->tgid, 0);
	out_char(out, ',');
	out_json_string(out, side->comm, BTSREC_COMM_BYTES);
}

/* Where the stack becomes another thread's, which is a little after the annotation. */
static void put_threads(struct report *report, const struct calltree *tree, bool is_cut)
{
	struct out *out = &report->html.out;
	uint64_t nr_calls = 0;
	bool first = true;

	for (size_t i = 0; i < tree->nr_lines; i++) {
		struct calltree_line line = calltree_line(tree, i);
		const struct btsrec_side *side = NULL;

		nr_calls += line.kind == CALLTREE_CALL;
		if (line.kind == CALLTREE_THREAD)
			side = calltree_side(tree, &line);
		if (!side)
			continue;
		out_str(out, first ? "[" : ",[");
		first = false;
		put_thread(out, line.n, side);
		if (is_cut) {
			out_char(out, ',');
			out_dec(out, nr_calls, 0);
		}
		out_char(out, ']');
	}
}

static enum btsrec_status put_tree(struct report *report, const struct calltree *tree,
				   unsigned int cpu, bool is_cut)
{
	struct out *out = &report->html.out;

	if (!tree->complete) {
		report->too_many = true;
		return msg_set(&report->html.rec->msg, BTSREC_ERR_NOMEM,
			       "CPU %u has too many calls: choose fewer events", cpu);
	}
	out_literal(out, ",\"threads\":[");
	put_threads(report, tree, is_cut);
	out_literal(out, "],\"calls\":\"");
	put_calls(report, tree);
	out_char(out, '"');
	return BTSREC_OK;
}

static enum btsrec_status report_calls(struct report *report, unsigned int cpu, uint64_t first_n)
{
	struct btsrec *rec = report->html.rec;
	struct calltree tree = { 0 };
	enum btsrec_status status;
	struct fault fault;

	status = trace_fault(rec, cpu, &fault);
	if (!status)
		status = calltree_read(&tree, rec, cpu, first_n, UINT64_MAX, 0, &fault);
	if (!status)
		status = put_tree(report, &tree, cpu, first_n);
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

	out_literal(&report->html.out, ",\"branches\":\"");
	base64_begin(&pass.base64, &report->html.out);
	status = trace_open(&trace, report->html.rec, cpu, report->max_events, true);
	if (!status)
		status = read_branches(&pass, &trace);
	trace_close(&trace);
	base64_end(&pass.base64);
	out_literal(&report->html.out, "\",\"types\":\"");
	base64_bytes(&pass.base64, pass.types, pass.nr_types);
	base64_end(&pass.base64);
	out_char(&report->html.out, '"');
	free(pass.types);
	return status;
}

/* The first event of @cpu that is not left out. */
static enum btsrec_status find_first(struct report *report, unsigned int cpu, uint64_t *ret)
{
	enum btsrec_status status;
	uint64_t nr_events;

	*ret = 0;
	if (!report->max_events)
		return BTSREC_OK;
	status = session_nr_events(report->html.rec, cpu, &nr_events);
	if (!status && nr_events > report->max_events)
		*ret = nr_events - report->max_events;
	return status;
}

enum btsrec_status report_cpu(struct report *report, unsigned int cpu)
{
	struct out *out = &report->html.out;
	enum btsrec_status status;
	uint64_t first_n;

	status = find_first(report, cpu, &first_n);
	if (status)
		return status;
	out_literal(out, "{\"cpu\":");
	out_dec(out, cpu, 0);
	out_literal(out, ",\"state\":\"");
	render_cpu_state(out, btsrec_cpu(report->html.rec, cpu));
	out_char(out, '"');
	if (first_n)
		json_number(out, "omitted", first_n);
	status = put_others(report, cpu, first_n);
	if (!status)
		status = report_calls(report, cpu, first_n);
	if (!status)
		status = put_branches(report, cpu);
	out_char(out, '}');
	return status;
}
