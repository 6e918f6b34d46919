// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/out.h"

#include <stdlib.h>

#include "base/escape.h"

static const char hex_digits[] = "0123456789abcdef";

/* With @nr_bytes of @text. */
static void use_buffer(struct out *out, const char *text, size_t nr_bytes)
{
	out->buf = out->lent && *out->lent ? *out->lent : out->own;
	out->full = out->buf + OUT_WRITE_BYTES;
	out->at = out->buf + nr_bytes;
	if (nr_bytes)
		memcpy(out->buf, text, nr_bytes);
}

void out_lend(struct out *out, const struct btsrec_sink *sink, char *const *lent)
{
	out->sink = sink;
	out->lent = lent;
	use_buffer(out, NULL, 0);
}

void out_init(struct out *out, const struct btsrec_sink *sink)
{
	out->stopped = false;
	out_lend(out, sink, NULL);
}

/* The first @nr_bytes, more than there are after them. */
static void hand_over(struct out *out, size_t nr_bytes)
{
	const char *rest = out->buf + nr_bytes;
	size_t rest_bytes = (size_t)(out->at - rest);

	if (!out->stopped)
		out->stopped = !out->sink->write(out->sink->arg, out->buf, nr_bytes);
	use_buffer(out, rest, rest_bytes);
}

enum btsrec_status out_flush(struct out *out)
{
	out_room(out);
	if (out->at != out->buf)
		hand_over(out, (size_t)(out->at - out->buf));
	return out->stopped ? BTSREC_ERR_STOPPED : BTSREC_OK;
}

bool out_text_take(void *arg, const char *text, size_t nr_bytes)
{
	struct out_text *to = arg;
	char *bytes = to->bytes;

	if (to->room_bytes - to->nr_bytes < nr_bytes) {
		bytes = realloc(bytes, to->nr_bytes + nr_bytes);
		if (!bytes)
			return false;
		to->bytes = bytes;
		to->room_bytes = to->nr_bytes + nr_bytes;
	}
	memcpy(bytes + to->nr_bytes, text, nr_bytes);
	to->nr_bytes += nr_bytes;
	return true;
}

void out_drain(struct out *out)
{
	hand_over(out, OUT_WRITE_BYTES);
}

enum btsrec_status out_pages(struct out *out)
{
	size_t nr_bytes;

	out_room(out);
	nr_bytes = (size_t)(out->at - out->buf) / OUT_PAGE_BYTES * OUT_PAGE_BYTES;
	if (nr_bytes)
		hand_over(out, nr_bytes);
	return out->stopped ? BTSREC_ERR_STOPPED : BTSREC_OK;
}

const char out_digit_pairs[] =
	"00010203040506070809" "10111213141516171819" "20212223242526272829"
	"30313233343536373839" "40414243444546474849" "50515253545556575859"
	"60616263646566676869" "70717273747576777879" "80818283848586878889"
	"90919293949596979899";

static unsigned int nr_dec_digits(uint64_t value)
{
	unsigned int nr_digits = 1;

	for (; value >= 10000; value /= 10000)
		nr_digits += 4;
	return nr_digits + (value >= 10) + (value >= 100) + (value >= 1000);
}

#define MAX_SHORT	100000000	/* 8 digits are a word */
#define BYTES(byte)	(0x0101010101010101ULL * (byte))

/* The 8 digits of @value, the first one in the lowest byte; two, four, then all at once. */
static uint64_t dec_digits_of(uint32_t value)
{
	/* 10486 / 2^20 and 103 / 2^10 round down as 1/100 does up to 9999, and 1/10 up to 99. */
	uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
	uint64_t high = (fours * 10486) >> 20 & 0x0000007f0000007fULL;
	uint64_t twos = high | (fours - 100 * high) << 16;

	high = (twos * 103) >> 10 & 0x000f000f000f000fULL;
	return high | (twos - 10 * high) << 8;
}

static void put_word(char *at, uint64_t word)
{
	memcpy(at, &word, sizeof(word));
}

/* Of at most 8 digits, which most numbers are. */
static char *put_short(char *at, uint32_t value, unsigned int width)
{
	uint64_t digits = dec_digits_of(value);
	/* The last one is a digit even of 0. */
	unsigned int nr_blank_bits = (unsigned int)__builtin_ctzll(digits | 1ULL << 56) & ~7U;
	unsigned int nr_digits = 8 - nr_blank_bits / 8;
	/* A zero becomes a blank. */
	uint64_t text = (digits | BYTES('0')) ^
			(BYTES('0' ^ ' ') & ((1ULL << nr_blank_bits) - 1));

	if (width < nr_digits)
		width = nr_digits;
	if (width < 8) {
		put_word(at, text >> 8 * (8 - width));
		return at + width;
	}
	memset(at, ' ', 16);
	put_word(at + width - 8, text);
	return at + width;
}

char *put_dec(char *at, uint64_t value, unsigned int width)
{
	unsigned int nr_digits;
	char *end;

	if (value < MAX_SHORT)
		return put_short(at, (uint32_t)value, width);
	nr_digits = nr_dec_digits(value);
	memset(at, ' ', OUT_DEC_MAX_BYTES);
	if (width < nr_digits)
		width = nr_digits;
	for (end = at + width; value >= 10; value /= 100) {
		end -= 2;
		memcpy(end, out_digit_pairs + 2 * (value % 100), 2);
		nr_digits -= 2;
	}
	if (nr_digits)
		end[-1] = (char)('0' + value);
	return at + width;
}

void out_hex(struct out *out, uint64_t value)
{
	int shift = value ? 60 - (__builtin_clzll(value) & ~3) : 0;

	out_room(out);
	*out->at++ = '0';
	*out->at++ = 'x';
	for (; shift >= 0; shift -= 4)
		*out->at++ = hex_digits[(value >> shift) & 15];
}

void out_pad(struct out *out, const char *text, unsigned int width)
{
	size_t nr_bytes = strlen(text);

	out_bytes(out, text, nr_bytes);
	if (nr_bytes < width)
		out_blanks(out, width - nr_bytes);
}

void out_escaped(struct out *out, const char *text, size_t max_bytes)
{
	size_t i;

	for (i = 0; i < max_bytes && text[i]; i++) {
		out_room(out);
		out->at += escape_byte(out->at, (unsigned char)text[i]);
	}
}

void out_quoted(struct out *out, const char *text, size_t max_bytes)
{
	out_char(out, '"');
	out_escaped(out, text, max_bytes);
	out_char(out, '"');
}

/* One hostile byte inside a JSON string, 1..6 bytes: \u00NN instead of \xNN. */
static size_t json_byte(char *ret, unsigned char byte)
{
	char escaped[ESCAPED_MAX_BYTES];
	size_t nr_bytes = escape_byte(escaped, byte);

	if (nr_bytes < ESCAPED_MAX_BYTES) {
		memcpy(ret, escaped, nr_bytes);
		return nr_bytes;
	}
	memcpy(ret, "\\u00", 4);
	memcpy(ret + 4, escaped + 2, 2);
	return 6;
}

void out_json_text(struct out *out, const char *text, size_t max_bytes)
{
	for (size_t i = 0; i < max_bytes && text[i]; i++) {
		out_room(out);
		out->at += json_byte(out->at, (unsigned char)text[i]);
	}
}

void out_json_string(struct out *out, const char *text, size_t max_bytes)
{
	out_char(out, '"');
	out_json_text(out, text, max_bytes);
	out_char(out, '"');
}

void out_hex_bytes(struct out *out, const uint8_t *bytes, size_t nr_bytes)
{
	for (size_t i = 0; i < nr_bytes; i++) {
		out_char(out, hex_digits[bytes[i] >> 4]);
		out_char(out, hex_digits[bytes[i] & 15]);
	}
}
