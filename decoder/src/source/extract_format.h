/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file that btsrec extract writes: memory of a dump, only the lines that
 * decoding needs.  btsrec-extract(5) describes it; numbers are little-endian.
 *
 *   header, VMCOREINFO text, frames of pages, end frame, cut lines
 *
 * A file without its end frame was not written to the end.  So the pages of the recorder come
 * first.  Before major version 2 pages were in ascending order.
 */
#ifndef BTSREC_EXTRACT_FORMAT_H
#define BTSREC_EXTRACT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include <zlib.h>

#define EXTRACT_MAGIC		"btsrecXT"
#define EXTRACT_MAJOR		2
#define EXTRACT_MINOR		0
#define EXTRACT_OLDEST_MAJOR	1
#define EXTRACT_MAX_VMCOREINFO	65536
#define EXTRACT_FRAME_MAGIC	0x4d524658U	/* "XFRM" */
#define EXTRACT_END_MAGIC	0x444e4558U	/* "XEND" */
#define EXTRACT_FRAME_PAGES	64
#define EXTRACT_LINE_BYTES	64

/* extract_header.flags */
#define EXTRACT_F_NO_USER	(1U << 0)	/* addresses of user space in the rings are 0 */
#define EXTRACT_F_NO_PATHS	(1U << 1)	/* paths of exec'd programs are empty */
#define EXTRACT_F_INCOMPLETE	(1U << 2)	/* of a dump that was cut off or damaged */
#define EXTRACT_F_NO_LOG	(1U << 3)	/* the kernel's log was left out */

/**
 * struct extract_header - at the beginning of the file
 * @header_bytes: of this struct as the writer knew it; VMCOREINFO follows.
 * @crc32: of the header with this field 0, and of the VMCOREINFO text.
 * @root_pa: the recorder's root.
 * @max_pa: first address after the memory of the dump; 0: unknown.
 * @maker: name and version of the program that wrote it, NUL-terminated.
 */
struct extract_header {
	char magic[8];
	uint16_t major;
	uint16_t minor;
	uint32_t header_bytes;
	uint32_t flags;
	uint32_t crc32;
	uint64_t root_pa;
	uint64_t max_pa;
	uint32_t vmcoreinfo_bytes;
	uint32_t reserved;
	char maker[32];
};

/**
 * struct extract_frame - in front of up to EXTRACT_FRAME_PAGES pages
 * @crc32: of this struct with the field 0 and of the page table after it.
 * @raw_bytes: of the lines of all its pages, one after another.
 * @packed_bytes: of the same as one zstd frame with a checksum, after the table.
 *
 * The end frame has EXTRACT_END_MAGIC and no table; its nr_pages is 0, its packed_bytes those of
 * the cut lines after struct extract_end.
 */
struct extract_frame {
	uint32_t magic;
	uint32_t crc32;
	uint32_t nr_pages;
	uint32_t raw_bytes;
	uint64_t packed_bytes;
};

/**
 * struct extract_page - an entry of the page table
 * @lines: bit i: the bytes from i * EXTRACT_LINE_BYTES on are in the file.
 */
struct extract_page {
	uint64_t pa;
	uint64_t lines;
};

/** struct extract_end - after the end frame's struct extract_frame */
struct extract_end {
	uint64_t nr_frames;
	uint64_t nr_pages;
	uint32_t frames_crc32;		/* of the crc32 fields of all frames, in order */
	uint32_t crc32;			/* of the fields before */
};

/**
 * struct extract_cut - the dump has the first bytes of this line only, as if cut off
 * @pa: of the line; ascending.
 * @crc32: of this struct with the field 0.
 * @bytes: 0 from @nr_bytes on.
 *
 * Since version 1.1.  Readers of 1.0 do not look past the end and miss them.  As lines of a page
 * they would be taken for data.
 */
struct extract_cut {
	uint64_t pa;
	uint32_t nr_bytes;
	uint32_t crc32;
	uint8_t bytes[EXTRACT_LINE_BYTES];
};

/**
 * extract_sum() - the format's checksum of more bytes, after those that gave @before
 *
 * Of none it is @before, wherever they are: crc32() begins anew at a NULL.
 */
static inline uint32_t extract_sum(uint32_t before, const void *bytes, size_t nr_bytes)
{
	return nr_bytes ? (uint32_t)crc32(before, bytes, (uInt)nr_bytes) : before;
}

#endif /* BTSREC_EXTRACT_FORMAT_H */
