// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load: insmod that tries once; busybox's tries again by another system call.
 *
 *   load FILE [PARAMETERS]
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;

	if (fd < 0 || syscall(SYS_finit_module, fd, argc > 2 ? argv[2] : "", 0)) {
		perror("load");
		return 1;
	}
	return 0;
}
