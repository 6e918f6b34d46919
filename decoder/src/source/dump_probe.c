// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/dump_probe.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "source/elfdump.h"
#include "source/kdump_format.h"
#include "base/readat.h"

/* Is [@offset, @offset + @nr_bytes) inside the file? */
static bool is_inside(const struct dump_probe *dump_probe, uint64_t offset, uint64_t nr_bytes)
{
	return offset <= dump_probe->file_bytes && nr_bytes <= dump_probe->file_bytes - offset;
}

/* Right after a read_at() of headers that has failed. */
static enum btsrec_status headers_unread(struct msg *msg)
{
	return errno ? msg_set(msg, BTSREC_ERR_IO, "%s", strerror(errno)) : mkdump_headers_cut(msg);
}

static void describe(struct dump_probe *dump_probe, uint64_t offset, uint64_t nr_bytes)
{
	if (dump_probe->described_bytes < offset + nr_bytes)
		dump_probe->described_bytes = offset + nr_bytes;
}

/* --- Compressed --------------------------------------------------------- */

#define TABLE_CHUNK	4096	/* descriptors read at once */

/**
 * struct page_count - how far a walk through the second bitmap has come
 * @nr_pages: pages in the file so far.
 * @first_pfn, @end_pfn: pages outside are in other files of a split dump.
 * @wanted: stop at page number @wanted in the file; its number in memory goes to @pfn.
 */
struct page_count {
	uint64_t nr_pages;
	uint64_t first_pfn;
	uint64_t end_pfn;
	uint64_t wanted;
	uint64_t pfn;
};

/* @word without the bits of page frames that are in other files; its first is @pfn. */
static uint64_t own_bits(const struct page_count *count, uint64_t pfn, uint64_t word)
{
	if (pfn >= count->end_pfn || pfn + 64 <= count->first_pfn)
		return 0;
	if (pfn < count->first_pfn)
		word &= UINT64_MAX << (count->first_pfn - pfn);
	if (count->end_pfn - pfn < 64)
		word &= ~(UINT64_MAX << (count->end_pfn - pfn));
	return word;
}

/* One word of the bitmap, for the page frames from @pfn on; true: found it. */
static bool count_word(struct page_count *count, uint64_t pfn, uint64_t word)
{
	uint64_t nr_bits = (uint64_t)__builtin_popcountll(word);

	if (count->wanted >= count->nr_pages + nr_bits) {
		count->nr_pages += nr_bits;
		return false;
	}
	for (; count->nr_pages < count->wanted; count->nr_pages++)
		word &= word - 1;
	count->pfn = pfn + (uint64_t)__builtin_ctzll(word);
	return true;
}

/* false: the bitmap cannot be read: errno, or it is cut off. */
static bool count_pages(int fd, const struct kdump_header *header, struct page_count *count)
{
	uint64_t nr_bytes = (uint64_t)header->bitmap_blocks / 2 * header->block_size;
	uint64_t begin = kdump_table_offset(header) - nr_bytes, at;
	uint64_t labels[BTSREC_PAS_PER_PAGE];
	size_t i;

	for (at = 0; at < nr_bytes; at += sizeof(labels)) {
		if (!read_at(fd, begin + at, labels, sizeof(labels)))
			return false;
		for (i = 0; i < BTSREC_PAS_PER_PAGE; i++)
			if (count_word(count, 8 * at + 64 * i,
				       own_bits(count, 8 * at + 64 * i, labels[i])))
				return true;
	}
	return true;
}

/*
 * Descriptors [@first, @first + @nr) of the table.  Returns the number of the page
 * through which the cut goes and stores how much of it is there; UINT64_MAX: none.
 */
static uint64_t walk_table(struct dump_probe *dump_probe, int fd, const struct kdump_header *header,
			   uint64_t first, uint64_t nr)
{
	struct kdump_page_desc table[TABLE_CHUNK];
	uint64_t partial = UINT64_MAX, i;

	if (!read_at(fd, kdump_table_offset(header) + first * sizeof(*table), table,
		     nr * sizeof(*table))) {
		dump_probe->error = errno;
		return partial;
	}
	for (i = 0; i < nr; i++) {
		uint64_t offset = table[i].offset;

		if (offset > INT64_MAX)
			continue;
		describe(dump_probe, offset, table[i].size);
		if (table[i].flags || offset >= dump_probe->file_bytes ||
		    table[i].size <= dump_probe->file_bytes - offset)
			continue;
		dump_probe->partial_bytes = dump_probe->file_bytes - offset;
		partial = first + i;
	}
	return partial;
}

/* The data is written in the order of the table: its end shows whether all is there. */
static uint64_t walk_tables(struct dump_probe *dump_probe, int fd,
			    const struct kdump_header *header, uint64_t nr_pages)
{
	uint64_t nr_last = min_u64(nr_pages, TABLE_CHUNK), first, partial = UINT64_MAX;

	describe(dump_probe, kdump_table_offset(header), nr_pages * sizeof(struct kdump_page_desc));
	walk_table(dump_probe, fd, header, nr_pages - nr_last, nr_last);
	if (!dump_probe_is_cut(dump_probe))
		return partial;
	for (first = 0; first < nr_pages && partial == UINT64_MAX; first += TABLE_CHUNK)
		partial = walk_table(dump_probe, fd, header, first,
				     min_u64(nr_pages - first, TABLE_CHUNK));
	return partial;
}

static enum btsrec_status describe_pages(struct dump_probe *dump_probe, int fd,
					 const struct kdump_header *header,
					 const struct kdump_sub_header *sub, struct msg *msg)
{
	struct page_count all = { .wanted = UINT64_MAX, .end_pfn = UINT64_MAX }, partial;

	if (kdump_is_split(header, sub)) {
		all.first_pfn = kdump_pfns(header, sub).first;
		all.end_pfn = kdump_pfns(header, sub).end;
	}
	partial = all;
	if (!count_pages(fd, header, &all))
		return headers_unread(msg);
	partial.wanted = walk_tables(dump_probe, fd, header, all.nr_pages);
	if (dump_probe->error)
		return msg_set(msg, BTSREC_ERR_IO, "%s", strerror(dump_probe->error));
	if (partial.wanted != UINT64_MAX && count_pages(fd, header, &partial))
		dump_probe->partial_pa = partial.pfn * header->block_size;
	return BTSREC_OK;
}

size_t dump_probe_backed_bytes(const struct dump_probe *dump_probe, uint64_t pa, size_t len_bytes)
{
	uint64_t cut_pa = dump_probe->partial_pa + dump_probe->partial_bytes;

	if (!dump_probe->partial_bytes || pa + len_bytes <= cut_pa ||
	    pa >= dump_probe->partial_pa + BTSREC_PAGE_BYTES)
		return len_bytes;
	return pa < cut_pa ? cut_pa - pa : 0;
}

static bool header_is_possible(const struct kdump_header *header)
{
	return header->block_size == BTSREC_PAGE_BYTES && header->sub_hdr_size &&
	       header->sub_hdr_size < 1 << 20 && header->bitmap_blocks < 1 << 28;
}

/* What the sub-header points to libkdumpfile reads while the file is opened. */
static bool notes_are_inside(const struct dump_probe *dump_probe,
				   const struct kdump_sub_header *sub, int32_t version)
{
	return (version < 3 ||
		is_inside(dump_probe, sub->offset_vmcoreinfo, sub->size_vmcoreinfo)) &&
	       (version < 4 || is_inside(dump_probe, sub->offset_note, sub->size_note)) &&
	       (version < 5 || is_inside(dump_probe, sub->offset_eraseinfo, sub->size_eraseinfo));
}

/* None of it keeps our own reader from the pages. */
static const char *kdump_unsafe(const struct dump_probe *dump_probe,
				const struct kdump_header *header,
				const struct kdump_sub_header *sub)
{
	if (header->max_mapnr > 8ULL * header->bitmap_blocks * header->block_size)
		return "the header of this compressed dump has more page frames than its bitmap";
	if (!notes_are_inside(dump_probe, sub, header->header_version))
		return "the notes of this dump are not inside the file";
	return NULL;
}

static enum btsrec_status kdump_probe(struct dump_probe *dump_probe, int fd, struct msg *msg)
{
	struct kdump_header header = { 0 };
	struct kdump_sub_header sub;

	dump_probe->kind = DUMP_COMPRESSED;
	if (!read_at(fd, 0, &header, sizeof(header)))
		return headers_unread(msg);
	if (!header_is_possible(&header))
		return msg_set(msg, BTSREC_ERR_NOT_DUMP,
			       "the header of this compressed dump is no x86-64 kernel's");
	if (!is_inside(dump_probe, 0, kdump_table_offset(&header)))
		return mkdump_headers_cut(msg);
	if (!read_at(fd, header.block_size, &sub, sizeof(sub)))
		return headers_unread(msg);
	dump_probe->unsafe = kdump_unsafe(dump_probe, &header, &sub);
	return describe_pages(dump_probe, fd, &header, &sub, msg);
}

/* --- Any ---------------------------------------------------------------- */

/* Of Linux 2.4; libkdumpfile 0.5.1 dies of what only begins like one. */
#define LKCD_MAGIC	0xa8190173618f23edULL

static bool is_lkcd(const void *head)
{
	uint64_t magic;

	memcpy(&magic, head, sizeof(magic));
	return magic == LKCD_MAGIC || __builtin_bswap64(magic) == LKCD_MAGIC;
}

enum btsrec_status dump_probe_file(struct dump_probe *ret, int fd, uint64_t file_bytes,
				   struct msg *msg)
{
	Elf64_Ehdr head = { 0 };

	/* Of a shorter file the rest stays zero, which is no signature's. */
	ret->file_bytes = file_bytes;
	if (pread(fd, &head, sizeof(head), 0) < 0)
		return BTSREC_OK;
	if (!memcmp(&head, "KDUMP   ", 8) || !memcmp(&head, "DISKDUMP", 8))
		return kdump_probe(ret, fd, msg);
	if (is_lkcd(&head))
		return msg_set(msg, BTSREC_ERR_NOT_DUMP,
			       "an LKCD dump, as no kernel writes that this recorder is for");
	if (memcmp(head.e_ident, ELFMAG, SELFMAG))
		return BTSREC_OK;
	if (!elfdump_probe(&head))
		return msg_set(msg, BTSREC_ERR_NOT_DUMP,
			       "an ELF file, but no core dump of a 64-bit kernel");
	ret->kind = DUMP_ELF;
	return BTSREC_OK;
}
