// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdio.h>

#include "check_btsrec.h"
#include "render/out.h"

static char written[4 * OUT_WRITE_BYTES];
static size_t nr_written;
static size_t nr_allowed;
static struct out out;

static bool take(void *arg, const char *text, size_t nr_bytes)
{
	(void)arg;
	if (nr_written + nr_bytes > nr_allowed)
		return false;
	memcpy(written + nr_written, text, nr_bytes);
	nr_written += nr_bytes;
	return true;
}

static void start(void)
{
	static const struct btsrec_sink sink = { .write = take };

	nr_written = 0;
	nr_allowed = sizeof(written);
	out_init(&out, &sink);
}

static void ck_written(const char *want)
{
	btsrec_ck_ok(out_flush(&out));
	if (nr_written != strlen(want) || memcmp(written, want, nr_written))
		ck_abort_msg("'%.*s' is not '%s'", (int)nr_written, written, want);
}

/* Around every power of two and of ten. */
static uint64_t number(unsigned int i)
{
	static const uint64_t tens[] = {
		0, 9, 10, 11, 99, 100, 101, 999, 1000, 9999, 10000, 99999, 100000, 999999999,
		1000000000, 9999999999999999999ULL, 10000000000000000000ULL, UINT64_MAX,
		0x0123456789abcdefULL, 0xfedcba9876543210ULL,
	};
	unsigned int nr_tens = sizeof(tens) / sizeof(tens[0]);

	return i < nr_tens ? tens[i] : (1ULL << (i - nr_tens) / 3) + (i - nr_tens) % 3 - 1;
}

#define NR_NUMBERS (20 + 3 * 64)

START_TEST(decimal)
{
	char want[64];

	for (unsigned int i = 0; i < NR_NUMBERS; i++)
		for (int width = 0; width <= 20; width++) {
			start();
			out_dec(&out, number(i), (unsigned int)width);
			snprintf(want, sizeof(want), "%*" PRIu64, width, number(i));
			ck_written(want);
		}
}
END_TEST

START_TEST(hexadecimal)
{
	char want[64];

	for (unsigned int i = 0; i < NR_NUMBERS; i++) {
		start();
		out_hex16(&out, number(i));
		snprintf(want, sizeof(want), "0x%016" PRIx64, number(i));
		ck_written(want);
		start();
		out_hex(&out, number(i));
		snprintf(want, sizeof(want), "0x%" PRIx64, number(i));
		ck_written(want);
	}
}
END_TEST

static void ck_digits(uint64_t value)
{
	char want[17], got[18];

	snprintf(want, sizeof(want), "%016" PRIx64, value);
	memset(got, '-', sizeof(got));
	ck_assert_ptr_eq(put_digits16(got + 1, value), got + 17);
	ck_assert_mem_eq(got + 1, want, 16);
	ck_assert(got[0] == '-' && got[17] == '-');
	memset(got, '-', sizeof(got));
	ck_assert_ptr_eq(put_digits16_words(got + 1, value), got + 17);
	ck_assert_mem_eq(got + 1, want, 16);
	ck_assert(got[0] == '-' && got[17] == '-');
}

/* In vector registers, where there are some, and in words: each digit at each place. */
START_TEST(sixteen_digits)
{
	for (uint64_t digit = 0; digit < 16; digit++) {
		for (unsigned int place = 0; place < 16; place++) {
			ck_digits(digit << 4 * place);
			ck_digits(~(digit << 4 * place));
		}
	}
	for (unsigned int i = 0; i < NR_NUMBERS; i++)
		ck_digits(number(i));
}
END_TEST

START_TEST(longer_than_the_buffer)
{
	static char text[2 * OUT_WRITE_BYTES + 3];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 23);
	start();
	out_char(&out, 'x');
	out_long(&out, text, sizeof(text));
	btsrec_ck_ok(out_flush(&out));
	ck_assert_uint_eq(nr_written, sizeof(text) + 1);
	ck_assert(written[0] == 'x' && !memcmp(written + 1, text, sizeof(text)));
}
END_TEST

static char lent_bytes[2][OUT_BYTES], *lent;

/* The other buffer is the next one, then none, then the first one. */
static bool take_lent(void *arg, const char *text, size_t nr_bytes)
{
	if (lent && text != lent)
		ck_abort_msg("the text is not in the buffer");
	lent = lent == lent_bytes[0] ? lent_bytes[1] : lent ? NULL : lent_bytes[0];
	memcpy(written + nr_written, text, nr_bytes);
	nr_written += nr_bytes;
	return !arg;
}

START_TEST(borrows_buffers)
{
	static const struct btsrec_sink lender = { .write = take_lent };
	static char text[3 * OUT_WRITE_BYTES + 3];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 23);
	start();
	lent = lent_bytes[0];
	out_lend(&out, &lender, &lent);
	out_long(&out, text, sizeof(text));
	ck_assert_ptr_eq(lent, lent_bytes[0]);
	btsrec_ck_ok(out_flush(&out));
	ck_assert_ptr_eq(lent, lent_bytes[1]);
	ck_assert_uint_eq(nr_written, sizeof(text));
	ck_assert_mem_eq(written, text, sizeof(text));
	out_lend(&out, &lender, NULL);
	ck_assert_ptr_eq(out.buf, out.own);
}
END_TEST

START_TEST(drops_what_follows_a_stop)
{
	start();
	nr_allowed = 5;
	out_literal(&out, "123");
	btsrec_ck_ok(out_flush(&out));
	out_literal(&out, "456");
	btsrec_ck_status(out_flush(&out), BTSREC_ERR_STOPPED);
	out_literal(&out, "7");
	btsrec_ck_status(out_flush(&out), BTSREC_ERR_STOPPED);
	ck_assert_uint_eq(nr_written, 3);
}
END_TEST

/* What is less than a page stays, so that a page begins with the next write. */
START_TEST(whole_pages)
{
	static char text[3 * OUT_PAGE_BYTES + 100];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(' ' + i % 95);
	start();
	btsrec_ck_ok(out_pages(&out));
	out_bytes(&out, text, OUT_PAGE_BYTES - 1);
	btsrec_ck_ok(out_pages(&out));
	ck_assert_uint_eq(nr_written, 0);
	out_bytes(&out, text + OUT_PAGE_BYTES - 1, 1);
	btsrec_ck_ok(out_pages(&out));
	ck_assert_uint_eq(nr_written, OUT_PAGE_BYTES);
	out_bytes(&out, text + OUT_PAGE_BYTES, sizeof(text) - OUT_PAGE_BYTES);
	btsrec_ck_ok(out_pages(&out));
	ck_assert_uint_eq(nr_written, 3 * OUT_PAGE_BYTES);
	btsrec_ck_ok(out_flush(&out));
	ck_assert_uint_eq(nr_written, sizeof(text));
	ck_assert_mem_eq(written, text, sizeof(text));

	nr_allowed = nr_written;
	out_bytes(&out, text, OUT_PAGE_BYTES);
	btsrec_ck_status(out_pages(&out), BTSREC_ERR_STOPPED);
	btsrec_ck_status(out_pages(&out), BTSREC_ERR_STOPPED);
}
END_TEST

BTSREC_CK_MAIN("out", decimal, hexadecimal, sixteen_digits, longer_than_the_buffer, borrows_buffers,
	       whole_pages, drops_what_follows_a_stop)
