// SPDX-License-Identifier: GPL-2.0-or-later
#include "escape.h"

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

size_t escaped_copy(char *ret, const char *text, size_t max_bytes)
{
	size_t i, at = 0;

	for (i = 0; i < max_bytes && text[i]; i++)
		at += escape_byte(ret + at, (unsigned char)text[i]);
	ret[at] = '\0';
	return at;
}
