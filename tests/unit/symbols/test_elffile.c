// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "symbols/elffile.h"
#include "failing_alloc.h"
#include "userkernel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static _Alignas(16) uint8_t page[BTSREC_PAGE_BYTES];
static struct elffile file;
static struct msg msg;

static struct uk_elf *put_elf(void)
{
	uk_put_elf(page, SHT_SYMTAB);
	return (struct uk_elf *)page;
}

static enum btsrec_status open_bytes(const void *bytes, size_t nr_bytes)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, nr_bytes), (ssize_t)nr_bytes);
	return elffile_init(&file, &msg, fd);
}

static void expect_build_id(void)
{
	ck_assert_uint_eq(file.build_id_bytes, sizeof(UK_BUILD_ID) - 1);
	ck_assert_mem_eq(file.build_id, UK_BUILD_ID, sizeof(UK_BUILD_ID) - 1);
}

START_TEST(a_file)
{
	struct elffile_segment segments[4];
	struct symbol_list list = { 0 };
	int fd;

	put_elf();
	btsrec_ck_ok(open_bytes(page, sizeof(page)));
	expect_build_id();
	ck_assert_uint_eq(elffile_machine(&file), EM_X86_64);
	ck_assert_uint_eq(elffile_segments(&file, segments, 4), 1);
	ck_assert_uint_eq(segments[0].offset_bytes, 0);
	ck_assert_uint_eq(segments[0].nr_bytes, 4096);
	ck_assert_uint_eq(segments[0].va, 0x10000);
	ck_assert_uint_eq(elffile_segments(&file, segments, 0), 0);
	btsrec_ck_ok(elffile_symbols(&file, SHT_SYMTAB, NULL, &list));
	ck_assert_uint_eq(list.nr_entries, 1);
	ck_assert_uint_eq(list.entries[0].va, 0x10800);
	ck_assert_uint_eq(list.entries[0].nr_bytes, 0x100);
	ck_assert_uint_eq(list.entries[0].name_bytes, 4);
	ck_assert_mem_eq(list.entries[0].name, "work", 4);
	symbol_list_fini(&list);
	ck_assert_int_eq(elffile_symbols(&file, SHT_DYNSYM, NULL, &list), BTSREC_ERR_NO_SYMBOL);
	fd = file.fd;
	elffile_fini(&file);
	ck_assert_int_eq(close(fd), -1);
	elffile_fini(&file);
}
END_TEST

static bool want_none(const char *name)
{
	ck_assert(!*name || !strcmp(name, "work"));
	return false;
}

/* What the symbol is called by nm decides which of two names of an address is printed. */
START_TEST(symbols_rank_as_in_nm)
{
	static const struct {
		unsigned int bind, type;
		uint16_t section;
		char letter;	/* 0: left out */
	} expected[] = {
		{ STB_GLOBAL, STT_FUNC, 1, 'T' },
		{ STB_LOCAL, STT_FUNC, 1, 't' },
		{ STB_GLOBAL, STT_GNU_IFUNC, 1, 'T' },
		{ STB_WEAK, STT_FUNC, 1, 'W' },
		{ STB_WEAK, STT_OBJECT, 1, 'V' },
		{ STB_LOCAL, STT_OBJECT, 4, 'r' },
		{ STB_LOCAL, STT_SECTION, 1, 0 },
		{ STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0 },
		{ STB_GLOBAL, STT_FUNC, SHN_ABS, 0 },
		{ STB_GLOBAL, STT_FUNC, 77, 0 },
	};
	struct symbol_list list = { 0 }, wanted = { 0 };
	struct uk_elf *elf = put_elf();

	elf->symbols[1].st_shndx = expected[_i].section;
	elf->symbols[1].st_info = (unsigned char)ELF64_ST_INFO(expected[_i].bind,
								expected[_i].type);
	btsrec_ck_ok(open_bytes(page, sizeof(page)));
	btsrec_ck_ok(elffile_symbols(&file, SHT_SYMTAB, NULL, &list));
	ck_assert_uint_eq(list.nr_entries, expected[_i].letter != 0);
	if (expected[_i].letter) {
		ck_assert(symbol_list_add(&wanted, 0x10800, expected[_i].letter, "work", 4));
		ck_assert_uint_eq(list.entries[0].rank, wanted.entries[0].rank);
	}
	symbol_list_fini(&wanted);
	symbol_list_fini(&list);
	btsrec_ck_ok(elffile_symbols(&file, SHT_SYMTAB, want_none, &list));
	ck_assert_uint_eq(list.nr_entries, 0);
	symbol_list_fini(&list);
	elffile_fini(&file);
}
END_TEST

/* Of a beginning in memory the segments and the build-id are known, and no section. */
START_TEST(a_beginning_in_memory)
{
	struct elffile_segment segment;
	struct symbol_list list = { 0 };
	struct elffile other;

	put_elf();
	ck_assert(elffile_init_memory(&file, page, offsetof(struct uk_elf, sections)));
	expect_build_id();
	ck_assert_uint_eq(elffile_segments(&file, &segment, 1), 1);
	ck_assert_int_eq(elffile_symbols(&file, SHT_SYMTAB, NULL, &list), BTSREC_ERR_NO_SYMBOL);
	other = file;
	ck_assert(elffile_same(&file, &other));
	other.build_id = (const uint8_t *)"another!";
	ck_assert(!elffile_same(&file, &other));
	other.build_id_bytes = 0;
	ck_assert(!elffile_same(&file, &other));
	other.build_id = NULL;
	ck_assert(!elffile_same(&other, &other));
	elffile_fini(&file);
}
END_TEST

START_TEST(a_file_of_32_bits)
{
	Elf32_Ehdr header = { .e_ident = ELFMAG "\1\1\1", .e_type = ET_EXEC,
			      .e_machine = EM_386, .e_version = 1, .e_ehsize = sizeof(header),
			      .e_phoff = sizeof(header), .e_phentsize = sizeof(Elf32_Phdr),
			      .e_phnum = 1, .e_shoff = 0xfffff, .e_shnum = 9 };
	Elf32_Phdr load = { .p_type = PT_LOAD, .p_offset = 0x1000, .p_vaddr = 0x08049000,
			    .p_filesz = 0x123, .p_memsz = 0x123 };
	struct elffile_segment segment;

	memset(page, 0, sizeof(page));
	memcpy(page, &header, sizeof(header));
	memcpy(page + sizeof(header), &load, sizeof(load));
	ck_assert(elffile_init_memory(&file, page, sizeof(page)));
	ck_assert_uint_eq(elffile_machine(&file), EM_386);
	ck_assert_ptr_null(file.build_id);
	ck_assert_uint_eq(elffile_segments(&file, &segment, 1), 1);
	ck_assert_uint_eq(segment.va, 0x08049000);
	ck_assert_uint_eq(segment.nr_bytes, 0x123);
	elffile_fini(&file);
}
END_TEST

/* Each of these is closed like one that is fine. */
START_TEST(no_elf_file)
{
	struct elffile_segment segment;
	struct uk_elf *elf = put_elf();

	ck_assert_int_eq(open_bytes("#!/bin/sh\n", 10), BTSREC_ERR_CORRUPT);
	elffile_fini(&file);
	ck_assert_int_eq(open_bytes("", 0), BTSREC_ERR_CORRUPT);
	elffile_fini(&file);
	ck_assert_int_eq(elffile_init(&file, &msg, -1), BTSREC_ERR_CORRUPT);
	elffile_fini(&file);
	ck_assert(!elffile_init_memory(&file, page, sizeof(Elf64_Ehdr) - 1));
	elffile_fini(&file);
	page[0] = 'X';
	ck_assert(!elffile_init_memory(&file, page, sizeof(page)));
	elffile_fini(&file);
	elffile_none(&file);
	ck_assert_uint_eq(elffile_machine(&file), EM_NONE);
	elffile_fini(&file);

	/* Program headers that are not there. */
	elf = put_elf();
	elf->header.e_phoff = 0x7fffffff;
	ck_assert(elffile_init_memory(&file, page, sizeof(page)));
	ck_assert_uint_eq(elffile_segments(&file, &segment, 1), 0);
	ck_assert_ptr_null(file.build_id);
	elffile_fini(&file);
}
END_TEST

/* Symbols with names, a table or sections that point anywhere. */
START_TEST(hostile_symbols)
{
	struct symbol_list list = { 0 };
	struct uk_elf *elf = put_elf();

	elf->symbols[1].st_name = 0xffff;
	btsrec_ck_ok(open_bytes(page, sizeof(page)));
	btsrec_ck_ok(elffile_symbols(&file, SHT_SYMTAB, NULL, &list));
	ck_assert_uint_eq(list.nr_entries, 0);
	symbol_list_fini(&list);
	elffile_fini(&file);

	elf = put_elf();
	elf->sections[2].sh_link = 99;
	btsrec_ck_ok(open_bytes(page, sizeof(page)));
	btsrec_ck_ok(elffile_symbols(&file, SHT_SYMTAB, NULL, &list));
	ck_assert_uint_eq(list.nr_entries, 0);
	symbol_list_fini(&list);
	elffile_fini(&file);

	elf = put_elf();
	elf->sections[2].sh_offset = 1ULL << 40;
	btsrec_ck_ok(open_bytes(page, sizeof(page)));
	ck_assert_int_eq(elffile_symbols(&file, SHT_SYMTAB, NULL, &list), BTSREC_ERR_NO_SYMBOL);
	elffile_fini(&file);

	elf = put_elf();
	elf->sections[2].sh_entsize = 0;
	btsrec_ck_ok(open_bytes(page, sizeof(page)));
	ck_assert_int_eq(elffile_symbols(&file, SHT_SYMTAB, NULL, &list), BTSREC_ERR_NO_SYMBOL);
	elffile_fini(&file);
}
END_TEST

START_TEST(out_of_memory)
{
	struct symbol_list list = { 0 };

	put_elf();
	btsrec_ck_ok(open_bytes(page, sizeof(page)));
	failing_alloc_arm(1);
	ck_assert_int_eq(elffile_symbols(&file, SHT_SYMTAB, NULL, &list), BTSREC_ERR_NOMEM);
	ck_assert(failing_alloc_disarm());
	symbol_list_fini(&list);
	elffile_fini(&file);
}
END_TEST

/* Its symbols are in .gnu_debugdata alone; see tests/tools/minidebug. */
START_TEST(minidebug)
{
	char path[4096];
	ssize_t nr_bytes = readlink("/proc/self/exe", path, sizeof(path) - sizeof(".mini"));
	struct symbol_list list = { 0 };
	struct elffile packed, none;
	bool found = false;

	ck_assert_int_gt(nr_bytes, 0);
	strcpy(path + nr_bytes, ".mini");
	btsrec_ck_ok(elffile_init(&file, &msg, open(path, O_RDONLY | O_CLOEXEC)));
	ck_assert_int_eq(elffile_symbols(&file, SHT_SYMTAB, NULL, &list), BTSREC_ERR_NO_SYMBOL);
	ck_assert(elffile_init_minidebug(&packed, &file));
	btsrec_ck_ok(elffile_symbols(&packed, SHT_SYMTAB, NULL, &list));
	for (size_t i = 0; i < list.nr_entries; i++)
		found |= list.entries[i].name_bytes == 4 &&
			 !memcmp(list.entries[i].name, "main", 4);
	ck_assert(found);
	symbol_list_fini(&list);
	ck_assert(!elffile_init_minidebug(&none, &packed));
	elffile_fini(&none);
	elffile_fini(&packed);
	elffile_fini(&file);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("elffile");

	tcase_add_test(tcase, a_file);
	tcase_add_loop_test(tcase, symbols_rank_as_in_nm, 0, 10);
	tcase_add_test(tcase, a_beginning_in_memory);
	tcase_add_test(tcase, a_file_of_32_bits);
	tcase_add_test(tcase, no_elf_file);
	tcase_add_test(tcase, hostile_symbols);
	tcase_add_test(tcase, minidebug);
	tcase_add_test(tcase, out_of_memory);
	return btsrec_ck_run_case("elffile", tcase);
}
