// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tab-separated values: one header line, then one line per event with all
 * columns.  A column that an event does not have is empty.
 */
#include "flow/clock.h"
#include "flow/fault.h"
#include "recorder/record.h"
#include "render/render.h"
#include "render/render_branch.h"
#include "render/render_lines.h"
#include "flow/level_filter.h"
#include "symbols/symbol.h"
#include "flow/trace.h"

static void tsv_begin(struct renderer *r)
{
	out_literal(&r->out, "cpu\tn\tkind\ttsc\tfrom\tto\tpredicted\t");
	if (r->has_types)
		out_literal(&r->out, "type\t");
	out_literal(&r->out, "from_sym\tto_sym\t");
	if (r->lines)
		out_literal(&r->out, "from_line\tto_line\t");
	out_literal(&r->out, "details\n");
}

static void tsv_name(struct renderer *r, uint64_t va)
{
	struct symbol_name name;
	enum symbol_why why;

	out_char(&r->out, '\t');
	if (render_find(r, va, &name, &why))
		out_name(&r->out, &name);
}

static void tsv_type(struct renderer *r, const struct btsrec_event *event)
{
	struct branch branch = trace_type(r->types, event);

	out_char(&r->out, '\t');
	out_branch_type(&r->out, &branch);
}

static void tsv_line(struct renderer *r, uint64_t va)
{
	struct line line;

	out_char(&r->out, '\t');
	if (line_find(r->rec, render_cr3(r), va, &line))
		out_line(&r->out, &line);
}

/* The columns of lines of what has none. */
static void tsv_no_lines(struct renderer *r)
{
	if (r->lines)
		out_literal(&r->out, "\t\t");
}

static void tsv_begin_line(struct out *out, unsigned int cpu, uint64_t n, const char *kind)
{
	out_dec(out, cpu, 0);
	out_char(out, '\t');
	out_dec(out, n, 0);
	out_char(out, '\t');
	out_str(out, kind);
}

static void tsv_branch_head(struct out *out, unsigned int cpu, uint64_t n,
			    const struct btsrec_record *branch)
{
	tsv_begin_line(out, cpu, n, "branch");
	out_literal(out, "\t\t");
	out_hex16(out, branch->from);
	out_char(out, '\t');
	out_hex16(out, branch->to);
	out_char(out, '\t');
	out_char(out, branch->flags & BTSREC_FLAG_PREDICTED ? '1' : '0');
}

static void tsv_branches(struct out *out, const struct branch_run *run,
			 const struct label *const *labels)
{
	branch_lines(out, run, labels, tsv_branch_head);
}

static void tsv_branch_label(struct renderer *r, const struct btsrec_event *event)
{
	const struct btsrec_record *branch = &event->branch;

	if (r->types)
		tsv_type(r, event);
	tsv_name(r, branch->from);
	tsv_name(r, branch->to);
	if (r->lines) {
		tsv_line(r, branch->from);
		tsv_line(r, branch->to);
	}
	out_literal(&r->out, "\t\n");
}

static void tsv_other(struct renderer *r, const struct btsrec_event *event)
{
	uint64_t tsc;

	out_char(&r->out, '\t');
	if (clock_event(event, &tsc))
		out_dec(&r->out, tsc, 0);
	out_literal(&r->out, "\t\t\t\t\t\t");
	if (r->has_types)
		out_char(&r->out, '\t');
	tsv_no_lines(r);
	render_details(r, event);
}

void tsv_only_details(struct renderer *r, const char *kind)
{
	struct out *out = &r->out;

	out_char(out, '\t');
	out_str(out, kind);
	out_literal(out, "\t\t\t\t\t\t\t");
	if (r->has_types)
		out_char(out, '\t');
	tsv_no_lines(r);
}

static void tsv_fault(struct renderer *r, unsigned int cpu, uint64_t n,
		      const struct fault *fault)
{
	struct out *out = &r->out;

	out_dec(out, cpu, 0);
	out_char(out, '\t');
	out_dec(out, n, 0);
	tsv_only_details(r, "fault");
	render_fault(r, fault);
	out_char(out, '\n');
}

static void tsv_event(struct renderer *r, const struct btsrec_event *event)
{
	struct out *out = &r->out;

	if (event->kind == BTSREC_EVENT_BRANCH) {
		tsv_branch_head(out, event->cpu, event->n, &event->branch);
		tsv_branch_label(r, event);
		return;
	}
	tsv_begin_line(out, event->cpu, event->n, record_event_str(event->kind));
	tsv_other(r, event);
	out_char(out, '\n');
}

static void tsv_block_end(struct out *out, bool known, uint64_t va)
{
	out_char(out, '\t');
	if (known)
		out_hex16(out, va);
}

static void tsv_block_name(struct renderer *r, bool known, uint64_t va)
{
	if (known)
		tsv_name(r, va);
	else
		out_char(&r->out, '\t');
}

static void tsv_block(struct renderer *r, const struct level_filter_block *block)
{
	struct out *out = &r->out;

	tsv_begin_line(out, block->cpu, block->n, render_block_str(block));
	out_char(out, '\t');
	tsv_block_end(out, block->has_from, block->from);
	tsv_block_end(out, block->has_to, block->to);
	out_char(out, '\t');
	if (r->has_types) {
		out_char(out, '\t');
		if (block->has_entry)
			out_branch_type(out, &block->entry);
	}
	tsv_block_name(r, block->has_from, block->from);
	tsv_block_name(r, block->has_to, block->to);
	tsv_no_lines(r);
	out_char(out, '\t');
	render_block(r, block);
	out_char(out, '\n');
}

const struct render_format render_tsv = {
	.begin = tsv_begin,
	.event = tsv_event,
	.branch_label = tsv_branch_label,
	.branches = tsv_branches,
	.fault = tsv_fault,
	.block = tsv_block,
	.loop = loop_tsv,
	.interval = interval_tsv,
};
