// SPDX-License-Identifier: GPL-2.0-or-later
/* The small file, written and read back: extract_write.c and extract_read.c. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "check_btsrec.h"
#include "source/extract_read.h"
#include "export/extract/extract_write.h"
#include "extractfix.h"
#include "failing_alloc.h"

static struct extract_file *file;
static struct msg msg;

/* What the library says of the next frames, instead of unpacking them; 0: it does. */
static int refused;

size_t ZSTD_decompressDCtx(ZSTD_DCtx *zstd, void *to, size_t room_bytes, const void *from,
			   size_t nr_bytes)
{
	static size_t (*real)(ZSTD_DCtx *zstd, void *to, size_t room_bytes, const void *from,
			      size_t nr_bytes);

	if (refused)
		return (size_t)-refused;
	if (!real)
		real = dlsym(RTLD_NEXT, "ZSTD_decompressDCtx");
	return real(zstd, to, room_bytes, from, nr_bytes);
}

/* Which read from now on fails, from 1; 0: none. */
static unsigned int failing_read;

ssize_t pread(int fd, void *buf, size_t nr_bytes, off_t offset)
{
	static ssize_t (*real)(int fd, void *buf, size_t nr_bytes, off_t offset);

	if (failing_read && !--failing_read) {
		errno = EIO;
		return -1;
	}
	if (!real)
		real = dlsym(RTLD_NEXT, "pread");
	return real(fd, buf, nr_bytes, offset);
}

static void teardown(void)
{
	extract_close(file);
	file = NULL;
	fclose(stream);
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
	if (status == BTSREC_ERR_CORRUPT)
		status = BTSREC_ERR_NODATA;
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

/* --- Lines that are cut ------------------------------------------------- */

/* The first bytes of lines 5 and 7 of page 1; the lines before and between are there. */
#define CUT_PA		(PAGE + 5 * 64)
#define CUT_BYTES	40

static enum btsrec_status add_cut(struct extract_writer *writer, uint64_t pa, uint32_t nr_bytes)
{
	uint8_t bytes[EXTRACT_LINE_BYTES];

	memset(bytes, value_of(pa / PAGE, pa % PAGE / 64), sizeof(bytes));
	return extract_add_cut(writer, pa, bytes, nr_bytes);
}

static enum btsrec_status write_cut_file(void)
{
	struct extract_header header = { .root_pa = 0x5000 };
	struct extract_writer *writer = extract_writer_new(&sink, 1);
	enum btsrec_status status;

	if (!writer)
		return BTSREC_ERR_NOMEM;
	status = extract_begin(writer, &header, NULL);
	if (!status)
		status = add_cut(writer, CUT_PA, CUT_BYTES);
	if (!status)
		status = add_cut(writer, CUT_PA + 2 * 64, 1);
	if (!status)
		status = write_page(writer, 1, 1ULL << 4 | 1ULL << 6);
	if (!status)
		status = add_cut(writer, 3 * PAGE, 63);
	if (!status)
		status = extract_end(writer);
	extract_writer_free(writer);
	fflush(stream);
	return status;
}

START_TEST(lines_that_are_cut)
{
	setup();
	btsrec_ck_ok(write_cut_file());
	btsrec_ck_ok(open_file(stream_bytes));
	ck_assert(extract_is_whole(file));
	ck_assert_uint_eq(nr_right(PAGE, 64), 0);
	ck_assert_uint_eq(nr_right(CUT_PA - 64, 2 * PAGE), 64 + CUT_BYTES);
	ck_assert_uint_eq(nr_right(CUT_PA, CUT_BYTES), CUT_BYTES);
	ck_assert_uint_eq(nr_right(CUT_PA + 3, 64), CUT_BYTES - 3);
	ck_assert_uint_eq(nr_right(CUT_PA + CUT_BYTES, 24), 0);
	ck_assert_uint_eq(nr_right(CUT_PA + 64, 128), 65);
	ck_assert_uint_eq(nr_right(3 * PAGE, 64), 63);
	ck_assert_uint_eq(nr_right(4 * PAGE, 64), 0);
	teardown();
}
END_TEST

/* Its end included; what it has is right, and what it lacks makes it not whole. */
START_TEST(cut_lines_damaged_or_cut_off)
{
	uint64_t whole_bytes;

	setup();
	btsrec_ck_ok(write_cut_file());
	whole_bytes = stream_bytes;
	for (uint64_t at = sizeof(struct extract_header); at < whole_bytes; at++) {
		size_t nr_bytes;

		damage(at);
		btsrec_ck_ok(open_file(whole_bytes));
		nr_bytes = nr_right(CUT_PA - 64, 64) + nr_right(CUT_PA, 64) +
			   nr_right(3 * PAGE, 64);
		ck_assert(!extract_is_whole(file) || nr_bytes < 64 + CUT_BYTES + 63 ||
			  at < whole_bytes - 3 * sizeof(struct extract_cut));
		damage(at);
	}
	for (uint64_t nr_bytes = whole_bytes - 1; nr_bytes > sizeof(struct extract_header);
	     nr_bytes--) {
		btsrec_ck_ok(open_file(nr_bytes));
		ck_assert(!extract_is_whole(file));
		nr_right(CUT_PA - 64, 128);
	}
	teardown();
}
END_TEST

START_TEST(cut_lines_without_memory)
{
	enum btsrec_status status;

	setup();
	for (unsigned int n = 1;; n++) {
		rewind(stream);
		stream_bytes = 0;
		failing_alloc_arm(n);
		status = write_cut_file();
		if (!failing_alloc_disarm())
			break;
		btsrec_ck_status(status, BTSREC_ERR_NOMEM);
	}
	btsrec_ck_ok(status);
	for (unsigned int n = 1;; n++) {
		extract_close(file);
		file = NULL;
		failing_alloc_arm(n);
		status = extract_open(fileno(stream), stream_bytes, &msg, &file);
		if (!failing_alloc_disarm())
			break;
		btsrec_ck_status(status, BTSREC_ERR_NOMEM);
	}
	btsrec_ck_ok(status);
	ck_assert(extract_is_whole(file));
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
	btsrec_ck_fails(open_file(stream_bytes), BTSREC_ERR_VERSION, msg.text, "format 66");
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
	ck_assert_ptr_null(extract_writer_new(&sink, 1));
	ck_assert(failing_alloc_disarm());
	teardown();
}
END_TEST

static enum btsrec_status read_page(uint64_t pfn)
{
	uint8_t page[PAGE];
	size_t nr_bytes;

	return extract_read_pa(file, pfn * PAGE, page, EXTRACT_LINE_BYTES, &nr_bytes);
}

/* Only what is cut off is not in the file; what is damaged is. */
START_TEST(a_frame_that_cannot_be_read)
{
	setup();
	btsrec_ck_ok(write_file(200));
	btsrec_ck_ok(open_file(stream_bytes));
	failing_alloc_arm(1);
	btsrec_ck_status(read_page(1), BTSREC_ERR_NOMEM);
	ck_assert(failing_alloc_disarm());
	failing_read = 1;
	btsrec_ck_status(read_page(1), BTSREC_ERR_IO);
	refused = ZSTD_error_memory_allocation;
	btsrec_ck_status(read_page(1), BTSREC_ERR_NOMEM);
	refused = ZSTD_error_corruption_detected;
	btsrec_ck_status(read_page(1), BTSREC_ERR_CORRUPT);
	refused = 0;
	btsrec_ck_ok(read_page(1));
	ck_assert_int_eq(ftruncate(fileno(stream), (off_t)stream_bytes / 2), 0);
	btsrec_ck_status(read_page(199), BTSREC_ERR_NODATA);
	teardown();
}
END_TEST

/* Each read in turn: none of them is taken for the end of the file. */
START_TEST(the_medium_fails_at_once)
{
	unsigned int nr = 1;

	setup();
	btsrec_ck_ok(write_file(200));
	for (;; nr++) {
		enum btsrec_status status;

		extract_close(file);
		file = NULL;
		failing_read = nr;
		status = extract_open(fileno(stream), stream_bytes, &msg, &file);
		if (!status)
			break;
		btsrec_ck_fails(status, BTSREC_ERR_IO, msg.text, "Input/output error");
	}
	/* The header twice, frames and their tables, the end. */
	ck_assert_uint_gt(nr, 2 + 2 * 4 + 2);
	failing_read = 0;
	ck_assert(extract_is_whole(file));
	teardown();
}
END_TEST

BTSREC_CK_MAIN("extract", what_was_written_is_read, lines, lines_that_are_cut,
	       cut_lines_damaged_or_cut_off, cut_lines_without_memory, an_empty_file_is_whole,
	       cut_anywhere_it_is_not_whole, damage_anywhere_is_noticed, longer_header, other_major,
	       the_sink_refuses, no_memory, a_frame_that_cannot_be_read, the_medium_fails_at_once)
