// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <stdio.h>
#include <unistd.h>

#include "check_btsrec.h"
#include "dumpfile.h"

#define NR_PAGES	200
#define PAGE_PA(i)	(0x100000 + (uint64_t)(i) * BTSREC_PAGE_BYTES)

static FILE *file;
static struct dumpfile dumpfile;
static struct range ranges[2];
static uint64_t page_pa[NR_PAGES];
static uint8_t pages[NR_PAGES][BTSREC_PAGE_BYTES];

/* What is in the page at @pa: as if the memory were numbered words. */
static void fill(uint64_t *words, uint64_t pa)
{
	for (size_t i = 0; i < BTSREC_PAGE_BYTES / sizeof(*words); i++)
		words[i] = pa + i;
}

/* Pages 0 to 149 and, in front of them in the file, 150 to 199. */
static void setup(void)
{
	static uint64_t words[BTSREC_PAGE_BYTES / sizeof(uint64_t)];

	file = tmpfile();
	ck_assert_ptr_nonnull(file);
	for (size_t i = 0; i < NR_PAGES; i++) {
		fill(words, PAGE_PA((i + 150) % NR_PAGES));
		ck_assert_uint_eq(fwrite(words, sizeof(words), 1, file), 1);
	}
	ck_assert_int_eq(fflush(file), 0);
	ranges[0] = (struct range){ PAGE_PA(0), 150 * BTSREC_PAGE_BYTES, 50 * BTSREC_PAGE_BYTES, 2 };
	ranges[1] = (struct range){ PAGE_PA(150), 50 * BTSREC_PAGE_BYTES, 0, 1 };
	dumpfile = (struct dumpfile){ .kind = DUMPFILE_ELF, .memory = { ranges, 2, 2 } };
}

static void teardown(void)
{
	fclose(file);
}

static bool read_all(size_t nr)
{
	memset(pages, DIRT, sizeof(pages));
	return dumpfile_read_pages(&dumpfile, fileno(file), page_pa, nr, pages[0]);
}

static void ck_read(size_t nr)
{
	static uint64_t words[BTSREC_PAGE_BYTES / sizeof(uint64_t)];

	ck_assert(read_all(nr));
	for (size_t i = 0; i < nr; i++) {
		fill(words, page_pa[i]);
		ck_assert_mem_eq(pages[i], words, sizeof(words));
	}
	ck_assert(nr == NR_PAGES || pages[nr][0] == DIRT);
}

/* @nr pages from @first on, by steps of @step. */
static size_t put(size_t at, size_t first, size_t nr, int step)
{
	for (size_t i = 0; i < nr; i++)
		page_pa[at + i] = PAGE_PA((int)first + (int)i * step);
	return at + nr;
}

START_TEST(up_and_down)
{
	setup();
	ck_read(put(0, 7, 1, 1));
	for (size_t nr = 1; nr <= 150; nr++) {
		ck_read(put(0, 0, nr, 1));
		ck_read(put(0, 149, nr, -1));
	}
	ck_read(put(0, 0, NR_PAGES, 1));
	ck_read(put(0, NR_PAGES - 1, NR_PAGES, -1));
	teardown();
}
END_TEST

START_TEST(in_pieces)
{
	size_t nr;

	setup();
	nr = put(put(put(put(0, 5, 3, 1), 90, 4, -1), 90, 2, 1), 30, 9, 7);
	ck_read(nr);
	/* The same page again and again is no way up or down. */
	ck_read(put(nr, 42, 5, 0));
	/* In no order, but for some neighbours. */
	for (size_t i = 0; i < NR_PAGES; i++)
		page_pa[i] = PAGE_PA(i * 37 / 2 % NR_PAGES);
	ck_read(NR_PAGES);
	teardown();
}
END_TEST

START_TEST(not_all_are_there)
{
	setup();
	put(0, 190, 10, 1);
	page_pa[10] = PAGE_PA(NR_PAGES);
	ck_assert(!read_all(11));
	ck_read(10);
	page_pa[3] = PAGE_PA(0) - BTSREC_PAGE_BYTES;
	ck_assert(!read_all(10));
	/* A part of a page is not the page. */
	put(0, 140, 10, 1);
	ranges[0].nr_bytes -= 8;
	ck_assert(!read_all(10));
	teardown();
}
END_TEST

START_TEST(the_file_is_shorter)
{
	setup();
	ck_assert_int_eq(ftruncate(fileno(file), 60 * BTSREC_PAGE_BYTES), 0);
	ck_read(put(0, 0, 10, 1));
	ck_assert(!read_all(put(0, 0, 11, 1)));
	ck_assert(!read_all(put(0, 10, 11, -1)));
	ck_assert(!read_all(put(0, 20, 5, -1)));
	teardown();
}
END_TEST

START_TEST(of_other_dumps_none)
{
	setup();
	dumpfile.memory.nr = 0;
	ck_assert(!read_all(put(0, 0, 2, 1)));
	teardown();
}
END_TEST

#define NR_SEGMENTS	60000

static void put_segment(uint64_t pa, uint64_t offset, uint64_t nr_bytes)
{
	Elf64_Phdr segment = { .p_type = PT_LOAD, .p_paddr = pa, .p_offset = offset,
			       .p_filesz = nr_bytes };

	ck_assert_uint_eq(fwrite(&segment, sizeof(segment), 1, file), 1);
}

/* Each question had to go through all of them; the first one has what several have. */
START_TEST(many_segments)
{
	const Elf64_Ehdr elf = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64 }, .e_type = ET_CORE,
		.e_phoff = sizeof(elf), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = NR_SEGMENTS,
	};
	static struct msg msg;
	uint64_t offset, file_bytes = sizeof(elf) + NR_SEGMENTS * sizeof(Elf64_Phdr);

	file = tmpfile();
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(&elf, sizeof(elf), 1, file), 1);
	put_segment(0x1000, 64, 0x1000);
	for (uint64_t i = 1; i < NR_SEGMENTS; i++)
		put_segment(i * 16, i, 8);
	ck_assert_int_eq(fflush(file), 0);
	memset(&dumpfile, 0, sizeof(dumpfile));
	btsrec_ck_ok(dumpfile_probe(&dumpfile, fileno(file), file_bytes, &msg));
	for (unsigned int round = 0; round < 10; round++)
		for (uint64_t i = 1; i < NR_SEGMENTS; i++) {
			uint64_t pa = (i * 31337 % (NR_SEGMENTS - 1) + 1) * 16;

			if (!dumpfile_offset(&dumpfile, pa, 8, &offset) ||
			    offset != (pa / 0x1000 == 1 ? pa - 0x1000 + 64 : pa / 16))
				ck_abort_msg("0x%jx", (uintmax_t)pa);
		}
	ck_assert_uint_eq(dumpfile_backed_bytes(&dumpfile, 0x1001, 0x2000), 0x1007);
	ck_assert_uint_eq(dumpfile_backed_bytes(&dumpfile, 0x3008, 8), 0);
	dumpfile_fini(&dumpfile);
	teardown();
}
END_TEST

BTSREC_CK_MAIN("dumpfile", up_and_down, in_pieces, not_all_are_there, the_file_is_shorter,
	       of_other_dumps_none, many_segments)
