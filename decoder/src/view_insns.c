// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The instructions that ran, in order.  Branches are not events here: they are
 * instructions; only what entered the kernel without one has a line of its own.
 */
#include <stdlib.h>

#include "render.h"
#include "render_branch.h"
#include "symbol.h"
#include "trace.h"

#define INSN_TEXT_BYTES 128

/**
 * struct insns - one btsrec_insns() under way
 * @cr3, @cpu, @n: of the event being printed.
 */
struct insns {
	struct renderer renderer;
	const struct render_format *format;
	const struct btsrec_insns *opts;
	struct code *code;
	bool json;
	uint64_t cr3;
	unsigned int cpu;
	uint64_t n;
};

/** struct insn_text - one instruction, ready to print */
struct insn_text {
	uint64_t ip;
	size_t nr_bytes;
	uint8_t bytes[CODE_INSN_MAX_BYTES];
	char text[INSN_TEXT_BYTES];
};

/* --- Text --------------------------------------------------------------- */

static void text_begin(struct insns *view, const char *kind)
{
	struct out *out = &view->renderer.out;

	out_dec(out, view->cpu, 3);
	out_char(out, ' ');
	out_dec(out, view->n, 9);
	out_char(out, ' ');
	out_pad(out, kind, 8);
}

static void text_code(struct insns *view, uint64_t ip, const struct btsrec_side *side)
{
	struct out *out = &view->renderer.out;
	struct symbol_name name;

	text_begin(view, "code");
	out_hex16(out, ip);
	if (side) {
		out_char(out, ' ');
		out_dec(out, side->pid, 0);
		out_char(out, '/');
		out_dec(out, side->tgid, 0);
		out_char(out, ' ');
		out_quoted(out, side->comm, sizeof(side->comm));
	}
	if (symbol_find(view->renderer.rec, ip, &name)) {
		out_literal(out, "  ");
		out_name(out, &name);
	} else if (view->renderer.names) {
		out_literal(out, "  -");
	}
	out_char(out, '\n');
}

static void out_hex_bytes(struct out *out, const uint8_t *bytes, size_t nr_bytes)
{
	for (size_t i = 0; i < nr_bytes; i++) {
		out_char(out, "0123456789abcdef"[bytes[i] >> 4]);
		out_char(out, "0123456789abcdef"[bytes[i] & 15]);
	}
}

static void text_insn(struct insns *view, const struct insn_text *insn)
{
	struct out *out = &view->renderer.out;

	text_begin(view, "insn");
	out_hex16(out, insn->ip);
	out_literal(out, "  ");
	if (view->opts->bytes) {
		out_hex_bytes(out, insn->bytes, insn->nr_bytes);
		for (size_t i = 2 * insn->nr_bytes; i < 2 * CODE_INSN_MAX_BYTES + 2; i++)
			out_char(out, ' ');
	}
	out_escaped(out, insn->text, sizeof(insn->text));
	out_char(out, '\n');
}

static void text_entry(struct insns *view, const struct btsrec_record *record,
		       const struct branch *branch)
{
	struct out *out = &view->renderer.out;

	text_begin(view, "entry");
	out_hex16(out, record->from);
	out_literal(out, " -> ");
	out_hex16(out, record->to);
	out_char(out, ' ');
	out_branch_type(out, branch);
	out_char(out, '\n');
}

static void text_break(struct insns *view, const struct proof_step *step)
{
	struct out *out = &view->renderer.out;

	text_begin(view, "break");
	out_hex16(out, step->start);
	out_literal(out, " .. ");
	out_hex16(out, step->end);
	out_char(out, ' ');
	out_str(out, proof_kind_str(step->kind));
	if (step->fault) {
		out_literal(out, ": ");
		out_str(out, code_fault_str(step->fault));
		out_literal(out, " at ");
		out_hex16(out, step->fault_va);
	}
	out_char(out, '\n');
}

/* --- JSON lines --------------------------------------------------------- */

static void json_begin(struct insns *view, const char *kind)
{
	struct out *out = &view->renderer.out;

	out_literal(out, "{\"cpu\":");
	out_dec(out, view->cpu, 0);
	out_literal(out, ",\"n\":");
	out_dec(out, view->n, 0);
	out_literal(out, ",\"kind\":\"");
	out_str(out, kind);
	out_char(out, '"');
}

static void json_va(struct insns *view, const char *key, uint64_t va)
{
	struct out *out = &view->renderer.out;

	out_literal(out, ",\"");
	out_str(out, key);
	out_literal(out, "\":\"");
	out_hex16(out, va);
	out_char(out, '"');
}

static void json_code(struct insns *view, uint64_t ip, const struct btsrec_side *side)
{
	struct out *out = &view->renderer.out;

	json_begin(view, "code");
	json_va(view, "ip", ip);
	if (side) {
		out_literal(out, ",\"pid\":");
		out_dec(out, side->pid, 0);
		out_literal(out, ",\"tgid\":");
		out_dec(out, side->tgid, 0);
		out_literal(out, ",\"comm\":");
		out_json_string(out, side->comm, sizeof(side->comm));
	}
	json_sym(&view->renderer, "ip_sym", ip);
	out_literal(out, "}\n");
}

static void json_insn(struct insns *view, const struct insn_text *insn)
{
	struct out *out = &view->renderer.out;

	json_begin(view, "insn");
	json_va(view, "ip", insn->ip);
	if (view->opts->bytes) {
		out_literal(out, ",\"bytes\":\"");
		out_hex_bytes(out, insn->bytes, insn->nr_bytes);
		out_char(out, '"');
	}
	out_literal(out, ",\"insn\":");
	out_json_string(out, insn->text, sizeof(insn->text));
	out_literal(out, "}\n");
}

static void json_entry(struct insns *view, const struct btsrec_record *record,
		       const struct branch *branch)
{
	json_begin(view, "entry");
	json_va(view, "from", record->from);
	json_va(view, "to", record->to);
	json_branch_type(&view->renderer.out, branch);
	out_literal(&view->renderer.out, "}\n");
}

static void json_break(struct insns *view, const struct proof_step *step)
{
	struct out *out = &view->renderer.out;

	json_begin(view, "break");
	json_va(view, "from", step->start);
	json_va(view, "to", step->end);
	out_literal(out, ",\"verdict\":\"");
	out_str(out, proof_kind_str(step->kind));
	out_char(out, '"');
	if (step->fault) {
		out_literal(out, ",\"cause\":\"");
		out_str(out, code_fault_str(step->fault));
		out_char(out, '"');
		json_va(view, "at", step->fault_va);
	}
	out_literal(out, "}\n");
}

/* --- Both --------------------------------------------------------------- */

static void show_range(struct insns *view, const struct proof_range *range, bool compat)
{
	struct insn_text insn;

	for (insn.ip = range->start; insn.ip < range->stop; insn.ip += insn.nr_bytes) {
		insn.nr_bytes = code_text(view->code, view->cr3, insn.ip, compat, insn.bytes,
					  insn.text, sizeof(insn.text));
		if (!insn.nr_bytes || view->renderer.out.stopped)
			return;
		if (view->json)
			json_insn(view, &insn);
		else
			text_insn(view, &insn);
	}
}

static void show_ranges(struct insns *view, const struct trace_event *traced)
{
	const struct proof_step *step = traced->step;

	for (unsigned int i = 0; i < step->nr_ranges; i++) {
		if (view->json)
			json_code(view, step->ranges[i].start, traced->side);
		else
			text_code(view, step->ranges[i].start, traced->side);
		show_range(view, &step->ranges[i], step->compat);
	}
}

static bool is_entry(const struct branch *branch)
{
	return branch->type == BRANCH_IRQ || branch->type == BRANCH_NMI ||
	       branch->type == BRANCH_EXCEPTION || branch->type == BRANCH_ENTRY;
}

static void show_step(struct insns *view, const struct trace_event *traced)
{
	const struct proof_step *step = traced->step;

	if (step->kind != PROOF_PROVEN && step->kind != PROOF_START) {
		if (view->json)
			json_break(view, step);
		else
			text_break(view, step);
	}
	show_ranges(view, traced);
	if (traced->event->kind == BTSREC_EVENT_BRANCH && is_entry(&step->branch)) {
		if (view->json)
			json_entry(view, &traced->event->branch, &step->branch);
		else
			text_entry(view, &traced->event->branch, &step->branch);
	}
}

static bool insns_event(void *arg, const struct trace_event *traced)
{
	struct insns *view = arg;
	const struct btsrec_event *event = traced->event;

	if (event->n < view->opts->first_n)
		return true;
	if (view->opts->last_n && event->n > view->opts->last_n)
		return false;
	view->cpu = event->cpu;
	view->n = event->n;
	view->cr3 = traced->side ? traced->side->cr3 : 0;
	if (traced->step)
		show_step(view, traced);
	if (event->kind != BTSREC_EVENT_BRANCH)
		view->format->event(&view->renderer, event);
	return !view->renderer.out.stopped;
}

static enum btsrec_status insns_cpu(struct insns *view, struct btsrec *rec, unsigned int cpu)
{
	struct session_ring ring;
	enum btsrec_status status = session_ring(rec, cpu, &ring);

	if (status)
		return status;
	if (view->format->cpu)
		view->format->cpu(&view->renderer, btsrec_cpu(rec, cpu), &ring);
	status = trace_events(rec, cpu, view->opts->max_events, insns_event, view, NULL);
	if (status == BTSREC_ERR_STOPPED && !view->renderer.out.stopped)
		return BTSREC_OK;
	return status;
}

static enum btsrec_status insns_cpus(struct insns *view, struct btsrec *rec)
{
	const struct btsrec_insns *opts = view->opts;
	size_t nr_cpus = opts->cpus ? opts->nr_cpus : btsrec_nr_cpu_ids(rec), i;
	enum btsrec_status status;

	for (i = 0; i < nr_cpus; i++) {
		unsigned int cpu = opts->cpus ? opts->cpus[i] : (unsigned int)i;

		if (!opts->cpus && !btsrec_cpu(rec, cpu))
			continue;
		status = insns_cpu(view, rec, cpu);
		if (status)
			return status;
	}
	return BTSREC_OK;
}

/* Before the first byte of output, so that a wrong list gives none. */
static enum btsrec_status insns_check(struct btsrec *rec, const struct btsrec_insns *opts)
{
	if (!btsrec_root(rec))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no recorder located yet");
	if (opts->format != BTSREC_FORMAT_TEXT && opts->format != BTSREC_FORMAT_JSONL)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "instructions are shown as text or JSON lines");
	for (size_t i = 0; opts->cpus && i < opts->nr_cpus; i++)
		if (!btsrec_cpu(rec, opts->cpus[i]))
			return msg_set(&rec->msg, BTSREC_ERR_NO_CPU, "CPU %u has no usable ring",
				       opts->cpus[i]);
	return BTSREC_OK;
}

enum btsrec_status btsrec_insns(struct btsrec *rec, const struct btsrec_insns *opts,
				const struct btsrec_sink *sink)
{
	enum btsrec_status status = insns_check(rec, opts), flushed;
	struct insns *view;

	if (status)
		return status;
	view = calloc(1, sizeof(*view));
	if (!view || !trace_code(rec)) {
		free(view);
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	}
	view->renderer.rec = rec;
	view->renderer.names = symbols_present(rec);
	view->format = render_format_of(opts->format);
	view->json = opts->format == BTSREC_FORMAT_JSONL;
	view->opts = opts;
	view->code = trace_code(rec);
	out_init(&view->renderer.out, sink);
	status = insns_cpus(view, rec);
	flushed = out_flush(&view->renderer.out);
	free(view);
	return status ? status : flushed;
}
