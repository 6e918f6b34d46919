// SPDX-License-Identifier: GPL-2.0-or-later
#include "extract_write.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "cleanup.h"

#define RAW_BYTES (EXTRACT_FRAME_PAGES * BTSREC_PAGE_BYTES)

/*
 * On the emulated machine's dumps level 3 packs to a seventh, level 9 to an eighth
 * in five times the time.
 */
#define ZSTD_LEVEL 3

/**
 * struct extract_writer - the frame under way and the sums for the end
 * @table, @raw: frame.nr_pages entries and frame.raw_bytes bytes of it.
 */
struct extract_writer {
	const struct btsrec_sink *sink;
	ZSTD_CCtx *zstd;
	struct extract_frame frame;
	struct extract_page table[EXTRACT_FRAME_PAGES];
	uint8_t raw[RAW_BYTES];
	uint8_t packed[ZSTD_COMPRESSBOUND(RAW_BYTES)];
	struct extract_end end;
};

void extract_writer_free(struct extract_writer *writer)
{
	if (!writer)
		return;
	ZSTD_freeCCtx(writer->zstd);
	free(writer);
}

static void cleanup_writer(struct extract_writer **writer)
{
	extract_writer_free(*writer);
}

struct extract_writer *extract_writer_new(const struct btsrec_sink *sink)
{
	__attribute__((cleanup(cleanup_writer))) struct extract_writer *writer =
		calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->sink = sink;
	writer->zstd = ZSTD_createCCtx();
	if (!writer->zstd)
		return NULL;
	ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_checksumFlag, 1);
	return take_ptr(writer);
}

static enum btsrec_status put(struct extract_writer *writer, const void *bytes, size_t nr_bytes)
{
	return writer->sink->write(writer->sink->arg, bytes, nr_bytes) ? BTSREC_OK :
									 BTSREC_ERR_STOPPED;
}

enum btsrec_status extract_begin(struct extract_writer *writer,
				 const struct extract_header *header, const char *vmcoreinfo)
{
	struct extract_header head = *header;
	enum btsrec_status status;

	memcpy(head.magic, EXTRACT_MAGIC, sizeof(head.magic));
	head.major = EXTRACT_MAJOR;
	head.minor = EXTRACT_MINOR;
	head.header_bytes = sizeof(head);
	head.vmcoreinfo_bytes =
		vmcoreinfo ? (uint32_t)strnlen(vmcoreinfo, EXTRACT_MAX_VMCOREINFO) : 0;
	head.crc32 = 0;
	head.crc32 = extract_sum(extract_sum(0, &head, sizeof(head)), vmcoreinfo, head.vmcoreinfo_bytes);
	status = put(writer, &head, sizeof(head));
	if (!status && head.vmcoreinfo_bytes)
		status = put(writer, vmcoreinfo, head.vmcoreinfo_bytes);
	return status;
}

static enum btsrec_status put_frame(struct extract_writer *writer)
{
	struct extract_frame *frame = &writer->frame;
	size_t table_bytes = frame->nr_pages * sizeof(*writer->table);
	enum btsrec_status status;
	size_t packed_bytes;

	packed_bytes = ZSTD_compress2(writer->zstd, writer->packed, sizeof(writer->packed),
				      writer->raw, frame->raw_bytes);
	if (ZSTD_isError(packed_bytes))
		return BTSREC_ERR_NOMEM;
	frame->magic = EXTRACT_FRAME_MAGIC;
	frame->packed_bytes = packed_bytes;
	frame->crc32 = extract_sum(extract_sum(0, frame, sizeof(*frame)), writer->table, table_bytes);
	status = put(writer, frame, sizeof(*frame));
	if (!status)
		status = put(writer, writer->table, table_bytes);
	if (!status)
		status = put(writer, writer->packed, packed_bytes);
	writer->end.nr_frames++;
	writer->end.nr_pages += frame->nr_pages;
	writer->end.frames_crc32 =
		extract_sum(writer->end.frames_crc32, &frame->crc32, sizeof(frame->crc32));
	memset(frame, 0, sizeof(*frame));
	return status;
}

enum btsrec_status extract_add(struct extract_writer *writer, const struct extract_page *page,
			       const uint8_t *bytes)
{
	struct extract_frame *frame = &writer->frame;
	size_t nr_bytes = (size_t)__builtin_popcountll(page->lines) * EXTRACT_LINE_BYTES;

	writer->table[frame->nr_pages++] = *page;
	memcpy(writer->raw + frame->raw_bytes, bytes, nr_bytes);
	frame->raw_bytes += nr_bytes;
	return frame->nr_pages < EXTRACT_FRAME_PAGES ? BTSREC_OK : put_frame(writer);
}

enum btsrec_status extract_end(struct extract_writer *writer)
{
	struct extract_frame last = { .magic = EXTRACT_END_MAGIC };
	enum btsrec_status status = writer->frame.nr_pages ? put_frame(writer) : BTSREC_OK;

	last.crc32 = extract_sum(0, &last, sizeof(last));
	writer->end.crc32 = extract_sum(0, &writer->end, offsetof(struct extract_end, crc32));
	if (!status)
		status = put(writer, &last, sizeof(last));
	if (!status)
		status = put(writer, &writer->end, sizeof(writer->end));
	return status;
}
