// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "source/image.h"

/** struct answer - what the callback says, whatever is asked */
struct answer {
	enum btsrec_status status;
	size_t bytes;
	unsigned int nr_calls;
};

static enum btsrec_status read_answer(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				      size_t *ret_bytes)
{
	struct answer *answer = arg;

	(void)pa;
	(void)buf;
	(void)len_bytes;
	answer->nr_calls++;
	*ret_bytes = answer->bytes;
	return answer->status;
}

static enum btsrec_status ask(struct answer *answer, uint64_t pa, size_t len, size_t *ret_bytes)
{
	struct btsrec_image image = { .read_pa = read_answer, .arg = answer };
	char buf[64];

	*ret_bytes = (size_t)-1;
	return image_read_some(&image, pa, buf, len, ret_bytes);
}

START_TEST(whole_read)
{
	struct answer answer = { BTSREC_OK, 64, 0 };
	size_t bytes;

	btsrec_ck_ok(ask(&answer, 0x1000, 64, &bytes));
	ck_assert_uint_eq(bytes, 64);
}
END_TEST

START_TEST(partial_read_is_nodata)
{
	struct answer answer = { BTSREC_ERR_NODATA, 10, 0 };
	size_t bytes;

	btsrec_ck_status(ask(&answer, 0x1000, 64, &bytes), BTSREC_ERR_NODATA);
	ck_assert_uint_eq(bytes, 10);
}
END_TEST

START_TEST(ok_with_too_few_bytes_is_nodata)
{
	struct answer answer = { BTSREC_OK, 10, 0 };
	size_t bytes;

	btsrec_ck_status(ask(&answer, 0x1000, 64, &bytes), BTSREC_ERR_NODATA);
	ck_assert_uint_eq(bytes, 10);
}
END_TEST

START_TEST(nodata_with_all_bytes_is_ok)
{
	struct answer answer = { BTSREC_ERR_NODATA, 64, 0 };
	size_t bytes;

	btsrec_ck_ok(ask(&answer, 0x1000, 64, &bytes));
}
END_TEST

START_TEST(more_bytes_than_asked_is_a_broken_medium)
{
	struct answer answer = { BTSREC_OK, 65, 0 };
	size_t bytes;

	btsrec_ck_status(ask(&answer, 0x1000, 64, &bytes), BTSREC_ERR_IO);
	ck_assert_uint_eq(bytes, 0);
}
END_TEST

START_TEST(io_error_passes)
{
	struct answer answer = { BTSREC_ERR_IO, 0, 0 };
	size_t bytes;

	btsrec_ck_status(ask(&answer, 0x1000, 64, &bytes), BTSREC_ERR_IO);
	answer.bytes = 64;
	btsrec_ck_status(ask(&answer, 0x1000, 64, &bytes), BTSREC_ERR_IO);
}
END_TEST

START_TEST(beyond_any_address_is_not_asked)
{
	struct answer answer = { BTSREC_OK, 64, 0 };
	size_t bytes;

	btsrec_ck_status(ask(&answer, IMAGE_MAX_PA, 1, &bytes), BTSREC_ERR_NODATA);
	btsrec_ck_status(ask(&answer, UINT64_MAX - 8, 64, &bytes), BTSREC_ERR_NODATA);
	btsrec_ck_status(ask(&answer, IMAGE_MAX_PA - 8, 64, &bytes), BTSREC_ERR_NODATA);
	ck_assert_uint_eq(bytes, 0);
	ck_assert_uint_eq(answer.nr_calls, 0);
	btsrec_ck_ok(ask(&answer, IMAGE_MAX_PA - 64, 64, &bytes));
}
END_TEST

START_TEST(page_addresses)
{
	ck_assert(!image_pa_ok(0));
	ck_assert(image_pa_ok(0x1000));
	ck_assert(!image_pa_ok(0x1008));
	ck_assert(image_pa_ok(IMAGE_MAX_PA - 0x1000));
	ck_assert(!image_pa_ok(IMAGE_MAX_PA));
}
END_TEST

START_TEST(read_needs_all)
{
	struct mem mem = { 0 };
	struct btsrec_image image = mem_image(&mem);
	char buf[16];

	mem_page(&mem, 0x1000);
	btsrec_ck_ok(image_read(&image, 0x1ff0, buf, 16));
	btsrec_ck_status(image_read(&image, 0x1ff1, buf, 16), BTSREC_ERR_NODATA);
	mem_fini(&mem);
}
END_TEST

static bool pages_read;

static bool read_pages(void *arg, const uint64_t *page_pa, size_t nr, void *buf)
{
	ck_assert_ptr_null(arg);
	ck_assert_ptr_nonnull(buf);
	ck_assert_uint_eq(nr, 2);
	ck_assert_uint_eq(page_pa[1], 0x1000);
	return pages_read;
}

START_TEST(pages_only_where_pages_can_be)
{
	struct btsrec_image image = { 0 };
	uint64_t page_pa[] = { 0x2000, 0x1000 };
	char buf[1];

	ck_assert(!image_read_pages(&image, page_pa, 2, buf));
	image.read_pages = read_pages;
	for (int i = 0; i < 2; i++) {
		pages_read = i;
		ck_assert_int_eq(image_read_pages(&image, page_pa, 2, buf), i);
	}
	for (size_t i = 0; i < 2; i++) {
		page_pa[i] = i ? 0x1008 : 0;
		ck_assert(!image_read_pages(&image, page_pa, 2, buf));
		page_pa[i] = 0x3000;
	}
}
END_TEST

static uint64_t next_pa(void *arg, uint64_t pa)
{
	ck_assert_ptr_null(arg);
	return pa < 0x5000 ? 0x5000 : pa == 0x6000 ? 0x1000 : UINT64_MAX;
}

START_TEST(what_is_next)
{
	struct btsrec_image image = { 0 };

	ck_assert_uint_eq(image_next_pa(&image, 0x1000), 0x1000);
	image.next_pa = next_pa;
	ck_assert_uint_eq(image_next_pa(&image, 0x1000), 0x5000);
	ck_assert_uint_eq(image_next_pa(&image, 0x7000), UINT64_MAX);
	/* A source that goes back would be asked for ever. */
	ck_assert_uint_eq(image_next_pa(&image, 0x6000), 0x6000);
}
END_TEST

BTSREC_CK_MAIN("image", whole_read, partial_read_is_nodata, ok_with_too_few_bytes_is_nodata,
	       nodata_with_all_bytes_is_ok, more_bytes_than_asked_is_a_broken_medium,
	       io_error_passes, beyond_any_address_is_not_asked, page_addresses, read_needs_all,
	       pages_only_where_pages_can_be, what_is_next)
