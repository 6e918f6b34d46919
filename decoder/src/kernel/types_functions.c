// SPDX-License-Identifier: GPL-2.0-or-later
/* The prototypes of functions, and how their arguments are passed. */
#include "kernel/types_impl.h"

#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BYTES	8

/** struct named - a function, by its name in the BTF */
struct named {
	const char *name;
	uint32_t prototype;
};

struct types_functions {
	struct named *list;
	size_t nr;
};

/* --- Names -------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const struct named *left = a, *right = b;

	return strcmp(left->name, right->name);
}

static void add(struct types_functions *functions, const struct btf *btf,
		const struct btf_type *type)
{
	const char *name = btf__name_by_offset(btf, type->name_off);

	if (name && *name)
		functions->list[functions->nr++] = (struct named){ name, type->type };
}

struct types_functions *types_functions_new(const struct types *types)
{
	struct types_functions *functions = calloc(1, sizeof(*functions));
	uint32_t nr_types = btf__type_cnt(types->btf);

	if (!functions)
		return NULL;
	functions->list = calloc(nr_types + 1, sizeof(functions->list[0]));
	if (!functions->list) {
		types_functions_free(functions);
		return NULL;
	}
	for (uint32_t id = 1; id < nr_types; id++) {
		const struct btf_type *type = btf__type_by_id(types->btf, id);

		if (type && btf_is_func(type))
			add(functions, types->btf, type);
	}
	qsort(functions->list, functions->nr, sizeof(functions->list[0]), by_name);
	return functions;
}

void types_functions_free(struct types_functions *functions)
{
	if (!functions)
		return;
	free(functions->list);
	free(functions);
}

static int compare(const char *name, const char *wanted, size_t wanted_bytes)
{
	int order = strncmp(name, wanted, wanted_bytes);

	return order ? order : name[wanted_bytes] != '\0';
}

/* The first one that is not before @wanted. */
static size_t first_of(const struct types_functions *functions, const char *wanted,
		       size_t wanted_bytes)
{
	size_t low = 0, high = functions->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(functions->list[middle].name, wanted, wanted_bytes) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t types_function(const struct types_functions *functions, const char *name,
			size_t name_bytes)
{
	size_t i = first_of(functions, name, name_bytes);

	if (i == functions->nr || compare(functions->list[i].name, name, name_bytes))
		return 0;
	if (i + 1 < functions->nr && !compare(functions->list[i + 1].name, name, name_bytes))
		return 0;
	return functions->list[i].prototype;
}

/* --- Classes ------------------------------------------------------------ */

/* Past qualifiers and typedefs; NULL: void, or it leads nowhere. */
static const struct btf_type *resolve(const struct btf *btf, uint32_t id)
{
	int resolved = btf__resolve_type(btf, id);

	return resolved > 0 ? btf__type_by_id(btf, (uint32_t)resolved) : NULL;
}

static bool is_number(const struct btf_type *type)
{
	return btf_is_int(type) || btf_is_any_enum(type) || btf_is_ptr(type);
}

/**
 * struct look - at what a struct consists of
 * @nr_left: so many more members may be looked at.
 * @end_bits: behind the last number.
 */
struct look {
	const struct btf *btf;
	unsigned int nr_left;
	uint64_t end_bits;
};

static bool are_numbers(struct look *look, uint32_t id, uint64_t at_bits, unsigned int depth);

static bool are_members_numbers(struct look *look, const struct btf_type *type, uint64_t at_bits,
				unsigned int depth)
{
	const struct btf_member *members = btf_members(type);

	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		uint64_t member_bits = at_bits + btf_member_bit_offset(type, i);
		unsigned int field_bits = btf_member_bitfield_size(type, i);

		if (!look->nr_left--)
			return false;
		/* It is in a number, which nothing else shows: where its bits are has to do. */
		if (field_bits && look->end_bits < member_bits + field_bits)
			look->end_bits = member_bits + field_bits;
		else if (!field_bits && !are_numbers(look, members[i].type, member_bits, depth + 1))
			return false;
	}
	return true;
}

/* Numbers where the compiler aligns them, so that none is in two eightbytes. */
static bool are_numbers(struct look *look, uint32_t id, uint64_t at_bits, unsigned int depth)
{
	const struct btf_type *type = resolve(look->btf, id);
	int64_t size_bytes = type ? btf__resolve_size(look->btf, id) : 0;

	if (!type || depth == MAX_DEPTH || size_bytes <= 0 || size_bytes > 2 * WORD_BYTES)
		return false;
	if (btf_is_composite(type))
		return are_members_numbers(look, type, at_bits, depth);
	if (look->end_bits < at_bits + 8 * (uint64_t)size_bytes)
		look->end_bits = at_bits + 8 * (uint64_t)size_bytes;
	if (btf_is_array(type))
		return are_numbers(look, btf_array(type)->type, at_bits, depth + 1);
	return is_number(type) && !(at_bits % 8) && !(at_bits / 8 % (uint64_t)size_bytes);
}

static enum types_class class_of(const struct btf *btf, const struct btf_type *type, uint32_t id,
				 uint32_t size_bytes)
{
	struct look look = { .btf = btf, .nr_left = MAX_MEMBERS };

	if (btf_is_float(type))
		return TYPES_FLOAT;
	if (!size_bytes || !(is_number(type) || btf_is_composite(type)))
		return TYPES_UNCLASSED;
	if (size_bytes > 2 * WORD_BYTES)
		return TYPES_MEMORY;
	/* An eightbyte that is only padding is in no register. */
	if (!are_numbers(&look, id, 0, 0) || look.end_bits <= 8 * (size_bytes - 1) / 64 * 64)
		return TYPES_UNCLASSED;
	return size_bytes > WORD_BYTES ? TYPES_TWO_WORDS : TYPES_WORD;
}

/* The kernel's char is an integer of one byte with that name. */
static bool is_char(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = resolve(btf, id);
	const char *name = type && btf_is_int(type) ? btf__name_by_offset(btf, type->name_off) :
						      NULL;

	return name && !strcmp(name, "char");
}

static struct types_param param_of(const struct btf *btf, const struct btf_param *param)
{
	const struct btf_type *type = resolve(btf, param->type);
	const char *name = btf__name_by_offset(btf, param->name_off);
	int64_t size_bytes = type ? btf__resolve_size(btf, param->type) : 0;
	struct types_param ret = { .name = name ? name : "", .type = param->type,
				   .class = TYPES_UNCLASSED };

	if (size_bytes <= 0 || size_bytes > UINT32_MAX)
		return ret;
	ret.size_bytes = (uint32_t)size_bytes;
	ret.class = class_of(btf, type, param->type, ret.size_bytes);
	ret.is_signed = (btf_is_int(type) && btf_int_encoding(type) & BTF_INT_SIGNED) ||
			(btf_is_any_enum(type) && btf_kflag(type));
	ret.is_text = btf_is_ptr(type) && is_char(btf, type->type);
	return ret;
}

unsigned int types_params(const struct types *types, uint32_t prototype, struct types_param *ret,
			  bool *ret_more)
{
	const struct btf_type *type = prototype ? btf__type_by_id(types->btf, prototype) : NULL;
	const struct btf_param *params;
	unsigned int nr = 0;

	*ret_more = false;
	if (!type || !btf_is_func_proto(type))
		return 0;
	params = btf_params(type);
	while (nr < btf_vlen(type) && nr < TYPES_MAX_PARAMS && params[nr].type) {
		ret[nr] = param_of(types->btf, &params[nr]);
		nr++;
	}
	/* The last one of a variadic function has no type. */
	*ret_more = nr < btf_vlen(type);
	return nr;
}

/* --- Text --------------------------------------------------------------- */

/** struct text - a type as far as it is read: @at is the type that is left */
struct text {
	const struct btf *btf;
	uint32_t at;
	unsigned int nr_stars;
	bool is_const;
};

/* Past pointers, what is const in front of them, and qualifiers that say nothing here. */
static const struct btf_type *strip(struct text *text)
{
	const struct btf_type *type = NULL;

	for (unsigned int depth = 0; text->at && depth < MAX_DEPTH; depth++) {
		type = btf__type_by_id(text->btf, text->at);
		if (!type || !(btf_is_ptr(type) || btf_is_mod(type) || btf_is_type_tag(type)))
			return type;
		text->nr_stars += btf_is_ptr(type);
		text->is_const = btf_is_const(type) || (text->is_const && !btf_is_ptr(type));
		text->at = type->type;
	}
	return NULL;
}

static const char *tag_of(const struct btf_type *type)
{
	if (btf_is_struct(type) || (btf_is_fwd(type) && !btf_kflag(type)))
		return "struct ";
	if (btf_is_union(type) || btf_is_fwd(type))
		return "union ";
	return btf_is_any_enum(type) ? "enum " : "";
}

void types_text(const struct types *types, uint32_t id, char *ret)
{
	static const char stars[MAX_DEPTH + 1] = "****************";
	struct text text = { .btf = types->btf, .at = id };
	const struct btf_type *type = strip(&text);
	const char *name = type ? btf__name_by_offset(types->btf, type->name_off) : NULL;

	if (!text.at)
		name = "void";
	else if (type && btf_is_func_proto(type))
		name = "function";
	else if (!name || !*name)
		name = "?";
	snprintf(ret, TYPES_TEXT_BYTES, "%s%s%s%s%.*s",
		 text.is_const && text.nr_stars ? "const " : "", type ? tag_of(type) : "", name,
		 text.nr_stars ? " " : "", (int)text.nr_stars, stars);
}
