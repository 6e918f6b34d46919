// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/extract_read.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "base/cleanup.h"
#include "base/readat.h"
#include "base/sorted.h"

#define RAW_BYTES	(EXTRACT_FRAME_PAGES * BTSREC_PAGE_BYTES)

/* Decoding goes through a ring and, meanwhile, here and there through code. */
#define CACHE_FRAMES	32

/* The longest content of a header that a later minor version may write. */
#define MAX_HEADER_BYTES 4096

/**
 * struct frame - one frame
 * @first_page: of @nr_pages in extract_file.pages.
 * @offset: in the file, of the packed bytes.
 */
struct frame {
	uint64_t offset;
	uint64_t packed_bytes;
	uint64_t first_page;
	uint32_t nr_pages;
	uint32_t raw_bytes;
};

/** struct unpacked - a frame's content; @frame: its number + 1; 0: none, or damaged */
struct unpacked {
	size_t frame;
	uint8_t *raw;
};

/** struct place - where in extract_file.pages the page at @pa is */
struct place {
	uint64_t pa;
	size_t page;
};

/**
 * struct extract_file - an open one
 * @places: of all pages, ascending.
 * @error: errno of the read that ended read_frames(), or 0.
 */
struct extract_file {
	int fd;
	int error;
	struct extract_header header;
	char *vmcoreinfo;
	bool whole;
	struct frame *frames;
	size_t nr_frames;
	size_t room_frames;
	struct extract_page *pages;
	size_t nr_pages;
	size_t room_pages;
	struct place *places;
	size_t nr_places;
	struct extract_cut *cuts;
	size_t nr_cuts;
	ZSTD_DCtx *zstd;
	uint8_t *packed;
	struct unpacked cache[CACHE_FRAMES];
};

/* --- Opening ------------------------------------------------------------ */

bool extract_probe(int fd)
{
	char magic[sizeof(((struct extract_header *)0)->magic)];

	return read_at(fd, 0, magic, sizeof(magic)) &&
	       !memcmp(magic, EXTRACT_MAGIC, sizeof(magic));
}

void extract_close(struct extract_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < CACHE_FRAMES; i++)
		free(file->cache[i].raw);
	ZSTD_freeDCtx(file->zstd);
	free(file->packed);
	free(file->cuts);
	free(file->places);
	free(file->pages);
	free(file->frames);
	free(file->vmcoreinfo);
	free(file);
}

static void cleanup_file(struct extract_file **file)
{
	extract_close(*file);
}

static bool header_is_possible(const struct extract_header *header)
{
	return header->header_bytes >= sizeof(*header) &&
	       header->header_bytes <= MAX_HEADER_BYTES &&
	       header->vmcoreinfo_bytes <= EXTRACT_MAX_VMCOREINFO;
}

static enum btsrec_status header_cut(struct msg *msg)
{
	if (errno)
		return msg_set(msg, BTSREC_ERR_IO, "%s", strerror(errno));
	return msg_set(msg, BTSREC_ERR_NOT_DUMP, "the extract is cut off within its header");
}

/* The header as its writer knew it and the text after it, in one piece. */
static enum btsrec_status read_header(struct extract_file *file, struct msg *msg)
{
	struct extract_header *header = &file->header;
	_cleanup_free_ uint8_t *bytes = NULL;
	const uint32_t zero = 0;
	size_t nr_bytes;

	if (!read_at(file->fd, 0, header, sizeof(*header)))
		return header_cut(msg);
	if (header->major < EXTRACT_OLDEST_MAJOR || header->major > EXTRACT_MAJOR)
		return msg_set(msg, BTSREC_ERR_VERSION,
			       "the extract has format %u, this is for formats %u to %u",
			       header->major, EXTRACT_OLDEST_MAJOR, EXTRACT_MAJOR);
	if (!header_is_possible(header))
		return msg_set(msg, BTSREC_ERR_NOT_DUMP, "the header of the extract is damaged");
	nr_bytes = header->header_bytes + header->vmcoreinfo_bytes;
	bytes = malloc(nr_bytes);
	file->vmcoreinfo = calloc(1, header->vmcoreinfo_bytes + 1);
	if (!bytes || !file->vmcoreinfo)
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	if (!read_at(file->fd, 0, bytes, nr_bytes))
		return header_cut(msg);
	memcpy(bytes + offsetof(struct extract_header, crc32), &zero, sizeof(zero));
	if (extract_sum(0, bytes, nr_bytes) != header->crc32)
		return msg_set(msg, BTSREC_ERR_NOT_DUMP, "the header of the extract is damaged");
	memcpy(file->vmcoreinfo, bytes + header->header_bytes, header->vmcoreinfo_bytes);
	header->maker[sizeof(header->maker) - 1] = '\0';
	return BTSREC_OK;
}

static void *reserve(void *list, size_t *room, size_t nr, size_t member_bytes)
{
	void *grown;

	if (nr <= *room)
		return list;
	grown = reallocarray(list, nr * 2, member_bytes);
	if (grown)
		*room = nr * 2;
	return grown;
}

/* The frame's table has addresses of pages, and explains its size. */
static bool table_is_possible(const struct extract_frame *frame, const struct extract_page *table)
{
	uint64_t nr_lines = 0;

	for (uint32_t i = 0; i < frame->nr_pages; i++) {
		if (!table[i].pa || table[i].pa % BTSREC_PAGE_BYTES)
			return false;
		nr_lines += (uint64_t)__builtin_popcountll(table[i].lines);
	}
	return frame->raw_bytes == nr_lines * EXTRACT_LINE_BYTES;
}

static bool frame_is_possible(const struct extract_frame *frame)
{
	return frame->magic == EXTRACT_FRAME_MAGIC && frame->nr_pages &&
	       frame->nr_pages <= EXTRACT_FRAME_PAGES && frame->raw_bytes <= RAW_BYTES &&
	       frame->packed_bytes && frame->packed_bytes <= ZSTD_COMPRESSBOUND(RAW_BYTES);
}

static uint32_t frame_sum(const struct extract_frame *frame, const struct extract_page *table)
{
	struct extract_frame plain = *frame;

	plain.crc32 = 0;
	return extract_sum(extract_sum(0, &plain, sizeof(plain)), table,
			   frame->nr_pages * sizeof(*table));
}

static enum btsrec_status add_frame(struct extract_file *file, const struct extract_frame *frame,
				    const struct extract_page *table, uint64_t offset)
{
	struct extract_page *pages;
	struct frame *frames;

	frames = reserve(file->frames, &file->room_frames, file->nr_frames + 1, sizeof(*frames));
	if (frames)
		file->frames = frames;
	pages = reserve(file->pages, &file->room_pages, file->nr_pages + frame->nr_pages,
			sizeof(*pages));
	if (pages)
		file->pages = pages;
	if (!frames || !pages)
		return BTSREC_ERR_NOMEM;
	file->frames[file->nr_frames++] = (struct frame){
		.offset = offset,
		.packed_bytes = frame->packed_bytes,
		.first_page = file->nr_pages,
		.nr_pages = frame->nr_pages,
		.raw_bytes = frame->raw_bytes,
	};
	memcpy(file->pages + file->nr_pages, table, frame->nr_pages * sizeof(*table));
	file->nr_pages += frame->nr_pages;
	return BTSREC_OK;
}

/* As read_at(), but that the medium failed is remembered. */
static bool read_next(struct extract_file *file, uint64_t offset, void *buf, size_t nr_bytes)
{
	bool good = read_at(file->fd, offset, buf, nr_bytes);

	if (!good && errno)
		file->error = errno;
	return good;
}

static bool end_is_right(struct extract_file *file, uint64_t offset, uint32_t frames_crc32)
{
	struct extract_end end;

	return read_next(file, offset, &end, sizeof(end)) &&
	       end.crc32 == extract_sum(0, &end, offsetof(struct extract_end, crc32)) &&
	       end.nr_frames == file->nr_frames && end.nr_pages == file->nr_pages &&
	       end.frames_crc32 == frames_crc32;
}

/* The next of file.cuts, which is read but not counted yet. */
static bool next_cut_is_right(const struct extract_file *file)
{
	struct extract_cut cut = file->cuts[file->nr_cuts];
	uint64_t last_pa = file->nr_cuts ? file->cuts[file->nr_cuts - 1].pa : 0;
	uint32_t crc32 = cut.crc32;

	cut.crc32 = 0;
	return extract_sum(0, &cut, sizeof(cut)) == crc32 && !(cut.pa % EXTRACT_LINE_BYTES) &&
	       cut.pa > last_pa && cut.nr_bytes && cut.nr_bytes < EXTRACT_LINE_BYTES;
}

/* Up to the first that is not as it should be: those before are good all the same. */
static enum btsrec_status read_cuts(struct extract_file *file, uint64_t offset, uint64_t nr_bytes,
				    uint64_t file_bytes)
{
	const size_t nr = nr_bytes / sizeof(*file->cuts);

	if (offset > file_bytes || nr_bytes > file_bytes - offset)
		return BTSREC_OK;
	file->cuts = malloc(nr_bytes + 1);
	if (!file->cuts)
		return BTSREC_ERR_NOMEM;
	if (!read_next(file, offset, file->cuts, nr_bytes))
		return BTSREC_OK;
	while (file->nr_cuts < nr && next_cut_is_right(file))
		file->nr_cuts++;
	file->whole = file->nr_cuts == nr && !(nr_bytes % sizeof(*file->cuts));
	return BTSREC_OK;
}

/* What is after the end frame, at @offset; file.whole says whether it is as it should be. */
static enum btsrec_status read_end(struct extract_file *file, const struct extract_frame *frame,
				   uint64_t offset, uint64_t file_bytes, uint32_t frames_crc32)
{
	if (frame->nr_pages || frame_sum(frame, NULL) != frame->crc32 ||
	    !end_is_right(file, offset, frames_crc32))
		return BTSREC_OK;
	return read_cuts(file, offset + sizeof(struct extract_end), frame->packed_bytes,
			 file_bytes);
}

/* Up to the end frame, or to the first place where the file does not go on as it should. */
static enum btsrec_status read_frames(struct extract_file *file, uint64_t file_bytes)
{
	uint64_t offset = file->header.header_bytes + file->header.vmcoreinfo_bytes;
	enum btsrec_status status = BTSREC_OK;
	struct extract_page table[EXTRACT_FRAME_PAGES] = { 0 };
	struct extract_frame frame;
	uint32_t frames_crc32 = 0;

	while (!status && read_next(file, offset, &frame, sizeof(frame))) {
		offset += sizeof(frame);
		if (frame.magic == EXTRACT_END_MAGIC)
			return read_end(file, &frame, offset, file_bytes, frames_crc32);
		if (!frame_is_possible(&frame) ||
		    !read_next(file, offset, table, frame.nr_pages * sizeof(*table)) ||
		    frame_sum(&frame, table) != frame.crc32 ||
		    !table_is_possible(&frame, table))
			break;
		offset += frame.nr_pages * sizeof(*table);
		if (offset > file_bytes || file_bytes - offset < frame.packed_bytes)
			break;
		status = add_frame(file, &frame, table, offset);
		frames_crc32 = extract_sum(frames_crc32, &frame.crc32, sizeof(frame.crc32));
		offset += frame.packed_bytes;
	}
	return status;
}

/* Of two of one page the one that comes first in the file. */
static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->pa != b->pa)
		return a->pa < b->pa ? -1 : 1;
	return a->page < b->page ? -1 : a->page > b->page;
}

/* Where each page is.  A file with one twice is not as its writer left it. */
static enum btsrec_status find_places(struct extract_file *file)
{
	size_t nr = 0;

	file->places = malloc((file->nr_pages + 1) * sizeof(*file->places));
	if (!file->places)
		return BTSREC_ERR_NOMEM;
	for (size_t i = 0; i < file->nr_pages; i++)
		file->places[i] = (struct place){ file->pages[i].pa, i };
	qsort(file->places, file->nr_pages, sizeof(*file->places), compare_places);
	for (size_t i = 0; i < file->nr_pages; i++)
		if (!nr || file->places[nr - 1].pa != file->places[i].pa)
			file->places[nr++] = file->places[i];
	file->whole &= nr == file->nr_pages;
	file->nr_places = nr;
	return BTSREC_OK;
}

enum btsrec_status extract_open(int fd, uint64_t file_bytes, struct msg *msg,
				struct extract_file **ret)
{
	__attribute__((cleanup(cleanup_file))) struct extract_file *file =
		calloc(1, sizeof(*file));
	enum btsrec_status status;

	if (!file)
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	file->fd = fd;
	status = read_header(file, msg);
	if (status)
		return status;
	file->zstd = ZSTD_createDCtx();
	file->packed = malloc(ZSTD_COMPRESSBOUND(RAW_BYTES));
	if (!file->zstd || !file->packed || read_frames(file, file_bytes) != BTSREC_OK ||
	    find_places(file) != BTSREC_OK)
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	if (file->error)
		return msg_set(msg, BTSREC_ERR_IO, "%s", strerror(file->error));
	*ret = take_ptr(file);
	return BTSREC_OK;
}

const struct extract_header *extract_header(const struct extract_file *file)
{
	return &file->header;
}

const char *extract_vmcoreinfo(const struct extract_file *file)
{
	return file->header.vmcoreinfo_bytes ? file->vmcoreinfo : NULL;
}

bool extract_is_whole(const struct extract_file *file)
{
	return file->whole;
}

/* --- Reading ------------------------------------------------------------ */

/* The number of the page at @page_pa in extract_file.pages; SIZE_MAX: none. */
static size_t find_page(const struct extract_file *file, uint64_t page_pa)
{
	size_t nr = sorted_up_to(file->places, file->nr_places, pa, page_pa);

	return nr && file->places[nr - 1].pa == page_pa ? file->places[nr - 1].page : SIZE_MAX;
}

/* The number of the frame that has page number @page. */
static size_t find_frame(const struct extract_file *file, size_t page)
{
	return sorted_up_to(file->frames, file->nr_frames, first_page, page) - 1;
}

/* The content of @frame to @raw; BTSREC_ERR_CORRUPT: it is damaged; BTSREC_ERR_NODATA: cut off. */
static enum btsrec_status read_frame(struct extract_file *file, const struct frame *frame,
				     uint8_t *raw)
{
	size_t nr_bytes;

	if (!read_at(file->fd, frame->offset, file->packed, frame->packed_bytes))
		return errno ? BTSREC_ERR_IO : BTSREC_ERR_NODATA;
	nr_bytes = ZSTD_decompressDCtx(file->zstd, raw, RAW_BYTES, file->packed,
				       frame->packed_bytes);
	if (ZSTD_getErrorCode(nr_bytes) == ZSTD_error_memory_allocation)
		return BTSREC_ERR_NOMEM;
	return nr_bytes == frame->raw_bytes ? BTSREC_OK : BTSREC_ERR_CORRUPT;
}

/* The content of a frame; it is kept. */
static enum btsrec_status unpack(struct extract_file *file, size_t number, const uint8_t **ret)
{
	struct unpacked *slot = &file->cache[number % CACHE_FRAMES];
	enum btsrec_status status;

	if (slot->frame != number + 1) {
		slot->frame = 0;
		if (!slot->raw)
			slot->raw = malloc(RAW_BYTES);
		if (!slot->raw)
			return BTSREC_ERR_NOMEM;
		status = read_frame(file, &file->frames[number], slot->raw);
		if (status)
			return status;
		slot->frame = number + 1;
	}
	*ret = slot->raw;
	return BTSREC_OK;
}

/* The lines of page number @page, one after another. */
static enum btsrec_status page_lines(struct extract_file *file, size_t page, const uint8_t **ret)
{
	size_t number = find_frame(file, page), nr_lines = 0;
	enum btsrec_status status;
	const uint8_t *raw;

	status = unpack(file, number, &raw);
	if (status)
		return status;
	for (size_t i = file->frames[number].first_page; i < page; i++)
		nr_lines += (size_t)__builtin_popcountll(file->pages[i].lines);
	*ret = raw + nr_lines * EXTRACT_LINE_BYTES;
	return BTSREC_OK;
}

/* From @offset on within one page, as far as there are lines. */
static size_t read_lines(const struct extract_page *page, const uint8_t *lines, size_t offset,
			 uint8_t *buf, size_t len_bytes)
{
	size_t nr_done = 0;

	while (nr_done < len_bytes) {
		size_t line = (offset + nr_done) / EXTRACT_LINE_BYTES;
		size_t in_line = (offset + nr_done) % EXTRACT_LINE_BYTES;
		size_t nr_bytes = EXTRACT_LINE_BYTES - in_line;
		uint64_t before = page->lines & ~(UINT64_MAX << line);

		if (!(page->lines >> line & 1))
			break;
		if (nr_bytes > len_bytes - nr_done)
			nr_bytes = len_bytes - nr_done;
		memcpy(buf + nr_done, lines + (size_t)__builtin_popcountll(before) *
		       EXTRACT_LINE_BYTES + in_line, nr_bytes);
		nr_done += nr_bytes;
	}
	return nr_done;
}

/* From @pa on, of the line there, if it is one of those that are cut. */
static size_t read_cut(const struct extract_file *file, uint64_t pa, uint8_t *buf,
		       size_t len_bytes)
{
	size_t nr = sorted_up_to(file->cuts, file->nr_cuts, pa, pa), nr_bytes;
	const struct extract_cut *cut = nr ? &file->cuts[nr - 1] : NULL;

	if (!cut || pa - cut->pa >= cut->nr_bytes)
		return 0;
	nr_bytes = min_u64(cut->nr_bytes - (pa - cut->pa), len_bytes);
	memcpy(buf, cut->bytes + (pa - cut->pa), nr_bytes);
	return nr_bytes;
}

/* As extract_read_pa(), within one page. */
static enum btsrec_status read_in_page(struct extract_file *file, uint64_t pa, uint8_t *buf,
				       size_t len_bytes, size_t *ret_bytes)
{
	const uint64_t offset = pa % BTSREC_PAGE_BYTES;
	size_t page = find_page(file, pa - offset);
	enum btsrec_status status;
	const uint8_t *lines;

	*ret_bytes = 0;
	if (page != SIZE_MAX) {
		status = page_lines(file, page, &lines);
		if (status)
			return status;
		*ret_bytes = read_lines(&file->pages[page], lines, offset, buf, len_bytes);
	}
	*ret_bytes += read_cut(file, pa + *ret_bytes, buf + *ret_bytes, len_bytes - *ret_bytes);
	return *ret_bytes == len_bytes ? BTSREC_OK : BTSREC_ERR_NODATA;
}

enum btsrec_status extract_read_pa(struct extract_file *file, uint64_t pa, void *buf,
				   size_t len_bytes, size_t *ret_bytes)
{
	enum btsrec_status status = BTSREC_OK;

	*ret_bytes = 0;
	while (!status && *ret_bytes < len_bytes) {
		uint64_t at_pa = pa + *ret_bytes;
		size_t here_bytes = min_u64(BTSREC_PAGE_BYTES - at_pa % BTSREC_PAGE_BYTES,
					    len_bytes - *ret_bytes);
		size_t got_bytes;

		status = read_in_page(file, at_pa, (uint8_t *)buf + *ret_bytes, here_bytes,
				      &got_bytes);
		*ret_bytes += got_bytes;
	}
	return status;
}

uint64_t extract_next_pa(const struct extract_file *file, uint64_t pa)
{
	size_t nr = sorted_up_to(file->places, file->nr_places, pa, pa);

	if (nr && pa - file->places[nr - 1].pa < BTSREC_PAGE_BYTES)
		return pa;
	return nr < file->nr_places ? file->places[nr].pa : UINT64_MAX;
}
