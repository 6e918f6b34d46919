// SPDX-License-Identifier: GPL-2.0-or-later
/* The tree as JSON lines; see btsrec-show-jsonl(5). */
#include "render/json.h"
#include "render/render_branch.h"
#include "render/render_lines.h"
#include "symbols/symbol.h"
#include "views/view_calls.h"

static void json_begin(struct calls *view, const struct calltree_line *line, const char *kind)
{
	struct out *out = &view->renderer.out;
	unsigned int cpu;
	uint64_t n = calls_place(view, line->n, &cpu);

	out_literal(out, "{\"cpu\":");
	out_dec(out, cpu, 0);
	json_number(out, "n", n);
	json_word(out, "kind", kind);
}

static void json_level(struct out *out, uint32_t indent)
{
	json_number(out, "level", indent);
}

static void json_ends(struct calls *view, const struct calltree_line *line)
{
	struct renderer *r = &view->renderer;

	json_address(&r->out, "from", line->from);
	json_address(&r->out, "to", line->to);
	json_sym(r, "from_sym", line->from);
	json_sym(r, "to_sym", line->to);
}

static void json_syscall(struct renderer *r, uint64_t handler_va)
{
	struct symbol_name name;
	size_t nr_bytes;
	const char *text;

	if (!handler_va || !symbol_find(r->rec, handler_va, &name))
		return;
	text = trace_syscall(&name, &nr_bytes);
	if (text)
		json_text(&r->out, "syscall", text, nr_bytes);
}

static void json_duration(struct calls *view, const struct calltree_line *line)
{
	struct out *out = &view->renderer.out;
	uint64_t min, max;

	if (!calls_duration(view, line, &min, &max))
		return;
	json_number(out, view->tsc_khz ? "min_ns" : "min_ticks", min);
	json_number(out, view->tsc_khz ? "max_ns" : "max_ticks", max);
}

static void json_last(struct calls *view, const struct calltree_line *line)
{
	struct out *out = &view->renderer.out;
	unsigned int cpu, last_cpu;

	json_number(out, "last_n", calls_place(view, line->last_n, &last_cpu));
	(void)calls_place(view, line->n, &cpu);
	if (last_cpu != cpu)
		json_number(out, "last_cpu", last_cpu);
}

static void json_call(struct calls *view, const struct calltree_line *line, uint32_t indent)
{
	struct out *out = &view->renderer.out;
	bool ended = line->last_n != UINT64_MAX;

	json_begin(view, line, "enter");
	json_word(out, "type", frame_kind_str(line->frame));
	if (line->vector >= 0)
		json_number(out, "vector", (uint64_t)line->vector);
	json_level(out, indent);
	json_ends(view, line);
	json_number(out, "branches", line->call.nr_branches);
	if (ended)
		json_last(view, line);
	json_bool(out, "complete", ended && !line->more);
	json_syscall(&view->renderer, line->call.handler);
	args_put_json(out, args_find(view->args, line->frame, line->n, line->to));
	json_duration(view, line);
	if (view->source)
		json_line(&view->renderer, "from_file", "from_line", line->from);
}

static void json_place(struct calls *view, const struct calltree_line *line, uint32_t indent,
		       const char *kind)
{
	json_begin(view, line, kind);
	json_level(&view->renderer.out, indent);
	json_ends(view, line);
}

static void json_stack(struct calls *view, const struct calltree_line *line, uint32_t indent)
{
	const struct btsrec_side *side = calltree_side(&view->tree, line);
	struct out *out = &view->renderer.out;

	json_begin(view, line, "thread");
	json_level(out, indent);
	if (side)
		json_thread(out, side->pid, side->tgid, side->comm);
	json_address(out, "ip", line->from);
	json_sym(&view->renderer, "ip_sym", line->from);
}

static void json_cycle(struct calls *view, const struct calltree_line *line, uint32_t indent)
{
	struct out *out = &view->renderer.out;

	json_place(view, line, indent, "cycle");
	json_number(out, "branches", line->cycle.period);
	json_number(out, "rounds", line->cycle.nr_rounds);
	json_last(view, line);
}

static void json_broken(struct calls *view, const struct calltree_line *line)
{
	struct proof_step step = calls_break(line);

	json_begin(view, line, "break");
	json_break(&view->renderer.out, &step);
}

static void json_tree_line(struct calls *view, const struct calltree_line *line,
			   uint32_t indent)
{
	switch (line->kind) {
	case CALLTREE_CALL:
		json_call(view, line, indent);
		break;
	case CALLTREE_RETURN:
		json_place(view, line, indent, "return");
		break;
	case CALLTREE_ASTRAY:
		json_place(view, line, indent, "astray");
		break;
	case CALLTREE_RESUME:
		json_place(view, line, indent, "resume");
		break;
	case CALLTREE_THREAD:
		json_stack(view, line, indent);
		break;
	case CALLTREE_LOST:
		json_place(view, line, indent, "lost");
		break;
	case CALLTREE_CYCLE:
		json_cycle(view, line, indent);
		break;
	case CALLTREE_BREAK:
		json_broken(view, line);
		break;
	case CALLTREE_INTERVAL:
	case CALLTREE_FAULT:
	case CALLTREE_EVENT:
		break;
	}
	out_literal(&view->renderer.out, "}\n");
}

const struct calls_format calls_json = {
	.call = json_tree_line,
	.line = json_tree_line,
};
