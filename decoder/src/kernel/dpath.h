/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The path of an open file, as /proc/PID/maps would print it.  Pure: kernel memory
 * in, bytes out.
 */
#ifndef BTSREC_DPATH_H
#define BTSREC_DPATH_H

#include "kernel/layout.h"

/* PATH_MAX of the kernel; d_path() gives no longer ones either. */
#define DPATH_MAX_BYTES	4096

/**
 * struct dpath - a path; any bytes may be in it, but no NUL before its end
 * @deleted: the file had been unlinked.
 */
struct dpath {
	bool deleted;
	char text[DPATH_MAX_BYTES];
};

/**
 * dpath_read() - from the root of the mounts to the struct file at @file_kva
 *
 * The way is that of prepend_path() in fs/d_path.c, v6.1: up the dentries, and from
 * the root of a mount to where it is mounted.  A process that had another root saw
 * less of the path.
 *
 * Return: false: a part of it is not in the dump, or it has no end.
 */
bool dpath_read(const struct kread *kernel, const struct layout *layout, uint64_t file_kva,
		struct dpath *ret);

#endif /* BTSREC_DPATH_H */
