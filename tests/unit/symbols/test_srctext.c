// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_btsrec.h"
#include "symbols/srctext.h"

static char folder[] = "/tmp/btsrec-source-XXXXXX";

static void make_file(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void make_tree(void)
{
	char path[128];

	ck_assert_ptr_nonnull(mkdtemp(strcpy(folder, "/tmp/btsrec-source-XXXXXX")));
	snprintf(path, sizeof(path), "%s/lib", folder);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	make_file("top.c", "first\nsecond\n\nfourth");
	make_file("lib/x.c", "x\n");
}

static void remove_tree(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static const char *text_of(struct srctext *source, const char *name, unsigned int line)
{
	static char copy[64];
	const char *text = "";
	size_t nr_bytes = srctext_line(source, name, line, &text);

	snprintf(copy, sizeof(copy), "%.*s", (int)nr_bytes, text);
	return copy;
}

START_TEST(lines_in_any_order)
{
	struct srctext source = {.folder = folder};

	make_tree();
	ck_assert_str_eq(text_of(&source, "top.c", 2), "second");
	ck_assert_str_eq(text_of(&source, "top.c", 4), "fourth");
	ck_assert_str_eq(text_of(&source, "top.c", 1), "first");
	ck_assert_str_eq(text_of(&source, "top.c", 3), "");
	ck_assert_str_eq(text_of(&source, "top.c", 5), "");
	ck_assert_str_eq(text_of(&source, "top.c", 0), "");
	srctext_fini(&source);
	remove_tree();
}
END_TEST

START_TEST(leading_folders_are_left_out)
{
	struct srctext source = {.folder = folder};

	make_tree();
	ck_assert_str_eq(text_of(&source, "/build/linux-6.1/lib/x.c", 1), "x");
	ck_assert_str_eq(text_of(&source, "./a/.././lib/x.c", 1), "x");
	ck_assert_str_eq(text_of(&source, "/lib", 1), "");
	ck_assert_str_eq(text_of(&source, "", 1), "");
	srctext_fini(&source);
	remove_tree();
}
END_TEST

START_TEST(nothing_outside_the_folder)
{
	struct srctext source = {.folder = folder};
	char below[sizeof(folder) + 8];

	make_tree();
	snprintf(below, sizeof(below), "%s/lib", folder);
	source.folder = below;
	ck_assert_str_eq(text_of(&source, "../top.c", 1), "");
	ck_assert_str_eq(text_of(&source, "x/../../top.c", 1), "");
	ck_assert_str_eq(text_of(&source, "../../../../../../etc/passwd", 1), "");
	ck_assert_str_eq(text_of(&source, "../x.c", 1), "x");
	srctext_fini(&source);
	remove_tree();
}
END_TEST

START_TEST(more_files_than_places)
{
	struct srctext source = {.folder = folder};
	char name[16];

	make_tree();
	for (unsigned int i = 0; i < 3 * SRCTEXT_NR_FILES; i++) {
		snprintf(name, sizeof(name), "gone%u.c", i);
		ck_assert_str_eq(text_of(&source, name, 1), "");
		ck_assert_str_eq(text_of(&source, "top.c", 1), "first");
	}
	srctext_fini(&source);
	remove_tree();
}
END_TEST

START_TEST(without_folder)
{
	struct srctext source = {0};

	ck_assert_str_eq(text_of(&source, "/etc/passwd", 1), "");
	srctext_fini(&source);
}
END_TEST

BTSREC_CK_MAIN("source", lines_in_any_order, leading_folders_are_left_out,
	       nothing_outside_the_folder, more_files_than_places, without_folder)
