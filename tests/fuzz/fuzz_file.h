/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that is none: a descriptor with its bytes in memory, as a system call for every read would
 * be most of an execution.  Linked with --wrap=pread.
 */
#ifndef BTSREC_FUZZ_FILE_H
#define BTSREC_FUZZ_FILE_H

#include <stddef.h>
#include <stdint.h>

/* The descriptor; the system has none as high. */
#define FUZZ_FD		INT32_MAX

/** fuzz_file() - from now on reads of FUZZ_FD give of @bytes, @nr_bytes of them; borrowed */
void fuzz_file(const uint8_t *bytes, size_t nr_bytes);

#endif
