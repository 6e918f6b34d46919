// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>

#include <zlib.h>
#include <zstd.h>
#ifdef BTSREC_HAVE_SNAPPY
#include <snappy-c.h>
#endif

#include "mkdumpfix.h"
#include "source/image.h"
#include "source/kdump_format.h"

#define BITMAP_PAGES	2	/* of the second bitmap: 65536 page frames */
#define TABLE_AT	((2 + 2 * BITMAP_PAGES) * PAGE)
#define DATA_AT		(TABLE_AT + PAGE)

/* LZO1X of a page of 0x5a, as liblzo2 2.10 packs it. */
static const uint8_t lzo_page[] = {
	0x02, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xda, 0x10, 0x00, 0x0c, 0x5a, 0x5a, 0x5a, 0x5a,
	0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x11, 0x00, 0x00,
};

static size_t nr_pages;

static struct kdump_header *header(void)
{
	return (struct kdump_header *)image;
}

static void setup(void)
{
	memset(image, 0, sizeof(image));
	memcpy(header()->signature, "KDUMP   ", 8);
	header()->header_version = 6;
	header()->block_size = PAGE;
	header()->sub_hdr_size = 1;
	header()->bitmap_blocks = 2 * BITMAP_PAGES;
	data_at = DATA_AT;
	nr_pages = 0;
}

/* Page frames have to be added in order. */
static void put_page(uint64_t pfn, const void *bytes, size_t nr_bytes, uint32_t flags)
{
	struct kdump_page_desc desc = { data_at, (uint32_t)nr_bytes, flags, 0 };

	image[TABLE_AT - BITMAP_PAGES * PAGE + pfn / 8] |= (uint8_t)(1 << pfn % 8);
	memcpy(image + TABLE_AT + nr_pages++ * sizeof(desc), &desc, sizeof(desc));
	memcpy(image + data_at, bytes, nr_bytes);
	data_at += nr_bytes;
}

static void put_plain(uint64_t pfn, uint8_t value)
{
	uint8_t page[PAGE];

	memset(page, value, sizeof(page));
	put_page(pfn, page, sizeof(page), 0);
}

static void put_zlib(uint64_t pfn, uint8_t value)
{
	uint8_t page[PAGE], packed[PAGE];
	uLongf nr_bytes = sizeof(packed);

	memset(page, value, sizeof(page));
	ck_assert_int_eq(compress(packed, &nr_bytes, page, sizeof(page)), Z_OK);
	put_page(pfn, packed, nr_bytes, KDUMP_PACKED_ZLIB);
}

static void put_zstd(uint64_t pfn, uint8_t value)
{
	uint8_t page[PAGE], packed[PAGE];
	size_t nr_bytes;

	memset(page, value, sizeof(page));
	nr_bytes = ZSTD_compress(packed, sizeof(packed), page, sizeof(page), 1);
	ck_assert(!ZSTD_isError(nr_bytes));
	put_page(pfn, packed, nr_bytes, KDUMP_PACKED_ZSTD);
}

#ifdef BTSREC_HAVE_SNAPPY
static void put_snappy(uint64_t pfn, uint8_t value)
{
	char page[PAGE], packed[2 * PAGE];
	size_t nr_bytes = sizeof(packed);

	memset(page, value, sizeof(page));
	ck_assert_int_eq(snappy_compress(page, sizeof(page), packed, &nr_bytes), SNAPPY_OK);
	put_page(pfn, packed, nr_bytes, KDUMP_PACKED_SNAPPY);
}
#endif

START_TEST(plain_and_packed)
{
	setup();
	put_plain(3, 0x33);
	put_zlib(4, 0x44);
	put_page(5, lzo_page, sizeof(lzo_page), KDUMP_PACKED_LZO);
	put_zstd(6, 0x77);
	put_zstd(7, 0x78);
#ifdef BTSREC_HAVE_SNAPPY
	put_snappy(8, 0x79);
#endif
	put_zlib(4095, 0x11);
	put_plain(4096, 0x22);
	put_plain(65535, 0x66);
	btsrec_ck_ok(open_all());
	ck_assert_int_eq(page_value(2), -1);
	ck_assert_int_eq(page_value(3), 0x33);
	ck_assert_int_eq(page_value(4), 0x44);
#ifdef BTSREC_HAVE_LZO
	ck_assert_int_eq(page_value(5), 0x5a);
#endif
	ck_assert_int_eq(page_value(6), 0x77);
	ck_assert_int_eq(page_value(7), 0x78);
#ifdef BTSREC_HAVE_SNAPPY
	ck_assert_int_eq(page_value(8), 0x79);
#endif
	ck_assert_int_eq(page_value(4095), 0x11);
	ck_assert_int_eq(page_value(4096), 0x22);
	ck_assert_int_eq(page_value(65535), 0x66);
	ck_assert_int_eq(page_value(65536), -1);
	ck_assert_uint_eq(mkdump_max_pa(dump), 65536 * PAGE);
	teardown();
}
END_TEST

START_TEST(over_two_pages)
{
	uint8_t bytes[PAGE];
	size_t nr_bytes;

	setup();
	put_plain(3, 0x33);
	put_zlib(4, 0x44);
	btsrec_ck_ok(open_all());
	btsrec_ck_ok(mkdump_read_pa(dump, 4 * PAGE - 1, bytes, 2, &nr_bytes));
	ck_assert_uint_eq(bytes[0], 0x33);
	ck_assert_uint_eq(bytes[1], 0x44);
	btsrec_ck_status(mkdump_read_pa(dump, 5 * PAGE - 7, bytes, 100, &nr_bytes),
			 BTSREC_ERR_NODATA);
	ck_assert_uint_eq(nr_bytes, 7);
	teardown();
}
END_TEST

#define NR_BULK	90

/* The bytes of @nr pages from @first_pfn on, read at once; each page has its value. */
static void ck_bulk(uint64_t first_pfn, uint64_t nr, uint64_t nr_there)
{
	uint8_t *bytes = malloc(nr * PAGE);
	size_t nr_bytes, i;

	ck_assert_ptr_nonnull(bytes);
	ck_assert_int_eq(
		mkdump_read_pa(dump, first_pfn * PAGE + 1, bytes, nr * PAGE - 1, &nr_bytes),
		nr_there < nr ? BTSREC_ERR_NODATA : BTSREC_OK);
	ck_assert_uint_eq(nr_bytes, nr_there * PAGE - 1);
	/* Every assert of check is a system call; here they would be millions. */
	for (i = 0; i < nr_bytes; i++)
		if (bytes[i] != (uint8_t)(first_pfn + (i + 1) / PAGE))
			ck_abort_msg("byte %zu of what is read from page %ju on is 0x%02x", i,
				     (uintmax_t)first_pfn, bytes[i]);
	free(bytes);
}

static void open_many(void)
{
	uint8_t garbage[64] = { 1, 2, 3 };

	setup();
	for (uint64_t pfn = 0; pfn < NR_BULK; pfn++) {
		if (pfn == 80)
			put_page(pfn, garbage, sizeof(garbage), KDUMP_PACKED_ZLIB);
		else if (pfn % 3)
			put_zlib(pfn, (uint8_t)pfn);
		else
			put_plain(pfn, (uint8_t)pfn);
	}
	btsrec_ck_ok(open_all());
}

/* Some of them are kept already. */
START_TEST(many_at_once)
{
	open_many();
	ck_assert_int_eq(page_value(33), 33);
	ck_assert_int_eq(page_value(34), 34);
	ck_bulk(0, 80, 80);
	ck_bulk(0, NR_BULK, 80);
	ck_bulk(79, NR_BULK - 79, 1);
	ck_bulk(81, NR_BULK - 81, NR_BULK - 81);
	ck_bulk(81, 40, NR_BULK - 81);
	for (uint64_t pfn = NR_BULK; pfn--;)
		ck_assert_int_eq(page_value(pfn), pfn == 80 ? -1 : (int)pfn);
	teardown();
}
END_TEST

/* Three pages from @pfn on, which have to be there. */
static void ck_three(uint64_t pfn)
{
	const uint64_t page_pa[] = { (pfn + 2) * PAGE, pfn * PAGE, (pfn + 1) * PAGE };
	uint8_t pages[3][PAGE];

	ck_assert(mkdump_read_pages(dump, page_pa, 3, pages[0]));
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(pages[i][0], page_pa[i] / PAGE);
		ck_assert_mem_eq(pages[i], pages[i] + 1, PAGE - 1);
	}
}

static void *read_whole_pages(void *arg)
{
	(void)arg;
	for (unsigned int round = 0; round < 3; round++)
		for (uint64_t pfn = 0; pfn + 2 < NR_BULK; pfn++)
			if (pfn + 2 < 80 || pfn > 80)
				ck_three(pfn);
	return NULL;
}

/* What one of them keeps is there for the others. */
START_TEST(by_several_threads)
{
	const uint64_t none_pa[] = { 2 * PAGE, 80 * PAGE }, behind_pa = NR_BULK * PAGE;
	pthread_t threads[3];
	uint8_t pages[2][PAGE];

	open_many();
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, read_whole_pages, NULL), 0);
	for (uint64_t pfn = 0; pfn < NR_BULK; pfn++)
		ck_assert_int_eq(page_value(pfn), pfn != 80 ? (int)pfn : -1);
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert(!mkdump_read_pages(dump, none_pa, 2, pages[0]));
	ck_assert(!mkdump_read_pages(dump, &behind_pa, 1, pages[0]));
	teardown();
}
END_TEST

START_TEST(damaged_pages)
{
	uint8_t garbage[64] = { 1, 2, 3 };
	uint8_t page[PAGE] = { 0 };

	setup();
	put_page(1, garbage, sizeof(garbage), KDUMP_PACKED_ZLIB);
	put_page(2, garbage, sizeof(garbage), KDUMP_PACKED_LZO);
	put_page(3, garbage, sizeof(garbage), 0);
	put_page(4, page, sizeof(page), KDUMP_PACKED_SNAPPY);
	put_page(5, page, 0, 0);
	put_plain(6, 0x66);
	put_page(7, garbage, sizeof(garbage), KDUMP_PACKED_ZSTD);
	btsrec_ck_ok(open_all());
	ck_assert_int_eq(page_value(7), -1);
	for (uint64_t pfn = 1; pfn <= 5; pfn++)
		ck_assert_int_eq(page_value(pfn), -1);
	ck_assert_int_eq(page_value(6), 0x66);
	teardown();
}
END_TEST

/* What is kept is there all the same. */
START_TEST(the_medium_fails)
{
	const uint64_t page_pa[] = { 10 * PAGE, 11 * PAGE }, refused_pa = 20 * PAGE;
	uint8_t *bytes = malloc(79 * PAGE);
	size_t nr_bytes;

	open_many();
	ck_assert_ptr_nonnull(bytes);
	ck_assert_int_eq(page_value(5), 5);
	medium_fails = true;
	/* Where it is has been read with page 5. */
	btsrec_ck_status(mkdump_read_pa(dump, refused_pa, bytes, PAGE, &nr_bytes), BTSREC_ERR_IO);
	ck_assert_int_eq(page_value(5), 5);
	btsrec_ck_status(mkdump_read_pa(dump, 5 * PAGE + 7, bytes, PAGE, &nr_bytes), BTSREC_ERR_IO);
	ck_assert_uint_eq(nr_bytes, PAGE - 7);
	btsrec_ck_status(mkdump_read_pa(dump, 0, bytes, 79 * PAGE, &nr_bytes), BTSREC_ERR_IO);
	/* Neither where the page is nor whether, if the dump has it. */
	btsrec_ck_status(mkdump_read_pa(dump, 88 * PAGE, bytes, 1, &nr_bytes), BTSREC_ERR_IO);
	btsrec_ck_status(mkdump_read_pa(dump, NR_BULK * PAGE, bytes, 1, &nr_bytes),
			 BTSREC_ERR_NODATA);
	ck_assert(!mkdump_read_pages(dump, page_pa, 2, bytes));
	medium_fails = false;
	ck_assert_int_eq(page_value(88), 88);
	ck_assert_int_eq(page_value(80), -1);
	free(bytes);
	teardown();
}
END_TEST

/* Whether page 5 is there without a read. */
static bool five_is_kept(void)
{
	bool kept;

	medium_fails = true;
	kept = page_value(5) == 5;
	medium_fails = false;
	return kept;
}

/* A window of a ring is gone through again; a reader of more keeps it itself. */
START_TEST(much_is_not_kept)
{
	uint8_t *bytes = malloc(IMAGE_MUCH_BYTES);
	uint64_t page_pa[IMAGE_MUCH_BYTES / PAGE];
	size_t nr = IMAGE_MUCH_BYTES / PAGE, nr_bytes;

	open_many();
	ck_assert_ptr_nonnull(bytes);
	for (size_t i = 0; i < nr; i++)
		page_pa[i] = (i + 1) * PAGE;
	btsrec_ck_ok(mkdump_read_pa(dump, PAGE, bytes, IMAGE_MUCH_BYTES, &nr_bytes));
	ck_assert(mkdump_read_pages(dump, page_pa, nr, bytes));
	ck_assert_uint_eq(bytes[4 * PAGE], 5);
	ck_assert(!five_is_kept());
	ck_assert(mkdump_read_pages(dump, page_pa, nr - 1, bytes));
	ck_assert(five_is_kept());
	free(bytes);
	teardown();
}
END_TEST

START_TEST(the_medium_fails_at_once)
{
	struct kdump_sub_header sub = { .offset_vmcoreinfo = 2 * PAGE - 64, .size_vmcoreinfo = 5 };

	setup();
	memcpy(image + PAGE, &sub, sizeof(sub));
	put_plain(1, 0x11);
	ck_header_fails();
}
END_TEST

START_TEST(cut_off)
{
	setup();
	put_plain(1, 0x11);
	put_plain(2, 0x22);
	btsrec_ck_ok(open_bytes(data_at - 1));
	ck_assert_int_eq(page_value(1), 0x11);
	ck_assert_int_eq(page_value(2), -1);
	btsrec_ck_ok(open_bytes(TABLE_AT + 24));
	ck_assert_int_eq(page_value(1), -1);
	btsrec_ck_fails(open_bytes(TABLE_AT - 1), BTSREC_ERR_NOT_DUMP, msg.text, "cut off");
	btsrec_ck_fails(open_bytes(PAGE), BTSREC_ERR_NOT_DUMP, msg.text, "cut off");
	btsrec_ck_fails(open_bytes(100), BTSREC_ERR_NOT_DUMP, msg.text, "cut off");
	teardown();
}
END_TEST

/*
 * The bitmap has all pages, the table only those of this file.  The fields that the version of
 * the header does not go by have other numbers.
 */
static void set_part(uint64_t first_pfn, uint64_t end_pfn)
{
	struct kdump_sub_header sub = { .split = 1, .start_pfn = 1, .end_pfn = 2,
					.start_pfn_64 = 3, .end_pfn_64 = 4, .max_mapnr_64 = 7 };

	header()->max_mapnr = 6;
	if (header()->header_version >= 6) {
		sub.start_pfn_64 = first_pfn;
		sub.end_pfn_64 = end_pfn;
		sub.max_mapnr_64 = 5000;
	} else {
		sub.start_pfn = first_pfn;
		sub.end_pfn = end_pfn;
		header()->max_mapnr = 5000;
	}
	memcpy(image + PAGE, &sub, sizeof(sub));
}

START_TEST(split)
{
	struct mkdump_part part;
	uint8_t *bitmap = image + TABLE_AT - BITMAP_PAGES * PAGE;

	setup();
	header()->header_version = 5 + _i;
	put_plain(70, 0x33);
	put_zlib(4100, 0x44);
	btsrec_ck_ok(open_all());
	ck_assert(!mkdump_part(dump, &part));
	set_part(70, 4101);
	bitmap[1] = 0x81;	/* in the file before */
	bitmap[69 / 8] |= 1 << 69 % 8;
	bitmap[4101 / 8] |= 1 << 4101 % 8;
	btsrec_ck_ok(open_all());
	ck_assert(mkdump_part(dump, &part));
	ck_assert_uint_eq(part.first_pfn, 70);
	ck_assert_uint_eq(part.end_pfn, 4101);
	ck_assert_uint_eq(part.max_pfn, 5000);
	ck_assert_int_eq(page_value(69), -1);
	ck_assert_int_eq(page_value(70), 0x33);
	ck_assert_int_eq(page_value(4100), 0x44);
	ck_assert_int_eq(page_value(4101), -1);
	set_part(UINT64_MAX - 1, UINT64_MAX - 1);
	btsrec_ck_ok(open_all());
	ck_assert_int_eq(page_value(70), -1);
	teardown();
}
END_TEST

START_TEST(vmcoreinfo)
{
	struct kdump_sub_header sub = { .offset_vmcoreinfo = 2 * PAGE - 64, .size_vmcoreinfo = 5 };

	setup();
	memcpy(image + PAGE, &sub, sizeof(sub));
	memcpy(image + 2 * PAGE - 64, "TEXT\nmore", 9);
	btsrec_ck_ok(open_bytes(DATA_AT));
	ck_assert_str_eq(mkdump_vmcoreinfo(dump), "TEXT\n");
	sub.size_vmcoreinfo = UINT64_MAX;
	memcpy(image + PAGE, &sub, sizeof(sub));
	btsrec_ck_ok(open_bytes(DATA_AT));
	ck_assert_ptr_null(mkdump_vmcoreinfo(dump));
	teardown();
}
END_TEST

START_TEST(refused)
{
	setup();
#ifndef BTSREC_HAVE_SNAPPY
	header()->status = KDUMP_PACKED_SNAPPY;
	btsrec_ck_fails(open_bytes(DATA_AT), BTSREC_ERR_NOT_DUMP, msg.text, "snappy");
#endif
	header()->status = KDUMP_PACKED_ZLIB;
	btsrec_ck_ok(open_bytes(DATA_AT));
	header()->block_size = 65536;
	btsrec_ck_fails(open_bytes(DATA_AT), BTSREC_ERR_NOT_DUMP, msg.text, "no x86-64");
	header()->block_size = PAGE;
	header()->bitmap_blocks = UINT32_MAX;
	btsrec_ck_fails(open_bytes(DATA_AT), BTSREC_ERR_NOT_DUMP, msg.text, "no x86-64");
	memcpy(header()->signature, "KDUMB   ", 8);
	btsrec_ck_fails(open_bytes(DATA_AT), BTSREC_ERR_NOT_DUMP, msg.text, "no kernel dump");
	teardown();
}
END_TEST

START_TEST(no_memory)
{
	setup();
	put_plain(1, 0x11);
	ck_allocation_fails(3);
}
END_TEST

BTSREC_CK_MAIN("mkdump", plain_and_packed, over_two_pages, many_at_once, by_several_threads,
	       damaged_pages, the_medium_fails, the_medium_fails_at_once, much_is_not_kept,
	       cut_off, split, vmcoreinfo, refused, no_memory)
