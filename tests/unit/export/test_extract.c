// SPDX-License-Identifier: GPL-2.0-or-later
/* The small file, written and read back: extract_write.c and extract_read.c. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "check_btsrec.h"
#include "source/extract_read.h"
#include "export/extract/extract_write.h"
#include "failing_alloc.h"

#define PAGE BTSREC_PAGE_BYTES

static FILE *stream;
static uint64_t stream_bytes;
static uint64_t max_bytes;
static unsigned int nr_threads;
static struct extract_file *file;
static struct msg msg;

/* Which thread packs, and which of them has no memory for it. */
static pthread_t owner;
static bool owner_fails, others_fail;
static unsigned int nr_packed_by_others;

/* In front of the library's. */
size_t ZSTD_compress2(ZSTD_CCtx *zstd, void *to, size_t room_bytes, const void *from,
		      size_t nr_bytes)
{
	static size_t (*real)(ZSTD_CCtx *zstd, void *to, size_t room_bytes, const void *from,
			      size_t nr_bytes);
	bool by_owner = pthread_equal(pthread_self(), owner);

	if (by_owner ? owner_fails : others_fail)
		return (size_t)-64;	/* ZSTD_error_memory_allocation */
	if (!by_owner)
		__atomic_add_fetch(&nr_packed_by_others, 1, __ATOMIC_RELAXED);
	if (!__atomic_load_n(&real, __ATOMIC_RELAXED))
		__atomic_store_n(&real, dlsym(RTLD_NEXT, "ZSTD_compress2"), __ATOMIC_RELAXED);
	return real(zstd, to, room_bytes, from, nr_bytes);
}

static bool put(void *arg, const char *bytes, size_t nr_bytes)
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

static void setup(void)
{
	stream = tmpfile();
	ck_assert_ptr_nonnull(stream);
	stream_bytes = 0;
	max_bytes = UINT64_MAX;
	nr_threads = 1;
	owner = pthread_self();
	owner_fails = others_fail = false;
	nr_packed_by_others = 0;
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

/* --- Several threads ---------------------------------------------------- */

#define NR_PAGES	(EXTRACT_FRAME_PAGES * 40 + 7)

static uint8_t *of_one, *of_many;
static uint64_t one_bytes;

static void read_stream(uint8_t *ret)
{
	ck_assert_uint_eq(pread(fileno(stream), ret, stream_bytes, 0), stream_bytes);
}

static enum btsrec_status write_again(unsigned int nr)
{
	rewind(stream);
	stream_bytes = 0;
	nr_threads = nr;
	return write_file(NR_PAGES);
}

/* What one thread writes, to compare with. */
static void setup_many(void)
{
	setup();
	btsrec_ck_ok(write_again(1));
	ck_assert_uint_eq(nr_packed_by_others, 0);
	one_bytes = stream_bytes;
	of_one = malloc(one_bytes);
	of_many = malloc(one_bytes);
	read_stream(of_one);
}

static void teardown_many(void)
{
	free(of_one);
	free(of_many);
	teardown();
}

/* As far as it was written. */
static void same_as_of_one(void)
{
	ck_assert_uint_le(stream_bytes, one_bytes);
	read_stream(of_many);
	ck_assert_mem_eq(of_many, of_one, stream_bytes);
}

START_TEST(many_write_what_one_does)
{
	static const unsigned int numbers[] = { 2, 3, 5, EXTRACT_MAX_THREADS, 99 };

	setup_many();
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		btsrec_ck_ok(write_again(numbers[i]));
		ck_assert_uint_eq(stream_bytes, one_bytes);
		same_as_of_one();
	}
	teardown_many();
}
END_TEST

START_TEST(refused_anywhere_many_get_as_far)
{
	setup_many();
	for (max_bytes = 0; max_bytes < one_bytes; max_bytes += 1 + one_bytes / 97) {
		uint64_t nr_bytes;

		btsrec_ck_status(write_again(1), BTSREC_ERR_STOPPED);
		nr_bytes = stream_bytes;
		btsrec_ck_status(write_again(3), BTSREC_ERR_STOPPED);
		ck_assert_uint_eq(stream_bytes, nr_bytes);
		same_as_of_one();
	}
	teardown_many();
}
END_TEST

/* A thread that has refused is not asked again. */
START_TEST(nothing_behind_what_was_refused)
{
	struct extract_writer *writer;
	uint64_t pfn = 1;

	setup_many();
	writer = extract_writer_new(&sink, 3);
	max_bytes = 0;
	while (!write_page(writer, pfn, UINT64_MAX))
		pfn++;
	max_bytes = UINT64_MAX;
	stream_bytes = 0;
	btsrec_ck_status(extract_settle(writer), BTSREC_ERR_STOPPED);
	ck_assert_uint_eq(stream_bytes, 0);
	extract_writer_free(writer);
	teardown_many();
}
END_TEST

/* As where the next page cannot be read. */
START_TEST(full_frames_are_written)
{
	uint64_t nr_bytes = 0;

	setup_many();
	for (unsigned int nr = 1; nr <= 5; nr += 2) {
		struct extract_writer *writer = extract_writer_new(&sink, nr);

		stream_bytes = 0;
		for (uint64_t pfn = 1; pfn < EXTRACT_FRAME_PAGES * 3; pfn++)
			btsrec_ck_ok(write_page(writer, pfn, lines_of(pfn)));
		btsrec_ck_ok(extract_settle(writer));
		nr_bytes = nr == 1 ? stream_bytes : nr_bytes;
		ck_assert_uint_gt(stream_bytes, 0);
		ck_assert_uint_eq(stream_bytes, nr_bytes);
		extract_writer_free(writer);
	}
	teardown_many();
}
END_TEST

START_TEST(helpers_without_memory)
{
	setup_many();
	for (unsigned int n = 1;; n++) {
		enum btsrec_status status;

		failing_alloc_arm(n);
		status = write_again(3);
		if (!failing_alloc_disarm())
			break;
		if (status)
			btsrec_ck_status(status, BTSREC_ERR_NOMEM);
		/* The writer and its frame; everything else is for others. */
		ck_assert_int_eq(!status, n > 2);
		ck_assert(status || stream_bytes == one_bytes);
		same_as_of_one();
	}
	others_fail = true;
	btsrec_ck_ok(write_again(3));
	ck_assert_uint_eq(stream_bytes, one_bytes);
	same_as_of_one();
	teardown_many();
}
END_TEST

START_TEST(owner_without_memory)
{
	setup_many();
	owner_fails = others_fail = true;
	for (unsigned int nr = 1; nr <= 3; nr++) {
		btsrec_ck_status(write_again(nr), BTSREC_ERR_NOMEM);
		ck_assert_uint_eq(stream_bytes, sizeof(struct extract_header) + 10);
	}
	teardown_many();
}
END_TEST

/* The system has no room for the stack of another one. */
START_TEST(no_thread_starts)
{
	pthread_attr_t usual, large;

	setup_many();
	ck_assert_int_eq(pthread_getattr_default_np(&usual), 0);
	ck_assert_int_eq(pthread_getattr_default_np(&large), 0);
	ck_assert_int_eq(pthread_attr_setstacksize(&large, 1ULL << 46), 0);
	ck_assert_int_eq(pthread_setattr_default_np(&large), 0);
	btsrec_ck_ok(write_again(3));
	ck_assert_int_eq(pthread_setattr_default_np(&usual), 0);
	ck_assert_uint_eq(nr_packed_by_others, 0);
	ck_assert_uint_eq(stream_bytes, one_bytes);
	same_as_of_one();
	teardown_many();
}
END_TEST

/* Sooner or later; but nobody starts for a single frame. */
START_TEST(others_help)
{
	enum btsrec_status status;

	setup_many();
	for (unsigned int i = 0; i < 1000 && !nr_packed_by_others; i++)
		btsrec_ck_ok(write_again(2));
	ck_assert_uint_gt(nr_packed_by_others, 0);
	/* There is the writer and its frame, but nothing for others. */
	failing_alloc_arm(3);
	status = write_file(EXTRACT_FRAME_PAGES - 1);
	ck_assert(!failing_alloc_disarm());
	btsrec_ck_ok(status);
	teardown_many();
}
END_TEST

BTSREC_CK_MAIN("extract", what_was_written_is_read, lines, lines_that_are_cut,
	       cut_lines_damaged_or_cut_off, cut_lines_without_memory, an_empty_file_is_whole,
	       cut_anywhere_it_is_not_whole, damage_anywhere_is_noticed, longer_header, other_major,
	       the_sink_refuses, no_memory, a_frame_that_cannot_be_read,
	       the_medium_fails_at_once, many_write_what_one_does,
	       refused_anywhere_many_get_as_far, nothing_behind_what_was_refused,
	       full_frames_are_written, helpers_without_memory, owner_without_memory,
	       no_thread_starts, others_help)
