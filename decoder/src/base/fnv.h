/* SPDX-License-Identifier: GPL-2.0-or-later */
/* FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
#ifndef BTSREC_FNV_H
#define BTSREC_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV_BASIS	0xcbf29ce484222325ULL
#define FNV_PRIME	0x100000001b3ULL

/** fnv_line() - @hash, which begins with FNV_BASIS, with @nr_bytes of @bytes and a newline */
static inline uint64_t fnv_line(uint64_t hash, const void *bytes, size_t nr_bytes)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < nr_bytes; i++)
		hash = (hash ^ at[i]) * FNV_PRIME;
	return (hash ^ '\n') * FNV_PRIME;
}

#endif /* BTSREC_FNV_H */
