// SPDX-License-Identifier: GPL-2.0-or-later
#include "fuzz_dump.h"

#include <elf.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "../../decoder/src/source/kdump_format.h"

#define NOTE_HEAD_BYTES	(sizeof(Elf64_Nhdr) + 12)
#define PIECE_BYTES	5000

/** struct contents - the pages of an input by their number; @note: VMCOREINFO */
struct contents {
	const uint8_t *page[FUZZ_DUMP_MAX_PFN];
	uint64_t end_pfn;
	uint8_t note[NOTE_HEAD_BYTES + BTSREC_PAGE_BYTES];
	size_t note_bytes;
};

void fuzz_dump_add(struct fuzz_dump *dump, const void *bytes, size_t nr_bytes)
{
	if (nr_bytes > dump->nr_room - dump->nr_bytes) {
		dump->nr_room = 2 * (dump->nr_bytes + nr_bytes);
		dump->bytes = realloc(dump->bytes, dump->nr_room);
		if (!dump->bytes)
			abort();
	}
	if (bytes)
		memcpy(dump->bytes + dump->nr_bytes, bytes, nr_bytes);
	else
		memset(dump->bytes + dump->nr_bytes, 0, nr_bytes);
	dump->nr_bytes += nr_bytes;
}

static void align(struct fuzz_dump *dump)
{
	fuzz_dump_add(dump, NULL, -dump->nr_bytes % BTSREC_PAGE_BYTES);
}

/* --- What is in it ------------------------------------------------------ */

static void take_note(struct contents *contents, const uint8_t *page)
{
	Elf64_Nhdr head = {
		.n_namesz = sizeof("VMCOREINFO"),
		.n_descsz = (Elf64_Word)strnlen((const char *)page, BTSREC_PAGE_BYTES),
	};

	memset(contents->note, 0, sizeof(contents->note));
	memcpy(contents->note, &head, sizeof(head));
	memcpy(contents->note + sizeof(head), "VMCOREINFO", sizeof("VMCOREINFO"));
	memcpy(contents->note + NOTE_HEAD_BYTES, page, head.n_descsz);
	contents->note_bytes = (NOTE_HEAD_BYTES + head.n_descsz + 3) & ~(size_t)3;
}

/* Of two pages with one address the first one is there, as for the other fuzzers. */
static void take_contents(struct contents *contents, const struct fuzz_memory *memory)
{
	memset(contents, 0, sizeof(*contents));
	for (size_t at = 0; at + FUZZ_PAGE_BYTES <= memory->nr_bytes; at += FUZZ_PAGE_BYTES) {
		const uint8_t *page = memory->bytes + at + sizeof(uint64_t);
		uint64_t pa, pfn;

		memcpy(&pa, memory->bytes + at, sizeof(pa));
		pfn = pa / BTSREC_PAGE_BYTES;
		if (pa == FUZZ_NOTE_PA && !contents->note_bytes)
			take_note(contents, page);
		if (pa % BTSREC_PAGE_BYTES || pfn >= FUZZ_DUMP_MAX_PFN || contents->page[pfn])
			continue;
		contents->page[pfn] = page;
		if (pfn >= contents->end_pfn)
			contents->end_pfn = pfn + 1;
	}
}

/* --- ELF ---------------------------------------------------------------- */

static uint64_t run_end(const struct contents *contents, uint64_t pfn)
{
	while (pfn < contents->end_pfn && contents->page[pfn])
		pfn++;
	return pfn;
}

static uint16_t count_runs(const struct contents *contents)
{
	uint16_t nr_runs = 0;

	for (uint64_t pfn = 0; pfn < contents->end_pfn; pfn = run_end(contents, pfn) + 1)
		nr_runs += run_end(contents, pfn) > pfn;
	return nr_runs;
}

static void add_segment(struct fuzz_dump *dump, uint32_t type, uint64_t pa, uint64_t at,
			uint64_t nr_bytes)
{
	Elf64_Phdr segment = {
		.p_type = type, .p_offset = at, .p_paddr = pa, .p_filesz = nr_bytes,
		.p_memsz = nr_bytes,
	};

	fuzz_dump_add(dump, &segment, sizeof(segment));
}

static void make_elf(struct fuzz_dump *dump, const struct contents *contents)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_CORE, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = sizeof(header), .e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = count_runs(contents) + 1,
	};
	uint64_t note_at = sizeof(header) + header.e_phnum * sizeof(Elf64_Phdr);
	uint64_t at = (note_at + contents->note_bytes + BTSREC_PAGE_BYTES - 1) &
		      ~(BTSREC_PAGE_BYTES - 1ULL), end;

	fuzz_dump_add(dump, &header, sizeof(header));
	add_segment(dump, PT_NOTE, 0, note_at, contents->note_bytes);
	for (uint64_t pfn = 0; pfn < contents->end_pfn; pfn = end + 1) {
		uint64_t nr_bytes;

		end = run_end(contents, pfn);
		nr_bytes = (end - pfn) * BTSREC_PAGE_BYTES;
		if (nr_bytes)
			add_segment(dump, PT_LOAD, pfn * BTSREC_PAGE_BYTES, at, nr_bytes);
		at += nr_bytes;
	}
	fuzz_dump_add(dump, contents->note, contents->note_bytes);
	align(dump);
	for (uint64_t pfn = 0; pfn < contents->end_pfn; pfn++)
		if (contents->page[pfn])
			fuzz_dump_add(dump, contents->page[pfn], BTSREC_PAGE_BYTES);
}

/* --- Compressed --------------------------------------------------------- */

/* Of a part of a split dump, the pages of the first half. */
static void add_headers(struct fuzz_dump *dump, const struct contents *contents, bool is_part)
{
	struct kdump_header header = {
		.signature = "KDUMP  ", .header_version = 6, .block_size = BTSREC_PAGE_BYTES,
		.sub_hdr_size = 2, .bitmap_blocks = 2, .max_mapnr = (uint32_t)contents->end_pfn,
	};
	struct kdump_sub_header sub = {
		.split = is_part, .end_pfn_64 = contents->end_pfn / 2,
		.max_mapnr_64 = contents->end_pfn,
		.offset_note = BTSREC_PAGE_BYTES + sizeof(sub), .size_note = contents->note_bytes,
	};

	header.signature[7] = ' ';
	if (contents->note_bytes) {
		sub.offset_vmcoreinfo = sub.offset_note + NOTE_HEAD_BYTES;
		memcpy(&sub.size_vmcoreinfo, contents->note + offsetof(Elf64_Nhdr, n_descsz),
		       sizeof(Elf64_Word));
	}
	fuzz_dump_add(dump, &header, sizeof(header));
	align(dump);
	fuzz_dump_add(dump, &sub, sizeof(sub));
	fuzz_dump_add(dump, contents->note, contents->note_bytes);
	fuzz_dump_add(dump, NULL, 3 * BTSREC_PAGE_BYTES - dump->nr_bytes);
}

static void add_bitmaps(struct fuzz_dump *dump, const struct contents *contents)
{
	uint8_t bitmap[FUZZ_DUMP_MAX_PFN / 8] = { 0 };

	for (uint64_t pfn = 0; pfn < contents->end_pfn; pfn++)
		if (contents->page[pfn])
			bitmap[pfn / 8] |= (uint8_t)(1 << pfn % 8);
	fuzz_dump_add(dump, bitmap, sizeof(bitmap));
	fuzz_dump_add(dump, bitmap, sizeof(bitmap));
}

static struct kdump_page_desc add_page(struct fuzz_dump *dump, const uint8_t *page, bool packed)
{
	struct kdump_page_desc desc = { .offset = dump->nr_bytes, .size = BTSREC_PAGE_BYTES };
	uint8_t room[2 * BTSREC_PAGE_BYTES];
	uLongf nr_bytes = sizeof(room);

	if (packed && compress2(room, &nr_bytes, page, BTSREC_PAGE_BYTES, 1) == Z_OK &&
	    nr_bytes < BTSREC_PAGE_BYTES) {
		desc.size = (uint32_t)nr_bytes;
		desc.flags = KDUMP_PACKED_ZLIB;
		page = room;
	}
	fuzz_dump_add(dump, page, desc.size);
	return desc;
}

static void make_kdump(struct fuzz_dump *dump, const struct contents *contents, bool is_part)
{
	uint64_t end_pfn = is_part ? contents->end_pfn / 2 : contents->end_pfn, pfn;
	size_t table_at;

	add_headers(dump, contents, is_part);
	add_bitmaps(dump, contents);
	table_at = dump->nr_bytes;
	for (pfn = 0; pfn < end_pfn; pfn++)
		if (contents->page[pfn])
			fuzz_dump_add(dump, NULL, sizeof(struct kdump_page_desc));
	for (pfn = 0; pfn < end_pfn; pfn++) {
		struct kdump_page_desc desc;

		if (!contents->page[pfn])
			continue;
		desc = add_page(dump, contents->page[pfn], pfn % 2 == 0);
		memcpy(dump->bytes + table_at, &desc, sizeof(desc));
		table_at += sizeof(desc);
	}
}

void fuzz_dump_make(struct fuzz_dump *dump, const struct fuzz_memory *memory,
		    enum fuzz_dump_format format)
{
	static struct contents contents;

	take_contents(&contents, memory);
	dump->nr_bytes = 0;
	if (format == FUZZ_ELF)
		make_elf(dump, &contents);
	else
		make_kdump(dump, &contents, format == FUZZ_KDUMP_PART);
}

/* --- Flattened ---------------------------------------------------------- */

static void add_piece(struct fuzz_dump *flat, const struct fuzz_dump *dump, uint64_t at,
		      uint64_t nr_bytes)
{
	uint64_t head[] = { htobe64(at), htobe64(nr_bytes) };

	fuzz_dump_add(flat, head, sizeof(head));
	fuzz_dump_add(flat, dump->bytes + at, nr_bytes);
}

void fuzz_dump_flatten(struct fuzz_dump *flat, const struct fuzz_dump *dump)
{
	static const uint64_t end[] = { UINT64_MAX, UINT64_MAX };
	const uint64_t numbers[] = { htobe64(1), htobe64(1) };
	char magic[16] = "makedumpfile";

	flat->nr_bytes = 0;
	fuzz_dump_add(flat, magic, sizeof(magic));
	fuzz_dump_add(flat, numbers, sizeof(numbers));
	align(flat);
	for (uint64_t at = 0; at < dump->nr_bytes; at += PIECE_BYTES) {
		uint64_t nr_bytes = dump->nr_bytes - at < PIECE_BYTES ? dump->nr_bytes - at :
									PIECE_BYTES;
		uint64_t half = nr_bytes / 2;

		add_piece(flat, dump, at + half, nr_bytes - half);
		if (half)
			add_piece(flat, dump, at, half);
	}
	fuzz_dump_add(flat, end, sizeof(end));
}
