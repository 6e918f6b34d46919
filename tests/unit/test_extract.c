// SPDX-License-Identifier: GPL-2.0-or-later
/* The small file, written and read back: extract_write.c and extract_read.c. */
#include <stdio.h>
#include <unistd.h>

#include <zlib.h>

#include "check_btsrec.h"
#include "extract_read.h"
#include "extract_write.h"
#include "failing_alloc.h"

#define PAGE BTSREC_PAGE_BYTES

static FILE *stream;
static uint64_t stream_bytes;
static uint64_t max_bytes;
static struct extract_file *file;
static struct msg msg;

static bool put(void *arg, const char *bytes, size_t nr_bytes)
{
	(void)arg;
	if (stream_bytes + nr_bytes > max_bytes)
		return false;
	ck_assert_uint_eq(fwrite(bytes, 1, nr_bytes, stream), nr_bytes);
	stream_bytes += nr_bytes;
	return true;
}

static const struct btsrec_sink sink = { .write = put };

static void setup(void)
{
	stream = tmpfile();
	ck_assert_ptr_nonnull(stream);
	stream_bytes = 0;
	max_bytes = UINT64_MAX;
}

static void teardown(void)
{
	extract_close(file);
	file = NULL;
	fclose(stream);
}

/* Every byte of line @line of page @pfn. */
static uint8_t value_of(uint64_t pfn, unsigned int line)
{
	return (uint8_t)(pfn * 64 + line + 1);
}

static enum btsrec_status write_page(struct extract_writer *writer, uint64_t pfn, uint64_t lines)
{
	struct extract_page page = { pfn * PAGE, lines };
	uint8_t bytes[PAGE], *at = bytes;

	for (unsigned int line = 0; line < 64; line++) {
		if (!(lines >> line & 1))
			continue;
		memset(at, value_of(pfn, line), EXTRACT_LINE_BYTES);
		at += EXTRACT_LINE_BYTES;
	}
	return extract_add(writer, &page, bytes);
}

/* Some pages are whole, some have their first line, some lines 3, 4 and 63. */
static uint64_t lines_of(uint64_t pfn)
{
	if (pfn % 32 == 1)
		return UINT64_MAX;
	return pfn % 2 ? 1 : 3ULL << 3 | 1ULL << 63;
}

/* Pages 1 to @nr_pages. */
static enum btsrec_status write_file(uint64_t nr_pages)
{
	struct extract_header header = { .flags = 3, .root_pa = 0x5000, .max_pa = 1 << 30,
					 .maker = "a test" };
	struct extract_writer *writer = extract_writer_new(&sink);
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

static enum btsrec_status open_file(uint64_t nr_bytes)
{
	extract_close(file);
	file = NULL;
	ck_assert_int_eq(ftruncate(fileno(stream), (off_t)nr_bytes), 0);
	return extract_open(fileno(stream), nr_bytes, &msg, &file);
}

/* How many of the @len bytes at @pa are there; those are right. */
static size_t nr_right(uint64_t pa, size_t len_bytes)
{
	static uint8_t buf[8 * PAGE];
	enum btsrec_status status;
	size_t nr_bytes, i;

	status = extract_read_pa(file, pa, buf, len_bytes, &nr_bytes);
	if (status != (nr_bytes == len_bytes ? BTSREC_OK : BTSREC_ERR_NODATA))
		ck_abort_msg("%zu bytes and \"%s\"", nr_bytes, btsrec_status_str(status));
	/* No assert for each: it is a system call. */
	for (i = 0; i < nr_bytes; i++)
		if (buf[i] != value_of((pa + i) / PAGE, (pa + i) % PAGE / 64))
			ck_abort_msg("wrong byte at 0x%jx", (uintmax_t)(pa + i));
	return nr_bytes;
}

/* Change one byte of the file. */
static void damage(uint64_t at)
{
	uint8_t byte;

	ck_assert_int_eq(pread(fileno(stream), &byte, 1, (off_t)at), 1);
	byte ^= 0x40;
	ck_assert_int_eq(pwrite(fileno(stream), &byte, 1, (off_t)at), 1);
}

START_TEST(what_was_written_is_read)
{
	setup();
	btsrec_ck_ok(write_file(5000));
	ck_assert(extract_probe(fileno(stream)));
	btsrec_ck_ok(open_file(stream_bytes));
	ck_assert(extract_is_whole(file));
	ck_assert_uint_eq(extract_header(file)->flags, 3);
	ck_assert_uint_eq(extract_header(file)->root_pa, 0x5000);
	ck_assert_str_eq(extract_header(file)->maker, "a test");
	ck_assert_str_eq(extract_vmcoreinfo(file), "KEY=VALUE\n");
	for (uint64_t pfn = 1; pfn <= 5000; pfn++)
		ck_assert_uint_eq(nr_right(pfn * PAGE, PAGE),
				  pfn % 32 == 1 ? PAGE : pfn % 2 * EXTRACT_LINE_BYTES);
	teardown();
}
END_TEST

START_TEST(lines)
{
	setup();
	btsrec_ck_ok(write_file(130));
	btsrec_ck_ok(open_file(stream_bytes));
	ck_assert_uint_eq(nr_right(0, 8), 0);
	ck_assert_uint_eq(nr_right(2 * PAGE + 3 * 64, 200), 128);
	ck_assert_uint_eq(nr_right(2 * PAGE + 3 * 64 + 13, 200), 115);
	ck_assert_uint_eq(nr_right(2 * PAGE + 2 * 64, 8), 0);
	ck_assert_uint_eq(nr_right(2 * PAGE + 63 * 64, 2 * PAGE), 64 + 64);
	ck_assert_uint_eq(nr_right(129 * PAGE, 2 * PAGE), PAGE);
	ck_assert_uint_eq(nr_right(131 * PAGE, 1), 0);
	teardown();
}
END_TEST

START_TEST(an_empty_file_is_whole)
{
	setup();
	btsrec_ck_ok(write_file(0));
	btsrec_ck_ok(open_file(stream_bytes));
	ck_assert(extract_is_whole(file));
	ck_assert_uint_eq(nr_right(PAGE, 1), 0);
	teardown();
}
END_TEST

START_TEST(cut_anywhere_it_is_not_whole)
{
	uint64_t whole_bytes;

	setup();
	btsrec_ck_ok(write_file(200));
	whole_bytes = stream_bytes;
	for (uint64_t nr_bytes = whole_bytes - 1; nr_bytes > 0; nr_bytes--) {
		enum btsrec_status status = open_file(nr_bytes);

		if (status)
			btsrec_ck_fails(status, BTSREC_ERR_NOT_DUMP, msg.text, "cut off");
		else
			ck_assert(!extract_is_whole(file));
		if (!status)
			nr_right(PAGE, PAGE);
	}
	teardown();
}
END_TEST

/* A few bits of zstd's format mean nothing; what is read is right all the same. */
#define MAX_HARMLESS 8

START_TEST(damage_anywhere_is_noticed)
{
	unsigned int nr_harmless = 0;

	setup();
	btsrec_ck_ok(write_file(70));
	for (uint64_t at = 0; at < stream_bytes; at++) {
		enum btsrec_status status;
		size_t nr_bytes = 0;

		damage(at);
		status = open_file(stream_bytes);
		for (uint64_t pfn = 1; !status && pfn <= 70; pfn++)
			nr_bytes += nr_right(pfn * PAGE + (pfn % 2 ? 0 : 3 * 64), 64);
		/* A magic that is none is the business of extract_probe(). */
		if (at >= 8 && !status && extract_is_whole(file) && nr_bytes == 70 * 64)
			nr_harmless++;
		damage(at);
	}
	ck_assert_uint_le(nr_harmless, MAX_HARMLESS);
	teardown();
}
END_TEST

/* A later minor version has a longer header. */
START_TEST(longer_header)
{
	struct { struct extract_header header; uint8_t more[8]; char text[4]; } head = {
		{ .major = EXTRACT_MAJOR, .minor = 99,
		  .header_bytes = sizeof(struct extract_header) + 8, .vmcoreinfo_bytes = 4 },
		{ 1 }, { 'A', '=', 'B', '\n' },
	};
	const size_t nr_bytes = sizeof(head.header) + sizeof(head.more) + sizeof(head.text);

	setup();
	memcpy(head.header.magic, EXTRACT_MAGIC, sizeof(head.header.magic));
	head.header.crc32 = (uint32_t)crc32(0, (void *)&head, nr_bytes);
	put(NULL, (char *)&head, nr_bytes);
	fflush(stream);
	btsrec_ck_ok(open_file(stream_bytes));
	ck_assert_str_eq(extract_vmcoreinfo(file), "A=B\n");
	teardown();
}
END_TEST

START_TEST(other_major)
{
	setup();
	btsrec_ck_ok(write_file(1));
	damage(offsetof(struct extract_header, major));
	btsrec_ck_fails(open_file(stream_bytes), BTSREC_ERR_VERSION, msg.text, "format 65");
	teardown();
}
END_TEST

START_TEST(the_sink_refuses)
{
	uint64_t whole_bytes;

	setup();
	btsrec_ck_ok(write_file(65));
	whole_bytes = stream_bytes;
	for (max_bytes = 0; max_bytes < whole_bytes; max_bytes += 20) {
		rewind(stream);
		stream_bytes = 0;
		btsrec_ck_status(write_file(65), BTSREC_ERR_STOPPED);
	}
	teardown();
}
END_TEST

START_TEST(no_memory)
{
	setup();
	btsrec_ck_ok(write_file(200));
	for (unsigned int n = 1;; n++) {
		enum btsrec_status status;

		extract_close(file);
		file = NULL;
		failing_alloc_arm(n);
		status = extract_open(fileno(stream), stream_bytes, &msg, &file);
		if (!failing_alloc_disarm())
			break;
		btsrec_ck_status(status, BTSREC_ERR_NOMEM);
	}
	failing_alloc_arm(1);
	ck_assert_ptr_null(extract_writer_new(&sink));
	ck_assert(failing_alloc_disarm());
	teardown();
}
END_TEST

BTSREC_CK_MAIN("extract", what_was_written_is_read, lines, an_empty_file_is_whole,
	       cut_anywhere_it_is_not_whole, damage_anywhere_is_noticed, longer_header, other_major,
	       the_sink_refuses, no_memory)
