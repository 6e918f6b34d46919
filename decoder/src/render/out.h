/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A buffer in front of the caller's sink, and the primitives that put numbers and
 * strings into it.  What is more than one write leaves in writes of OUT_WRITE_BYTES:
 * if those begin at whole pages of a file, the system takes them in half the time.
 *
 * Text that was read from a dump or a symbol file is hostile.  It may only pass
 * out_quoted(), out_escaped(), out_json_string() or out_json_text().
 */
#ifndef BTSREC_OUT_H
#define BTSREC_OUT_H

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <btsrec/decoder.h>

/* The longest text that is put into the buffer at once. */
#define OUT_BUFFER_BYTES	(64 * 1024)
#define OUT_WRITE_BYTES		(256 * 1024)
#define OUT_PAGE_BYTES		4096
#define OUT_BYTES		(OUT_WRITE_BYTES + OUT_BUFFER_BYTES)

/**
 * struct out - bytes on their way to a sink
 * @sink: borrowed.
 * @stopped: the sink returned false; everything after is dropped.
 * @at: first free byte of @buf.
 * @buf: has room for one more text when there is enough to write: @full.
 * @lent: NULL, or which buffer is used in place of @own; looked at after each write.
 */
struct out {
	const struct btsrec_sink *sink;
	bool stopped;
	char *at;
	char *full;
	char *buf;
	char *const *lent;
	char own[OUT_BYTES];
};

/** struct out_text - @nr_bytes of @bytes, kept in memory; owned, to be freed */
struct out_text {
	char *bytes;
	size_t nr_bytes;
	size_t room_bytes;
};

/** out_text_take() - the function of a sink that appends to the struct out_text @arg */
bool out_text_take(void *arg, const char *text, size_t nr_bytes);

/** out_init() - start an empty buffer in front of @sink */
void out_init(struct out *out, const struct btsrec_sink *sink);

/**
 * out_lend() - from now on @sink is the sink of @out, which is empty
 * @lent: NULL, or where @sink says after each write which buffer of OUT_BYTES is used from then
 *	on, NULL: none.  The text in the one before stays meanwhile.
 */
void out_lend(struct out *out, const struct btsrec_sink *sink, char *const *lent);

/** out_flush() - hand everything to the sink; BTSREC_OK or BTSREC_ERR_STOPPED */
enum btsrec_status out_flush(struct out *out);

/** out_pages() - the same of whole pages, so that the next write begins at one, too */
enum btsrec_status out_pages(struct out *out);

/** out_drain() - hand OUT_WRITE_BYTES to the sink, of more */
void out_drain(struct out *out);

/** out_room() - make sure that OUT_BUFFER_BYTES are free */
static inline void out_room(struct out *out)
{
	if (out->at >= out->full)
		out_drain(out);
}

static inline void out_char(struct out *out, char c)
{
	out_room(out);
	*out->at++ = c;
}

/** out_bytes() - @nr_bytes bytes of trusted text, at most OUT_BUFFER_BYTES */
static inline void out_bytes(struct out *out, const char *text, size_t nr_bytes)
{
	out_room(out);
	memcpy(out->at, text, nr_bytes);
	out->at += nr_bytes;
}

/** out_long() - as out_bytes(), of any length */
static inline void out_long(struct out *out, const char *text, size_t nr_bytes)
{
	for (; nr_bytes > OUT_BUFFER_BYTES; nr_bytes -= OUT_BUFFER_BYTES) {
		out_bytes(out, text, OUT_BUFFER_BYTES);
		text += OUT_BUFFER_BYTES;
	}
	out_bytes(out, text, nr_bytes);
}

/** out_literal() - a string constant */
#define out_literal(out, s)	out_bytes((out), "" s, sizeof(s) - 1)

/** out_str() - NUL-terminated trusted text */
static inline void out_str(struct out *out, const char *text)
{
	out_bytes(out, text, strlen(text));
}

/* 2^64 has 20 digits; 0x and 16 digits. */
#define OUT_DEC_MAX_BYTES	20
#define OUT_HEX16_BYTES		18

/** put_dec() - out_dec() to @at, which has OUT_DEC_MAX_BYTES of room; returns its end */
char *put_dec(char *at, uint64_t value, unsigned int width);

/** out_digit_pairs - "00" to "99", without blanks or NULs between */
extern const char out_digit_pairs[];

/** out_digits8() - the 8 hexadecimal digits of @value, the first one lowest */
static inline uint64_t out_digits8(uint32_t value)
{
	uint64_t x = __builtin_bswap32(value), letters;

	/* Spread to halves, bytes and, the high one first, nibbles. */
	x = (x | x << 16) & 0x0000ffff0000ffffULL;
	x = (x | x << 8) & 0x00ff00ff00ff00ffULL;
	x = (x >> 4 | x << 8) & 0x0f0f0f0f0f0f0f0fULL;
	/* A nibble from 10 on carries into the bit above when 6 are added. */
	letters = (x + 0x0606060606060606ULL) >> 4 & 0x0101010101010101ULL;
	return x + 0x3030303030303030ULL + letters * ('a' - '9' - 1);
}

/** put_digits16_words() - put_digits16() on any processor */
static inline char *put_digits16_words(char *at, uint64_t value)
{
	uint64_t digits[2] = { out_digits8((uint32_t)(value >> 32)), out_digits8((uint32_t)value) };

	memcpy(at, digits, sizeof(digits));
	return at + sizeof(digits);
}

/** put_digits16() - exactly 16 hexadecimal digits to @at; returns their end */
static inline char *put_digits16(char *at, uint64_t value)
{
#ifdef __SSE2__
	__m128i bytes = _mm_cvtsi64_si128((int64_t)__builtin_bswap64(value));
	__m128i low = _mm_set1_epi8(15);
	__m128i nibbles = _mm_unpacklo_epi8(_mm_and_si128(_mm_srli_epi64(bytes, 4), low),
					    _mm_and_si128(bytes, low));
	__m128i letters = _mm_and_si128(_mm_cmpgt_epi8(nibbles, _mm_set1_epi8(9)),
					_mm_set1_epi8('a' - '9' - 1));

	nibbles = _mm_add_epi8(_mm_add_epi8(nibbles, _mm_set1_epi8('0')), letters);
	_mm_storeu_si128((__m128i *)at, nibbles);
	return at + sizeof(nibbles);
#else
	return put_digits16_words(at, value);
#endif
}

/** put_bytes() - @nr_bytes bytes to @at; returns their end */
static inline char *put_bytes(char *at, const char *text, size_t nr_bytes)
{
	memcpy(at, text, nr_bytes);
	return at + nr_bytes;
}

/** put_literal() - a string constant to @at; returns its end */
#define put_literal(at, s)	put_bytes((at), "" s, sizeof(s) - 1)

/** put_hex16() - out_hex16() to @at, which has OUT_HEX16_BYTES of room; returns its end */
static inline char *put_hex16(char *at, uint64_t value)
{
	return put_digits16(put_literal(at, "0x"), value);
}

/** out_dec() - @value in decimal, right-aligned in @width columns (at most 20) */
static inline void out_dec(struct out *out, uint64_t value, unsigned int width)
{
	out_room(out);
	out->at = put_dec(out->at, value, width);
}

/** out_hex16() - 0x and exactly 16 digits */
static inline void out_hex16(struct out *out, uint64_t value)
{
	out_room(out);
	out->at = put_hex16(out->at, value);
}

/** out_hex() - 0x and as few digits as @value needs */
void out_hex(struct out *out, uint64_t value);

/** out_blanks() - @nr blanks, at most OUT_BUFFER_BYTES */
static inline void out_blanks(struct out *out, size_t nr)
{
	out_room(out);
	memset(out->at, ' ', nr);
	out->at += nr;
}

/** out_pad() - @text, then blanks up to @width columns */
void out_pad(struct out *out, const char *text, unsigned int width);

/**
 * out_escaped() - hostile bytes, without quotes
 *
 * Everything but printable ASCII becomes \xNN, a backslash \\ and a quote \".
 * Ends at a NUL or after @max_bytes.
 */
void out_escaped(struct out *out, const char *text, size_t max_bytes);

/** out_quoted() - out_escaped() between double quotes */
void out_quoted(struct out *out, const char *text, size_t max_bytes);

/**
 * out_json_string() - hostile bytes as a JSON string with quotes
 *
 * A byte above 0x7e becomes the code point of the same number (\u0080..\u00ff).  So the result is
 * valid whatever the encoding was, and no byte is lost.
 */
void out_json_string(struct out *out, const char *text, size_t max_bytes);

/** out_json_text() - the same without quotes, for a part of a string */
void out_json_text(struct out *out, const char *text, size_t max_bytes);

/** out_hex_bytes() - two digits per byte, nothing between */
void out_hex_bytes(struct out *out, const uint8_t *bytes, size_t nr_bytes);

#endif /* BTSREC_OUT_H */
