// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/poison.h"

#include <stdio.h>

#define NR(list)	(sizeof(list) / sizeof((list)[0]))

/* MAX_ERRNO of include/linux/err.h. */
#define MAX_ERRNO	4095

/* include/uapi/asm-generic/errno-base.h, and of errno.h and linux/errno.h what drivers return. */
static const struct {
	unsigned int nr;
	const char *name;
} errors[] = {
	{ 1, "EPERM" }, { 2, "ENOENT" }, { 3, "ESRCH" }, { 4, "EINTR" }, { 5, "EIO" },
	{ 6, "ENXIO" }, { 7, "E2BIG" }, { 8, "ENOEXEC" }, { 9, "EBADF" }, { 10, "ECHILD" },
	{ 11, "EAGAIN" }, { 12, "ENOMEM" }, { 13, "EACCES" }, { 14, "EFAULT" },
	{ 15, "ENOTBLK" }, { 16, "EBUSY" }, { 17, "EEXIST" }, { 18, "EXDEV" }, { 19, "ENODEV" },
	{ 20, "ENOTDIR" }, { 21, "EISDIR" }, { 22, "EINVAL" }, { 23, "ENFILE" },
	{ 24, "EMFILE" }, { 25, "ENOTTY" }, { 26, "ETXTBSY" }, { 27, "EFBIG" },
	{ 28, "ENOSPC" }, { 29, "ESPIPE" }, { 30, "EROFS" }, { 31, "EMLINK" }, { 32, "EPIPE" },
	{ 33, "EDOM" }, { 34, "ERANGE" }, { 35, "EDEADLK" }, { 36, "ENAMETOOLONG" },
	{ 38, "ENOSYS" }, { 39, "ENOTEMPTY" }, { 40, "ELOOP" }, { 61, "ENODATA" },
	{ 62, "ETIME" }, { 71, "EPROTO" }, { 74, "EBADMSG" }, { 75, "EOVERFLOW" },
	{ 90, "EMSGSIZE" }, { 95, "EOPNOTSUPP" }, { 98, "EADDRINUSE" }, { 104, "ECONNRESET" },
	{ 105, "ENOBUFS" }, { 107, "ENOTCONN" }, { 110, "ETIMEDOUT" }, { 111, "ECONNREFUSED" },
	{ 113, "EHOSTUNREACH" }, { 114, "EALREADY" }, { 115, "EINPROGRESS" }, { 116, "ESTALE" },
	{ 512, "ERESTARTSYS" }, { 517, "EPROBE_DEFER" }, { 524, "ENOTSUPP" },
};

/* include/linux/poison.h, with the POISON_POINTER_DELTA of x86-64. */
static const struct {
	uint64_t value;
	const char *text;
} words[] = {
	{ 0xdead000000000100ULL, "as LIST_POISON1, of what left a list" },
	{ 0xdead000000000122ULL, "as LIST_POISON2, of what left a list" },
	{ 0x6b6b6b6b6b6b6b6bULL, "as POISON_FREE, of freed objects" },
	{ 0xa56b6b6b6b6b6b6bULL, "as POISON_FREE, of freed objects" },
	{ 0x5a5a5a5a5a5a5a5aULL, "as POISON_INUSE, of objects not initialised" },
	{ 0xccccccccccccccccULL, "as POISON_FREE_INITMEM, of init memory" },
	{ 0xaaaaaaaaaaaaaaaaULL, "as PAGE_POISON, of free pages" },
};

static const char *error_name(unsigned int nr)
{
	for (size_t i = 0; i < NR(errors); i++)
		if (errors[i].nr == nr)
			return errors[i].name;
	return NULL;
}

const char *poison_text(uint64_t value, char *ret)
{
	uint64_t error = -value;
	const char *name;

	if (error && error <= MAX_ERRNO) {
		name = error_name((unsigned int)error);
		if (name)
			(void)snprintf(ret, POISON_TEXT_BYTES, "as the error -%s", name);
		else
			(void)snprintf(ret, POISON_TEXT_BYTES, "as the error -%u",
				       (unsigned int)error);
		return ret;
	}
	for (size_t i = 0; i < NR(words); i++) {
		if (words[i].value != value)
			continue;
		(void)snprintf(ret, POISON_TEXT_BYTES, "%s", words[i].text);
		return ret;
	}
	return NULL;
}
