// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Coverage as text, JSON lines and values.  As text, with "never" for what did not run:
 *
 *   ADDRESS                COUNT INSTRUCTION
 *   0xffffffff81000000        12 push %rbp
 *   0xffffffff81000001     never ud2
 */
#include "render/json.h"
#include "render/render_lines.h"
#include "views/view_coverage.h"

#define COUNT_WIDTH 9

/* --- Text --------------------------------------------------------------- */

static void text_name(struct out *out, const struct symbol_name *name)
{
	out_bytes(out, name->name, name->name_bytes);
	if (!*name->module)
		return;
	out_literal(out, " [");
	out_str(out, name->module);
	out_char(out, ']');
}

static void text_begin(struct cover_view *view, const struct cover *cover)
{
	struct out *out = &view->renderer.out;

	out_literal(out, "# ");
	text_name(out, &cover->name);
	out_literal(out, ": ");
	out_dec(out, cover->nr_executed, 0);
	out_literal(out, " instructions executed, ");
	out_dec(out, cover->nr_never, 0);
	out_literal(out, " never; CPUs: ");
	out_dec(out, view->nr_cpus, 0);
	if (cover->nr_unproven) {
		out_literal(out, "; unproven runs: ");
		out_dec(out, cover->nr_unproven, 0);
	}
	out_literal(out, "\n# ADDRESS              COUNT INSTRUCTION\n");
}

static void text_address(struct out *out, uint64_t ip)
{
	out_hex16(out, ip);
	out_char(out, ' ');
}

static void text_insn(struct cover_view *view, const struct cover_insn *insn, uint64_t count,
		      const char *text, size_t text_bytes)
{
	struct out *out = &view->renderer.out;

	text_address(out, insn->ip);
	if (count)
		out_dec(out, count, COUNT_WIDTH);
	else
		out_literal(out, "    never");
	out_char(out, ' ');
	out_escaped(out, text, text_bytes);
	if (view->renderer.lines) {
		out_literal(out, "  at ");
		out_line_of(&view->renderer, insn->ip);
	}
	out_char(out, '\n');
}

static void text_fault(struct cover_view *view, const struct cover_insn *insn)
{
	struct out *out = &view->renderer.out;

	text_address(out, insn->ip);
	out_literal(out, "        - the rest is not known: ");
	out_str(out, code_fault_str(insn->fault));
	out_char(out, '\n');
}

static void text_end(struct cover_view *view)
{
	struct out *out = &view->renderer.out;

	if (view->nr_gaps) {
		out_literal(out, "# gaps: ");
		out_dec(out, view->nr_gaps, 0);
		out_literal(out, "; what ran there is not counted\n");
	}
	text_lines_missing(&view->renderer);
}

/* --- JSON lines --------------------------------------------------------- */

static void json_begin(struct cover_view *view, const struct cover *cover)
{
	struct out *out = &view->renderer.out;

	out_literal(out, "{\"kind\":\"coverage\"");
	json_sym(&view->renderer, "function", cover->coverage.start);
	json_address(out, "start", cover->coverage.start);
	json_number(out, "executed", cover->nr_executed);
	json_number(out, "never", cover->nr_never);
	json_number(out, "unproven", cover->nr_unproven);
	json_number(out, "cpus", view->nr_cpus);
	json_number(out, "gaps", view->nr_gaps);
	out_literal(out, "}\n");
}

static void json_insn(struct cover_view *view, const struct cover_insn *insn, uint64_t count,
		      const char *text, size_t text_bytes)
{
	struct out *out = &view->renderer.out;

	out_literal(out, "{\"kind\":\"executed\"");
	json_address(out, "ip", insn->ip);
	json_number(out, "count", count);
	json_text(out, "insn", text, text_bytes);
	if (view->renderer.lines)
		json_line(&view->renderer, "file", "line", insn->ip);
	out_literal(out, "}\n");
}

static void json_fault(struct cover_view *view, const struct cover_insn *insn)
{
	struct out *out = &view->renderer.out;

	out_literal(out, "{\"kind\":\"unreadable\"");
	json_address(out, "ip", insn->ip);
	json_word(out, "why", code_fault_str(insn->fault));
	out_literal(out, "}\n");
}

static void json_end(struct cover_view *view)
{
	json_lines_missing(&view->renderer);
}

/* --- Values ------------------------------------------------------------- */

static void values_begin(struct cover_view *view, const struct cover *cover)
{
	view->cover = cover;
}

static void put(struct cover_view *view, struct btsrec_executed *value)
{
	const struct cover *cover = view->cover;

	value->size = sizeof(*value);
	value->start_kva = cover->coverage.start;
	value->function.name = cover->name.name;
	value->function.name_bytes = cover->name.name_bytes;
	value->function.module = cover->name.module;
	view->renderer.out.stopped = !view->fn(view->arg, value);
}

static void values_insn(struct cover_view *view, const struct cover_insn *insn, uint64_t count,
			const char *text, size_t text_bytes)
{
	struct btsrec_executed value = {
		.ip_va = insn->ip,
		.nr_times = count,
		.text = text,
		.text_bytes = text ? strnlen(text, text_bytes) : 0,
	};

	put(view, &value);
}

static void values_fault(struct cover_view *view, const struct cover_insn *insn)
{
	struct btsrec_executed value = {
		.ip_va = insn->ip,
		.no_code = code_fault_str(insn->fault),
	};

	put(view, &value);
}

static void values_end(struct cover_view *view)
{
	(void)view;
}

const struct cover_format cover_values = { values_begin, values_insn, values_fault, values_end };

/* --- All ---------------------------------------------------------------- */

const struct cover_format *cover_format_of(enum btsrec_format format)
{
	static const struct cover_format text = { text_begin, text_insn, text_fault, text_end };
	static const struct cover_format json = { json_begin, json_insn, json_fault, json_end };

	if (format == BTSREC_FORMAT_TEXT)
		return &text;
	return format == BTSREC_FORMAT_JSONL ? &json : NULL;
}
