// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/types_impl.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct search - a member wanted by name
 * @name: @name_bytes long, not terminated.
 * @nr_left: how many more members may be looked at.
 */
struct search {
	const struct btf *btf;
	const char *name;
	size_t name_bytes;
	unsigned int nr_left;
	uint32_t type_id;
	uint64_t offset_bits;
};

struct types *types_new(const void *btf, size_t nr_bytes)
{
	struct types *types = calloc(1, sizeof(*types));
	libbpf_print_fn_t print;

	if (!types || nr_bytes > TYPES_MAX_BYTES) {
		free(types);
		return NULL;
	}
	/* libbpf would print its complaints; what they come to is the answer NULL. */
	print = libbpf_set_print(NULL);
	types->btf = btf__new(btf, (uint32_t)nr_bytes);
	libbpf_set_print(print);
	if (types->btf)
		return types;
	free(types);
	return NULL;
}

void types_free(struct types *types)
{
	if (!types)
		return;
	btf__free(types->btf);
	free(types);
}

/* What @id leads to, past qualifiers and typedefs; NULL: nothing. */
static const struct btf_type *resolve(const struct btf *btf, uint32_t id)
{
	int resolved = btf__resolve_type(btf, id);

	return resolved > 0 ? btf__type_by_id(btf, (uint32_t)resolved) : NULL;
}

/* The struct or union that @id leads to; NULL: it is none. */
static const struct btf_type *composite(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = resolve(btf, id);

	return type && btf_is_composite(type) ? type : NULL;
}

static bool name_is(const struct search *search, uint32_t name_at)
{
	const char *name = btf__name_by_offset(search->btf, name_at);

	return name && strlen(name) == search->name_bytes &&
	       !memcmp(name, search->name, search->name_bytes);
}

/* Find the member in @type or in its anonymous parts; adds up the offset. */
static bool find_member(struct search *search, const struct btf_type *type, unsigned int depth)
{
	const struct btf_member *members = btf_members(type);
	const struct btf_type *inner;
	uint32_t i;

	for (i = 0; i < btf_vlen(type) && search->nr_left; i++) {
		const struct btf_member *member = &members[i];
		const char *name = btf__name_by_offset(search->btf, member->name_off);

		search->nr_left--;
		if (name && *name) {
			if (!name_is(search, member->name_off))
				continue;
			if (btf_member_bitfield_size(type, i))
				return false;
			search->type_id = member->type;
			search->offset_bits += btf_member_bit_offset(type, i);
			return true;
		}
		inner = depth < MAX_DEPTH ? composite(search->btf, member->type) : NULL;
		if (inner && find_member(search, inner, depth + 1)) {
			search->offset_bits += btf_member_bit_offset(type, i);
			return true;
		}
	}
	return false;
}

/* The element that "[N]" at *@at names, of the array that was found. */
static bool find_element(struct search *search, const char **at)
{
	const struct btf_type *type = resolve(search->btf, search->type_id);
	unsigned long i = strtoul(*at + 1, (char **)at, 10);
	int64_t size_bytes;

	if (*(*at)++ != ']' || !type || !btf_is_array(type) || i >= btf_array(type)->nelems)
		return false;
	search->type_id = btf_array(type)->type;
	size_bytes = btf__resolve_size(search->btf, search->type_id);
	search->offset_bits += i * (uint64_t)size_bytes * 8;
	return size_bytes > 0;
}

static bool find_path(struct search *search, const struct btf_type *type, const char *path)
{
	const char *at = path;

	while (type) {
		search->name = at;
		search->name_bytes = strcspn(at, ".[");
		if (!find_member(search, type, 0))
			return false;
		at += search->name_bytes;
		if (*at == '[' && !find_element(search, &at))
			return false;
		if (!*at++)
			return true;
		type = composite(search->btf, search->type_id);
	}
	return false;
}

uint32_t types_struct(const struct types *types, const char *name)
{
	int id = btf__find_by_name_kind(types->btf, name, BTF_KIND_STRUCT);

	return id > 0 ? (uint32_t)id : 0;
}

bool types_member(const struct types *types, uint32_t id, const char *path,
		  struct types_field *ret)
{
	struct search search = { .btf = types->btf, .nr_left = MAX_MEMBERS };
	const struct btf_type *root = id ? btf__type_by_id(types->btf, id) : NULL;
	int64_t size_bytes;

	if (!root || !find_path(&search, root, path) || search.offset_bits % 8)
		return false;
	size_bytes = btf__resolve_size(types->btf, search.type_id);
	if (size_bytes <= 0 || search.offset_bits / 8 + (uint64_t)size_bytes > root->size)
		return false;
	ret->offset_bytes = (uint32_t)(search.offset_bits / 8);
	ret->size_bytes = (uint32_t)size_bytes;
	return true;
}

bool types_field(const struct types *types, const char *type, const char *path,
		 struct types_field *ret)
{
	return types_member(types, types_struct(types, type), path, ret);
}
