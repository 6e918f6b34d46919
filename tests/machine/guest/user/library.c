// SPDX-License-Identifier: GPL-2.0-only
#include "library.h"

static __attribute__((noinline)) unsigned int library_local(unsigned int value)
{
	return value & 1 ? 3 * value + 1 : value / 2;
}

unsigned int library_work(unsigned int value)
{
	for (int i = 0; i < 10; i++)
		value = library_local(value);
	return value;
}
