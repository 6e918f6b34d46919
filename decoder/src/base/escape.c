// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

size_t escape_byte(char *ret, unsigned char byte)
{
	static const char hex_digits[] = "0123456789abcdef";

	if (byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\') {
		ret[0] = (char)byte;
		return 1;
	}
	ret[0] = '\\';
	if (byte == '"' || byte == '\\') {
		ret[1] = (char)byte;
		return 2;
	}
	ret[1] = 'x';
	ret[2] = hex_digits[byte >> 4];
	ret[3] = hex_digits[byte & 15];
	return 4;
}

/* @byte in all eight. */
#define EIGHT(byte)	(0x0101010101010101ULL * (byte))

/* Is one of @eight bytes less than @limit, 1 to 128? Not which: a borrow makes others uncertain. */
static bool has_less(uint64_t eight, unsigned char limit)
{
	return (eight - EIGHT(limit)) & ~eight & EIGHT(0x80);
}

static bool has(uint64_t eight, unsigned char byte)
{
	return has_less(eight ^ EIGHT(byte), 1);
}

/* Would escape_byte() leave all of @eight bytes as they are? */
static bool all_plain(uint64_t eight)
{
	return !has_less(eight, 0x20) && !(eight & EIGHT(0x80)) && !has(eight, 0x7f) &&
	       !has(eight, '"') && !has(eight, '\\');
}

size_t escaped_copy(char *ret, const char *text, size_t max_bytes)
{
	size_t i = 0, at = 0;
	uint64_t eight;

	while (max_bytes - i >= sizeof(eight)) {
		memcpy(&eight, text + i, sizeof(eight));
		if (!all_plain(eight))
			break;
		memcpy(ret + i, text + i, sizeof(eight));
		i += sizeof(eight);
	}
	for (at = i; i < max_bytes && text[i]; i++)
		at += escape_byte(ret + at, (unsigned char)text[i]);
	ret[at] = '\0';
	return at;
}
