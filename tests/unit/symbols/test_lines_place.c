// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "symbols/lines_place.h"

/* --- A file, as dwarf_file.c would have it ------------------------------ */

#define TEXT	0x10000ULL
#define COLD	0x20000ULL

/** struct dwarf_file - symbols up to one without a name */
struct dwarf_file {
	struct symbol {
		const char *name;
		uint64_t address;
		size_t section;
	} symbols[8];
};

void dwarf_file_symbols(struct dwarf_file *file, dwarf_symbol_fn fn, void *arg)
{
	for (const struct symbol *symbol = file->symbols; symbol->name; symbol++) {
		uint64_t begin = symbol->section == 1 ? TEXT : COLD;

		if (!fn(arg, symbol->name, symbol->address, symbol->section, begin,
			begin + 0x1000))
			return;
	}
}

static struct dwarf_file module = { {
	{ "first", TEXT + 0x10, 1 },
	{ "same", TEXT + 0x20, 1 },
	{ "second", TEXT + 0x30, 1 },
	{ "first.cold", COLD, 2 },
	{ "same", COLD + 0x40, 2 },
} };

/* --- What the dump knows ------------------------------------------------ */

#define LOADED	0xffffffffc0000000ULL

static struct symbol_list list;

static void add(uint64_t va, const char *name)
{
	ck_assert(symbol_list_add(&list, va, 't', name, strlen(name)));
}

/* The answer for @va, 0: none. */
static uint64_t find(const struct lines_place *place, uint64_t va)
{
	uint64_t address = 0;

	if (!lines_place_find(place, va, &address))
		ck_assert_uint_eq(address, 0);
	return address;
}

static bool place_module(struct lines_place *place)
{
	struct symbol_table *table = symbol_table_new(&list, LOADED, LOADED + 0x8000);
	bool placed;

	symbol_list_fini(&list);
	ck_assert_ptr_nonnull(table);
	placed = lines_place_module(place, &module, table);
	symbol_table_free(table);
	return placed;
}

START_TEST(kernel_is_moved_as_a_whole)
{
	struct dwarf_file file = { { { "other", 0xffffffff81000000, 1 },
				     { "anchor", 0xffffffff81000400, 1 } } };
	struct lines_place place;

	ck_assert(lines_place_kernel(&place, &file, "anchor", 0xffffffff95400400));
	ck_assert_uint_eq(find(&place, 0xffffffff95400123), 0xffffffff81000123);
	ck_assert(!lines_place_kernel(&place, &file, "anchor", 0xffffffff95400401));
	ck_assert(!lines_place_kernel(&place, &file, "nowhere", 0xffffffff95400400));
}
END_TEST

START_TEST(a_mapped_file_is_as_linked)
{
	struct lines_place place = { 0 };

	lines_place_linked(&place, 0x10000);
	ck_assert_uint_eq(find(&place, 0x401123), 0x411123);
	lines_place_linked(&place, 0);
	ck_assert_uint_eq(find(&place, 0x401123), 0x401123);
}
END_TEST

START_TEST(each_section_has_its_place)
{
	struct lines_place place;

	add(LOADED + 0x4010, "first");
	add(LOADED + 0x4030, "second");
	add(LOADED + 0x2000, "first.cold");
	ck_assert(place_module(&place));
	ck_assert_uint_eq(find(&place, LOADED + 0x4000), TEXT);
	ck_assert_uint_eq(find(&place, LOADED + 0x4fff), TEXT + 0xfff);
	ck_assert_uint_eq(find(&place, LOADED + 0x5000), 0);
	ck_assert_uint_eq(find(&place, LOADED + 0x2008), COLD + 8);
	ck_assert_uint_eq(find(&place, LOADED + 0x1fff), 0);
}
END_TEST

/* Which of two is meant is not known, so neither may place anything. */
START_TEST(equal_names_are_no_witnesses)
{
	struct lines_place place;

	add(LOADED + 0x4010, "first");
	add(LOADED + 0x4020, "same");
	add(LOADED + 0x2040, "same");
	ck_assert(place_module(&place));
	ck_assert_uint_eq(find(&place, LOADED + 0x4000), TEXT);
	ck_assert_uint_eq(find(&place, LOADED + 0x2040), 0);
}
END_TEST

START_TEST(contradiction_places_nothing)
{
	struct lines_place place;

	add(LOADED + 0x4010, "first");
	add(LOADED + 0x4031, "second");
	ck_assert(!place_module(&place));
	ck_assert_uint_eq(find(&place, LOADED + 0x4010), 0);
}
END_TEST

START_TEST(unknown_names)
{
	struct lines_place place;

	add(LOADED + 0x4010, "firs");
	add(LOADED + 0x4030, "seconds");
	ck_assert(!place_module(&place));
}
END_TEST

BTSREC_CK_MAIN("lines_place", kernel_is_moved_as_a_whole, a_mapped_file_is_as_linked,
	       each_section_has_its_place, equal_names_are_no_witnesses,
	       contradiction_places_nothing, unknown_names)
