/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of flattened dumps share: the image of a dump, the flattened file that is
 * made of it, and reads of that file that fail.
 */
#ifndef BTSREC_TESTS_UNIT_FLATFIX_H
#define BTSREC_TESTS_UNIT_FLATFIX_H

#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "check_btsrec.h"
#include "failing_alloc.h"
#include "source/mkdump.h"

#define PAGE			BTSREC_PAGE_BYTES
#define MKDUMPFIX_MAX_BYTES	(112 * PAGE)

/* Reads so far, by all threads; which of them fails, from 1; 0: none. */
static unsigned int nr_reads, failing_read;

/* Then every read does; @dump_file's descriptor has to stay, threads may be reading with it. */
static bool medium_fails;

/* In front of the library's. */
ssize_t pread(int fd, void *buf, size_t nr_bytes, off_t offset)
{
	static void *real;

	if (__atomic_add_fetch(&nr_reads, 1, __ATOMIC_RELAXED) == failing_read ||
	    __atomic_load_n(&medium_fails, __ATOMIC_RELAXED)) {
		errno = EIO;
		return -1;
	}
	if (!__atomic_load_n(&real, __ATOMIC_RELAXED))
		__atomic_store_n(&real, dlsym(RTLD_NEXT, "pread"), __ATOMIC_RELAXED);
	return ((ssize_t (*)(int, void *, size_t, off_t))__atomic_load_n(&real, __ATOMIC_RELAXED))(
		fd, buf, nr_bytes, offset);
}

static FILE *file;
static struct mkdump_file dump_file;
static struct mkdump *dump;
static struct msg msg;
static uint8_t image[MKDUMPFIX_MAX_BYTES];
/* Where in it is what is added next. */
static uint64_t data_at;

/* The first @nr_bytes of the image as one piece. */
static inline enum btsrec_status open_bytes(uint64_t nr_bytes)
{
	uint64_t numbers[] = { htobe64(1), htobe64(1), 0, htobe64(nr_bytes) };
	uint8_t head[PAGE] = "makedumpfile";

	mkdump_free(dump);
	mkdump_file_fini(&dump_file);
	if (file)
		fclose(file);
	dump = NULL;
	file = tmpfile();
	ck_assert_ptr_nonnull(file);
	memcpy(head + 16, numbers, 16);
	ck_assert_uint_eq(fwrite(head, 1, sizeof(head), file), sizeof(head));
	ck_assert_uint_eq(fwrite(numbers + 2, 1, 16, file), 16);
	ck_assert_uint_eq(fwrite(image, 1, nr_bytes, file), nr_bytes);
	fflush(file);
	btsrec_ck_ok(mkdump_file_init(&dump_file, fileno(file), sizeof(head) + 16 + nr_bytes,
				      &msg));
	return mkdump_new(&dump_file, &msg, &dump);
}

static inline enum btsrec_status open_all(void)
{
	return open_bytes(data_at);
}

static inline void teardown(void)
{
	mkdump_free(dump);
	mkdump_file_fini(&dump_file);
	fclose(file);
	dump = NULL;
	file = NULL;
}

/* The value of all bytes of page @pfn; -1: it is not there; -2: not all are the same. */
static inline int page_value(uint64_t pfn)
{
	uint8_t page[PAGE];
	size_t nr_bytes, i;

	if (mkdump_read_pa(dump, pfn * PAGE, page, sizeof(page), &nr_bytes))
		return -1;
	ck_assert_uint_eq(nr_bytes, sizeof(page));
	for (i = 1; i < sizeof(page); i++)
		if (page[i] != page[0])
			return -2;
	return page[0];
}

/* Each read of the headers in turn, and of what they point to. */
static inline void ck_header_fails(void)
{
	struct mkdump *second = NULL;
	unsigned int nr = 1;

	btsrec_ck_ok(open_all());
	for (;; nr++) {
		enum btsrec_status status;

		nr_reads = 0;
		failing_read = nr;
		status = mkdump_new(&dump_file, &msg, &second);
		failing_read = 0;
		if (!status)
			break;
		btsrec_ck_fails(status, BTSREC_ERR_IO, msg.text, "Input/output error");
	}
	mkdump_free(second);
	ck_assert_uint_gt(nr, 4);
	teardown();
}

/* Each allocation in turn; there are @nr_wanted. */
static inline void ck_allocation_fails(unsigned int nr_wanted)
{
	unsigned int nr = 1;

	btsrec_ck_ok(open_all());
	for (;; nr++) {
		struct mkdump *second = NULL;
		enum btsrec_status status;

		failing_alloc_arm(nr);
		status = mkdump_new(&dump_file, &msg, &second);
		mkdump_free(second);
		if (!failing_alloc_disarm())
			break;
		btsrec_ck_status(status, BTSREC_ERR_NOMEM);
	}
	ck_assert_uint_eq(nr - 1, nr_wanted);
	teardown();
}

#endif /* BTSREC_TESTS_UNIT_FLATFIX_H */
