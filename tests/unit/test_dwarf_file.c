// SPDX-License-Identifier: GPL-2.0-or-later
/* The test program reads its own debug information. */

#include "check_btsrec.h"
#include "dwarf_file.h"

#include <unistd.h>

#define SELF "/proc/self/exe"

static char no_folders[] = "";
static const struct dwarf_build_id any_build;

/* On one line, so that all of its instructions have it. */
int marked(void); int marked(void) { return 42; }
enum { MARKED_LINE = __LINE__ - 1 };

struct symbol {
	bool found;
	uint64_t address;
};

static bool find_marked(void *arg, const char *name, uint64_t address, size_t section,
			uint64_t begin, uint64_t end)
{
	struct symbol *symbol = arg;

	ck_assert_uint_ne(section, 0);
	ck_assert(begin <= address && address <= end);
	if (strcmp(name, "marked"))
		return true;
	symbol->found = true;
	symbol->address = address;
	return false;
}

static void expect_own_line(const char *path)
{
	struct symbol symbol = { 0 };
	struct dwarf_file *file;
	unsigned int line = 0;
	const char *name = "";

	ck_assert_int_eq(marked(), 42);
	ck_assert_int_eq(dwarf_file_open(path, &any_build, no_folders, &file), DWARF_OK);
	dwarf_file_symbols(file, find_marked, &symbol);
	ck_assert(symbol.found);
	ck_assert(dwarf_file_line(file, symbol.address, &name, &line));
	ck_assert_uint_eq(line, MARKED_LINE);
	ck_assert_ptr_nonnull(strstr(name, "test_dwarf_file.c"));
	ck_assert(!dwarf_file_line(file, 0, &name, &line));
	ck_assert(!dwarf_file_line(file, UINT64_MAX, &name, &line));
	dwarf_file_close(file);
}

START_TEST(line_of_a_function)
{
	expect_own_line(SELF);
}
END_TEST

START_TEST(line_without_aranges)
{
	char path[4096];
	ssize_t nr_bytes = readlink(SELF, path, sizeof(path) - sizeof(".noaranges"));

	ck_assert_int_gt(nr_bytes, 0);
	strcpy(path + nr_bytes, ".noaranges");
	expect_own_line(path);
}
END_TEST

START_TEST(other_build)
{
	static const uint8_t bytes[20] = { 1, 2, 3 };
	const struct dwarf_build_id id = { bytes, sizeof(bytes) };
	struct dwarf_file *file = NULL;

	ck_assert_int_eq(dwarf_file_open(SELF, &id, no_folders, &file), DWARF_OTHER_BUILD);
	ck_assert_int_eq(dwarf_file_find(&id, no_folders, &file), DWARF_NO_FILE);
	ck_assert_int_eq(dwarf_file_find(&any_build, no_folders, &file), DWARF_NO_FILE);
	ck_assert_ptr_null(file);
}
END_TEST

START_TEST(no_such_file)
{
	struct dwarf_file *file = NULL;

	ck_assert_int_eq(dwarf_file_open("/nowhere", &any_build, no_folders, &file),
			 DWARF_NO_FILE);
	ck_assert_int_eq(dwarf_file_open("/dev/null", &any_build, no_folders, &file),
			 DWARF_NO_ELF);
	ck_assert_int_eq(dwarf_file_open("/", &any_build, no_folders, &file), DWARF_NO_ELF);
	ck_assert_ptr_null(file);
	dwarf_file_close(NULL);
}
END_TEST

BTSREC_CK_MAIN("dwarf_file", line_of_a_function, line_without_aranges, other_build, no_such_file)
