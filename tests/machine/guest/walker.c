// SPDX-License-Identifier: GPL-2.0-or-later
/* A user program that does nothing but call functions, forever. */
#include <unistd.h>

static volatile unsigned long sum;

static __attribute__((noinline)) void leaf(int i)
{
	sum += (unsigned long)i;
}

static __attribute__((noinline)) void middle(int i)
{
	leaf(i);
	if (i % 3)
		leaf(i + 1);
	if (i % 7 == 0)
		sum += (unsigned long)getppid();
}

static __attribute__((noinline)) int deep(int depth)
{
	int below = depth ? deep(depth - 1) : 0;

	leaf(depth);
	return below + 1;
}

int main(void)
{
	for (int i = 0;; i = (i + 1) % 1000) {
		middle(i);
		if (i % 5 == 0)
			sum += (unsigned long)deep(i % 4);
	}
}
