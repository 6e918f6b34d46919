// SPDX-License-Identifier: GPL-2.0-or-later
#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "check_btsrec.h"
#include "failing_alloc.h"
#include "source/mkdump_file.h"

static FILE *file;
static uint64_t file_bytes;
static struct mkdump_file dump_file;
static struct msg msg;

/* Where the medium fails from on; 0: nowhere. */
static off_t failing_from;

/* In front of the library's: as a file is read until its medium fails. */
ssize_t pread(int fd, void *buf, size_t nr_bytes, off_t offset)
{
	ssize_t (*real)(int fd, void *buf, size_t nr_bytes, off_t offset) =
		(ssize_t (*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");

	if (failing_from && offset >= failing_from) {
		errno = EIO;
		return -1;
	}
	if (failing_from && (off_t)nr_bytes > failing_from - offset)
		nr_bytes = (size_t)(failing_from - offset);
	return real(fd, buf, nr_bytes, offset);
}

static void put(const void *bytes, size_t nr_bytes)
{
	ck_assert_uint_eq(fwrite(bytes, 1, nr_bytes, file), nr_bytes);
	file_bytes += nr_bytes;
}

static void put_number(uint64_t number)
{
	uint64_t bytes = htobe64(number);

	put(&bytes, sizeof(bytes));
}

static void put_head(const char *signature, uint64_t type, uint64_t version)
{
	char head[16] = { 0 }, zeroes[4096 - 32] = { 0 };

	file = tmpfile();
	ck_assert_ptr_nonnull(file);
	file_bytes = 0;
	memcpy(head, signature, strlen(signature));
	put(head, sizeof(head));
	put_number(type);
	put_number(version);
	put(zeroes, sizeof(zeroes));
}

static void put_piece(uint64_t offset, const char *text)
{
	put_number(offset);
	put_number(strlen(text));
	put(text, strlen(text));
}

static void put_end(void)
{
	put_number(UINT64_MAX);
	put_number(UINT64_MAX);
}

static enum btsrec_status open_file(void)
{
	fflush(file);
	mkdump_file_fini(&dump_file);
	return mkdump_file_init(&dump_file, fileno(file), file_bytes, &msg);
}

static void teardown(void)
{
	mkdump_file_fini(&dump_file);
	fclose(file);
}

/* What is there of the 16 bytes at @offset. */
static const char *text_at(uint64_t offset)
{
	enum btsrec_status status;
	static char text[17];
	size_t nr_bytes;

	status = mkdump_file_read(&dump_file, offset, text, 16, &nr_bytes);
	ck_assert_int_eq(status, nr_bytes == 16 ? BTSREC_OK : BTSREC_ERR_NODATA);
	text[nr_bytes] = '\0';
	return text;
}

START_TEST(pieces_in_any_order)
{
	put_head("makedumpfile", 1, 1);
	put_piece(6, "world");
	put_piece(0, "hello ");
	put_piece(100, "far");
	put_end();
	btsrec_ck_ok(open_file());
	ck_assert(mkdump_file_probe(fileno(file)));
	ck_assert(dump_file.whole);
	ck_assert_uint_eq(dump_file.end, 103);
	ck_assert_str_eq(text_at(0), "hello world");
	ck_assert_str_eq(text_at(3), "lo world");
	ck_assert_str_eq(text_at(6), "world");
	ck_assert_str_eq(text_at(11), "");
	ck_assert_str_eq(text_at(99), "");
	ck_assert_str_eq(text_at(101), "ar");
	ck_assert_str_eq(text_at(UINT64_MAX), "");
	teardown();
}
END_TEST

START_TEST(newer_pieces_win)
{
	put_head("makedumpfile", 1, 1);
	put_piece(0, "0000000000");
	put_piece(2, "11");
	put_piece(3, "2");
	put_piece(8, "3333");
	put_piece(0, "4");
	put_end();
	btsrec_ck_ok(open_file());
	ck_assert_str_eq(text_at(0), "4012" "0000" "3333");
	teardown();
}
END_TEST

START_TEST(older_pieces_lose)
{
	put_head("makedumpfile", 1, 1);
	put_piece(4, "4444");
	put_piece(3, "3");
	put_piece(0, "0000000000");
	put_end();
	btsrec_ck_ok(open_file());
	ck_assert_str_eq(text_at(0), "0000000000");
	teardown();
}
END_TEST

#define NR_MANY	100000

/* Each question had to go through all of them. */
START_TEST(one_newer_than_many)
{
	static char all[NR_MANY + 1];

	put_head("makedumpfile", 1, 1);
	for (uint64_t i = 0; i < NR_MANY; i++)
		put_piece(i, "0");
	memset(all, '1', NR_MANY);
	put_piece(0, all);
	put_end();
	btsrec_ck_ok(open_file());
	for (uint64_t i = 0; i < NR_MANY - 16; i++)
		if (strcmp(text_at(i), "1111111111111111"))
			ck_abort_msg("%s", text_at(i));
	teardown();
}
END_TEST

START_TEST(cut_off)
{
	put_head("makedumpfile", 1, 1);
	put_piece(0, "abc");
	put_piece(3, "def");
	put_end();
	file_bytes -= 16;
	btsrec_ck_ok(open_file());
	ck_assert(!dump_file.whole);
	ck_assert_str_eq(text_at(0), "abcdef");
	file_bytes -= 2;
	btsrec_ck_ok(open_file());
	ck_assert_str_eq(text_at(0), "abcd");
	ck_assert_uint_eq(dump_file.end, 6);
	file_bytes -= 2;
	btsrec_ck_ok(open_file());
	ck_assert_str_eq(text_at(0), "abc");
	teardown();
}
END_TEST

/* The size that is known may be wrong too: the file has shrunk since. */
START_TEST(shorter_than_it_was)
{
	put_head("makedumpfile", 1, 1);
	put_piece(0, "abcdef");
	fflush(file);
	ck_assert_int_eq(ftruncate(fileno(file), (off_t)file_bytes - 3), 0);
	btsrec_ck_ok(open_file());
	ck_assert_str_eq(text_at(0), "");
	btsrec_ck_ok(mkdump_file_read_all(&dump_file, 0, (char[4]){0}, 3));
	teardown();
}
END_TEST

START_TEST(headers_that_cannot_be)
{
	static const uint64_t headers[][2] = {
		{ 0, 0 }, { UINT64_MAX, 1 }, { 1, UINT64_MAX }, { INT64_MAX, 1 },
		{ 1, INT64_MAX }, { 1ULL << 63, 1 },
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		put_head("makedumpfile", 1, 1);
		put_piece(0, "abc");
		put_number(headers[i][0]);
		put_number(headers[i][1]);
		put_piece(3, "def");
		put_end();
		btsrec_ck_ok(open_file());
		ck_assert(!dump_file.whole);
		ck_assert_str_eq(text_at(0), "abc");
		teardown();
	}
}
END_TEST

START_TEST(other_files)
{
	put_head("makedumpfil", 1, 1);
	fflush(file);
	ck_assert(!mkdump_file_probe(fileno(file)));
	teardown();
	put_head("makedumpfile", 2, 1);
	btsrec_ck_fails(open_file(), BTSREC_ERR_NOT_DUMP, msg.text, "type 2, version 1");
	teardown();
	put_head("makedumpfile", 1, 2);
	btsrec_ck_fails(open_file(), BTSREC_ERR_NOT_DUMP, msg.text, "type 1, version 2");
	file_bytes = 4095;
	btsrec_ck_fails(open_file(), BTSREC_ERR_NOT_DUMP, msg.text, "cut off");
	teardown();
}
END_TEST

START_TEST(no_pieces)
{
	put_head("makedumpfile", 1, 1);
	put_end();
	btsrec_ck_ok(open_file());
	ck_assert(dump_file.whole);
	ck_assert_str_eq(text_at(0), "");
	teardown();
}
END_TEST

START_TEST(not_readable)
{
	put_head("makedumpfile", 1, 1);
	mkdump_file_fini(&dump_file);
	btsrec_ck_status(mkdump_file_init(&dump_file, -1, file_bytes, &msg), BTSREC_ERR_IO);
	ck_assert(!mkdump_file_probe(-1));
	teardown();
}
END_TEST

/* What was read before stays; it is no end of the file. */
START_TEST(the_medium_fails)
{
	char text[17] = "";
	size_t nr_bytes;

	put_head("makedumpfile", 1, 1);
	put_piece(0, "abc");
	put_piece(3, "def");
	put_end();
	btsrec_ck_ok(open_file());
	/* Behind the first piece, and within it. */
	for (failing_from = 4096 + 16 + 3; failing_from > 4096 + 16; failing_from -= 2) {
		btsrec_ck_status(mkdump_file_read(&dump_file, 0, text, 6, &nr_bytes),
				 BTSREC_ERR_IO);
		ck_assert_int_eq(errno, EIO);
		ck_assert_uint_eq(nr_bytes, failing_from == 4096 + 16 + 3 ? 3 : 0);
		btsrec_ck_status(mkdump_file_read_all(&dump_file, 0, text, 6), BTSREC_ERR_IO);
		btsrec_ck_status(mkdump_file_read_all(&dump_file, 6, text, 1), BTSREC_ERR_NODATA);
	}
	failing_from = 0;
	ck_assert_str_eq(text_at(0), "abcdef");
	teardown();
}
END_TEST

START_TEST(no_memory)
{
	put_head("makedumpfile", 1, 1);
	put_piece(0, "abc");
	put_piece(1, "d");
	fflush(file);
	for (unsigned int nr = 1; nr <= 3; nr++) {
		failing_alloc_arm(nr);
		btsrec_ck_status(open_file(), BTSREC_ERR_NOMEM);
		ck_assert(failing_alloc_disarm());
	}
	teardown();
}
END_TEST

BTSREC_CK_MAIN("mkdump_file", pieces_in_any_order, newer_pieces_win, older_pieces_lose,
	       one_newer_than_many, cut_off, shorter_than_it_was, headers_that_cannot_be, other_files,
	       no_pieces, not_readable,
	       the_medium_fails, no_memory)
