// SPDX-License-Identifier: GPL-2.0-or-later
#include "btffix.h"
#include "check_btsrec.h"
#include "failing_alloc.h"
#include "kernel/types.h"

#include <bpf/btf.h>

/* A BTF in the making, and what comes of it. */
static struct btf *btf;
static struct types *types;
static int u32_id, u64_id;

static void begin(void)
{
	btf = btf__new_empty();
	u32_id = btf__add_int(btf, "u32", 4, 0);
	u64_id = btf__add_int(btf, "u64", 8, 0);
}

static void end(void)
{
	types = types_of(btf);
}

static void expect(const char *type, const char *path, uint32_t offset_bytes, uint32_t size_bytes)
{
	struct types_field field;

	ck_assert_msg(types_field(types, type, path, &field), "%s.%s", type, path);
	ck_assert_uint_eq(field.offset_bytes, offset_bytes);
	ck_assert_uint_eq(field.size_bytes, size_bytes);
}

static void expect_none(const char *type, const char *path)
{
	struct types_field field = { DIRT, DIRT };

	ck_assert_msg(!types_field(types, type, path, &field), "%s.%s", type, path);
	ck_assert_uint_eq(field.offset_bytes, DIRT);
	ck_assert_uint_eq(field.size_bytes, DIRT);
}

/* struct outer { u32 first; struct inner { u64 a; u32 b; } in; u64 list[4]; } */
static void put_outer(void)
{
	int inner = btf__add_struct(btf, "inner", 16), array;

	btf__add_field(btf, "a", u64_id, 0, 0);
	btf__add_field(btf, "b", u32_id, 64, 0);
	inner = btf__add_const(btf, btf__add_typedef(btf, "inner_t", inner));
	array = btf__add_array(btf, u32_id, u64_id, 4);
	btf__add_struct(btf, "outer", 56);
	btf__add_field(btf, "first", u32_id, 0, 0);
	btf__add_field(btf, "in", inner, 64, 0);
	btf__add_field(btf, "list", array, 192, 0);
}

START_TEST(members_of_structs)
{
	begin();
	put_outer();
	end();
	expect("outer", "first", 0, 4);
	expect("outer", "in", 8, 16);
	expect("outer", "in.b", 16, 4);
	expect("outer", "list", 24, 32);
	expect("outer", "list[3]", 48, 8);
	expect_none("outer", "list[4]");
	expect_none("outer", "list[3");
	expect_none("outer", "list[3].b");
	expect_none("outer", "first[0]");
	expect_none("outer", "b");
	expect_none("outer", "in.c");
	expect_none("outer", "firs");
	expect_none("outer", "first.b");
	expect_none("outer", "");
	expect_none("other", "first");
	expect_none("u32", "first");
	types_free(types);
}
END_TEST

/* struct { u32 x; union { struct { u32 y; u64 z; }; u64 w; }; } */
START_TEST(members_without_a_name)
{
	int inner, both;

	begin();
	inner = btf__add_struct(btf, "", 16);
	btf__add_field(btf, "y", u32_id, 0, 0);
	btf__add_field(btf, "z", u64_id, 64, 0);
	both = btf__add_union(btf, "", 16);
	btf__add_field(btf, "", inner, 0, 0);
	btf__add_field(btf, "w", u64_id, 0, 0);
	btf__add_struct(btf, "s", 24);
	btf__add_field(btf, "x", u32_id, 0, 0);
	btf__add_field(btf, "", both, 64, 0);
	end();
	expect("s", "y", 8, 4);
	expect("s", "z", 16, 8);
	expect("s", "w", 8, 8);
	types_free(types);
}
END_TEST

START_TEST(bits_are_no_members)
{
	begin();
	btf__add_struct(btf, "s", 8);
	btf__add_field(btf, "flag", u32_id, 0, 1);
	btf__add_field(btf, "after", u32_id, 32, 0);
	btf__add_struct(btf, "odd", 8);
	btf__add_field(btf, "field", u32_id, 4, 0);
	end();
	expect_none("s", "flag");
	expect("s", "after", 4, 4);
	expect_none("odd", "field");
	types_free(types);
}
END_TEST

START_TEST(members_beyond_the_end)
{
	begin();
	btf__add_struct(btf, "s", 8);
	btf__add_field(btf, "last", u32_id, 32, 0);
	btf__add_field(btf, "beyond", u64_id, 32, 0);
	btf__add_field(btf, "far", u32_id, 0xfffff8, 0);
	btf__add_field(btf, "of_nothing", 0, 0, 0);
	end();
	expect("s", "last", 4, 4);
	expect_none("s", "beyond");
	expect_none("s", "far");
	expect_none("s", "of_nothing");
	types_free(types);
}
END_TEST

/* libbpf takes no such BTF since v1.3. */
START_TEST(a_type_that_is_not_there)
{
	uint32_t nr_bytes;
	const void *bytes;

	begin();
	btf__add_struct(btf, "s", 8);
	btf__add_field(btf, "last", u32_id, 32, 0);
	btf__add_field(btf, "typeless", 4000, 0, 0);
	bytes = btf__raw_data(btf, &nr_bytes);
	types = types_new(bytes, nr_bytes);
	btf__free(btf);
	if (!types)
		return;
	expect("s", "last", 4, 4);
	expect_none("s", "typeless");
	types_free(types);
}
END_TEST

/* Structs that have each other, twice: a search of all ways in would not end. */
START_TEST(types_in_a_circle)
{
	begin();
	btf__add_struct(btf, "a", 8);		/* 3 */
	for (int i = 0; i < 8; i++)
		btf__add_field(btf, "", 4, 0, 0);
	btf__add_struct(btf, "b", 8);
	for (int i = 0; i < 8; i++)
		btf__add_field(btf, "", 3, 0, 0);
	btf__add_field(btf, "self", 4, 0, 0);
	end();
	expect_none("a", "none");
	expect("b", "self.self.self", 0, 8);
	types_free(types);
}
END_TEST

START_TEST(no_btf)
{
	static const char text[64] = "no BTF";
	uint32_t nr_bytes;

	ck_assert_ptr_null(types_new(text, sizeof(text)));
	ck_assert_ptr_null(types_new(text, 0));
	ck_assert_ptr_null(types_new(text, (size_t)TYPES_MAX_BYTES + 1));
	begin();
	put_outer();
	(void)btf__raw_data(btf, &nr_bytes);
	for (uint32_t i = 0; i < nr_bytes; i++) {
		uint8_t *bytes = malloc(i + 1);	/* behind which a sanitizer looks */

		memcpy(bytes, btf__raw_data(btf, &nr_bytes), i);
		ck_assert_ptr_null(types_new(bytes, i));
		free(bytes);
	}
	btf__free(btf);
	types_free(NULL);
}
END_TEST

START_TEST(out_of_memory)
{
	const void *bytes;
	uint32_t nr_bytes;

	begin();
	put_outer();
	bytes = btf__raw_data(btf, &nr_bytes);
	failing_alloc_arm(1);
	ck_assert_ptr_null(types_new(bytes, nr_bytes));
	ck_assert(failing_alloc_disarm());
	btf__free(btf);
}
END_TEST

static void expect_text(int id, const char *text)
{
	char found[TYPES_TEXT_BYTES];

	types_text(types, (uint32_t)id, found);
	ck_assert_str_eq(found, text);
}

START_TEST(texts_of_types)
{
	int character, text, path, all, packed;

	begin();
	character = btf__add_int(btf, "char", 1, BTF_INT_SIGNED);
	text = btf__add_ptr(btf, btf__add_const(btf, character));
	path = btf__add_const(btf, btf__add_ptr(btf, btf__add_restrict(btf, text)));
	all = btf__add_ptr(btf, btf__add_func_proto(btf, 0));
	packed = btf__add_const(btf, btf__add_union(btf, "", 8));
	btf__add_fwd(btf, "file", BTF_FWD_STRUCT);
	end();
	expect_text(text, "const char *");
	expect_text(path, "const char **");
	expect_text(all, "function *");
	expect_text(packed, "union ?");
	expect_text(packed + 1, "struct file");
	expect_text(0, "void");
	expect_text(4000, "?");
	types_free(types);
}
END_TEST

static void put_function(const char *name, int type)
{
	int prototype = btf__add_func_proto(btf, 0);

	btf__add_func_param(btf, "arg", type);
	btf__add_func(btf, name, BTF_FUNC_STATIC, prototype);
}

START_TEST(functions_by_name)
{
	struct types_functions *functions;
	struct types_param params[TYPES_MAX_PARAMS];
	bool more;

	begin();
	put_function("one", u32_id);
	put_function("two", u64_id);
	put_function("two", u64_id);
	end();
	functions = types_functions_new(types);
	ck_assert_uint_eq(types_params(types, types_function(functions, "one_more", 3), params,
				       &more), 1);
	ck_assert_str_eq(params[0].name, "arg");
	ck_assert_uint_eq(params[0].class, TYPES_WORD);
	ck_assert_uint_eq(params[0].size_bytes, 4);
	ck_assert(!more);
	ck_assert_uint_eq(types_function(functions, "on", 2), 0);
	ck_assert_uint_eq(types_function(functions, "one_more", 8), 0);
	ck_assert_uint_eq(types_function(functions, "two", 3), 0);
	types_functions_free(functions);
	types_free(types);
}
END_TEST

/* A struct with two members, and a function of its name that takes one. */
static void put_struct(const char *name, uint32_t size_bytes, int first, uint32_t first_bits,
		       int second, uint32_t second_bits)
{
	int id = btf__add_struct(btf, name, size_bytes);

	btf__add_field(btf, "first", first, first_bits, 0);
	btf__add_field(btf, "second", second, second_bits, 0);
	put_function(name, id);
}

/* Two words, a float, one that is not aligned, padding, and a struct that holds itself. */
START_TEST(classes_of_structs)
{
	static const struct {
		const char *name;
		enum types_class class;
	} wanted[] = { { "good", TYPES_TWO_WORDS }, { "number", TYPES_UNCLASSED },
		       { "odd", TYPES_UNCLASSED }, { "padded", TYPES_UNCLASSED },
		       { "circle", TYPES_UNCLASSED } };
	struct types_functions *functions;
	struct types_param params[TYPES_MAX_PARAMS];
	int single, array;
	bool more;

	begin();
	array = btf__add_array(btf, u32_id, u32_id, 2);
	single = btf__add_float(btf, "float", 4);
	put_struct("good", 16, u64_id, 0, array, 64);
	put_struct("number", 8, u32_id, 0, single, 32);
	put_struct("odd", 12, u32_id, 0, u64_id, 32);
	put_struct("padded", 16, u32_id, 0, u32_id, 32);
	put_struct("circle", 8, (int)btf__type_cnt(btf), 0, (int)btf__type_cnt(btf), 0);
	end();
	functions = types_functions_new(types);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		uint32_t prototype = types_function(functions, wanted[i].name,
						    strlen(wanted[i].name));

		ck_assert_uint_eq(types_params(types, prototype, params, &more), 1);
		ck_assert_msg(params[0].class == wanted[i].class, "%s", wanted[i].name);
	}
	types_functions_free(functions);
	types_free(types);
}
END_TEST

BTSREC_CK_MAIN("types", members_of_structs, members_without_a_name, bits_are_no_members,
	       members_beyond_the_end, a_type_that_is_not_there, types_in_a_circle, no_btf,
	       out_of_memory, texts_of_types, functions_by_name, classes_of_structs)
