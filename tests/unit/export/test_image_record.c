// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "failing_alloc.h"
#include "export/extract/image_record.h"

static struct mem mem;
static struct btsrec_image below;
static struct image_record image_record;
static uint8_t buf[4 * BTSREC_PAGE_BYTES];
static size_t got_bytes;

static void setup(void)
{
	below = mem_image(&mem);
	image_record = (struct image_record){.below = &below};
	for (uint64_t pa = 0; pa < 4 * BTSREC_PAGE_BYTES; pa += BTSREC_PAGE_BYTES)
		memset(mem_page(&mem, pa), (int)(pa / BTSREC_PAGE_BYTES) + 1, BTSREC_PAGE_BYTES);
}

static void teardown(void)
{
	image_record_fini(&image_record);
	mem_fini(&mem);
}

static uint64_t lines_of(uint64_t pa)
{
	const struct pageset_page *page = pageset_find(&image_record.pages, pa);

	return page ? page->bits : 0;
}

START_TEST(lines_that_are_touched)
{
	setup();
	btsrec_ck_ok(image_record_read_pa(&image_record, 0x1000, buf, 1, &got_bytes));
	ck_assert_uint_eq(lines_of(0x1000), 1);
	btsrec_ck_ok(image_record_read_pa(&image_record, 0x107f, buf, 2, &got_bytes));
	ck_assert_uint_eq(lines_of(0x1000), 1 | 2 | 4);
	btsrec_ck_ok(image_record_read_pa(&image_record, 0x1fc0, buf, 64, &got_bytes));
	ck_assert_uint_eq(lines_of(0x1000), 1 | 2 | 4 | 1ULL << 63);
	ck_assert_uint_eq(lines_of(0x2000), 0);
	teardown();
}
END_TEST

START_TEST(over_pages)
{
	setup();
	btsrec_ck_ok(image_record_read_pa(&image_record, 0x1ff8, buf, BTSREC_PAGE_BYTES + 16,
					  &got_bytes));
	ck_assert_uint_eq(got_bytes, BTSREC_PAGE_BYTES + 16);
	ck_assert_uint_eq(buf[7], 2);
	ck_assert_uint_eq(buf[8], 3);
	ck_assert_uint_eq(buf[BTSREC_PAGE_BYTES + 8], 4);
	ck_assert_uint_eq(lines_of(0x1000), 1ULL << 63);
	ck_assert_uint_eq(lines_of(0x2000), UINT64_MAX);
	ck_assert_uint_eq(lines_of(0x3000), 1);
	teardown();
}
END_TEST

START_TEST(what_is_not_there_is_not_remembered)
{
	setup();
	mem_cut(&mem, 0x3000, 100);
	btsrec_ck_status(
		image_record_read_pa(&image_record, 0x3000, buf, BTSREC_PAGE_BYTES, &got_bytes),
		BTSREC_ERR_NODATA);
	ck_assert_uint_eq(got_bytes, 100);
	ck_assert_uint_eq(lines_of(0x3000), 3);
	btsrec_ck_status(image_record_read_pa(&image_record, 0x5000, buf, 8, &got_bytes),
			 BTSREC_ERR_NODATA);
	ck_assert_uint_eq(image_record.pages.nr, 1);
	teardown();
}
END_TEST

START_TEST(page_zero_is_read_only)
{
	setup();
	btsrec_ck_ok(image_record_read_pa(&image_record, 0, buf, 8, &got_bytes));
	ck_assert_uint_eq(buf[0], 1);
	ck_assert_uint_eq(image_record.pages.nr, 0);
	teardown();
}
END_TEST

static size_t nr_asked_for;

static bool read_pages(void *arg, const uint64_t *page_pa, size_t nr, void *to)
{
	struct mem *from = arg;

	nr_asked_for += nr;
	for (size_t i = 0; i < nr; i++) {
		if (page_pa[i] >= 4 * BTSREC_PAGE_BYTES)
			return false;
		memcpy((uint8_t *)to + i * BTSREC_PAGE_BYTES, mem_page(from, page_pa[i]),
		       BTSREC_PAGE_BYTES);
	}
	return true;
}

/* Nothing else is: what is after the last byte that somebody wants may be anybody's. */
START_TEST(whole_pages_are_read_as_such)
{
	setup();
	below.read_pages = read_pages;
	btsrec_ck_ok(image_record_read_pa(&image_record, 0x1000, buf, 2 * BTSREC_PAGE_BYTES,
					  &got_bytes));
	ck_assert_uint_eq(nr_asked_for, 2);
	ck_assert_uint_eq(got_bytes, 2 * BTSREC_PAGE_BYTES);
	ck_assert_uint_eq(buf[BTSREC_PAGE_BYTES], 3);
	ck_assert_uint_eq(lines_of(0x1000), UINT64_MAX);
	ck_assert_uint_eq(lines_of(0x2000), UINT64_MAX);
	btsrec_ck_ok(image_record_read_pa(&image_record, 0x1000, buf, BTSREC_PAGE_BYTES + 8,
					  &got_bytes));
	btsrec_ck_ok(
		image_record_read_pa(&image_record, 0x1008, buf, BTSREC_PAGE_BYTES, &got_bytes));
	btsrec_ck_ok(image_record_read_pa(&image_record, 0x3000, buf, 0, &got_bytes));
	ck_assert_uint_eq(nr_asked_for, 2);
	btsrec_ck_status(
		image_record_read_pa(&image_record, 0x3000, buf, 2 * BTSREC_PAGE_BYTES, &got_bytes),
		BTSREC_ERR_NODATA);
	ck_assert_uint_eq(nr_asked_for, 4);
	ck_assert_uint_eq(got_bytes, BTSREC_PAGE_BYTES);
	ck_assert_uint_eq(lines_of(0x3000), UINT64_MAX);
	teardown();
}
END_TEST

START_TEST(too_many_for_once)
{
	static uint8_t much[65 * BTSREC_PAGE_BYTES];

	setup();
	below.read_pages = read_pages;
	nr_asked_for = 0;
	btsrec_ck_status(
		image_record_read_pa(&image_record, 0x1000, much, sizeof(much), &got_bytes),
		BTSREC_ERR_NODATA);
	ck_assert_uint_eq(got_bytes, 3 * BTSREC_PAGE_BYTES);
	ck_assert_uint_eq(nr_asked_for, 0);
	teardown();
}
END_TEST

START_TEST(no_memory)
{
	setup();
	failing_alloc_arm(1);
	btsrec_ck_status(image_record_read_pa(&image_record, 0x1000, buf, 8, &got_bytes),
			 BTSREC_ERR_NOMEM);
	ck_assert(failing_alloc_disarm());
	teardown();
}
END_TEST

BTSREC_CK_MAIN("image_record", lines_that_are_touched, over_pages,
	       what_is_not_there_is_not_remembered,
	       page_zero_is_read_only, whole_pages_are_read_as_such, too_many_for_once,
	       no_memory)
