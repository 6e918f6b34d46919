// SPDX-License-Identifier: GPL-2.0-or-later
/* The small file, written by several threads: it is what one writes. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <zstd.h>

#include "check_btsrec.h"
#include "export/extract/extract_write.h"
#include "extractfix.h"
#include "failing_alloc.h"

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
	owner = pthread_self();
	owner_fails = others_fail = false;
	nr_packed_by_others = 0;
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
	fclose(stream);
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
BTSREC_CK_MAIN("extract_threads", many_write_what_one_does, refused_anywhere_many_get_as_far,
	       nothing_behind_what_was_refused, full_frames_are_written, helpers_without_memory,
	       owner_without_memory, no_thread_starts, others_help)
