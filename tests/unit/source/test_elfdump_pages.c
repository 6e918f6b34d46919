// SPDX-License-Identifier: GPL-2.0-or-later
/* Many pages of an ELF dump at once, and which there are. */
#include <elf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check_btsrec.h"
#include "source/elfdump.h"

#define NR_PAGES	200
#define PAGE_PA(i)	(0x100000 + (uint64_t)(i) * BTSREC_PAGE_BYTES)

static FILE *file;
static struct mkdump_file dump_file;
static struct elfdump elf;
static struct range ranges[2], pieces[3];
static uint64_t page_pa[NR_PAGES];
static uint8_t pages[NR_PAGES][BTSREC_PAGE_BYTES];

/* What is in the page at @pa: as if the memory were numbered words. */
static void fill(uint64_t *labels, uint64_t pa)
{
	for (size_t i = 0; i < BTSREC_PAGE_BYTES / sizeof(*labels); i++)
		labels[i] = pa + i;
}

/* Pages 0 to 149 and, in front of them in the file, 150 to 199. */
static void setup(void)
{
	static uint64_t labels[BTSREC_PAGE_BYTES / sizeof(uint64_t)];

	file = tmpfile();
	ck_assert_ptr_nonnull(file);
	for (size_t i = 0; i < NR_PAGES; i++) {
		fill(labels, PAGE_PA((i + 150) % NR_PAGES));
		ck_assert_uint_eq(fwrite(labels, sizeof(labels), 1, file), 1);
	}
	ck_assert_int_eq(fflush(file), 0);
	ranges[0] = (struct range){ PAGE_PA(0), 150 * BTSREC_PAGE_BYTES, 50 * BTSREC_PAGE_BYTES, 2 };
	ranges[1] = (struct range){ PAGE_PA(150), 50 * BTSREC_PAGE_BYTES, 0, 1 };
	pieces[0] = (struct range){ 0, NR_PAGES * BTSREC_PAGE_BYTES, 0, 1 };
	dump_file = (struct mkdump_file){.fd = fileno(file), .pieces = {pieces, 1, 1}};
	elf = (struct elfdump){.file = &dump_file, .memory = {ranges, 2, 2}};
}

static void teardown(void)
{
	fclose(file);
}

static bool read_all(size_t nr)
{
	memset(pages, DIRT, sizeof(pages));
	return elfdump_read_pages(&elf, page_pa, nr, pages[0]);
}

static void ck_read(size_t nr)
{
	static uint64_t labels[BTSREC_PAGE_BYTES / sizeof(uint64_t)];

	ck_assert(read_all(nr));
	for (size_t i = 0; i < nr; i++) {
		fill(labels, page_pa[i]);
		ck_assert_mem_eq(pages[i], labels, sizeof(labels));
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

/* The file that was flattened, from page 60 to 139 of it in one piece after another. */
static void flatten(uint64_t gap_bytes)
{
	pieces[0] = (struct range){ 0, 60 * BTSREC_PAGE_BYTES, 0, 1 };
	pieces[1] = (struct range){ 60 * BTSREC_PAGE_BYTES, 80 * BTSREC_PAGE_BYTES - gap_bytes,
				    60 * BTSREC_PAGE_BYTES, 2 };
	pieces[2] = (struct range){ 140 * BTSREC_PAGE_BYTES, 60 * BTSREC_PAGE_BYTES,
				    140 * BTSREC_PAGE_BYTES, 3 };
	dump_file.pieces.nr = 3;
}

START_TEST(of_a_flattened_one)
{
	setup();
	flatten(0);
	ck_read(put(0, 0, NR_PAGES, 1));
	ck_read(put(0, NR_PAGES - 1, NR_PAGES, -1));
	/* One that lies in two pieces is read, too. */
	pieces[0].nr_bytes += 8;
	pieces[1].begin += 8;
	pieces[1].at += 8;
	pieces[1].nr_bytes -= 8;
	ck_read(put(0, 0, NR_PAGES, 1));
	/* A part of one is not the page. */
	flatten(8);
	ck_read(put(0, 0, 89, 1));
	ck_assert(!read_all(put(0, 80, 10, 1)));
	teardown();
}
END_TEST

START_TEST(what_is_next)
{
	setup();
	ck_assert_uint_eq(elfdump_next_pa(&elf, 0), PAGE_PA(0));
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(0)), PAGE_PA(0));
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(150) - 1), PAGE_PA(150) - 1);
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(NR_PAGES) - 1), PAGE_PA(NR_PAGES) - 1);
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(NR_PAGES)), UINT64_MAX);
	/* Of the hole in the flattened file nothing is there; nor is what is after its end. */
	flatten(5 * BTSREC_PAGE_BYTES);
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(84)), PAGE_PA(84));
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(85)), PAGE_PA(90));
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(90) - 8), PAGE_PA(90));
	dump_file.pieces.nr = 2;
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(85)), PAGE_PA(150));
	pieces[0].nr_bytes = 0;
	dump_file.pieces.nr = 0;
	ck_assert_uint_eq(elfdump_next_pa(&elf, 0), UINT64_MAX);
	teardown();
}
END_TEST

static uint8_t page_bytes[BTSREC_PAGE_BYTES] = { 1 };

static void put_page(size_t file_page)
{
	off_t at = (off_t)(file_page * BTSREC_PAGE_BYTES);

	ck_assert_int_eq(pwrite(dump_file.fd, page_bytes, BTSREC_PAGE_BYTES, at),
			 BTSREC_PAGE_BYTES);
}

/* Their pages are zero, and need no look. */
START_TEST(holes_are_passed_over)
{
	setup();
	dump_file.fd = memfd_create("holes", MFD_CLOEXEC);
	ck_assert_int_ge(dump_file.fd, 0);
	ck_assert_int_eq(ftruncate(dump_file.fd, NR_PAGES * BTSREC_PAGE_BYTES), 0);
	ck_assert_uint_eq(elfdump_next_pa(&elf, 0), UINT64_MAX);
	put_page(20);
	put_page(100);
	put_page(101);
	put_page(199);
	/* Pages of memory 50, 51, 149 and 170. */
	ck_assert_uint_eq(elfdump_next_pa(&elf, 0), PAGE_PA(50));
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(50) + 8), PAGE_PA(50) + 8);
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(51)), PAGE_PA(51));
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(52)), PAGE_PA(149));
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(150)), PAGE_PA(170));
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(171)), UINT64_MAX);
	/* A hole goes on over the end of a piece. */
	flatten(0);
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(52)), PAGE_PA(149));
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(0)), PAGE_PA(50));
	close(dump_file.fd);
	teardown();
}
END_TEST

/* Then all of the file may be something. */
START_TEST(holes_that_the_system_does_not_know)
{
	int fds[2];

	setup();
	ck_assert_int_eq(pipe(fds), 0);
	dump_file.fd = fds[0];
	ck_assert_uint_eq(elfdump_next_pa(&elf, 0), PAGE_PA(0));
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(17)), PAGE_PA(17));
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(180)), PAGE_PA(180));
	ck_assert_uint_eq(elfdump_next_pa(&elf, PAGE_PA(NR_PAGES)), UINT64_MAX);
	close(fds[0]);
	close(fds[1]);
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
	const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64 }, .e_type = ET_CORE,
		.e_phoff = sizeof(header), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = NR_SEGMENTS,
	};
	struct mkdump_headers headers = {.file = &dump_file};
	static struct msg msg;
	uint64_t file_bytes = sizeof(header) + NR_SEGMENTS * sizeof(Elf64_Phdr);
	uint8_t bytes[8];
	size_t nr_bytes;

	file = tmpfile();
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(&header, sizeof(header), 1, file), 1);
	put_segment(0x1000, 64, 0x1000);
	for (uint64_t i = 1; i < NR_SEGMENTS; i++)
		put_segment(i * 16, i, 8);
	ck_assert_int_eq(fflush(file), 0);
	memset(&dump_file, 0, sizeof(dump_file));
	memset(&elf, 0, sizeof(elf));
	ck_assert(mkdump_file_init_plain(&dump_file, fileno(file), file_bytes));
	btsrec_ck_ok(elfdump_init(&elf, &headers, &header, &msg));
	for (unsigned int round = 0; round < 10; round++)
		for (uint64_t i = 1; i < NR_SEGMENTS; i++) {
			uint64_t pa = (i * 31337 % (NR_SEGMENTS - 1) + 1) * 16;
			const struct range *range = ranges_find(&elf.memory, pa);

			if (!range || range->at + (pa - range->begin) !=
				      (pa / 0x1000 == 1 ? pa - 0x1000 + 64 : pa / 16))
				ck_abort_msg("0x%jx", (uintmax_t)pa);
		}
	btsrec_ck_ok(elfdump_read(&elf, 0x1001, bytes, 8, &nr_bytes));
	ck_assert_uint_eq(nr_bytes, 8);
	btsrec_ck_status(elfdump_read(&elf, 0x3008, bytes, 8, &nr_bytes), BTSREC_ERR_NODATA);
	elfdump_fini(&elf);
	mkdump_file_fini(&dump_file);
	teardown();
}
END_TEST

BTSREC_CK_MAIN("flatelf_pages", up_and_down, in_pieces, not_all_are_there, the_file_is_shorter,
	       of_a_flattened_one, what_is_next, holes_are_passed_over,
	       holes_that_the_system_does_not_know, many_segments)
