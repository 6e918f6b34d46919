// SPDX-License-Identifier: GPL-2.0-or-later
/* The test program reads its own debug information. */

#include "check_btsrec.h"
#include "symbols/dwarf_file.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <sys/stat.h>
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

/* The build-id of the program, which is listed first. */
static int own_build_id(struct dl_phdr_info *info, size_t nr_bytes, void *arg)
{
	struct dwarf_build_id *id = arg;

	(void)nr_bytes;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uint8_t *at = (const uint8_t *)info->dlpi_addr + segment->p_vaddr;
		const uint8_t *end = at + segment->p_memsz;

		while (segment->p_type == PT_NOTE && at < end) {
			const ElfW(Nhdr) *note = (const void *)at;
			const uint8_t *desc = at + sizeof(*note) + (note->n_namesz + 3) / 4 * 4;

			if (note->n_type == NT_GNU_BUILD_ID)
				*id = (struct dwarf_build_id){ desc, note->n_descsz };
			at = desc + (note->n_descsz + 3) / 4 * 4;
		}
	}
	return 1;
}

/* As it is mapped: by the address it was linked for, and only if it is that build. */
START_TEST(line_as_linked)
{
	static const uint8_t bytes[20] = { 1, 2, 3 };
	const struct dwarf_build_id other = { bytes, sizeof(bytes) };
	struct dwarf_build_id id = { 0 };
	struct dwarf_file *file;
	unsigned int line = 0;
	const char *name = "";
	Dl_info info;

	ck_assert_int_ne(dladdr((void *)marked, &info), 0);
	(void)dl_iterate_phdr(own_build_id, &id);
	ck_assert_int_eq(dwarf_file_open_fd(open(SELF, O_RDONLY), &other, no_folders, &file),
			 DWARF_OTHER_BUILD);
	ck_assert_int_eq(dwarf_file_open_fd(open(SELF, O_RDONLY), &id, no_folders, &file),
			 DWARF_OK);
	ck_assert(dwarf_file_line(file, (uint64_t)marked - (uint64_t)info.dli_fbase +
				  dwarf_file_bias(file), &name, &line));
	ck_assert_uint_eq(line, MARKED_LINE);
	dwarf_file_close(file);
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

/** struct folder - "@path/.build-id/xx/yyyy.debug" is a link to a program */
struct folder {
	char path[32];
	char paths[3][4096];
};

static void make_folder(struct folder *folder, const struct dwarf_build_id *id, const char *program)
{
	int at;

	strcpy(folder->path, "/tmp/btsrec-dwarf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder->path));
	sprintf(folder->paths[0], "%s/.build-id", folder->path);
	sprintf(folder->paths[1], "%s/.build-id/%02x", folder->path, id->bytes[0]);
	at = sprintf(folder->paths[2], "%s/.build-id/%02x/", folder->path, id->bytes[0]);
	for (size_t i = 1; i < id->nr_bytes; i++)
		at += sprintf(folder->paths[2] + at, "%02x", id->bytes[i]);
	strcpy(folder->paths[2] + at, ".debug");
	ck_assert_int_eq(mkdir(folder->paths[0], 0700), 0);
	ck_assert_int_eq(mkdir(folder->paths[1], 0700), 0);
	ck_assert_int_eq(symlink(program, folder->paths[2]), 0);
}

static void remove_folder(const struct folder *folder)
{
	for (size_t i = 3; i--;)
		(void)remove(folder->paths[i]);
	ck_assert_int_eq(rmdir(folder->path), 0);
}

/* In the folder, also if there are servers; what could ask one is not loaded if there is none. */
START_TEST(by_build_id)
{
	static const char *const servers[] = { NULL, "", "http://127.0.0.1:1/" };
	struct dwarf_build_id id = { 0 };
	struct dwarf_file *file = NULL;
	char self[4096] = { 0 }, folders[64];
	struct folder folder;

	(void)dl_iterate_phdr(own_build_id, &id);
	ck_assert_uint_gt(id.nr_bytes, 2);
	ck_assert_int_gt(readlink(SELF, self, sizeof(self) - 1), 0);
	make_folder(&folder, &id, self);
	sprintf(folders, ":/nowhere:%s:/", folder.path);
	for (size_t i = 0; i < 3; i++) {
		if (servers[i])
			setenv("DEBUGINFOD_URLS", servers[i], 1);
		else
			unsetenv("DEBUGINFOD_URLS");
		ck_assert_int_eq(dwarf_file_find(&id, folders, &file), DWARF_OK);
		dwarf_file_close(file);
		ck_assert_int_ne(fcntl(STDIN_FILENO, F_GETFD), -1);
		if (!servers[i] || !*servers[i]) {
			ck_assert_int_eq(dwarf_file_find(&id, no_folders, &file), DWARF_NO_FILE);
			ck_assert_ptr_null(dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_NOLOAD));
		}
	}
	unsetenv("DEBUGINFOD_URLS");
	remove_folder(&folder);
}
END_TEST

/* What is called by that build-id may be of another build, or nothing at all. */
START_TEST(by_build_id_after_others)
{
	char text[] = "/tmp/btsrec-no-elf-XXXXXX";
	const char *const programs[] = { "/bin/sh", text, "/nowhere", NULL };
	struct dwarf_build_id id = { 0 };
	struct dwarf_file *file = NULL;
	struct folder made[4];
	char self[4096] = { 0 }, folders[256];
	int fd = mkstemp(text);
	size_t at = 0;

	ck_assert_int_eq(write(fd, "text\n", 5), 5);
	close(fd);
	(void)dl_iterate_phdr(own_build_id, &id);
	ck_assert_int_gt(readlink(SELF, self, sizeof(self) - 1), 0);
	for (size_t i = 0; i < 4; i++) {
		make_folder(&made[i], &id, programs[i] ? programs[i] : self);
		at += (size_t)snprintf(folders + at, sizeof(folders) - at, "%.31s:",
				       made[i].path);
	}
	ck_assert_int_eq(dwarf_file_find(&id, folders, &file), DWARF_OK);
	dwarf_file_close(file);
	remove_folder(&made[3]);
	ck_assert_int_eq(dwarf_file_find(&id, folders, &file), DWARF_NO_ELF);
	for (size_t i = 0; i < 3; i++)
		remove_folder(&made[i]);
	unlink(text);
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

BTSREC_CK_MAIN("dwarf_file", line_of_a_function, line_without_aranges, line_as_linked,
	       other_build, by_build_id, by_build_id_after_others, no_such_file)
