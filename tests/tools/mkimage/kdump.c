// SPDX-License-Identifier: GPL-2.0-or-later
/* makedumpfile's compressed format. */
#include "mkimage.h"

#include <elf.h>
#include <stdlib.h>

#include <zlib.h>

/* The layout of the compressed format: see decoder/src/source/dump_probe.c. */
struct kdump_header {
	char signature[8];
	int32_t version;
	char utsname[6][65];
	char pad[6];
	uint64_t timestamp[2];
	uint32_t status, block_size, sub_hdr_size, bitmap_blocks, max_mapnr;
};

struct kdump_page_desc {
	uint64_t offset;
	uint32_t size, flags;
	uint64_t page_flags;
};

static void put_kdump_headers(FILE *to, uint64_t nr_pfns)
{
	struct kdump_header header = {
		.signature = { 'K', 'D', 'U', 'M', 'P', ' ', ' ', ' ' }, .version = 6,
		.utsname = { "Linux", "test", "6.1.0-test", "#1", "x86_64", "" },
		.block_size = BTSREC_PAGE_BYTES, .sub_hdr_size = 1, .bitmap_blocks = 2,
		.max_mapnr = (uint32_t)nr_pfns,
	};
	/*
	 * phys_base, levels, obsolete PFNs; offset and size of VMCOREINFO, of the notes, and of
	 * what was erased; PFNs as version 6 has them
	 */
	uint64_t sub[64] = { [6] = BTSREC_PAGE_BYTES + sizeof(sub) };
	char note[BTSREC_PAGE_BYTES - sizeof(sub)] __attribute__((aligned(8))) = { 0 };
	size_t note_bytes;

	put(to, &header, sizeof(header));
	fseek(to, BTSREC_PAGE_BYTES, SEEK_SET);
	make_note(note, &note_bytes);
	sub[4] = sub[6] + NOTE_HEAD_BYTES;
	sub[5] = ((Elf64_Nhdr *)note)->n_descsz;
	sub[7] = note_bytes;
	sub[12] = nr_pfns;
	if (image.is_part) {
		sub[1] = 1ULL << 32;	/* split, after the dump level */
		sub[10] = image.first_pfn;
		sub[11] = image.end_pfn;
	}
	put(to, sub, sizeof(sub));
	put(to, note, sizeof(note));
}

/* Pages with an even number are compressed, the others plain. */
static void put_kdump_page(FILE *to, uint64_t pfn, struct kdump_page_desc *ret)
{
	uint8_t packed[2 * BTSREC_PAGE_BYTES];
	uLongf nr_bytes = sizeof(packed);

	*ret = (struct kdump_page_desc){ .offset = (uint64_t)ftell(to) };
	if (pfn % 2) {
		ret->size = BTSREC_PAGE_BYTES;
		put_page(to, pfn);
		return;
	}
	if (compress(packed, &nr_bytes, image.pages[pfn].bytes, BTSREC_PAGE_BYTES) != Z_OK)
		die("cannot compress");
	ret->size = (uint32_t)nr_bytes;
	ret->flags = 1;
	put(to, packed, nr_bytes);
}

/* All files of a split dump have the same bitmap, but each only pages of its own. */
static bool is_here(uint64_t pfn)
{
	return is_there(pfn) && pfn >= image.first_pfn && pfn < image.end_pfn;
}

void write_kdump(FILE *to)
{
	uint8_t bitmap[BTSREC_PAGE_BYTES] = { 0 };
	struct kdump_page_desc *table = calloc(image.next_pfn, sizeof(*table));
	uint64_t pfn, nr_pages = 0;
	long table_at = 4 * BTSREC_PAGE_BYTES;

	if (image.next_pfn > 8 * sizeof(bitmap) || !table)
		die("too much memory for the compressed format");
	put_kdump_headers(to, image.next_pfn);
	for (pfn = 0; pfn < image.next_pfn; pfn++) {
		if (!is_there(pfn))
			continue;
		bitmap[pfn / 8] |= (uint8_t)(1 << pfn % 8);
		nr_pages += is_here(pfn);
	}
	put(to, bitmap, sizeof(bitmap));
	put(to, bitmap, sizeof(bitmap));
	fseek(to, table_at + (long)(nr_pages * sizeof(*table)), SEEK_SET);
	for (pfn = nr_pages = 0; pfn < image.next_pfn; pfn++)
		if (is_here(pfn))
			put_kdump_page(to, pfn, &table[nr_pages++]);
	fseek(to, table_at, SEEK_SET);
	put(to, table, nr_pages * sizeof(*table));
	fseek(to, 0, SEEK_END);
	free(table);
}
