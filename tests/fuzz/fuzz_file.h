/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that is none: a descriptor with its bytes in memory, as a system call for every read would
 * be most of an execution.  Linked with --wrap=pread.
 */
#ifndef BTSREC_FUZZ_FILE_H
#define BTSREC_FUZZ_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The descriptor; the system has none as high. */
#define FUZZ_FD		INT32_MAX

/** fuzz_file() - from now on reads of FUZZ_FD give of @bytes, @nr_bytes of them; borrowed */
void fuzz_file(const uint8_t *bytes, size_t nr_bytes);

/** struct fuzz_named - a file in memory for what opens files by name; zero: none yet */
struct fuzz_named {
	int fd;
	char path[32];
};

/** fuzz_named() - the file has just @bytes, @nr_bytes of them; false: the system refuses */
bool fuzz_named(struct fuzz_named *named, const void *bytes, size_t nr_bytes);

#endif
