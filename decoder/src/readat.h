/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading files at an offset, and the smaller of two numbers for it. */
#ifndef BTSREC_READAT_H
#define BTSREC_READAT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/**
 * read_at() - all @nr_bytes bytes at @offset of the file @fd
 *
 * Return: true; false with errno, which is 0 where the file ends before.
 */
static inline bool read_at(int fd, uint64_t offset, void *buf, size_t nr_bytes)
{
	ssize_t nr_read;

	errno = 0;
	if (offset > INT64_MAX)
		return false;
	do {
		errno = 0;
		nr_read = pread(fd, buf, nr_bytes, (off_t)offset);
	} while (nr_read < 0 && errno == EINTR);
	return nr_read == (ssize_t)nr_bytes;
}

#endif /* BTSREC_READAT_H */
