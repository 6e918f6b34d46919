// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/export_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/grow.h"
#include "render/json.h"
#include "symbols/user.h"

/* The build-id is that of the file, so its path is not asked for, which may differ. */
static uint64_t function_key(const struct table_function *function)
{
	uint64_t hash = FNV_BASIS;

	if (function->build_id_bytes)
		hash = fnv_line(hash, function->build_id, function->build_id_bytes);
	else
		hash = fnv_line(hash, function->module, strlen(function->module));
	return fnv_line(hash, function->name, strlen(function->name));
}

static void set_build_id(struct table_function *function, const uint8_t *bytes, size_t nr_bytes)
{
	if (nr_bytes > sizeof(function->build_id))
		return;
	memcpy(function->build_id, bytes, nr_bytes);
	function->build_id_bytes = nr_bytes;
}

/* @side: of a user address, or NULL. */
static void find_build_id(struct tables *tables, const struct btsrec_side *side, uint64_t va,
			  struct table_function *function)
{
	struct btsrec *rec = tables->r.rec;
	const struct btsrec_module *module = btsrec_module_at(rec, va);
	const struct btsrec_root *root = btsrec_root(rec);
	struct user_mapping mapping;

	if (function->user) {
		struct user *user = symbols_user_names(rec);

		if (side && user && user_mapping(user, side->cr3, va, &mapping))
			set_build_id(function, mapping.build_id, mapping.build_id_bytes);
	} else if (module) {
		set_build_id(function, module->build_id, module->build_id_bytes);
	} else if (!*function->module) {
		set_build_id(function, root->build_id, root->build_id_bytes);
	}
}

/* The number of a function, which is new if @name and @module are; NO_FUNCTION: out of memory. */
size_t tables_number_of(struct tables *tables, const struct btsrec_side *side, uint64_t va,
			const char *name, size_t name_bytes, const char *module, bool user)
{
	uint64_t key[COUNTER_MAP_KEY_WORDS] = {fnv_line(FNV_BASIS, name, name_bytes),
					       fnv_line(FNV_BASIS, module, strlen(module)), user};
	struct count *count = counter_map_get(&tables->numbers, key);
	struct table_function function = {.user = user};

	if (count && count->nr[0])
		return count->nr[0] - 1;
	function.name = strndup(name, name_bytes);
	function.module = strdup(module);
	if (!count || !function.name || !function.module ||
	    !grow(&tables->functions, sizeof(function), tables->nr_functions,
		  &tables->nr_functions_room)) {
		free(function.name);
		free(function.module);
		tables->nomem = true;
		return NO_FUNCTION;
	}
	find_build_id(tables, side, va, &function);
	function.key = function_key(&function);
	tables->functions[tables->nr_functions] = function;
	count->nr[0] = ++tables->nr_functions;
	return tables->nr_functions - 1;
}

/* What has no name is a function of its own for each reason, as in btsrec_functions(). */
static struct place place_without(struct tables *tables, bool user, const char *why)
{
	char name[128];
	int len = snprintf(name, sizeof(name), "(%s: %s)", user ? "user" : "kernel", why);

	return (struct place){
		.function = tables_number_of(tables, NULL, 0, name, (size_t)len, "", user)};
}

struct place tables_place_at(struct tables *tables, const struct btsrec_side *side, uint64_t va)
{
	bool user = !code_is_kernel(va);
	struct symbol_name name;
	enum symbol_why why;

	if (user && tables->opts->no_user)
		return (struct place){.function = NO_FUNCTION};
	if (!symbol_find_in(tables->r.rec, side, va, &name, &why))
		return place_without(tables, user, symbol_why_str(why));
	return (struct place){
		.function = tables_number_of(tables, side, va, name.name_bytes ? name.name : "",
					     name.name_bytes, name.module, user),
		.offset_bytes = name.offset_bytes,
	};
}

struct place tables_place_named(struct tables *tables, uint64_t va, const struct btsrec_name *name)
{
	bool user = !code_is_kernel(va);

	if (user && tables->opts->no_user)
		return (struct place){.function = NO_FUNCTION};
	if (name->no_name)
		return place_without(tables, user, name->no_name);
	return (struct place){
		.function = tables_number_of(tables, NULL, va, name->name ? name->name : "",
					     name->name_bytes, name->module, user),
		.offset_bytes = name->offset_bytes,
	};
}

struct out *tables_row(struct tables *tables, enum btsrec_table table)
{
	struct out *out = &tables->out[table];

	out_literal(out, "{\"crash\":\"");
	out_str(out, tables->crash);
	out_char(out, '"');
	return out;
}

void tables_row_end(struct out *out)
{
	out_literal(out, "}\n");
}

void tables_put_hex(struct out *out, const char *key, const uint8_t *bytes, size_t nr_bytes)
{
	if (!nr_bytes)
		return;
	json_key(out, key);
	out_char(out, '"');
	out_hex_bytes(out, bytes, nr_bytes);
	out_char(out, '"');
}

void tables_put_key(struct tables *tables, struct out *out, const char *key, size_t function)
{
	char text[17];

	if (function == NO_FUNCTION)
		return;
	snprintf(text, sizeof(text), "%016llx",
		 (unsigned long long)tables->functions[function].key);
	json_word(out, key, text);
}

void tables_put_place(struct tables *tables, struct out *out, const char *key,
		      const char *offset_key, struct place place)
{
	tables_put_key(tables, out, key, place.function);
	if (place.function != NO_FUNCTION && place.offset_bytes)
		json_number(out, offset_key, place.offset_bytes);
}

/* In a row whose columns are aligned. */
void tables_put_offset(struct out *out, const char *key, struct place place)
{
	if (place.function != NO_FUNCTION && place.offset_bytes)
		json_number_in(out, key, place.offset_bytes, WIDE_OFFSET);
	else
		json_blank(out, key, WIDE_OFFSET);
}

void tables_put_text(struct out *out, const char *key, const char *text)
{
	if (text)
		json_text(out, key, text, strlen(text));
}

bool tables_go_on(const struct tables *tables)
{
	bool stopped = tables->nomem;

	for (size_t i = 0; i < BTSREC_NR_TABLES; i++)
		stopped |= tables->out[i].stopped;
	return !stopped;
}
