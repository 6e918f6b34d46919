// SPDX-License-Identifier: GPL-2.0-or-later
#include "fuzz_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

ssize_t __real_pread(int fd, void *buf, size_t nr_bytes, off_t offset);
ssize_t __wrap_pread(int fd, void *buf, size_t nr_bytes, off_t offset);

static const uint8_t *file;
static size_t file_bytes;

void fuzz_file(const uint8_t *bytes, size_t nr_bytes)
{
	file = bytes;
	file_bytes = nr_bytes;
}

ssize_t __wrap_pread(int fd, void *buf, size_t nr_bytes, off_t offset)
{
	if (fd != FUZZ_FD)
		return __real_pread(fd, buf, nr_bytes, offset);
	if (offset < 0 || (size_t)offset >= file_bytes)
		return 0;
	if (nr_bytes > file_bytes - (size_t)offset)
		nr_bytes = file_bytes - (size_t)offset;
	memcpy(buf, file + offset, nr_bytes);
	return (ssize_t)nr_bytes;
}

bool fuzz_named(struct fuzz_named *named, const void *bytes, size_t nr_bytes)
{
	if (!*named->path) {
		named->fd = memfd_create("named", MFD_CLOEXEC);
		snprintf(named->path, sizeof(named->path), "/proc/self/fd/%d", named->fd);
	}
	return named->fd >= 0 && !ftruncate(named->fd, 0) &&
	       pwrite(named->fd, bytes, nr_bytes, 0) == (ssize_t)nr_bytes;
}
