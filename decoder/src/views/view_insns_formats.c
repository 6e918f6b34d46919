// SPDX-License-Identifier: GPL-2.0-or-later
/* Instructions as text and JSON lines, with the values of registers if they are wanted. */
#include "views/view_insns.h"

#include <string.h>

#include "render/json.h"
#include "render/render_branch.h"
#include "render/render_lines.h"

/* --- Registers ---------------------------------------------------------- */

/** struct shown_value - @value of a register; @class: a word; NULL: not known */
struct shown_value {
	uint64_t value;
	const char *class;
};

static bool is_known(const struct sem_shown *shown, const struct known *known, uint64_t *ret)
{
	uint64_t width = shown->bytes < 8 ? (1ULL << 8 * shown->bytes) - 1 : UINT64_MAX;

	*ret = known->value >> shown->shift & width;
	return (known->mask >> shown->shift & width) == width;
}

/* What is read is what it was before, what is written is what it became. */
static struct shown_value value_of(const struct sem_shown *shown, bool written,
				   const struct reg_values_at *at)
{
	const struct known *certain = written ? at->certain.behind : at->certain.before;
	const struct known *likely = written ? at->likely.behind : at->likely.before;
	struct shown_value ret = { 0 };

	if (is_known(shown, &certain[shown->reg], &ret.value))
		ret.class = "certain";
	else if (is_known(shown, &likely[shown->reg], &ret.value))
		ret.class = "likely";
	return ret;
}

static void text_value(struct out *out, const struct sem_shown *shown, bool written,
		       const struct reg_values_at *at)
{
	struct shown_value value = value_of(shown, written, at);

	out_char(out, ' ');
	out_str(out, sem_shown_name(shown));
	out_char(out, !value.class || *value.class == 'c' ? '=' : '~');
	if (value.class)
		out_hex(out, value.value);
	else
		out_char(out, '?');
}

static void text_values(struct out *out, const struct sem_insn *insn,
			const struct reg_values_at *at)
{
	const char *arrow = " ->";

	out_literal(out, "  #");
	for (unsigned int i = 0; i < insn->nr_shown; i++)
		if (insn->shown[i].read)
			text_value(out, &insn->shown[i], false, at);
	for (unsigned int i = 0; i < insn->nr_shown; i++) {
		if (!insn->shown[i].written)
			continue;
		out_str(out, arrow);
		arrow = "";
		text_value(out, &insn->shown[i], true, at);
	}
}

static void json_value(struct out *out, const struct sem_shown *shown, bool written,
		       const struct reg_values_at *at)
{
	struct shown_value value = value_of(shown, written, at);

	out_literal(out, "{\"reg\":\"");
	out_str(out, sem_shown_name(shown));
	out_char(out, '"');
	if (value.class) {
		out_literal(out, ",\"value\":\"");
		out_hex(out, value.value);
		out_char(out, '"');
	}
	json_word(out, "class", value.class ? value.class : "unknown");
	out_char(out, '}');
}

static void json_registers(struct out *out, const char *key, const struct sem_insn *insn,
			   bool written, const struct reg_values_at *at)
{
	const char *comma = "";

	json_key(out, key);
	out_char(out, '[');
	for (unsigned int i = 0; i < insn->nr_shown; i++) {
		const struct sem_shown *shown = &insn->shown[i];

		if (!(written ? shown->written : shown->read))
			continue;
		out_str(out, comma);
		comma = ",";
		json_value(out, shown, written, at);
	}
	out_char(out, ']');
}

static void json_values(struct out *out, const struct sem_insn *insn,
			const struct reg_values_at *at)
{
	json_registers(out, "reads", insn, false, at);
	json_registers(out, "writes", insn, true, at);
}

/* In front of the end of the line. */
static void put_registers(struct insns *view, const struct insn_line *line)
{
	struct out *out = &view->renderer.out;
	size_t end_bytes = view->json ? 2 : 1;
	const struct sem_insn *insn;
	struct reg_values_at at;

	out_long(out, line->text, line->nr_bytes - end_bytes);
	insn = reg_values_next(view->values.values, view->place++, &at);
	if (view->json)
		json_values(out, insn, &at);
	else if (insn->nr_shown)
		text_values(out, insn, &at);
	out_bytes(out, line->text + line->nr_bytes - end_bytes, end_bytes);
	out_room(out);
}

static void put_line(struct insns *view, const struct insn_line *line)
{
	struct out *out = &view->renderer.out;

	out_room(out);
	memcpy(out->at, view->begin, sizeof(view->begin));
	out->at += view->begin_bytes;
	if (view->place != TRACE_VALUES_NONE)
		put_registers(view, line);
	else
		insn_line_put(out, line);
}

/* --- Text --------------------------------------------------------------- */

static void text_begin(struct insns *view, const char *kind)
{
	struct out *out = &view->renderer.out;

	out_bytes(out, view->begin, view->begin_bytes);
	out_pad(out, kind, 8);
}

/* The mode of the code is worth a word where it is not what a reader expects. */
static void out_mode(struct out *out, const struct proof_step *step)
{
	if (step->guessed && step->compat)
		out_literal(out, "  mode not known, by its bytes 32-bit code");
	else if (step->guessed)
		out_literal(out, "  mode not known, taken for 64-bit code");
	else if (step->compat)
		out_literal(out, "  32-bit code");
}

/* Many events in a row are of one thread. */
static void word_thread(struct insns *view, const struct btsrec_side *side)
{
	struct out *out = &view->lines.labels;

	out_init(out, NULL);
	out_char(out, ' ');
	out_thread(out, side->pid, side->tgid, side->comm);
	view->thread_bytes = (size_t)(out->at - out->buf);
	memcpy(view->thread, out->buf, view->thread_bytes);
	view->thread_side = *side;
}

static void text_thread(struct insns *view, const struct btsrec_side *side)
{
	if (!view->thread_bytes || memcmp(side, &view->thread_side, sizeof(*side)))
		word_thread(view, side);
	out_bytes(&view->renderer.out, view->thread, view->thread_bytes);
}

static void text_code(struct insns *view, uint64_t ip, const struct trace_event *traced,
		      const struct insn_line *name)
{
	struct out *out = &view->renderer.out;

	view->line.number = 0;
	text_begin(view, "code");
	out_hex16(out, ip);
	if (traced->side)
		text_thread(view, traced->side);
	if (name) {
		out_bytes(out, name->text, name->nr_bytes);
		return;
	}
	out_name_of(out, &view->renderer, ip);
	out_mode(out, traced->step);
	out_char(out, '\n');
}

/* Code of a file: tabs are text, other control characters are not. */
static void out_source(struct out *out, const char *text, size_t nr_bytes)
{
	for (size_t i = 0; i < nr_bytes; i++) {
		if (text[i] == '\t' || (text[i] >= ' ' && text[i] <= '~'))
			out_char(out, text[i]);
		else
			out_escaped(out, text + i, 1);
	}
}

static bool same_line(const struct line *a, const struct line *b)
{
	return a->number == b->number && (!a->number || !strcmp(a->file, b->file));
}

/* A line of its own where the source line changes. */
static void text_line(struct insns *view, uint64_t ip)
{
	struct out *out = &view->renderer.out;
	struct line line = { 0 };
	const char *text = "";
	size_t nr_bytes;

	(void)line_find(view->renderer.rec, view->cr3, ip, &line);
	if (same_line(&line, &view->line))
		return;
	view->line = line;
	text_begin(view, "line");
	if (line.number) {
		out_line(out, &line);
		nr_bytes = srctext_line(&view->lines.source, line.file, line.number, &text);
		if (nr_bytes)
			out_literal(out, "  ");
		out_source(out, text, nr_bytes);
	} else {
		out_char(out, '-');
	}
	out_char(out, '\n');
}

static void text_entry(struct insns *view, const struct trace_event *traced)
{
	const struct btsrec_record *record = &traced->event->branch;
	struct out *out = &view->renderer.out;

	text_begin(view, "entry");
	out_hex16(out, record->from);
	out_literal(out, " -> ");
	out_hex16(out, record->to);
	out_char(out, ' ');
	out_branch_type(out, &traced->step->branch);
	out_char(out, '\n');
}

static void text_break(struct insns *view, const struct trace_event *traced)
{
	text_begin(view, "break");
	out_break(&view->renderer.out, traced->step);
	out_char(&view->renderer.out, '\n');
}

static void text_insn(struct insns *view, uint64_t ip, const struct trace_event *traced,
		      const struct insn_line *line)
{
	(void)traced;
	if (view->opts->lines)
		text_line(view, ip);
	put_line(view, line);
}

const struct insns_format insns_text = {
	.code = text_code,
	.insn = text_insn,
	.entry = text_entry,
	.broken = text_break,
	.others = true,
	.named = true,
};

/* --- JSON lines --------------------------------------------------------- */

static void json_begin(struct insns *view, const char *kind)
{
	struct out *out = &view->renderer.out;

	out_bytes(out, view->begin, view->begin_bytes);
	json_word(out, "kind", kind);
}

static void json_code(struct insns *view, uint64_t ip, const struct trace_event *traced,
		      const struct insn_line *name)
{
	const struct btsrec_side *side = traced->side;
	struct out *out = &view->renderer.out;

	(void)name;
	json_begin(view, "code");
	json_address(out, "ip", ip);
	if (side)
		json_thread(out, side->pid, side->tgid, side->comm);
	json_sym(&view->renderer, "ip_sym", ip);
	if (traced->step->compat)
		json_word(out, "mode", "32-bit");
	if (traced->step->guessed)
		out_literal(out, ",\"mode_known\":false");
	out_literal(out, "}\n");
}

static void json_entry(struct insns *view, const struct trace_event *traced)
{
	const struct btsrec_record *record = &traced->event->branch;

	json_begin(view, "entry");
	json_address(&view->renderer.out, "from", record->from);
	json_address(&view->renderer.out, "to", record->to);
	json_branch_type(&view->renderer.out, &traced->step->branch);
	out_literal(&view->renderer.out, "}\n");
}

static void json_broken(struct insns *view, const struct trace_event *traced)
{
	json_begin(view, "break");
	json_break(&view->renderer.out, traced->step);
	out_literal(&view->renderer.out, "}\n");
}

static void json_insn(struct insns *view, uint64_t ip, const struct trace_event *traced,
		      const struct insn_line *line)
{
	(void)ip;
	(void)traced;
	put_line(view, line);
}

const struct insns_format insns_json = {
	.code = json_code,
	.insn = json_insn,
	.entry = json_entry,
	.broken = json_broken,
	.others = true,
};
