// SPDX-License-Identifier: GPL-2.0-or-later
#include "failing_alloc.h"

#include <stddef.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t nr, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_reallocarray(void *old, size_t nr, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t nr, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_reallocarray(void *old, size_t nr, size_t bytes);

static unsigned int countdown;
static bool failed;

void failing_alloc_arm(unsigned int nth)
{
	countdown = nth;
	failed = false;
}

bool failing_alloc_disarm(void)
{
	countdown = 0;
	return failed;
}

static bool fails_now(void)
{
	if (!countdown || --countdown)
		return false;
	failed = true;
	return true;
}

void *__wrap_malloc(size_t bytes)
{
	return fails_now() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t nr, size_t bytes)
{
	return fails_now() ? NULL : __real_calloc(nr, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
	return fails_now() ? NULL : __real_realloc(old, bytes);
}

void *__wrap_reallocarray(void *old, size_t nr, size_t bytes)
{
	return fails_now() ? NULL : __real_reallocarray(old, nr, bytes);
}
