// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "failing_alloc.h"
#include "symbols/mapped.h"
#include "userkernel.h"

#include <sys/stat.h>
#include <unistd.h>

/* A folder with the file "prog" in it; the facts of a dump that had it. */
static char folder[64];
static _Alignas(16) uint8_t page[BTSREC_PAGE_BYTES];
static struct mapped_facts facts;
static struct mapped mapped;

static void write_file(const char *name, const void *bytes, size_t nr_bytes)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, nr_bytes, file), nr_bytes);
	fclose(file);
}

static void setup(void)
{
	strcpy(folder, "/tmp/btsrec-mapped-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	unsetenv("DEBUGINFOD_URLS");
	uk_put_elf(page, SHT_SYMTAB);
	write_file("prog", page, sizeof(page));
	memset(&facts, 0, sizeof(facts));
	facts.path = "/prog";
	facts.size_bytes = 1;
	memcpy(facts.head, page, sizeof(page));
	facts.head_bytes = sizeof(page);
}

static void teardown(void)
{
	static const char *const names[] = {
		"prog", ".build-id/12/3456789abcdef0.debug", ".build-id/12", ".build-id",
		"other/.build-id/12/3456789abcdef0.debug", "other/.build-id/12",
		"other/.build-id", "other", ""
	};
	char path[128];

	mapped_fini(&mapped);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		(void)remove(path);
	}
}

static void make_folder(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void put_debug(void)
{
	make_folder(".build-id");
	make_folder(".build-id/12");
	write_file(".build-id/12/3456789abcdef0.debug", page, sizeof(page));
}

static void strip(void *bytes)
{
	((struct uk_elf *)bytes)->sections[2].sh_type = SHT_NULL;
}

static void look_up(void)
{
	memset(&mapped, DIRT, sizeof(mapped));
	mapped_init(&mapped, &facts, folder, folder);
}

static void expect_symbol(uint64_t offset_bytes, uint64_t symbol_offset_bytes)
{
	const char *name;
	size_t name_bytes;
	uint64_t at;

	ck_assert(mapped_find(&mapped, offset_bytes, false, &name, &name_bytes, &at));
	ck_assert_uint_eq(name_bytes, 4);
	ck_assert_mem_eq(name, "work", 4);
	ck_assert_uint_eq(at, symbol_offset_bytes);
}

static void expect_no_symbol(uint64_t offset_bytes)
{
	const char *name;
	size_t name_bytes;
	uint64_t at;

	ck_assert(!mapped_find(&mapped, offset_bytes, false, &name, &name_bytes, &at));
}

START_TEST(the_same_file)
{
	uint8_t code[16];

	setup();
	look_up();
	ck_assert_int_eq(mapped.why, MAPPED_OK);
	ck_assert(!mapped.by_time);
	expect_symbol(0x800, 0);
	expect_symbol(0x8ff, 0xff);
	expect_no_symbol(0x7ff);
	expect_no_symbol(0x900);
	expect_no_symbol(0x1000);
	expect_no_symbol(0x10800);
	expect_no_symbol(UINT64_MAX);
	ck_assert_uint_eq(mapped_read(&mapped, 1, code, 3), 3);
	ck_assert_mem_eq(code, "ELF", 3);
	ck_assert_uint_eq(mapped_read(&mapped, sizeof(page) - 2, code, 16), 2);
	ck_assert_uint_eq(mapped_read(&mapped, sizeof(page), code, 16), 0);
	ck_assert_uint_eq(mapped_read(&mapped, UINT64_MAX, code, 16), 0);
	mapped_drop_file(&mapped);
	ck_assert_uint_eq(mapped_read(&mapped, 1, code, 3), 0);
	expect_symbol(0x800, 0);
	teardown();
}
END_TEST

START_TEST(another_build)
{
	uint8_t code;

	setup();
	((struct uk_elf *)facts.head)->note.build_id[0]++;
	look_up();
	ck_assert_int_eq(mapped.why, MAPPED_DIFFERS);
	expect_no_symbol(0x800);
	ck_assert_uint_eq(mapped_read(&mapped, 0, &code, 1), 0);
	teardown();
	setup();
	((struct uk_elf *)page)->note.header.n_descsz = 4;	/* a shorter one */
	write_file("prog", page, sizeof(page));
	look_up();
	ck_assert_int_eq(mapped.why, MAPPED_DIFFERS);
	teardown();
	setup();
	((struct uk_elf *)page)->note.header.n_type = 0;	/* none at all */
	write_file("prog", page, sizeof(page));
	look_up();
	ck_assert_int_eq(mapped.why, MAPPED_DIFFERS);
	teardown();
}
END_TEST

START_TEST(not_found)
{
	setup();
	facts.path = "/other";
	look_up();
	ck_assert_int_eq(mapped.why, MAPPED_NOT_FOUND);
	mapped_fini(&mapped);
	facts.path = NULL;
	look_up();
	ck_assert_int_eq(mapped.why, MAPPED_NOT_FOUND);
	expect_no_symbol(0x800);
	teardown();
}
END_TEST

START_TEST(no_elf_file)
{
	setup();
	write_file("prog", "#!/bin/sh\n", 10);
	look_up();
	ck_assert_int_eq(mapped.why, MAPPED_DIFFERS);
	teardown();
}
END_TEST

/* Without the build-id of what was in memory, size and time decide. */
START_TEST(by_size_and_time)
{
	struct stat stat_of;
	char path[128];

	setup();
	snprintf(path, sizeof(path), "%s/prog", folder);
	ck_assert_int_eq(stat(path, &stat_of), 0);
	facts.head_bytes = 0;
	facts.size_bytes = sizeof(page);
	facts.mtime_s = stat_of.st_mtime;
	look_up();
	ck_assert_int_eq(mapped.why, MAPPED_OK);
	ck_assert(mapped.by_time);
	expect_symbol(0x880, 0x80);
	mapped_fini(&mapped);
	facts.mtime_s--;
	look_up();
	ck_assert_int_eq(mapped.why, MAPPED_UNPROVEN);
	mapped_fini(&mapped);
	facts.head_lost = true;
	look_up();
	ck_assert_int_eq(mapped.why, MAPPED_EXCLUDED);
	mapped_fini(&mapped);
	facts.mtime_s++;
	facts.size_bytes--;
	look_up();
	ck_assert_int_eq(mapped.why, MAPPED_EXCLUDED);
	mapped_fini(&mapped);
	facts.head_bytes = 32;	/* something was in memory, and is no ELF header */
	look_up();
	ck_assert_int_eq(mapped.why, MAPPED_DIFFERS);
	teardown();
}
END_TEST

START_TEST(stripped)
{
	setup();
	strip(page);
	write_file("prog", page, sizeof(page));
	look_up();
	ck_assert_int_eq(mapped.why, MAPPED_STRIPPED);
	expect_no_symbol(0x800);
	teardown();
}
END_TEST

START_TEST(symbols_of_a_debug_file)
{
	setup();
	put_debug();
	strip(page);
	write_file("prog", page, sizeof(page));
	look_up();
	ck_assert_int_eq(mapped.why, MAPPED_OK);
	expect_symbol(0x800, 0);
	mapped_fini(&mapped);
	facts.path = "/none";		/* the program itself is not needed */
	look_up();
	ck_assert_int_eq(mapped.why, MAPPED_OK);
	expect_symbol(0x800, 0);
	ck_assert_int_eq(mapped.fd, -1);
	teardown();
}
END_TEST

/* As _init, with the PLT after its section: what is there is not called by its name. */
START_TEST(a_symbol_without_a_size)
{
	struct uk_elf *elf = (struct uk_elf *)page;

	setup();
	elf->symbols[1].st_size = 0;
	elf->sections[1].sh_size = 0x16;
	write_file("prog", page, sizeof(page));
	look_up();
	expect_symbol(0x800, 0);
	expect_symbol(0x815, 0x15);
	expect_no_symbol(0x816);
	expect_no_symbol(0x830);
	mapped_fini(&mapped);
	/* A label of where the section ends. */
	elf->sections[1].sh_addr -= 0x16;
	write_file("prog", page, sizeof(page));
	look_up();
	expect_no_symbol(0x800);
	ck_assert_int_eq(mapped.why, MAPPED_STRIPPED);
	mapped_fini(&mapped);
	/* A size is believed, whatever the section. */
	elf->symbols[1].st_size = 0x20;
	write_file("prog", page, sizeof(page));
	look_up();
	expect_symbol(0x81f, 0x1f);
	expect_no_symbol(0x820);
	teardown();
}
END_TEST

START_TEST(a_debug_file_of_another_build)
{
	setup();
	((struct uk_elf *)page)->note.build_id[7]++;
	put_debug();
	facts.path = "/none";
	look_up();
	ck_assert_int_eq(mapped.why, MAPPED_NOT_FOUND);
	expect_no_symbol(0x800);
	teardown();
}
END_TEST

/* The first folder has no ELF file, then one of another build; the second has it. */
START_TEST(a_debug_file_behind_others)
{
	char folders[256];

	setup();
	put_debug();
	make_folder("other");
	make_folder("other/.build-id");
	make_folder("other/.build-id/12");
	write_file("other/.build-id/12/3456789abcdef0.debug", "no", 2);
	facts.path = "/none";
	snprintf(folders, sizeof(folders), "%s/other:%s", folder, folder);
	mapped_init(&mapped, &facts, folder, folders);
	ck_assert_int_eq(mapped.why, MAPPED_OK);
	expect_symbol(0x800, 0);
	mapped_fini(&mapped);
	((struct uk_elf *)page)->note.build_id[7]++;
	write_file("other/.build-id/12/3456789abcdef0.debug", page, sizeof(page));
	mapped_init(&mapped, &facts, folder, folders);
	ck_assert_int_eq(mapped.why, MAPPED_OK);
	expect_symbol(0x800, 0);
	teardown();
}
END_TEST

START_TEST(an_image_in_memory)
{
	memset(&mapped, DIRT, sizeof(mapped));
	uk_put_elf(page, SHT_DYNSYM);
	mapped_init_image(&mapped, page, sizeof(page));
	ck_assert_int_eq(mapped.why, MAPPED_OK);
	memset(page, DIRT, sizeof(page));	/* no part of it is borrowed */
	expect_symbol(0x8ff, 0xff);
	mapped_fini(&mapped);
	mapped_init_image(&mapped, page, sizeof(page));
	ck_assert_int_eq(mapped.why, MAPPED_STRIPPED);
	mapped_fini(&mapped);
	mapped_init_image(&mapped, page, 0);
	ck_assert_int_eq(mapped.why, MAPPED_STRIPPED);
	expect_no_symbol(0);
	mapped_fini(&mapped);
}
END_TEST

/* An image that ends anywhere, in memory of just that size. */
START_TEST(an_image_cut_off)
{
	uk_put_elf(page, SHT_DYNSYM);
	for (size_t nr_bytes = 0; nr_bytes < sizeof(struct uk_elf) + 2; nr_bytes++) {
		uint8_t *bytes = malloc(nr_bytes + 1);

		memcpy(bytes, page, nr_bytes);
		mapped_init_image(&mapped, bytes, nr_bytes);
		free(bytes);
		mapped_fini(&mapped);
	}
}
END_TEST

/* A table for such an image would fill the machine. */
START_TEST(an_image_of_any_size)
{
	struct uk_elf *elf = (struct uk_elf *)page;

	uk_put_elf(page, SHT_DYNSYM);
	elf->segments[0].p_filesz = UINT64_MAX - 0x10000;
	mapped_init_image(&mapped, page, sizeof(page));
	ck_assert_int_eq(mapped.why, MAPPED_STRIPPED);
	mapped_fini(&mapped);
	elf->segments[0].p_filesz = 0;
	mapped_init_image(&mapped, page, sizeof(page));
	ck_assert_int_eq(mapped.why, MAPPED_STRIPPED);
	mapped_fini(&mapped);
}
END_TEST

/* Each allocation fails once: fewer names, and nothing worse. */
START_TEST(out_of_memory)
{
	bool failed = true;

	setup();
	for (unsigned int nth = 1; failed; nth++) {
		failing_alloc_arm(nth);
		look_up();
		failed = failing_alloc_disarm();
		ck_assert(failed || mapped.why == MAPPED_OK);
		ck_assert(mapped.symbols || mapped.why != MAPPED_OK);
		mapped_fini(&mapped);
		memcpy(facts.head, page, sizeof(page));
		ck_assert_uint_lt(nth, 100);
	}
	teardown();
}
END_TEST

BTSREC_CK_MAIN("mapped", the_same_file, another_build, not_found, no_elf_file, by_size_and_time,
	       stripped, symbols_of_a_debug_file, a_debug_file_of_another_build,
	       a_debug_file_behind_others, a_symbol_without_a_size, an_image_in_memory,
	       an_image_cut_off, an_image_of_any_size, out_of_memory)
