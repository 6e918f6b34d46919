// SPDX-License-Identifier: GPL-2.0-or-later
/* Instructions as values. */
#include "views/values.h"
#include "views/view_insns.h"

static void put_value(struct insns *view, const struct btsrec_side *side,
		      struct btsrec_insn *value)
{
	value->size = sizeof(*value);
	value->cpu = view->cpu;
	value->n = view->n;
	value->has_task = values_task(side, &value->task);
	if (!view->renderer.out.stopped && !view->fn(view->arg, value))
		view->renderer.out.stopped = true;
}

static void put_insn(struct insns *view, uint64_t ip, const struct trace_event *traced,
		     const struct insn_line *line)
{
	struct btsrec_insn value = {
		.kind = BTSREC_INSN_EXECUTED,
		.ip_va = ip,
		.length_bytes = line->code_bytes,
		.text = line->text,
		.text_bytes = line->nr_bytes,
		.is_32_bit = traced->step->compat,
		.to_va = line->target_va,
	};

	put_value(view, traced->side, &value);
}

static void put_entry(struct insns *view, const struct trace_event *traced)
{
	struct btsrec_insn value = {
		.kind = BTSREC_INSN_ENTRY,
		.ip_va = traced->event->branch.from,
		.to_va = traced->event->branch.to,
	};

	put_value(view, traced->side, &value);
}

static void put_break(struct insns *view, const struct trace_event *traced)
{
	struct btsrec_insn value = {
		.kind = BTSREC_INSN_BREAK,
		.ip_va = traced->step->start,
		.to_va = traced->step->end,
		.why = traced->step->fault ? code_fault_str(traced->step->fault) : NULL,
	};

	put_value(view, traced->side, &value);
}

/* Each instruction has its thread. */
static void put_code(struct insns *view, uint64_t ip, const struct trace_event *traced,
		     const struct insn_line *name)
{
	(void)view;
	(void)ip;
	(void)traced;
	(void)name;
}

const struct insns_format insns_values = {
	.code = put_code,
	.insn = put_insn,
	.entry = put_entry,
	.broken = put_break,
};
