// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading much of the kernel's image: the same bytes with any number of threads. */
#include <stdlib.h>
#include <string.h>

#include "check_btsrec.h"
#include "kernel/kread.h"

#define PHYS_BASE	0x1000000ULL
#define NR_PAGES	200
#define MEMORY_BYTES	((size_t)NR_PAGES * BTSREC_PAGE_BYTES)

static uint8_t *memory;

/* The first page that is not there; by then nothing is. */
static size_t nr_there;

/* How many pages were read by way of read_pages; several threads count. */
static size_t nr_whole;

static enum btsrec_status read_pa(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				  size_t *ret_bytes)
{
	uint64_t at = pa - PHYS_BASE, end = nr_there * BTSREC_PAGE_BYTES;

	(void)arg;
	*ret_bytes = at >= end ? 0 : end - at < len_bytes ? end - at : len_bytes;
	memcpy(buf, memory + at, *ret_bytes);
	return *ret_bytes == len_bytes ? BTSREC_OK : BTSREC_ERR_NODATA;
}

static bool read_pages(void *arg, const uint64_t *page_pa, size_t nr, void *buf)
{
	size_t got_bytes;

	for (size_t i = 0; i < nr; i++)
		if (read_pa(arg, page_pa[i], (uint8_t *)buf + i * BTSREC_PAGE_BYTES,
			    BTSREC_PAGE_BYTES, &got_bytes))
			return false;
	__atomic_add_fetch(&nr_whole, nr, __ATOMIC_RELAXED);
	return true;
}

static const struct btsrec_image image = { .read_pa = read_pa, .read_pages = read_pages };

static size_t read_at(size_t offset, size_t len_bytes, unsigned int nr_threads, uint8_t *buf)
{
	const struct kread kernel = { .image = &image, .phys_base = PHYS_BASE,
				      .nr_threads = nr_threads };

	nr_whole = 0;
	memset(buf, 0xee, len_bytes);
	return kread_some(&kernel, KREAD_IMAGE_KVA + offset, buf, len_bytes);
}

static void setup(void)
{
	memory = malloc(MEMORY_BYTES);
	ck_assert_ptr_nonnull(memory);
	for (size_t i = 0; i < MEMORY_BYTES; i++)
		memory[i] = (uint8_t)(i * 7 + i / BTSREC_PAGE_BYTES);
	nr_there = NR_PAGES;
}

START_TEST(threads_read_the_same)
{
	static const size_t offsets[] = { 0, 1, 4095, 4096, 5000 };
	static const size_t lengths[] = { 1, 4096, 300000, 300001, 128 * 4096, 600000 };
	uint8_t *buf = malloc(MEMORY_BYTES);

	setup();
	ck_assert_ptr_nonnull(buf);
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
			for (unsigned int nr = 0; nr < 5; nr++) {
				size_t got = read_at(offsets[i], lengths[k], nr, buf);

				ck_assert_uint_eq(got, lengths[k]);
				ck_assert(!memcmp(buf, memory + offsets[i], got));
			}
		}
	}
	free(buf);
	free(memory);
}
END_TEST

/* Only much is worth threads. */
START_TEST(much_is_read_together)
{
	uint8_t *buf = malloc(MEMORY_BYTES);

	setup();
	ck_assert_ptr_nonnull(buf);
	read_at(100, 700000, 2, buf);
	ck_assert_uint_eq(nr_whole, (700000 - (4096 - 100)) / 4096);
	read_at(100, 700000, 1, buf);
	ck_assert_uint_eq(nr_whole, 0);
	read_at(0, 10000, 2, buf);
	ck_assert_uint_eq(nr_whole, 0);
	free(buf);
	free(memory);
}
END_TEST

/* What is before a page that is missing is there, as with one thread. */
START_TEST(a_page_is_missing)
{
	uint8_t *buf = malloc(MEMORY_BYTES);

	setup();
	ck_assert_ptr_nonnull(buf);
	for (nr_there = 0; nr_there < 120; nr_there += 17) {
		size_t got = read_at(50, 120 * 4096, 3, buf);

		ck_assert_uint_eq(got, nr_there ? nr_there * 4096 - 50 : 0);
		ck_assert(!memcmp(buf, memory + 50, got));
	}
	free(buf);
	free(memory);
}
END_TEST

BTSREC_CK_MAIN("kread", threads_read_the_same, much_is_read_together, a_page_is_missing)
