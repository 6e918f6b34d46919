/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes that a dump or a program could choose, as printable ASCII: \xNN for the
 * others, and a backslash before " and \.
 */
#ifndef BTSREC_ESCAPE_H
#define BTSREC_ESCAPE_H

#include <stddef.h>

/* The most that one byte becomes. */
#define ESCAPED_MAX_BYTES	4

/** escape_byte() - @byte into @ret; returns how many bytes that took */
size_t escape_byte(char *ret, unsigned char byte);

/**
 * escaped_copy() - up to @max_bytes bytes of @text, or up to the first zero
 * @text: @max_bytes bytes may be read, also after a zero.
 * @ret: has room for ESCAPED_MAX_BYTES * @max_bytes + 1 bytes.
 *
 * Return: the length of what is in @ret, without the zero at its end.
 */
size_t escaped_copy(char *ret, const char *text, size_t max_bytes);

#endif /* BTSREC_ESCAPE_H */
