/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small file for tests: what writes one, and what each of its bytes is. */
#ifndef BTSREC_TESTS_EXTRACTFIX_H
#define BTSREC_TESTS_EXTRACTFIX_H

#include <stdio.h>

#include "check_btsrec.h"
#include "export/extract/extract_write.h"

#define PAGE BTSREC_PAGE_BYTES

static FILE *stream;
static uint64_t stream_bytes;
static uint64_t max_bytes;
static unsigned int nr_threads;

static inline bool put(void *arg, const char *bytes, size_t nr_bytes)
{
	(void)arg;
	if (stream_bytes + nr_bytes > max_bytes)
		return false;
	/* No assert: it allocates. */
	if (fwrite(bytes, 1, nr_bytes, stream) != nr_bytes)
		ck_abort_msg("the file cannot be written");
	stream_bytes += nr_bytes;
	return true;
}

static const struct btsrec_sink sink = { .write = put };

static inline void setup(void)
{
	stream = tmpfile();
	ck_assert_ptr_nonnull(stream);
	stream_bytes = 0;
	max_bytes = UINT64_MAX;
	nr_threads = 1;
}

/* Every byte of line @line of page @pfn. */
static inline uint8_t value_of(uint64_t pfn, unsigned int line)
{
	return (uint8_t)(pfn * 64 + line + 1);
}

static inline enum btsrec_status write_page(struct extract_writer *writer, uint64_t pfn,
					    uint64_t lines)
{
	struct extract_page page = { pfn * PAGE, lines };
	size_t nr_room;
	uint8_t *at = extract_room(writer, &nr_room);

	for (unsigned int line = 0; line < 64; line++) {
		if (!(lines >> line & 1))
			continue;
		memset(at, value_of(pfn, line), EXTRACT_LINE_BYTES);
		at += EXTRACT_LINE_BYTES;
	}
	if (!nr_room)
		ck_abort_msg("no room for a page");
	return extract_add(writer, &page);
}

/* Some pages are whole, some have their first line, some lines 3, 4 and 63. */
static inline uint64_t lines_of(uint64_t pfn)
{
	if (pfn % 32 == 1)
		return UINT64_MAX;
	return pfn % 2 ? 1 : 3ULL << 3 | 1ULL << 63;
}

/* Pages 1 to @nr_pages. */
static inline enum btsrec_status write_file(uint64_t nr_pages)
{
	struct extract_header header = { .flags = 3, .root_pa = 0x5000, .max_pa = 1 << 30,
					 .maker = "a test" };
	struct extract_writer *writer = extract_writer_new(&sink, nr_threads);
	enum btsrec_status status;

	if (!writer)
		return BTSREC_ERR_NOMEM;
	status = extract_begin(writer, &header, "KEY=VALUE\n");
	for (uint64_t pfn = 1; !status && pfn <= nr_pages; pfn++)
		status = write_page(writer, pfn, lines_of(pfn));
	if (!status)
		status = extract_end(writer);
	extract_writer_free(writer);
	fflush(stream);
	return status;
}

#endif /* BTSREC_TESTS_EXTRACTFIX_H */
