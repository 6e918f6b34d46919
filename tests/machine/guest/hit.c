// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: hit FILE
 * Writes "1" to FILE, in functions that probes of user code can be put at.
 */
#include <fcntl.h>
#include <unistd.h>

#define FUNCTION	__attribute__((noinline, noclone))

static volatile unsigned long effects;

/* Begins with the NOP that Linux since v6.18 makes a call of, from the second time on. */
__asm__(".pushsection .text\n"
	".globl hit_nop\n"
	".type hit_nop, @function\n"
	"hit_nop:\n"
	"	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
	"	ret\n"
	".size hit_nop, . - hit_nop\n"
	".popsection\n");
void hit_nop(void);

FUNCTION void hit_leaf(void)
{
	effects++;
}

FUNCTION int hit_write(int fd)
{
	hit_leaf();
	return write(fd, "1", 1) == 1;
}

FUNCTION int hit_root(int fd)
{
	int done = 0;

	for (int i = 0; i < 3; i++)
		hit_nop();
	done = hit_write(fd);
	effects++;
	return done;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_WRONLY) : -1;

	return fd < 0 || !hit_root(fd);
}
