// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files of btsrec extract.  Checksums would keep the fuzzer in front of the door, so the input is
 * what lies after them: frames without sums, which are added here.
 */
#include <string.h>

#include "../../decoder/src/source/extract_read.h"
#include "fuzz_file.h"
#include "fuzz_image.h"

#define MAX_FILE_BYTES (1 << 20)

static uint8_t file_bytes[MAX_FILE_BYTES];

/* The numbers of frames and pages, and their sum, are the input's; most often it has none. */
static size_t fix_end(size_t at, size_t nr_bytes)
{
	struct extract_frame frame = { .magic = EXTRACT_END_MAGIC };
	struct extract_end end;
	struct extract_cut cut;

	if (nr_bytes - at < sizeof(frame) + sizeof(end))
		return nr_bytes;
	memcpy(&end, file_bytes + at + sizeof(frame), sizeof(end));
	end.crc32 = extract_sum(0, &end, offsetof(struct extract_end, crc32));
	memcpy(file_bytes + at + sizeof(frame), &end, sizeof(end));
	frame.packed_bytes = nr_bytes - at - sizeof(frame) - sizeof(end);
	frame.crc32 = extract_sum(0, &frame, sizeof(frame));
	memcpy(file_bytes + at, &frame, sizeof(frame));
	for (at += sizeof(frame) + sizeof(end); nr_bytes - at >= sizeof(cut); at += sizeof(cut)) {
		memcpy(&cut, file_bytes + at, sizeof(cut));
		cut.crc32 = 0;
		cut.crc32 = extract_sum(0, &cut, sizeof(cut));
		memcpy(file_bytes + at, &cut, sizeof(cut));
	}
	return nr_bytes;
}

/* Right the sum of the frame at @at, if there is one; returns where the next begins. */
static size_t fix_frame(size_t at, size_t nr_bytes)
{
	struct extract_frame frame;
	size_t table_bytes;

	memcpy(&frame, file_bytes + at, sizeof(frame));
	table_bytes = frame.nr_pages % (EXTRACT_FRAME_PAGES + 1) * sizeof(struct extract_page);
	if (nr_bytes - at < sizeof(frame) + table_bytes)
		return nr_bytes;
	if (frame.magic == EXTRACT_END_MAGIC)
		return fix_end(at, nr_bytes);
	frame.magic = EXTRACT_FRAME_MAGIC;
	frame.crc32 = 0;
	frame.crc32 = extract_sum(extract_sum(0, &frame, sizeof(frame)), file_bytes + at + sizeof(frame),
			  table_bytes);
	memcpy(file_bytes + at, &frame, sizeof(frame));
	at += sizeof(frame) + table_bytes;
	return frame.packed_bytes < nr_bytes - at ? at + frame.packed_bytes : nr_bytes;
}

static size_t make_file(const uint8_t *bytes, size_t nr_bytes)
{
	struct extract_header header = { .major = EXTRACT_MAJOR, .header_bytes = sizeof(header) };
	size_t at = sizeof(header);

	memcpy(header.magic, EXTRACT_MAGIC, sizeof(header.magic));
	if (nr_bytes > sizeof(file_bytes) - at)
		nr_bytes = sizeof(file_bytes) - at;
	header.crc32 = extract_sum(0, &header, sizeof(header));
	memcpy(file_bytes, &header, sizeof(header));
	memcpy(file_bytes + at, bytes, nr_bytes);
	nr_bytes += at;
	while (nr_bytes - at >= sizeof(struct extract_frame))
		at = fix_frame(at, nr_bytes);
	return nr_bytes;
}

static void use(struct extract_file *file)
{
	static uint8_t buf[2 * BTSREC_PAGE_BYTES];
	size_t got_bytes;

	for (uint64_t pa = 0; pa < 64 * BTSREC_PAGE_BYTES; pa += sizeof(buf) - 3)
		(void)extract_read_pa(file, pa, buf, sizeof(buf), &got_bytes);
	(void)extract_is_whole(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	struct extract_file *file = NULL;
	static struct msg msg;

	nr_bytes = make_file(bytes, nr_bytes);
	fuzz_file(file_bytes, nr_bytes);
	if (!extract_open(FUZZ_FD, nr_bytes, &msg, &file))
		use(file);
	extract_close(file);
	return 0;
}
