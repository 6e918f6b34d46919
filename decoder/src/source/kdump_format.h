/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * makedumpfile's compressed dump format, as its IMPLEMENTATION file has it: blocks
 * of block_size bytes; one for the header, sub_hdr_size for the sub-header,
 * bitmap_blocks for two bitmaps of equal size (memory that exists; memory that is
 * in the file), then a descriptor per page of the second bitmap, then the data.
 */
#ifndef BTSREC_KDUMP_FORMAT_H
#define BTSREC_KDUMP_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

struct kdump_header {
	char signature[8];
	int32_t header_version;
	char utsname[6 * 65];
	char pad[6];
	uint64_t timestamp[2];
	uint32_t status;		/* KDUMP_PACKED_*: what was asked for */
	uint32_t block_size;
	uint32_t sub_hdr_size;
	uint32_t bitmap_blocks;
	uint32_t max_mapnr;
};

struct kdump_sub_header {
	uint64_t phys_base;
	uint32_t dump_level;
	uint32_t split;
	uint64_t start_pfn;
	uint64_t end_pfn;
	uint64_t offset_vmcoreinfo;
	uint64_t size_vmcoreinfo;
	uint64_t offset_note;
	uint64_t size_note;
	uint64_t offset_eraseinfo;
	uint64_t size_eraseinfo;
	/* since version 6, where start_pfn, end_pfn and header.max_mapnr are obsolete */
	uint64_t start_pfn_64;
	uint64_t end_pfn_64;
	uint64_t max_mapnr_64;
};

/** struct kdump_pfns - page frames [@first, @end) that a file has, of those below @max */
struct kdump_pfns {
	uint64_t first;
	uint64_t end;
	uint64_t max;
};

/** kdump_pfns() - those of one file of a split dump, by the fields that its version has */
static inline struct kdump_pfns kdump_pfns(const struct kdump_header *header,
					   const struct kdump_sub_header *sub)
{
	if (header->header_version >= 6)
		return (struct kdump_pfns){ sub->start_pfn_64, sub->end_pfn_64, sub->max_mapnr_64 };
	return (struct kdump_pfns){ sub->start_pfn, sub->end_pfn, header->max_mapnr };
}

/** kdump_is_split() - is this one of the files that makedumpfile --split wrote? */
static inline bool kdump_is_split(const struct kdump_header *header,
				  const struct kdump_sub_header *sub)
{
	struct kdump_pfns pfns = kdump_pfns(header, sub);

	return header->header_version >= 2 && sub->split && pfns.first <= pfns.end;
}

/** kdump_table_offset() - where the descriptors begin in the file, and the bitmaps end */
static inline uint64_t kdump_table_offset(const struct kdump_header *header)
{
	return (1ULL + header->sub_hdr_size + header->bitmap_blocks) * header->block_size;
}

struct kdump_page_desc {
	uint64_t offset;
	uint32_t size;
	uint32_t flags;			/* one of KDUMP_PACKED_*; 0: plain */
	uint64_t page_flags;
};

#define KDUMP_PACKED_ZLIB	0x1
#define KDUMP_PACKED_LZO	0x2
#define KDUMP_PACKED_SNAPPY	0x4
#define KDUMP_PACKED_ZSTD	0x20

#endif /* BTSREC_KDUMP_FORMAT_H */
