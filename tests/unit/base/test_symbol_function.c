// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "base/symbol_function.h"
#include "check_btsrec.h"
#include "failing_alloc.h"

#define BEGIN 0xffffffff81000000ULL
#define END   0xffffffff81001000ULL

static struct symbol_list list;

static void add(uint64_t offset_bytes, const char *name)
{
	ck_assert(symbol_list_add(&list, BEGIN + offset_bytes, 't', name, strlen(name)));
}

static struct symbol_table *table_new(void)
{
	struct symbol_table *table = symbol_table_new(&list, BEGIN, END);

	symbol_list_fini(&list);
	ck_assert_ptr_nonnull(table);
	return table;
}

static void expect(const struct symbol_table *table, uint64_t at, const char *name,
		   int64_t offset_bytes)
{
	uint64_t its_offset_bytes = 0;
	size_t nr_bytes = 0;
	const char *its_name = "";

	ck_assert(symbol_table_function(table, BEGIN + at, &its_name, &nr_bytes,
					&its_offset_bytes));
	ck_assert_uint_eq(nr_bytes, strlen(name));
	ck_assert_mem_eq(its_name, name, nr_bytes);
	ck_assert_int_eq((int64_t)its_offset_bytes, offset_bytes);
}

static void expect_stem(const char *name, const char *expected)
{
	size_t nr_bytes;
	const char *stem = symbol_stem(name, strlen(name), &nr_bytes);

	ck_assert_msg(nr_bytes == strlen(expected) && !memcmp(stem, expected, nr_bytes),
		      "%s is %.*s", name, (int)nr_bytes, stem);
}

START_TEST(stems)
{
	expect_stem("vfs_read", "vfs_read");
	expect_stem("__pfx_vfs_read", "vfs_read");
	expect_stem("__cfi_vfs_read", "vfs_read");
	expect_stem("f.isra.0", "f");
	expect_stem("f.constprop.12", "f");
	expect_stem("f.part.0.isra.0", "f");
	expect_stem("f.isra.0.cold", "f");
	expect_stem("f.cold.7", "f");
	expect_stem("f.llvm.11884098710482193281", "f");
	expect_stem("__pfx_f.constprop.0", "f");
	/* Names of a source. */
	expect_stem("main.init", "main.init");
	expect_stem("main.part", "main");
	expect_stem("main.party", "main.party");
	expect_stem("main.cold.x", "main.cold.x");
	expect_stem("f.isra.", "f.isra.");
	expect_stem(".cold", ".cold");
	expect_stem("__pfx_", "__pfx_");
	expect_stem("", "");
}
END_TEST

START_TEST(parts)
{
	ck_assert(symbol_is_split("f.cold", 6));
	ck_assert(symbol_is_split("f.isra.0.cold.3", 15));
	ck_assert(!symbol_is_split("f.isra.0", 8));
	ck_assert(!symbol_is_split("f.colder", 8));
}
END_TEST

START_TEST(in_front)
{
	struct symbol_table *table;

	add(0x000, "before");
	add(0x0f0, "__pfx_f");
	add(0x100, "f");
	add(0x140, "__cfi_g");
	add(0x148, "__pfx_g");
	add(0x150, "an_alias");
	add(0x150, "_g");
	add(0x200, "__cfi_far");
	add(0x300, "far");
	add(0x400, "__pfx_last");
	table = table_new();
	expect(table, 0x0ef, "before", 0xef);
	expect(table, 0x0f0, "f", -0x10);
	expect(table, 0x0fb, "f", -5);
	expect(table, 0x100, "f", 0);
	expect(table, 0x13f, "f", 0x3f);
	/* Both belong to what is called by another name first. */
	expect(table, 0x140, "an_alias", -0x10);
	expect(table, 0x148, "an_alias", -8);
	expect(table, 0x210, "far", 0x10);
	expect(table, 0x300, "far", 0);
	expect(table, 0x404, "last", 4);
	symbol_table_free(table);
}
END_TEST

START_TEST(cold_parts)
{
	struct symbol_table *table;

	add(0x000, "f.cold");
	add(0x010, "g.isra.0.cold");
	add(0x020, "twin.cold");
	add(0x030, "gone.cold");
	add(0x040, "_alias.cold");
	add(0x100, "f");
	add(0x200, "g.isra.0");
	add(0x300, "twin");
	add(0x400, "twin");
	add(0x500, "_alias");
	add(0x500, "alias");
	add(0x600, "h");
	add(0x700, "h.cold");
	table = table_new();
	expect(table, 0x008, "f", -0xf8);
	expect(table, 0x100, "f", 0);
	expect(table, 0x012, "g", -0x1ee);
	expect(table, 0x203, "g", 3);
	/* Of which of the two is not known. */
	expect(table, 0x024, "twin", 4);
	expect(table, 0x034, "gone", 4);
	expect(table, 0x040, "alias", -0x4c0);
	expect(table, 0x701, "h", 0x101);
	symbol_table_free(table);
}
END_TEST

START_TEST(many_parts)
{
	struct symbol_table *table;
	static char names[200][2][32];

	for (unsigned int i = 0; i < 200; i++) {
		snprintf(names[i][0], sizeof(names[i][0]), "function_number_%u", i);
		snprintf(names[i][1], sizeof(names[i][1]), "function_number_%u.cold", i);
		add(8 * i, names[i][0]);
		add(0x800 + 8 * i, names[i][1]);
	}
	table = table_new();
	for (unsigned int i = 0; i < 200; i++)
		expect(table, 0x802 + 8 * i, names[i][0], 0x802);
	symbol_table_free(table);
}
END_TEST

START_TEST(no_memory)
{
	/* The fifth only gives memory back. */
	static const unsigned int fatal[] = { 1, 2, 3, 4, 6 };

	add(0x000, "f");
	add(0x100, "f.cold");
	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++) {
		failing_alloc_arm(fatal[i]);
		ck_assert_ptr_null(symbol_table_new(&list, BEGIN, END));
		ck_assert(failing_alloc_disarm());
	}
	symbol_list_fini(&list);
}
END_TEST

BTSREC_CK_MAIN("symbol_function", stems, parts, in_front, cold_parts, many_parts, no_memory)
