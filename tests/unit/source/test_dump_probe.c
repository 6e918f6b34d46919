// SPDX-License-Identifier: GPL-2.0-or-later
/* ELF dumps; golden-cut and golden-headers have whole files, compressed ones, too. */
#include <elf.h>
#include <stdio.h>
#include <unistd.h>

#include "check_btsrec.h"
#include "source/dump_probe.h"

static Elf64_Ehdr elf;
static struct dump_probe dump_probe;
static struct msg msg;

static void setup(void)
{
	elf = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64 }, .e_type = ET_CORE,
		.e_phoff = sizeof(elf), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
	};
}

static enum btsrec_status probe(void)
{
	FILE *file = tmpfile();
	enum btsrec_status status;

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(&elf, sizeof(elf), 1, file), 1);
	ck_assert_int_eq(fflush(file), 0);
	ck_assert_int_eq(ftruncate(fileno(file), 1024), 0);
	memset(&dump_probe, 0, sizeof(dump_probe));
	status = dump_probe_file(&dump_probe, fileno(file), 1024, &msg);
	fclose(file);
	return status;
}

START_TEST(a_core)
{
	setup();
	btsrec_ck_ok(probe());
	ck_assert_int_eq(dump_probe.kind, DUMP_ELF);
	ck_assert(!dump_probe_is_cut(&dump_probe));
}
END_TEST

/* libkdumpfile would be asked next, and dies of some of them. */
START_TEST(no_core)
{
	setup();
	elf.e_type = ET_EXEC;
	btsrec_ck_fails(probe(), BTSREC_ERR_NOT_DUMP, msg.text, "no core dump");
	setup();
	elf.e_ident[EI_CLASS] = ELFCLASS32;
	btsrec_ck_fails(probe(), BTSREC_ERR_NOT_DUMP, msg.text, "no core dump");
	setup();
	elf.e_phentsize = 0;
	btsrec_ck_fails(probe(), BTSREC_ERR_NOT_DUMP, msg.text, "no core dump");
}
END_TEST

START_TEST(something_else)
{
	const uint64_t lkcd[] = { 0xa8190173618f23ed, 0xed238f61730119a8 };

	setup();
	elf.e_ident[0] = 0;
	btsrec_ck_ok(probe());
	ck_assert_int_eq(dump_probe.kind, DUMP_OTHER);
	for (size_t i = 0; i < 2; i++) {
		memcpy(&elf, &lkcd[i], sizeof(lkcd[i]));
		btsrec_ck_fails(probe(), BTSREC_ERR_NOT_DUMP, msg.text, "LKCD");
	}
}
END_TEST

BTSREC_CK_MAIN("dump_probe", a_core, no_core, something_else)
