/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening files, reading them at an offset, and the smaller of two numbers for it. */
#ifndef BTSREC_READAT_H
#define BTSREC_READAT_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/**
 * open_regular() - the file at @path for reading, if it is one that has an end
 *
 * A pipe without a writer would be waited for, and a device may never end.
 *
 * Return: to be closed; -1 with errno: EISDIR, ENODEV for what else is no file, or the system's.
 */
static inline int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat file = { 0 };

	if (fd < 0 || (!fstat(fd, &file) && S_ISREG(file.st_mode)))
		return fd;
	close(fd);
	errno = S_ISDIR(file.st_mode) ? EISDIR : ENODEV;
	return -1;
}

/** open_regular_error() - why open_regular() has failed, by errno; static, or as strerror() */
static inline const char *open_regular_error(void)
{
	return errno == ENODEV ? "no regular file" : strerror(errno);
}

/**
 * read_at() - all @nr_bytes bytes at @offset of the file @fd
 *
 * Return: true; false with errno, which is 0 where the file ends before.
 */
static inline bool read_at(int fd, uint64_t offset, void *buf, size_t nr_bytes)
{
	size_t nr_done = 0;

	errno = 0;
	/* Where the medium fails, what is before comes first; only the next read says why. */
	while (nr_done < nr_bytes && offset <= INT64_MAX - nr_done) {
		uint64_t at = offset + nr_done;
		/* No file is longer, but the system would refuse to look. */
		size_t len_bytes = min_u64(nr_bytes - nr_done, INT64_MAX - at);
		ssize_t nr_read = pread(fd, (char *)buf + nr_done, len_bytes, (off_t)at);

		if (nr_read < 0 && errno != EINTR)
			return false;
		errno = 0;
		if (!nr_read)
			return false;
		nr_done += nr_read > 0 ? (size_t)nr_read : 0;
	}
	return nr_done == nr_bytes;
}

#endif /* BTSREC_READAT_H */
