// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/render_lines.h"
#include "views/view_stack.h"

static void json_begin(struct out *out, const struct stack_printed *printed, const char *kind)
{
	unsigned int cpu;
	uint64_t n = stack_n(printed, printed->n, &cpu);

	out_literal(out, "{\"cpu\":");
	out_dec(out, cpu, 0);
	json_number(out, "n", n);
	json_word(out, "kind", kind);
}

/* An event that is not of the CPU of the line has its own. */
static void json_n(struct out *out, const struct stack_printed *printed, const char *key,
		   const char *cpu_key, uint64_t n)
{
	unsigned int cpu, printed_cpu;

	json_number(out, key, stack_n(printed, n, &cpu));
	(void)stack_n(printed, printed->n, &printed_cpu);
	if (cpu != printed_cpu)
		json_number(out, cpu_key, cpu);
}

static void json_frame(struct renderer *r, const struct stack_printed *printed, size_t i)
{
	const struct stack_line *line = &printed->lines[i];
	struct out *out = &r->out;
	struct symbol_name name;
	enum symbol_why why;
	bool found = stack_line_find(r, line, &name, &why);

	json_begin(out, printed, "frame");
	json_number(out, "frame", i);
	json_address(out, "ip", line->ip);
	json_sym_found(out, "ip_sym", found, &name, why);
	if (line->frame) {
		json_word(out, "how", frame_kind_str(line->frame->kind));
		if (line->frame->vector >= 0)
			json_number(out, "vector", (uint64_t)line->frame->vector);
		json_n(out, printed, "entered_n", "entered_cpu", line->frame->n);
		json_address(out, "entered", line->frame->entered);
	} else if (line->by_thunk) {
		json_word(out, "how", "thunk");
	}
	json_bool(out, "gone", line->gone);
	json_bool(out, "unreliable", line->unreliable);
	if (line->memory != STACK_NOT_LOOKED)
		json_bool(out, "in_memory", line->memory == STACK_FOUND);
	args_put_json(out, stack_args(printed, line));
	if (r->lines)
		json_lines_of(r, stack_source_va(line));
	out_literal(out, "}\n");
}

static void json_astray(struct out *out, const struct stack_printed *printed)
{
	const struct stack_astray *astray = printed->astray;

	json_begin(out, printed, "mismatch");
	json_n(out, printed, "return_n", "return_cpu", astray->n);
	json_address(out, "from", astray->from);
	json_address(out, "to", astray->to);
	if (astray->expected) {
		json_n(out, printed, "call_n", "call_cpu", astray->call_n);
		json_address(out, "expected", astray->expected);
	}
	out_literal(out, "}\n");
}

static void json_title(struct out *out, const struct stack_printed *printed)
{
	json_begin(out, printed, "stack");
	if (printed->side)
		json_thread(out, printed->side->pid, printed->side->tgid, printed->side->comm);
	json_number(out, "frames", printed->nr_lines);
	json_bool(out, "complete", printed->complete);
	if (printed->unreliable.why != UNRELIABLE_NOT) {
		json_word(out, "unreliable_why", stack_unreliable_str(printed->unreliable.why));
		json_n(out, printed, "unreliable_n", "unreliable_n_cpu", printed->unreliable.n);
		if (printed->unreliable.why == UNRELIABLE_ELSEWHERE ||
		    printed->unreliable.why == UNRELIABLE_UNKNOWN ||
		    printed->unreliable.why == UNRELIABLE_ORDER)
			json_number(out, "unreliable_cpu", printed->unreliable.cpu);
	}
	if (printed->freeze && printed->ip_line < printed->nr_lines) {
		json_number(out, "ip_frame", printed->ip_line);
		json_number(out, "in_memory", printed->nr_found);
		json_number(out, "not_in_memory", printed->nr_missing);
	}
	out_literal(out, "}\n");
}

void stack_json(struct renderer *r, const struct stack_printed *printed)
{
	r->side = printed->side;
	json_title(&r->out, printed);
	for (size_t i = 0; i < printed->nr_lines && !r->out.stopped; i++)
		json_frame(r, printed, i);
	if (printed->astray)
		json_astray(&r->out, printed);
}
