// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text: one line per event, fixed columns first and names last, so that grep,
 * sort and awk survive.
 *
 *   CPU         N KIND
 *     0     43684 branch  0xffffffff81a0b2c3 -> 0xffffffff81a0c000 P  a+0x43 -> b+0x0
 *     0     43685 switch  tsc=81 task 12/12 "sh" cr3=0x... -> 34/34 "cat" cr3=0x...
 */
#include "flow/clock.h"
#include "flow/fault.h"
#include "render/render.h"
#include "render/render_branch.h"
#include "render/render_lines.h"
#include "recorder/record.h"
#include "recorder/session.h"
#include "flow/level_filter.h"
#include "symbols/symbol.h"
#include "render/text_columns.h"
#include "flow/trace.h"

/* "syscall", "irq:236" */
#define TYPE_WIDTH 7

static void text_name(struct renderer *r, bool known, const struct symbol_name *name,
		      enum symbol_why why)
{
	if (known)
		out_name(&r->out, name);
	else
		out_no_name(&r->out, why);
}

/* Without a symbol source a line gets its names part only if a module is known. */
static void text_branch_names(struct renderer *r, const struct btsrec_record *branch,
			      unsigned int nr_blanks)
{
	struct symbol_name from, to;
	enum symbol_why why_from, why_to;
	bool has_from = render_find(r, branch->from, &from, &why_from);
	bool has_to = render_find(r, branch->to, &to, &why_to);

	if (!symbols_present(r->rec) && !has_from && !has_to)
		return;
	out_pad(&r->out, "", nr_blanks + 2);
	text_name(r, has_from, &from, why_from);
	out_literal(&r->out, " -> ");
	text_name(r, has_to, &to, why_to);
}

/* How many blanks are missing to a column of kinds. */
static unsigned int text_type(struct renderer *r, const struct btsrec_event *event)
{
	char text[BRANCH_TEXT_BYTES];
	struct branch branch;
	size_t nr_bytes;

	if (!r->types)
		return 0;
	branch = trace_type(r->types, event);
	nr_bytes = branch_text(text, &branch);
	out_char(&r->out, ' ');
	out_bytes(&r->out, text, nr_bytes);
	return nr_bytes < TYPE_WIDTH ? (unsigned int)(TYPE_WIDTH - nr_bytes) : 0;
}

static void text_branch_lines(struct renderer *r, const struct btsrec_record *branch)
{
	out_literal(&r->out, "  ");
	out_line_of(r, branch->from);
	out_literal(&r->out, " -> ");
	out_line_of(r, branch->to);
}

static void text_branch_label(struct renderer *r, const struct btsrec_event *event)
{
	text_branch_names(r, &event->branch, text_type(r, event));
	if (r->lines)
		text_branch_lines(r, &event->branch);
	out_char(&r->out, '\n');
}

static void fault_name(struct renderer *r, const struct fault *fault)
{
	struct symbol_name name;

	if (symbol_find(r->rec, fault->from, &name)) {
		out_literal(&r->out, "  ");
		out_name(&r->out, &name);
	} else if (symbols_present(r->rec)) {
		out_literal(&r->out, "  -");
	}
}

void render_fault(struct renderer *r, const struct fault *fault)
{
	struct branch branch = { .type = BRANCH_EXCEPTION, .vector = fault->vector };
	struct out *out = &r->out;

	if (fault->kind == FAULT_UNKNOWN) {
		out_literal(out, "unknown: ");
		out_str(out, fault_why_str(fault->why));
		return;
	}
	if (fault->kind == FAULT_EXCEPTION && fault->vector >= 0)
		out_branch_type(out, &branch);
	else
		out_str(out, fault_kind_str(fault->kind));
	out_literal(out, " at ");
	out_hex16(out, fault->from);
	out_literal(out, " newer=");
	out_dec(out, fault->nr_newer, 0);
	fault_name(r, fault);
}

static void text_fault(struct renderer *r, unsigned int cpu, uint64_t n,
		       const struct fault *fault)
{
	struct out *out = &r->out;

	out_event(out, cpu, n);
	out_literal(out, "fault   ");
	render_fault(r, fault);
	out_char(out, '\n');
}

/* "syscall handler=__x64_sys_read+0x0"; an address where there is no name. */
static void text_block_entry(struct renderer *r, const struct level_filter_block *block)
{
	uint64_t va = block->handler_kva ? block->handler_kva : block->entry_kva;
	struct out *out = &r->out;
	struct symbol_name name;

	out_branch_type(out, &block->entry);
	out_str(out, block->handler_kva ? " handler=" : " entry=");
	if (symbol_find(r->rec, va, &name))
		out_name(out, &name);
	else
		out_hex16(out, va);
	out_char(out, ' ');
}

void render_block(struct renderer *r, const struct level_filter_block *block)
{
	if (block->has_entry)
		text_block_entry(r, block);
	out_literal(&r->out, "branches=");
	out_dec(&r->out, block->nr_branches, 0);
}

static void text_block_end(struct out *out, bool known, uint64_t va)
{
	if (known)
		out_hex16(out, va);
	else
		out_pad(out, "-", 18);
}

static void text_block_names(struct renderer *r, const struct level_filter_block *block)
{
	enum symbol_why why_from = SYMBOL_UNKNOWN, why_to = SYMBOL_UNKNOWN;
	struct symbol_name from, to;
	bool has_from = block->has_from && render_find(r, block->from, &from, &why_from);
	bool has_to = block->has_to && render_find(r, block->to, &to, &why_to);

	if (!has_from && !has_to)
		return;
	out_literal(&r->out, "  ");
	text_name(r, has_from, &from, why_from);
	out_literal(&r->out, " -> ");
	text_name(r, has_to, &to, why_to);
}

static void text_block(struct renderer *r, const struct level_filter_block *block)
{
	struct out *out = &r->out;

	out_event(out, block->cpu, block->n);
	out_pad(out, render_block_str(block), 8);
	text_block_end(out, block->has_from, block->from);
	out_literal(out, " -> ");
	text_block_end(out, block->has_to, block->to);
	out_char(out, ' ');
	render_block(r, block);
	text_block_names(r, block);
	out_char(out, '\n');
}

static void text_filtered(struct renderer *r, unsigned int cpu, uint64_t nr_wanted,
			  uint64_t nr_events)
{
	struct out *out = &r->out;

	out_literal(out, "# CPU ");
	out_dec(out, cpu, 0);
	out_literal(out, ": ");
	out_dec(out, nr_wanted, 0);
	out_literal(out, " of ");
	out_dec(out, nr_events, 0);
	out_literal(out, " events match\n");
}

static void text_event(struct renderer *r, const struct btsrec_event *event)
{
	struct out *out = &r->out;
	uint64_t tsc;

	if (event->kind == BTSREC_EVENT_BRANCH) {
		text_branch_head(out, event->cpu, event->n, &event->branch);
		text_branch_label(r, event);
		return;
	}
	out_event(out, event->cpu, event->n);
	out_pad(out, record_event_str(event->kind), 8);
	if (clock_event(event, &tsc)) {
		out_literal(out, "tsc=");
		out_dec(out, tsc, 0);
		out_char(out, ' ');
	}
	render_details(r, event);
	out_char(out, '\n');
}

static void text_cpu(struct renderer *r, const struct btsrec_cpu *cpu,
		     const struct session_ring *ring)
{
	struct out *out = &r->out;

	out_literal(out, "# CPU ");
	out_dec(out, cpu->cpu, 0);
	out_literal(out, ": ");
	render_cpu_state(out, cpu);
	out_str(out, ring->complete ? ", complete" : ", older history is gone");
	out_char(out, '\n');
}

const struct render_format render_text = {
	.cpu = text_cpu,
	.event = text_event,
	.branch_label = text_branch_label,
	.branches = text_branches,
	.fault = text_fault,
	.cpu_end = out_user_summary,
	.thread_end = out_user_summary_thread,
	.block = text_block,
	.loop = loop_text,
	.interval = interval_text,
	.filtered = text_filtered,
	.end = text_lines_missing,
};
