// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/insn_lines.h"

#include <stdlib.h>

#include "render/json.h"
#include "render/render_lines.h"
#include "flow/trace.h"

#define INSN_TEXT_BYTES 128

/**
 * struct insn - one instruction and its @nr_bytes bytes
 * @target_va, @target: the function that it calls or jumps to, if @is_named.
 */
struct insn {
	uint64_t ip;
	size_t nr_bytes;
	uint8_t bytes[CODE_INSN_MAX_BYTES];
	char text[INSN_TEXT_BYTES];
	bool is_named;
	uint64_t target_va;
	struct symbol_name target;
};

/* --- Targets ------------------------------------------------------------ */

/* Where the function begins that @va is in, with its name; 0: that is not known. */
static uint64_t start_of(struct insn_lines *lines, uint64_t va, struct symbol_name *ret)
{
	enum symbol_why why;

	if (!render_find(lines->renderer, va, ret, &why) || !ret->name_bytes)
		return 0;
	return va - ret->offset_bytes;
}

/* Of kernel code, the same for all threads: what it calls, or another function that it jumps to. */
static void find_target(struct insn_lines *lines, const struct insn_row *row, struct insn *insn)
{
	struct code_insn decoded;
	uint64_t here;

	insn->is_named = false;
	if (!code_is_kernel(insn->ip) ||
	    code_insn(lines->code, row->cr3, insn->ip, row->compat, &decoded) ||
	    !decoded.has_target || !code_is_kernel(decoded.target))
		return;
	here = start_of(lines, insn->ip, &insn->target);
	insn->is_named = start_of(lines, decoded.target, &insn->target) &&
			 symbol_is_front(insn->target.offset_bytes) &&
			 (decoded.class == CODE_CALL ||
			  here != decoded.target - insn->target.offset_bytes);
	insn->target_va = decoded.target;
}

/* --- Words -------------------------------------------------------------- */

static void text_insn(struct insn_lines *lines, const struct insn *insn)
{
	struct out *out = &lines->labels;

	out_literal(out, "insn    ");
	out_hex16(out, insn->ip);
	out_literal(out, "  ");
	if (lines->bytes) {
		out_hex_bytes(out, insn->bytes, insn->nr_bytes);
		out_blanks(out, 2 * (CODE_INSN_MAX_BYTES - insn->nr_bytes) + 2);
	}
	out_escaped(out, insn->text, sizeof(insn->text));
	if (insn->is_named) {
		out_literal(out, " <");
		out_bytes(out, insn->target.name, insn->target.name_bytes);
		if (*insn->target.module) {
			out_literal(out, " [");
			out_str(out, insn->target.module);
			out_char(out, ']');
		}
		out_char(out, '>');
	}
	out_char(out, '\n');
}

static void json_insn_line(struct insn_lines *lines, uint64_t cr3, uint64_t ip)
{
	struct out *out = &lines->labels;
	struct line line;
	const char *text;
	size_t nr_bytes;

	if (!line_find(lines->renderer->rec, cr3, ip, &line))
		return;
	json_text(out, "file", line.file, LINE_FILE_BYTES);
	json_number(out, "line", line.number);
	nr_bytes = srctext_line(&lines->source, line.file, line.number, &text);
	if (nr_bytes)
		json_text(out, "source", text, nr_bytes);
}

static void json_insn(struct insn_lines *lines, uint64_t cr3, const struct insn *insn)
{
	struct out *out = &lines->labels;

	json_word(out, "kind", "insn");
	json_address(out, "ip", insn->ip);
	if (lines->bytes) {
		out_literal(out, ",\"bytes\":\"");
		out_hex_bytes(out, insn->bytes, insn->nr_bytes);
		out_char(out, '"');
	}
	json_text(out, "insn", insn->text, sizeof(insn->text));
	if (insn->is_named) {
		json_address(out, "target", insn->target_va);
		json_sym_found(out, "target_sym", true, &insn->target, SYMBOL_NAMED);
	}
	if (lines->lines)
		json_insn_line(lines, cr3, insn->ip);
	out_literal(out, "}\n");
}

static void text_name(struct insn_lines *lines, uint64_t ip)
{
	out_name_of(&lines->labels, lines->renderer, ip);
	out_char(&lines->labels, '\n');
}

/* --- Rows --------------------------------------------------------------- */

/* After what is there already; false: out of memory. */
static bool add_line(struct insn_lines *lines, const struct insn_row *row, const struct insn *insn)
{
	static const char padding[_Alignof(struct insn_line)];
	const struct btsrec_sink sink = { .write = out_text_take, .arg = &lines->made };
	struct insn_line line = { .code_bytes = insn ? (uint32_t)insn->nr_bytes : 0,
				  .target_va = insn && insn->is_named ? insn->target_va : 0 };
	size_t at = lines->made.nr_bytes;

	out_init(&lines->labels, &sink);
	out_bytes(&lines->labels, (const char *)&line, sizeof(line));
	if (!insn)
		text_name(lines, row->start);
	else if (lines->bare)
		out_escaped(&lines->labels, insn->text, sizeof(insn->text));
	else if (lines->json)
		json_insn(lines, row->cr3, insn);
	else
		text_insn(lines, insn);
	if (out_flush(&lines->labels))
		return false;
	line.nr_bytes = (uint32_t)(lines->made.nr_bytes - at - sizeof(line));
	memcpy(lines->made.bytes + at, &line, sizeof(line));
	at += insn_line_bytes(line.nr_bytes);
	return out_text_take(&lines->made, padding, at - lines->made.nr_bytes);
}

/* As many bytes of code as the lines are of to *@ret_bytes; false: out of memory. */
static bool make_lines(struct insn_lines *lines, const struct insn_row *row, uint32_t *ret_bytes)
{
	struct insn insn = { .ip = row->start };

	lines->made.nr_bytes = 0;
	if (row->named && !add_line(lines, row, NULL))
		return false;
	for (size_t nr = 0; nr < INSN_LINES_MAX && insn.ip < row->stop; nr++) {
		insn.nr_bytes = code_text(lines->code, row->cr3, insn.ip, row->compat, insn.bytes,
					  insn.text, sizeof(insn.text));
		if (!insn.nr_bytes)
			break;
		find_target(lines, row, &insn);
		if (!add_line(lines, row, &insn))
			return false;
		insn.ip += insn.nr_bytes;
	}
	*ret_bytes = (uint32_t)(insn.ip - row->start);
	return true;
}

static const struct label *make_row(struct insn_lines *lines, const struct insn_row *row,
				   const struct label_key *key)
{
	uint32_t nr_bytes;

	if (!make_lines(lines, row, &nr_bytes))
		return NULL;
	if (label_cache_full(&lines->rows, lines->made.nr_bytes))
		label_cache_fini(&lines->rows);
	return label_cache_add(&lines->rows, key, lines->made.nr_bytes ? lines->made.bytes : "",
			       lines->made.nr_bytes, nr_bytes);
}

/* CR3 is a page's address, so its low bits are free. */
static struct label_key key_of(const struct insn_lines *lines, const struct insn_row *row)
{
	bool anywhere = lines->one_kernel && code_is_kernel(row->start);
	uint64_t how = (uint64_t)row->compat | (uint64_t)row->named << 1;

	return (struct label_key){
		.from = row->start, .to = row->stop, .space = (anywhere ? 0 : row->cr3) | how};
}

const struct label *insn_lines_find(struct insn_lines *lines, const struct insn_row *row)
{
	const struct label_key key = key_of(lines, row);
	const struct label *label = label_cache_find(&lines->rows, label_hash(&key), &key);

	return label ? label : make_row(lines, row, &key);
}

void insn_lines_init(struct insn_lines *lines, struct renderer *renderer,
		     const struct btsrec_insns *opts)
{
	lines->renderer = renderer;
	lines->code = trace_code(renderer->rec);
	lines->source.folder = opts->source_folder;
	lines->json = opts->format == BTSREC_FORMAT_JSONL;
	lines->bytes = opts->bytes;
	lines->lines = opts->lines;
	lines->one_kernel = btsrec_root(renderer->rec)->kernel_pgd_pa;
}

void insn_lines_fini(struct insn_lines *lines)
{
	srctext_fini(&lines->source);
	label_cache_fini(&lines->rows);
	free(lines->made.bytes);
}
