// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/json.h"

#include "symbols/symbol.h"

void json_number(struct out *out, const char *key, uint64_t value)
{
	json_number_in(out, key, value, 0);
}

void json_number_in(struct out *out, const char *key, uint64_t value, unsigned int width)
{
	json_key(out, key);
	out_dec(out, value, width);
}

void json_blank(struct out *out, const char *key, unsigned int width)
{
	out_blanks(out, strlen(",\"\":") + strlen(key) + width);
}

void json_from_freeze(struct out *out, const char *key, const struct clock *clock, uint64_t tsc)
{
	bool before;
	uint64_t ns;

	if (!clock_from_end(clock, tsc, &before, &ns))
		return;
	json_key(out, key);
	if (before && ns)
		out_char(out, '-');
	out_dec(out, ns, 0);
}

void json_bool(struct out *out, const char *key, bool value)
{
	json_key(out, key);
	out_str(out, value ? "true" : "false");
}

void json_address(struct out *out, const char *key, uint64_t value)
{
	json_key(out, key);
	out_char(out, '"');
	out_hex16(out, value);
	out_char(out, '"');
}

void json_text(struct out *out, const char *key, const char *text, size_t max_bytes)
{
	json_key(out, key);
	out_json_string(out, text, max_bytes);
}

void json_word(struct out *out, const char *key, const char *word)
{
	json_key(out, key);
	out_char(out, '"');
	out_str(out, word);
	out_char(out, '"');
}

void json_thread(struct out *out, uint32_t pid, uint32_t tgid, const char *comm)
{
	json_number(out, "pid", pid);
	json_number(out, "tgid", tgid);
	json_text(out, "comm", comm, BTSREC_COMM_BYTES);
}

/* Escaped names hold backslashes, and quotes after such; JSON needs one before each. */
static void out_escaped_name(struct out *out, const char *text, size_t nr_bytes)
{
	size_t i;

	if (!memchr(text, '\\', nr_bytes)) {
		out_bytes(out, text, nr_bytes);
		return;
	}
	for (i = 0; i < nr_bytes; i++) {
		if (text[i] == '\\' || text[i] == '"')
			out_char(out, '\\');
		out_char(out, text[i]);
	}
}

static void out_module(struct out *out, const char *module)
{
	out_char(out, '[');
	out_escaped_name(out, module, strlen(module));
	out_char(out, ']');
}

static void json_name(struct out *out, const char *key, const struct symbol_name *name)
{
	json_key(out, key);
	out_char(out, '"');
	if (name->name_bytes)
		out_escaped_name(out, name->name, name->name_bytes);
	else
		out_module(out, name->module);
	out_offset(out, name->offset_bytes);
	if (name->name_bytes && *name->module) {
		out_char(out, ' ');
		out_module(out, name->module);
	}
	out_char(out, '"');
}

void out_json_escaped(struct out *out, const char *text)
{
	out_escaped_name(out, text, strlen(text));
}

void json_function(struct out *out, const char *key, const struct symbol_name *name)
{
	json_key(out, key);
	out_char(out, '"');
	if (name->name_bytes)
		out_escaped_name(out, name->name, name->name_bytes);
	if (name->name_bytes && *name->module)
		out_char(out, ' ');
	if (*name->module)
		out_module(out, name->module);
	out_char(out, '"');
}

/* "from_sym" becomes "from_why". */
static void json_why(struct out *out, const char *key, enum symbol_why why)
{
	out_literal(out, ",\"");
	out_bytes(out, key, strcspn(key, "_"));
	out_literal(out, "_why\":\"");
	out_str(out, symbol_why_str(why));
	out_char(out, '"');
}

void json_sym_found(struct out *out, const char *key, bool found, const struct symbol_name *name,
		    enum symbol_why why)
{
	if (found)
		json_name(out, key, name);
	if (why > SYMBOL_UNKNOWN)
		json_why(out, key, why);
}

void json_sym(struct renderer *r, const char *key, uint64_t va)
{
	struct symbol_name name;
	enum symbol_why why;
	bool found = render_find(r, va, &name, &why);

	json_sym_found(&r->out, key, found, &name, why);
}
