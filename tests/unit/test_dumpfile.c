// SPDX-License-Identifier: GPL-2.0-or-later
/* ELF dumps; golden-cut and golden-headers have whole files, compressed ones, too. */
#include <elf.h>
#include <stdio.h>
#include <unistd.h>

#include "check_btsrec.h"
#include "dumpfile.h"

#define NR_SEGMENTS	2

static struct {
	Elf64_Ehdr header;
	Elf64_Phdr segments[NR_SEGMENTS];
} elf;

static struct dumpfile dumpfile;
static struct msg msg;

static void setup(void)
{
	memset(&elf, 0, sizeof(elf));
	elf.header = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64 }, .e_type = ET_CORE,
		.e_phoff = sizeof(elf.header), .e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = NR_SEGMENTS,
	};
	elf.segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_offset = 512, .p_filesz = 512 };
	elf.segments[1] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = 256, .p_filesz = 256 };
}

static enum btsrec_status probe(void)
{
	FILE *file = tmpfile();
	enum btsrec_status status;

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(&elf, sizeof(elf), 1, file), 1);
	ck_assert_int_eq(fflush(file), 0);
	ck_assert_int_eq(ftruncate(fileno(file), 1024), 0);
	memset(&dumpfile, 0, sizeof(dumpfile));
	status = dumpfile_probe(&dumpfile, fileno(file), 1024, &msg);
	fclose(file);
	return status;
}

START_TEST(whole_or_cut)
{
	setup();
	btsrec_ck_ok(probe());
	ck_assert_int_eq(dumpfile.kind, DUMPFILE_ELF);
	ck_assert(!dumpfile_is_cut(&dumpfile));
	for (size_t i = 0; i < NR_SEGMENTS; i++) {
		setup();
		elf.segments[i].p_filesz += 1024;
		btsrec_ck_ok(probe());
		ck_assert(dumpfile_is_cut(&dumpfile));
		elf.segments[i].p_type = PT_NULL;
		btsrec_ck_ok(probe());
		ck_assert(!dumpfile_is_cut(&dumpfile));
	}
}
END_TEST

/* libkdumpfile would be asked next, and dies of some of them. */
START_TEST(no_core)
{
	setup();
	elf.header.e_type = ET_EXEC;
	btsrec_ck_fails(probe(), BTSREC_ERR_NOT_DUMP, msg.text, "no core dump");
	setup();
	elf.header.e_ident[EI_CLASS] = ELFCLASS32;
	btsrec_ck_fails(probe(), BTSREC_ERR_NOT_DUMP, msg.text, "no core dump");
	setup();
	elf.header.e_phentsize = 0;
	btsrec_ck_fails(probe(), BTSREC_ERR_NOT_DUMP, msg.text, "no core dump");
	setup();
	elf.header.e_phnum = 0;
	btsrec_ck_fails(probe(), BTSREC_ERR_NOT_DUMP, msg.text, "within its headers");
	setup();
	elf.header.e_phoff = 1000;
	btsrec_ck_fails(probe(), BTSREC_ERR_NOT_DUMP, msg.text, "within its headers");
}
END_TEST

START_TEST(something_else)
{
	const uint64_t lkcd[] = { 0xa8190173618f23ed, 0xed238f61730119a8 };

	setup();
	elf.header.e_ident[0] = 0;
	btsrec_ck_ok(probe());
	ck_assert_int_eq(dumpfile.kind, DUMPFILE_OTHER);
	for (size_t i = 0; i < 2; i++) {
		memcpy(&elf, &lkcd[i], sizeof(lkcd[i]));
		btsrec_ck_fails(probe(), BTSREC_ERR_NOT_DUMP, msg.text, "LKCD");
	}
}
END_TEST

BTSREC_CK_MAIN("dumpfile", whole_or_cut, no_core, something_else)
