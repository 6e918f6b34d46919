// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/base64.h"

#define GROUP_BYTES	3
#define GROUP_DIGITS	4

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static char *put_group(char *at, const uint8_t *bytes)
{
	uint32_t bits = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];

	at[0] = digits[bits >> 18];
	at[1] = digits[bits >> 12 & 63];
	at[2] = digits[bits >> 6 & 63];
	at[3] = digits[bits & 63];
	return at + GROUP_DIGITS;
}

void base64_drain(struct base64 *base64)
{
	size_t nr_whole = base64->nr_bytes - base64->nr_bytes % GROUP_BYTES;
	struct out *out = base64->out;
	char *at;

	out_room(out);
	at = out->at;
	for (size_t i = 0; i < nr_whole; i += GROUP_BYTES)
		at = put_group(at, base64->bytes + i);
	out->at = at;
	base64->nr_bytes -= nr_whole;
	memmove(base64->bytes, base64->bytes + nr_whole, base64->nr_bytes);
}

void base64_bytes(struct base64 *base64, const uint8_t *bytes, size_t nr_bytes)
{
	while (nr_bytes) {
		size_t nr = BASE64_BYTES - base64->nr_bytes;

		if (nr > nr_bytes)
			nr = nr_bytes;
		memcpy(base64->bytes + base64->nr_bytes, bytes, nr);
		base64->nr_bytes += nr;
		bytes += nr;
		nr_bytes -= nr;
		if (base64->nr_bytes == BASE64_BYTES)
			base64_drain(base64);
	}
}

/* Of the last group as many digits as its bytes reach into. */
void base64_end(struct base64 *base64)
{
	char rest[GROUP_DIGITS] = { '=', '=', '=', '=' }, whole[GROUP_DIGITS];

	base64_drain(base64);
	if (!base64->nr_bytes)
		return;
	memset(base64->bytes + base64->nr_bytes, 0, GROUP_BYTES - base64->nr_bytes);
	put_group(whole, base64->bytes);
	memcpy(rest, whole, base64->nr_bytes + 1);
	out_bytes(base64->out, rest, sizeof(rest));
	base64->nr_bytes = 0;
}
