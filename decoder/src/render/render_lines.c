// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/render_lines.h"

#include "render/json.h"

void out_line(struct out *out, const struct line *line)
{
	out_escaped(out, line->file, LINE_FILE_BYTES);
	out_char(out, ':');
	out_dec(out, line->number, 0);
}

void out_line_of(struct renderer *r, uint64_t va)
{
	struct line line;

	if (line_find(r->rec, render_cr3(r), va, &line))
		out_line(&r->out, &line);
	else
		out_char(&r->out, '-');
}

void json_line(struct renderer *r, const char *file_key, const char *line_key, uint64_t va)
{
	struct line line;

	if (!line_find(r->rec, render_cr3(r), va, &line))
		return;
	json_text(&r->out, file_key, line.file, LINE_FILE_BYTES);
	json_number(&r->out, line_key, line.number);
}

void out_lines_of(struct renderer *r, uint64_t va)
{
	struct line_inlined inlined[LINE_MAX_INLINED];
	struct out *out = &r->out;
	struct line line;
	size_t nr;

	if (!line_find(r->rec, render_cr3(r), va, &line))
		return;
	out_literal(out, "  at ");
	out_line(out, &line);
	nr = line_inlined(r->rec, render_cr3(r), va, inlined);
	for (size_t i = 0; i < nr; i++) {
		out_literal(out, " in ");
		out_escaped(out, inlined[i].function, SYMBOL_NAME_MAX_BYTES);
		out_literal(out, ", inlined at ");
		out_line(out, &inlined[i].from);
	}
}

static void json_inlined(struct out *out, const struct line_inlined *inlined, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		out_str(out, i ? ",{" : ",\"inlined\":[{");
		out_literal(out, "\"function\":");
		out_json_string(out, inlined[i].function, SYMBOL_NAME_MAX_BYTES);
		json_text(out, "from_file", inlined[i].from.file, LINE_FILE_BYTES);
		json_number(out, "from_line", inlined[i].from.number);
		out_char(out, '}');
	}
	if (nr)
		out_char(out, ']');
}

void json_lines_of(struct renderer *r, uint64_t va)
{
	struct line_inlined inlined[LINE_MAX_INLINED];

	json_line(r, "file", "line", va);
	json_inlined(&r->out, inlined, line_inlined(r->rec, render_cr3(r), va, inlined));
}

void text_lines_missing(struct renderer *r)
{
	struct out *out = &r->out;
	struct line_missing missing;

	for (size_t i = 0; r->lines && lines_missing(r->rec, i, &missing); i++) {
		out_literal(out, "# no source lines of ");
		if (missing.mapped) {
			out_str(out, missing.mapped);
		} else if (*missing.module) {
			out_literal(out, "module ");
			out_escaped(out, missing.module, BTSREC_MODULE_NAME_BYTES);
		} else {
			out_literal(out, "the kernel");
		}
		out_literal(out, ": ");
		if (*missing.path) {
			out_escaped(out, missing.path, LINE_FILE_BYTES);
			out_literal(out, ": ");
		}
		out_str(out, missing.why);
		out_char(out, '\n');
	}
}

void json_lines_missing(struct renderer *r)
{
	struct out *out = &r->out;
	struct line_missing missing;

	for (size_t i = 0; r->lines && lines_missing(r->rec, i, &missing); i++) {
		out_literal(out, "{\"kind\":\"no-lines\"");
		if (missing.mapped) {
			json_key(out, "mapped");
			out_char(out, '"');
			out_json_escaped(out, missing.mapped);
			out_char(out, '"');
		}
		if (*missing.module)
			json_text(out, "module", missing.module, BTSREC_MODULE_NAME_BYTES);
		if (*missing.path)
			json_text(out, "path", missing.path, LINE_FILE_BYTES);
		json_word(out, "why", missing.why);
		out_literal(out, "}\n");
	}
}
