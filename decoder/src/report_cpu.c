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

#include "cleanup.h"
#include "grow.h"
#include "render_branch.h"
#include "trace.h"
#include "trace_fault.h"

/* --- Base 64 (RFC 4648) ------------------------------------------------- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_byte(struct base64 *base64, uint8_t value)
{
	base64->bits = base64->bits << 8 | value;
	base64->nr_bits += 8;
	while (base64->nr_bits >= 6) {
		base64->nr_bits -= 6;
		out_char(base64->out, digits[base64->bits >> base64->nr_bits & 63]);
	}
}

void base64_u32(struct base64 *base64, uint32_t value)
{
	for (unsigned int shift = 0; shift < 32; shift += 8)
		base64_byte(base64, (uint8_t)(value >> shift));
}

/* 2 bits left: two bytes of the last three are missing; 4 bits: one. */
void base64_end(struct base64 *base64)
{
	if (base64->nr_bits)
		out_char(base64->out, digits[base64->bits << (6 - base64->nr_bits) & 63]);
	for (; base64->nr_bits && base64->nr_bits < 6; base64->nr_bits += 2)
		out_char(base64->out, '=');
	base64->bits = 0;
	base64->nr_bits = 0;
}

/* --- Events ------------------------------------------------------------- */

/**
 * struct pass - the events of one CPU on their way into arrays
 * @first: nothing is in the array of other events yet.
 * @types: of the @nr_types branches so far; owned.
 */
struct pass {
	struct report *report;
	struct base64 base64;
	bool first;
	uint8_t *types;
	size_t nr_types;
	size_t nr_types_room;
};

static void separate(struct pass *pass)
{
	if (!pass->first)
		out_char(&pass->report->html.out, ',');
	pass->first = false;
}

static bool put_other(void *arg, const struct btsrec_event *event)
{
	struct pass *pass = arg;
	struct renderer *r = &pass->report->html;

	separate(pass);
	render_jsonl.event(r, event);
	return !r->out.stopped;
}

static void add_type(struct pass *pass, const struct proof_step *step)
{
	char kind[BRANCH_TEXT_BYTES];

	if (!grow(&pass->types, sizeof(*pass->types), pass->nr_types, &pass->nr_types_room)) {
		pass->report->nomem = true;
		return;
	}
	branch_text(kind, &step->branch);
	pass->types[pass->nr_types++] = (uint8_t)report_kind(pass->report, kind);
}

static bool put_branch(void *arg, const struct trace_event *event)
{
	const struct btsrec_event *what = event->event;
	struct pass *pass = arg;

	if (what->kind != BTSREC_EVENT_BRANCH || !event->step)
		return true;
	base64_u32(&pass->base64, report_address(pass->report, event->side, what->branch.from));
	base64_u32(&pass->base64, report_address(pass->report, event->side, what->branch.to));
	add_type(pass, event->step);
	return !pass->report->html.out.stopped && !pass->report->nomem;
}

/* --- Calls -------------------------------------------------------------- */

static void put_calls(struct report *report, const struct calltree *tree)
{
	struct base64 base64 = { .out = &report->html.out };
	char kind[BRANCH_TEXT_BYTES];

	for (size_t i = 0; i < tree->nr_lines; i++) {
		struct calltree_line line = calltree_line(tree, i);

		if (line.kind != CALLTREE_CALL)
			continue;
		frame_text(kind, line.frame, line.vector);
		base64_u32(&base64, (uint32_t)line.n);
		base64_u32(&base64, (uint32_t)line.last_n);
		base64_u32(&base64, calltree_indent(tree, &line));
		base64_u32(&base64, report_address(report, NULL, line.to));
		base64_u32(&base64, report_kind(report, kind));
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

/* Types wait in memory, so that the code is followed once. */
static enum btsrec_status put_branches(struct report *report, unsigned int cpu)
{
	struct pass pass = { .report = report, .base64.out = &report->html.out };
	enum btsrec_status status;

	out_literal(&report->html.out, "\",\"branches\":\"");
	status = trace_events(report->html.rec, cpu, 0, put_branch, &pass, NULL);
	base64_end(&pass.base64);
	out_literal(&report->html.out, "\",\"types\":\"");
	for (size_t i = 0; i < pass.nr_types; i++)
		base64_byte(&pass.base64, pass.types[i]);
	base64_end(&pass.base64);
	free(pass.types);
	return status;
}

enum btsrec_status report_cpu(struct report *report, unsigned int cpu)
{
	struct pass others = { .report = report, .first = true };
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
