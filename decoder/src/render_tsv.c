// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tab-separated values: one header line, then one line per event with all
 * columns.  A column that an event does not have is empty.
 */
#include "render.h"
#include "render_branch.h"
#include "symbol.h"
#include "trace.h"

static void tsv_begin(struct renderer *r)
{
	out_literal(&r->out, "cpu\tn\tkind\ttsc\tfrom\tto\tpredicted\t");
	if (r->has_types)
		out_literal(&r->out, "type\t");
	out_literal(&r->out, "from_sym\tto_sym\tdetails\n");
}

static void tsv_name(struct renderer *r, uint64_t va)
{
	struct symbol_name name;

	out_char(&r->out, '\t');
	if (symbol_find(r->rec, va, &name))
		out_name(&r->out, &name);
}

static void tsv_type(struct renderer *r, const struct btsrec_event *event)
{
	struct branch branch = trace_type(r->types, event);

	out_char(&r->out, '\t');
	out_branch_type(&r->out, &branch);
}

static void tsv_branch(struct renderer *r, const struct btsrec_event *event)
{
	const struct btsrec_record *branch = &event->branch;
	struct out *out = &r->out;

	out_literal(out, "\t\t");
	out_hex16(out, branch->from);
	out_char(out, '\t');
	out_hex16(out, branch->to);
	out_char(out, '\t');
	out_char(out, branch->flags & BTSREC_FLAG_PREDICTED ? '1' : '0');
	if (r->types)
		tsv_type(r, event);
	tsv_name(r, branch->from);
	tsv_name(r, branch->to);
	out_char(out, '\t');
}

static void tsv_other(struct renderer *r, const struct btsrec_event *event)
{
	uint64_t tsc;

	out_char(&r->out, '\t');
	if (render_tsc(event, &tsc))
		out_dec(&r->out, tsc, 0);
	out_literal(&r->out, "\t\t\t\t\t\t");
	if (r->has_types)
		out_char(&r->out, '\t');
	render_details(r, event);
}

static void tsv_event(struct renderer *r, const struct btsrec_event *event)
{
	struct out *out = &r->out;

	out_dec(out, event->cpu, 0);
	out_char(out, '\t');
	out_dec(out, event->n, 0);
	out_char(out, '\t');
	out_str(out, render_kind_str(event->kind));
	if (event->kind == BTSREC_EVENT_BRANCH)
		tsv_branch(r, event);
	else
		tsv_other(r, event);
	out_char(out, '\n');
}

const struct render_format render_tsv = {
	.begin = tsv_begin,
	.event = tsv_event,
};
