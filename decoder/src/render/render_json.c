// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * JSON lines: one object per event, members as docs/schema/event.schema.json
 * has them.
 */
#include "flow/clock.h"
#include "flow/fault.h"
#include "recorder/record.h"
#include "render/json.h"
#include "render/render_branch.h"
#include "render/render_lines.h"
#include "flow/level_filter.h"
#include "flow/trace.h"

static void json_type(struct renderer *r, const struct btsrec_event *event)
{
	struct branch branch = trace_type(r->types, event);

	json_branch_type(&r->out, &branch);
}

static void json_begin(struct out *out, unsigned int cpu, uint64_t n, const char *kind)
{
	out_literal(out, "{\"cpu\":");
	out_dec(out, cpu, 0);
	json_number(out, "n", n);
	json_word(out, "kind", kind);
}

static void json_branch_head(struct out *out, unsigned int cpu, uint64_t n,
			     const struct btsrec_record *branch)
{
	json_begin(out, cpu, n, "branch");
	json_address(out, "from", branch->from);
	json_address(out, "to", branch->to);
	json_bool(out, "predicted", branch->flags & BTSREC_FLAG_PREDICTED);
}

/* The members after those that @branch_head writes. */
static void json_branch(struct renderer *r, const struct btsrec_event *event)
{
	const struct btsrec_record *branch = &event->branch;

	if (r->types)
		json_type(r, event);
	json_sym(r, "from_sym", branch->from);
	json_sym(r, "to_sym", branch->to);
	if (r->lines) {
		json_line(r, "from_file", "from_line", branch->from);
		json_line(r, "to_file", "to_line", branch->to);
	}
}

static void json_branches(struct out *out, const struct branch_run *run,
			  const struct label *const *labels)
{
	branch_lines(out, run, labels, json_branch_head);
}

static void json_branch_label(struct renderer *r, const struct btsrec_event *event)
{
	json_branch(r, event);
	out_literal(&r->out, "}\n");
}

void json_event_open(struct renderer *r, const struct btsrec_event *event)
{
	struct out *out = &r->out;
	uint64_t tsc;

	if (event->kind == BTSREC_EVENT_BRANCH) {
		json_branch_head(out, event->cpu, event->n, &event->branch);
		json_branch(r, event);
		return;
	}
	json_begin(out, event->cpu, event->n, record_event_str(event->kind));
	if (clock_event(event, &tsc))
		json_number(out, "tsc", tsc);
	json_details(r, event);
}

static void json_event(struct renderer *r, const struct btsrec_event *event)
{
	json_event_open(r, event);
	out_literal(&r->out, "}\n");
}

static void json_found(struct renderer *r, const struct fault *fault)
{
	struct out *out = &r->out;

	json_address(out, "ip", fault->from);
	json_sym(r, "ip_sym", fault->from);
	json_number(out, "newer", fault->nr_newer);
	if (fault->vector >= 0)
		json_number(out, "vector", (uint64_t)fault->vector);
}

static void json_fault(struct renderer *r, unsigned int cpu, uint64_t n,
		       const struct fault *fault)
{
	struct out *out = &r->out;

	json_begin(out, cpu, n, "fault");
	json_word(out, "what", fault_kind_str(fault->kind));
	if (fault->kind == FAULT_UNKNOWN)
		json_word(out, "why", fault_why_str(fault->why));
	else
		json_found(r, fault);
	out_literal(out, "}\n");
}

static void json_block(struct renderer *r, const struct level_filter_block *block)
{
	struct out *out = &r->out;

	json_begin(out, block->cpu, block->n, render_block_str(block));
	if (block->has_from)
		json_address(out, "from", block->from);
	if (block->has_to)
		json_address(out, "to", block->to);
	if (block->has_from)
		json_sym(r, "from_sym", block->from);
	if (block->has_to)
		json_sym(r, "to_sym", block->to);
	if (block->has_entry) {
		json_branch_type(out, &block->entry);
		json_address(out, "entry", block->entry_kva);
		json_sym(r, "entry_sym", block->entry_kva);
	}
	if (block->handler_kva) {
		json_address(out, "handler", block->handler_kva);
		json_sym(r, "handler_sym", block->handler_kva);
	}
	json_number(out, "branches", block->nr_branches);
	out_literal(out, "}\n");
}

const struct render_format render_jsonl = {
	.event = json_event,
	.branch_label = json_branch_label,
	.branches = json_branches,
	.fault = json_fault,
	.block = json_block,
	.loop = loop_json,
	.interval = interval_json,
	.end = json_lines_missing,
};
