// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "check_btsrec.h"
#include "base/escape.h"
#include "failing_alloc.h"
#include "base/symbol_table.h"

#define BEGIN 0xffffffff81000000ULL
#define END   0xffffffff81001000ULL

static struct symbol_list list;

static void add(uint64_t va, char letter, const char *name)
{
	ck_assert(symbol_list_add(&list, va, letter, name, strlen(name)));
}

static struct symbol_table *table_new(void)
{
	struct symbol_table *table = symbol_table_new(&list, BEGIN, END);

	symbol_list_fini(&list);
	ck_assert_ptr_nonnull(table);
	return table;
}

/* "name+offset", or "-". */
static const char *find(const struct symbol_table *table, uint64_t va)
{
	static char text[64 + 4 * SYMBOL_NAME_MAX_BYTES];
	uint64_t offset_bytes;
	const char *name;
	size_t name_bytes;

	if (!symbol_table_find(table, va, &name, &name_bytes, &offset_bytes))
		return "-";
	snprintf(text, sizeof(text), "%.*s+%llu", (int)name_bytes, name,
		 (unsigned long long)offset_bytes);
	return text;
}

START_TEST(nearest_below)
{
	struct symbol_table *table;

	add(BEGIN + 0x800, 'T', "late");
	add(BEGIN + 0x10, 'T', "early");
	add(BEGIN + 0x7ff, 't', "tiny");
	table = table_new();
	ck_assert_str_eq(find(table, BEGIN + 0x10), "early+0");
	ck_assert_str_eq(find(table, BEGIN + 0x7fe), "early+2030");
	ck_assert_str_eq(find(table, BEGIN + 0x7ff), "tiny+0");
	ck_assert_str_eq(find(table, BEGIN + 0x800), "late+0");
	ck_assert_str_eq(find(table, END - 1), "late+2047");
	symbol_table_free(table);
}
END_TEST

/* Addresses and names are the same whatever the order in which symbols come. */
START_TEST(any_order)
{
	static const size_t steps[] = { 1, 2, 3, 77, 199, 399 };
	size_t nr_symbols = 400, i, at;
	char names[400][16], text[64];
	struct symbol_table *table;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		for (at = 0; at < nr_symbols; at++) {
			/* Each once, but with 2: there every other one has two names. */
			size_t nr = at * steps[i] % nr_symbols;

			snprintf(names[at], sizeof(names[at]), "%sf%zu",
				 at < nr_symbols / 2 ? "" : "_", nr);
			add(BEGIN + 4 * nr, 'T', names[at]);
		}
		table = table_new();
		ck_assert_uint_eq(table->nr_symbols, steps[i] == 2 ? 200 : 400);
		for (at = 0; at < nr_symbols; at++) {
			size_t nr = at * steps[i] % nr_symbols;

			if (steps[i] == 2 && at >= nr_symbols / 2)
				continue;
			snprintf(text, sizeof(text), "%s+3", names[at]);
			ck_assert_str_eq(find(table, BEGIN + 4 * nr + 3), text);
		}
		symbol_table_free(table);
	}
}
END_TEST

START_TEST(outside)
{
	struct symbol_table *table;

	add(BEGIN - 0x10, 'T', "before");
	add(BEGIN + 0x10, 'T', "first");
	add(END, 'T', "behind");
	table = table_new();
	ck_assert_uint_eq(table->nr_symbols, 1);
	ck_assert_str_eq(find(table, BEGIN - 1), "-");
	ck_assert_str_eq(find(table, BEGIN + 0xf), "-");
	ck_assert_str_eq(find(table, END), "-");
	symbol_table_free(table);
}
END_TEST

START_TEST(shifted)
{
	struct symbol_table *table;

	add(BEGIN + 0x10, 'T', "first");
	table = table_new();
	table->shift = 0x5000000;
	ck_assert_str_eq(find(table, BEGIN + 0x5000012), "first+2");
	ck_assert_str_eq(find(table, BEGIN + 0x12), "-");
	symbol_table_free(table);
}
END_TEST

START_TEST(empty)
{
	struct symbol_table *table = table_new();

	ck_assert_str_eq(find(table, BEGIN), "-");
	symbol_table_free(table);
}
END_TEST

/* Functions before data, global before local, few underscores, then the alphabet. */
START_TEST(aliases)
{
	static const struct {
		char letter_a;
		const char *a;
		char letter_b;
		const char *b;
	} pairs[] = {	/* a wins */
		{ 'T', "z", 't', "a" }, { 't', "z", 'D', "a" }, { 'D', "z", 'd', "a" },
		{ 'W', "z", 't', "a" }, { 'T', "z", 'T', "_a" }, { 'T', "_z", 'T', "__a" },
		{ 'T', "a", 'T', "b" }, { 'T', "a", 'T', "ab" }, { 'T', "a", 'T', "a" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		for (int turned = 0; turned < 2; turned++) {
			char want[8];
			struct symbol_table *table;

			if (turned)
				add(BEGIN, pairs[i].letter_b, pairs[i].b);
			add(BEGIN, pairs[i].letter_a, pairs[i].a);
			if (!turned)
				add(BEGIN, pairs[i].letter_b, pairs[i].b);
			table = table_new();
			snprintf(want, sizeof(want), "%s+0", pairs[i].a);
			ck_assert_str_eq(find(table, BEGIN), want);
			symbol_table_free(table);
		}
	}
}
END_TEST

START_TEST(no_symbols_of_the_image)
{
	add(BEGIN, 'U', "undefined");
	add(BEGIN, 'A', "absolute");
	add(BEGIN, 'N', "debugging");
	add(BEGIN, 'T', "");
	add(BEGIN, '\0', "no_letter");
	ck_assert_uint_eq(list.nr_entries, 0);
}
END_TEST

START_TEST(hostile_name_is_escaped)
{
	struct symbol_table *table;

	add(BEGIN, 'T', "a\x1b\"\\\xff");
	table = table_new();
	ck_assert_str_eq(find(table, BEGIN), "a\\x1b\\\"\\\\\\xff+0");
	symbol_table_free(table);
}
END_TEST

/* Every byte at every place of a name, behind and before plain ones. */
START_TEST(any_byte_is_escaped)
{
	char text[21], want[ESCAPED_MAX_BYTES * 20 + 1], got[ESCAPED_MAX_BYTES * 20 + 1];
	size_t nr_bytes, i;

	for (unsigned int byte = 0; byte < 256; byte++) {
		for (size_t place = 0; place < sizeof(text) - 1; place++) {
			memcpy(text, "plain ~ and }plain[_", sizeof(text));
			text[place] = (char)byte;
			for (i = nr_bytes = 0; i < sizeof(text) - 1 && text[i]; i++)
				nr_bytes += escape_byte(want + nr_bytes, (unsigned char)text[i]);
			want[nr_bytes] = '\0';
			ck_assert_uint_eq(escaped_copy(got, text, sizeof(text) - 1), nr_bytes);
			ck_assert_str_eq(got, want);
		}
	}
	ck_assert_uint_eq(escaped_copy(got, "plain and more", 11), 11);
	ck_assert_str_eq(got, "plain and m");
}
END_TEST

START_TEST(long_name_is_cut)
{
	char name[SYMBOL_NAME_MAX_BYTES + 2];
	struct symbol_table *table;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	add(BEGIN, 'T', name);
	table = table_new();
	ck_assert_uint_eq(strlen(find(table, BEGIN)), SYMBOL_NAME_MAX_BYTES + 2);
	symbol_table_free(table);
}
END_TEST

START_TEST(by_name)
{
	add(BEGIN, 'T', "ab");
	add(BEGIN + 1, 'T', "abc");
	ck_assert_uint_eq(symbol_list_by_name(&list, "abc")->va, BEGIN + 1);
	ck_assert_ptr_null(symbol_list_by_name(&list, "a"));
	/* With sanitizers: what is in front of it is not looked at. */
	ck_assert_ptr_null(symbol_list_by_name(&list, ""));
	symbol_list_fini(&list);
}
END_TEST

START_TEST(no_memory)
{
	failing_alloc_arm(1);
	ck_assert(!symbol_list_add(&list, BEGIN, 'T', "a", 1));
	ck_assert(failing_alloc_disarm());
	add(BEGIN, 'T', "a");
	for (unsigned int nr = 1; nr <= 4; nr++) {
		failing_alloc_arm(nr);
		ck_assert_ptr_null(symbol_table_new(&list, BEGIN, END));
		ck_assert(failing_alloc_disarm());
	}
	symbol_list_fini(&list);
}
END_TEST

START_TEST(all_of_a_name)
{
	struct symbol_table *table;
	uint64_t va = 0;
	size_t at = 0;

	add(BEGIN + 0x10, 't', "init");
	add(BEGIN + 0x20, 't', "init_more");
	add(BEGIN + 0x30, 't', "init");
	add(BEGIN + 0x40, 't', "ini");
	table = table_new();
	table->shift = 0x5000000;
	ck_assert(symbol_table_by_name(table, "init", &at, &va));
	ck_assert_uint_eq(va, BEGIN + 0x5000010);
	ck_assert(symbol_table_by_name(table, "init", &at, &va));
	ck_assert_uint_eq(va, BEGIN + 0x5000030);
	ck_assert(!symbol_table_by_name(table, "init", &at, &va));
	ck_assert(!symbol_table_by_name(table, "init", &at, &va));
	symbol_table_free(table);
}
END_TEST

/* A name that is not printed leads to its address nevertheless, and hides no other. */
START_TEST(other_names)
{
	struct symbol_table *table;
	uint64_t va = 0;
	size_t at = 0;

	add(BEGIN + 0x10, 'T', "shown");
	add(BEGIN + 0x10, 'T', "__shown");
	add(BEGIN + 0x10, 't', "local");
	add(BEGIN + 0x20, 'T', "behind");
	add(BEGIN - 1, 'T', "before");
	table = table_new();
	table->shift = 0x1000000;
	ck_assert_uint_eq(table->nr_symbols, 2);
	ck_assert(symbol_table_by_name(table, "local", &at, &va));
	ck_assert_uint_eq(va, BEGIN + 0x1000010);
	ck_assert(!symbol_table_by_name(table, "local", &at, &va));
	at = 0;
	ck_assert(symbol_table_by_name(table, "__shown", &at, &va));
	ck_assert_uint_eq(va, BEGIN + 0x1000010);
	at = 0;
	ck_assert(!symbol_table_by_name(table, "before", &at, &va));
	ck_assert_str_eq(find(table, BEGIN + 0x1000011), "shown+1");
	ck_assert_str_eq(find(table, BEGIN + 0x1000fff), "behind+4063");
	symbol_table_free(table);
}
END_TEST

static bool begins_with_u(const char *name, size_t name_bytes)
{
	return name_bytes && *name == 'u';
}

/* From the first name that is wanted to where the symbol after the last one begins. */
START_TEST(part_of_some_names)
{
	uint64_t va = 1, end_va = 2;
	struct symbol_table *table;

	add(BEGIN + 0x10, 'T', "first");
	add(BEGIN + 0x20, 'T', "u1");
	add(BEGIN + 0x30, 'T', "between");
	add(BEGIN + 0x40, 'T', "u2");
	add(BEGIN + 0x50, 'T', "behind");
	/* Another name is printed here. */
	add(BEGIN + 0x50, 't', "u3");
	table = table_new();
	table->shift = 0x1000000;
	ck_assert(symbol_table_part(table, begins_with_u, &va, &end_va));
	ck_assert_uint_eq(va, BEGIN + 0x1000020);
	ck_assert_uint_eq(end_va, BEGIN + 0x1000050);
	symbol_table_free(table);

	add(BEGIN + 0x20, 'T', "last");
	table = table_new();
	ck_assert(!symbol_table_part(table, begins_with_u, &va, &end_va));
	symbol_table_free(table);

	add(BEGIN + 0x20, 'T', "u");
	table = table_new();
	ck_assert(symbol_table_part(table, begins_with_u, &va, &end_va));
	ck_assert_uint_eq(va, BEGIN + 0x20);
	ck_assert_uint_eq(end_va, END);
	symbol_table_free(table);
}
END_TEST

BTSREC_CK_MAIN("symbol_table", other_names, part_of_some_names, nearest_below, any_order, outside, shifted,
	       empty, aliases, no_symbols_of_the_image, hostile_name_is_escaped, any_byte_is_escaped,
	       long_name_is_cut, by_name, all_of_a_name, no_memory)
