// SPDX-License-Identifier: GPL-2.0-or-later
#include "failing_alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t nr, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_reallocarray(void *old, size_t nr, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
char *__real_strdup(const char *text);
int __real_vasprintf(char **ret, const char *fmt, va_list args);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t nr, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_reallocarray(void *old, size_t nr, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
char *__wrap_strdup(const char *text);
int __wrap_vasprintf(char **ret, const char *fmt, va_list args);
int __wrap_asprintf(char **ret, const char *fmt, ...);

/* Of all threads; @nth: 0: none fails. */
static unsigned int nth, nr_done;
static void (*watcher)(void);

void failing_alloc_watch(void (*on_alloc)(void))
{
	watcher = on_alloc;
}

void failing_alloc_arm(unsigned int number)
{
	nr_done = 0;
	nth = number;
}

bool failing_alloc_disarm(void)
{
	bool failed = nth && nr_done >= nth;

	nth = 0;
	return failed;
}

static bool fails_now(void)
{
	if (watcher)
		watcher();
	if (!nth || __atomic_add_fetch(&nr_done, 1, __ATOMIC_RELAXED) != nth)
		return false;
	errno = ENOMEM;
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

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
	return fails_now() ? NULL : __real_aligned_alloc(align, bytes);
}

char *__wrap_strdup(const char *text)
{
	return fails_now() ? NULL : __real_strdup(text);
}

int __wrap_vasprintf(char **ret, const char *fmt, va_list args)
{
	return fails_now() ? -1 : __real_vasprintf(ret, fmt, args);
}

int __wrap_asprintf(char **ret, const char *fmt, ...)
{
	va_list args;
	int nr_chars;

	va_start(args, fmt);
	nr_chars = __wrap_vasprintf(ret, fmt, args);
	va_end(args);
	return nr_chars;
}
