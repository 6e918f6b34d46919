// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/base64.h"
#include "check_btsrec.h"

/* Several times the room for bytes. */
#define NR_MANY (10 * BASE64_BYTES + 1)

static struct out_text written;
static struct out out;
static struct base64 base64;

static void start(void)
{
	static const struct btsrec_sink sink = { .write = out_text_take, .arg = &written };

	written.nr_bytes = 0;
	out_init(&out, &sink);
	base64_begin(&base64, &out);
}

static void ck_written(const char *want)
{
	btsrec_ck_ok(out_flush(&out));
	/* Where nothing was written there is nothing to point to. */
	if (written.nr_bytes != strlen(want) ||
	    (written.nr_bytes && memcmp(written.bytes, want, written.nr_bytes)))
		ck_abort_msg("'%.*s' is not '%s'", (int)written.nr_bytes, written.bytes, want);
}

/* RFC 4648, section 10. */
START_TEST(as_the_rfc_has_it)
{
	static const char *const want[] = { "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=",
					    "Zm9vYmFy" };

	for (size_t nr = 0; nr < sizeof(want) / sizeof(want[0]); nr++) {
		start();
		base64_bytes(&base64, (const uint8_t *)"foobar", nr);
		base64_end(&base64);
		ck_written(want[nr]);
	}
}
END_TEST

START_TEST(every_digit)
{
	uint8_t bytes[48];

	/* The 64 numbers of 6 bits, one after the other. */
	for (unsigned int i = 0; i < 64; i += 4) {
		uint8_t *at = bytes + i / 4 * 3;

		at[0] = (uint8_t)(i << 2 | (i + 1) >> 4);
		at[1] = (uint8_t)((i + 1) << 4 | (i + 2) >> 2);
		at[2] = (uint8_t)((i + 2) << 6 | (i + 3));
	}
	start();
	base64_bytes(&base64, bytes, sizeof(bytes));
	base64_end(&base64);
	ck_written("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
}
END_TEST

START_TEST(the_lowest_byte_first)
{
	start();
	base64_u32(&base64, 0x6f6f6663);
	base64_u32(&base64, 0x21646172);
	base64_end(&base64);
	/* "cfoorad!" */
	ck_written("Y2Zvb3JhZCE=");
}
END_TEST

START_TEST(each_text_has_its_end)
{
	start();
	base64_u32(&base64, 0);
	base64_end(&base64);
	out_char(&out, ' ');
	base64_bytes(&base64, (const uint8_t *)"f", 1);
	base64_end(&base64);
	base64_end(&base64);
	ck_written("AAAAAA== Zg==");
}
END_TEST

/* Whatever is handed over at once. */
START_TEST(more_than_there_is_room_for)
{
	static uint8_t bytes[NR_MANY];
	struct out_text whole;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * i >> 3);
	start();
	base64_bytes(&base64, bytes, sizeof(bytes));
	base64_end(&base64);
	btsrec_ck_ok(out_flush(&out));
	ck_assert_uint_eq(written.nr_bytes, (NR_MANY + 2) / 3 * 4);
	whole = written;
	written = (struct out_text){ 0 };
	for (size_t piece = 1; piece < 2 * BASE64_BYTES; piece = 2 * piece + 1) {
		start();
		for (size_t at = 0; at < sizeof(bytes); at += piece)
			base64_bytes(&base64, bytes + at,
				     sizeof(bytes) - at < piece ? sizeof(bytes) - at : piece);
		base64_end(&base64);
		btsrec_ck_ok(out_flush(&out));
		ck_assert_uint_eq(written.nr_bytes, whole.nr_bytes);
		ck_assert_mem_eq(written.bytes, whole.bytes, whole.nr_bytes);
	}
	free(whole.bytes);
	free(written.bytes);
	written = (struct out_text){ 0 };
}
END_TEST

START_TEST(numbers_at_every_place)
{
	for (size_t before = 0; before < 9; before++) {
		start();
		base64_bytes(&base64, (const uint8_t *)"\0\0\0\0\0\0\0\0", before);
		for (size_t i = 0; i < BASE64_BYTES / 2; i++)
			base64_u32(&base64, 0);
		base64_end(&base64);
		btsrec_ck_ok(out_flush(&out));
		ck_assert_uint_eq(written.nr_bytes, (before + 2 * BASE64_BYTES + 2) / 3 * 4);
	}
}
END_TEST

BTSREC_CK_MAIN("base64", as_the_rfc_has_it, every_digit, the_lowest_byte_first,
	       each_text_has_its_end, more_than_there_is_room_for, numbers_at_every_place)
