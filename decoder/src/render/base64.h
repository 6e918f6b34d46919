/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes as printable ASCII (RFC 4648, with padding), for a JSON string. */
#ifndef BTSREC_BASE64_H
#define BTSREC_BASE64_H

#include <stdint.h>

#include "render/out.h"

/* Whole groups of three; their digits are one text, see OUT_BUFFER_BYTES. */
#define BASE64_BYTES 3072

/**
 * struct base64 - bytes on their way
 * @out: borrowed.
 * @bytes: @nr_bytes of them are not written yet.
 */
struct base64 {
	struct out *out;
	size_t nr_bytes;
	uint8_t bytes[BASE64_BYTES];
};

/** base64_begin() - nothing yet; leaves the room for bytes as it is */
static inline void base64_begin(struct base64 *base64, struct out *out)
{
	base64->out = out;
	base64->nr_bytes = 0;
}

/** base64_drain() - write all whole groups of three bytes */
void base64_drain(struct base64 *base64);

/** base64_bytes() - @nr_bytes bytes of any kind */
void base64_bytes(struct base64 *base64, const uint8_t *bytes, size_t nr_bytes);

/** base64_u32() - four bytes, the lowest first */
static inline void base64_u32(struct base64 *base64, uint32_t value)
{
	if (base64->nr_bytes > BASE64_BYTES - sizeof(value))
		base64_drain(base64);
	for (unsigned int shift = 0; shift < 32; shift += 8)
		base64->bytes[base64->nr_bytes++] = (uint8_t)(value >> shift);
}

/** base64_end() - the rest and the padding; more may follow, as a text of its own */
void base64_end(struct base64 *base64);

#endif /* BTSREC_BASE64_H */
