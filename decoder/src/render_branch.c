// SPDX-License-Identifier: GPL-2.0-or-later
#include "render_branch.h"

#include <stdio.h>

#include "symbol.h"

size_t branch_text(char *ret, const struct branch *branch)
{
	const char *exception = NULL;
	int nr_bytes;

	if (branch->type == BRANCH_EXCEPTION)
		exception = gates_exception_str((unsigned int)branch->vector);
	if (branch->type == BRANCH_UNKNOWN)
		nr_bytes = snprintf(ret, BRANCH_TEXT_BYTES, "-");
	else if (exception)
		nr_bytes = snprintf(ret, BRANCH_TEXT_BYTES, "exc:%s", exception);
	else if (branch->vector >= 0 && branch->type != BRANCH_NMI)
		nr_bytes = snprintf(ret, BRANCH_TEXT_BYTES, "%s:%d", branch_type_str(branch->type),
				    branch->vector);
	else
		nr_bytes = snprintf(ret, BRANCH_TEXT_BYTES, "%s", branch_type_str(branch->type));
	return (size_t)nr_bytes;
}

void out_branch_type(struct out *out, const struct branch *branch)
{
	char text[BRANCH_TEXT_BYTES];

	out_bytes(out, text, branch_text(text, branch));
}

void json_branch_type(struct out *out, const struct branch *branch)
{
	out_literal(out, ",\"type\":\"");
	out_str(out, branch_type_str(branch->type));
	out_char(out, '"');
	if (branch->vector >= 0) {
		out_literal(out, ",\"vector\":");
		out_dec(out, (uint64_t)branch->vector, 0);
	}
}

/* Escaped names hold backslashes for the text format; JSON needs them doubled. */
static void json_escaped(struct out *out, const char *text, size_t nr_bytes)
{
	for (size_t i = 0; i < nr_bytes; i++) {
		if (text[i] == '\\')
			out_char(out, '\\');
		out_char(out, text[i]);
	}
}

static void json_module(struct out *out, const char *module)
{
	out_char(out, '[');
	json_escaped(out, module, strlen(module));
	out_char(out, ']');
}

void json_sym(struct renderer *r, const char *key, uint64_t va)
{
	struct out *out = &r->out;
	struct symbol_name name;

	if (!symbol_find(r->rec, va, &name))
		return;
	out_literal(out, ",\"");
	out_str(out, key);
	out_literal(out, "\":\"");
	if (name.name_bytes)
		json_escaped(out, name.name, name.name_bytes);
	else
		json_module(out, name.module);
	out_char(out, '+');
	out_hex(out, name.offset_bytes);
	if (name.name_bytes && *name.module) {
		out_char(out, ' ');
		json_module(out, name.module);
	}
	out_char(out, '"');
}
