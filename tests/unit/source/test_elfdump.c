// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>

#include "mkdumpfix.h"

static Elf64_Phdr *segment(size_t i)
{
	return (Elf64_Phdr *)(image + sizeof(Elf64_Ehdr)) + i;
}

/* With @nr segments of no kind; what else there is goes after them. */
static void setup(uint16_t nr)
{
	const Elf64_Ehdr elf = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64 },
		.e_type = ET_CORE, .e_phoff = sizeof(elf), .e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = nr,
	};

	memset(image, 0, sizeof(image));
	memcpy(image, &elf, sizeof(elf));
	data_at = (sizeof(elf) + nr * sizeof(Elf64_Phdr) + PAGE - 1) / PAGE * PAGE;
}

static void put_note(const char *name, const void *desc, uint32_t nr_bytes)
{
	Elf64_Nhdr note = { .n_namesz = (uint32_t)strlen(name) + 1, .n_descsz = nr_bytes };

	memcpy(image + data_at, &note, sizeof(note));
	memcpy(image + data_at + sizeof(note), name, note.n_namesz);
	data_at += sizeof(note) + (note.n_namesz + 3) / 4 * 4;
	memcpy(image + data_at, desc, nr_bytes);
	data_at += (nr_bytes + 3) / 4 * 4;
}

/* Segment @i has the notes from @begin on. */
static void set_notes(size_t i, uint64_t begin)
{
	*segment(i) = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = begin,
				    .p_filesz = data_at - begin };
}

/* Segment @i is the memory at @pa, a page of @value. */
static void put_memory(size_t i, uint64_t pa, uint8_t value)
{
	*segment(i) = (Elf64_Phdr){ .p_type = PT_LOAD, .p_offset = data_at, .p_paddr = pa,
				    .p_filesz = PAGE };
	memset(image + data_at, value, PAGE);
	data_at += PAGE;
}

/* What the medium refuses is not missing. */
START_TEST(the_medium_fails)
{
	const uint64_t page_pa[] = { 0x5000, 0x6000 };
	uint8_t bytes[2 * PAGE];
	size_t nr_bytes;

	setup(2);
	put_memory(0, 0x5000, 0x55);
	put_memory(1, 0x6000, 0x66);
	btsrec_ck_ok(open_all());
	ck_assert_int_eq(page_value(5), 0x55);
	nr_reads = 0;
	failing_read = 2;
	btsrec_ck_ok(mkdump_read_pa(dump, 0x5000, bytes, PAGE, &nr_bytes));
	btsrec_ck_status(mkdump_read_pa(dump, 0x6000, bytes, PAGE, &nr_bytes), BTSREC_ERR_IO);
	ck_assert_uint_eq(nr_bytes, 0);
	/* Both at once. */
	nr_reads = 0;
	failing_read = 1;
	ck_assert(!mkdump_read_pages(dump, page_pa, 2, bytes));
	failing_read = 0;
	ck_assert(mkdump_read_pages(dump, page_pa, 2, bytes));
	btsrec_ck_ok(mkdump_read_pa(dump, 0x5001, bytes, 2 * PAGE - 1, &nr_bytes));
	btsrec_ck_status(mkdump_read_pa(dump, 0x6001, bytes, PAGE, &nr_bytes), BTSREC_ERR_NODATA);
	ck_assert_uint_eq(nr_bytes, PAGE - 1);
	teardown();
}
END_TEST

/* As the segments of the kernel's text and of the memory that it is in. */
START_TEST(overlaps)
{
	uint8_t byte;
	size_t nr_bytes;

	setup(4);
	put_memory(0, 0x5800, 0x55);
	put_memory(1, 0x5000, 0x66);
	put_memory(2, 0x6000, 0x77);
	put_memory(3, 0x8000, 0x88);
	btsrec_ck_ok(open_all());
	for (uint64_t pa = 0x5000; pa < 0x7000; pa += 0x400) {
		btsrec_ck_ok(mkdump_read_pa(dump, pa, &byte, 1, &nr_bytes));
		ck_assert_uint_eq(byte, pa < 0x5800 ? 0x66 : pa < 0x6800 ? 0x55 : 0x77);
	}
	ck_assert_int_eq(page_value(5), -2);
	ck_assert_int_eq(page_value(7), -1);
	ck_assert_int_eq(page_value(8), 0x88);
	teardown();
}
END_TEST

#define NR_SAME	400

/* A file of a few hundred KiB must not cost millions of reads. */
START_TEST(notes_again_and_again)
{
	uint64_t begin;

	setup(NR_SAME);
	begin = data_at;
	for (unsigned int i = 0; i < 10000; i++)
		put_note("", "", 0);
	for (size_t i = 0; i < NR_SAME; i++)
		set_notes(i, begin);
	nr_reads = 0;
	btsrec_ck_ok(open_all());
	ck_assert_ptr_null(mkdump_vmcoreinfo(dump));
	/* Of 16 MiB, by 16 KiB and a few more. */
	ck_assert_uint_lt(nr_reads, NR_SAME + 1200);
	nr_reads = 0;
	memset(image + begin, 0, data_at - begin);
	data_at = begin;
	put_note("VMCOREINFO", "TEXT\n", 5);
	data_at = begin + 160000;
	btsrec_ck_ok(open_all());
	ck_assert_str_eq(mkdump_vmcoreinfo(dump), "TEXT\n");
	ck_assert_uint_lt(nr_reads, NR_SAME + 20);
	teardown();
}
END_TEST

/* Wherever a note lies in what is read at once; a long one is passed over. */
START_TEST(notes_in_blocks)
{
	static const uint8_t zeroes[16384 * 3];

	for (uint32_t before_bytes = 16384 - 48; before_bytes < 16384 + 48; before_bytes += 4) {
		uint64_t begin;

		setup(2);
		begin = data_at;
		put_note("CORE", zeroes, before_bytes - 20);
		put_note("CORE", zeroes, 16384 * 3);
		put_note("CORE", zeroes, before_bytes - 20);
		set_notes(0, begin);
		begin = data_at;
		put_note("CORE", zeroes, before_bytes - 20);
		put_note("VMCOREINFO", "TEXT\n", 5);
		put_note("VMCOREINFO", "MORE\n", 5);
		set_notes(1, begin);
		btsrec_ck_ok(open_all());
		ck_assert_str_eq(mkdump_vmcoreinfo(dump), "TEXT\n");
	}
	teardown();
}
END_TEST

/* Of one page of memory and one of notes, in a file of 3 pages, @i claims more than there is. */
static enum btsrec_status open_claiming(size_t i, uint32_t type, uint64_t more_bytes)
{
	setup(2);
	put_memory(0, 0x5000, 0x55);
	put_memory(1, 0, 0);
	segment(1)->p_type = PT_NOTE;
	segment(i)->p_filesz += more_bytes;
	segment(i)->p_type = type;
	return open_all();
}

START_TEST(what_is_described)
{
	const uint32_t types[] = { PT_LOAD, PT_NOTE };
	const uint64_t end[] = { 2 * PAGE, 3 * PAGE };

	for (size_t i = 0; i < 2; i++) {
		btsrec_ck_ok(open_claiming(i, types[i], 0));
		ck_assert_uint_eq(mkdump_described_bytes(dump), data_at);
		btsrec_ck_ok(open_claiming(i, types[i], 2 * PAGE));
		ck_assert_uint_eq(mkdump_described_bytes(dump), end[i] + 2 * PAGE);
		btsrec_ck_ok(open_claiming(i, PT_NULL, 2 * PAGE));
		ck_assert_uint_eq(mkdump_described_bytes(dump), end[1 - i]);
	}
	teardown();
}
END_TEST

START_TEST(headers_that_are_cut)
{
	setup(0);
	btsrec_ck_fails(open_all(), BTSREC_ERR_NOT_DUMP, msg.text, "within its headers");
	setup(1);
	((Elf64_Ehdr *)image)->e_phoff = data_at - 8;
	btsrec_ck_fails(open_all(), BTSREC_ERR_NOT_DUMP, msg.text, "within its headers");
	teardown();
}
END_TEST

START_TEST(the_medium_fails_at_once)
{
	uint64_t begin;

	setup(2);
	begin = data_at;
	put_note("CORE", "x", 1);
	put_note("VMCOREINFO", "TEXT\n", 5);
	set_notes(0, begin);
	put_memory(1, 0x5000, 0x55);
	ck_header_fails();
}
END_TEST

START_TEST(no_memory)
{
	uint64_t begin;

	setup(2);
	begin = data_at;
	put_note("VMCOREINFO", "TEXT\n", 5);
	set_notes(0, begin);
	put_memory(1, 0x5000, 0x55);
	ck_allocation_fails(3);
}
END_TEST

BTSREC_CK_MAIN("flatelf", the_medium_fails, overlaps, notes_again_and_again, notes_in_blocks,
	       what_is_described, headers_that_are_cut, the_medium_fails_at_once, no_memory)
