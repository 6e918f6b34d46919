// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nthalloc: for LD_PRELOAD.  The allocation number NTHALLOC of the process fails, for any caller.
 * Or reads of files fail from number NTHALLOC_READ on, as of a medium that is gone.  What it has to
 * say goes to descriptor NTHALLOC_FD, a line each: "failed", with the code that asked for it;
 * "crashed" with the innermost code that is not libc's; at the end "allocations" and "reads" with
 * their numbers.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_CALLERS	64

/* What glibc's malloc() and the others are, so that none has to be looked up by dlsym(). */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t nr, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);

static unsigned long nth, nth_read;
static int log_fd = -1;
static atomic_ulong nr_done, nr_reads;

static void say(const char *what, const char *file)
{
	char text[512];
	int nr_bytes = snprintf(text, sizeof(text), "%s %s\n", what, file ? file : "?");

	if (log_fd < 0 || nr_bytes < 0)
		return;
	if (write(log_fd, text, (size_t)nr_bytes) < 0)
		abort();
}

static const char *file_of(const void *code)
{
	Dl_info info;
	const char *name;

	if (!dladdr(code, &info) || !info.dli_fname)
		return NULL;
	name = strrchr(info.dli_fname, '/');
	return name ? name + 1 : info.dli_fname;
}

static int fails_now(const void *caller)
{
	if (atomic_fetch_add(&nr_done, 1) + 1 != nth)
		return 0;
	say("failed", file_of(caller));
	errno = ENOMEM;
	return 1;
}

static int read_fails(const void *caller)
{
	unsigned long nr = atomic_fetch_add(&nr_reads, 1) + 1;

	if (!nth_read || nr < nth_read)
		return 0;
	if (nr == nth_read)
		say("failed", file_of(caller));
	errno = EIO;
	return 1;
}

static void on_crash(int signal_nr)
{
	void *callers[MAX_CALLERS];
	int nr = backtrace(callers, MAX_CALLERS);
	const char *file = NULL;

	/* The first is this function, then comes the frame of the signal, in libc. */
	for (int i = 1; i < nr; i++) {
		file = file_of(callers[i]);
		if (file && strncmp(file, "libc.so", 7) && strncmp(file, "libnthalloc", 11) &&
		    strncmp(file, "ld-linux", 8))
			break;
	}
	say("crashed", file);
	signal(signal_nr, SIG_DFL);
	raise(signal_nr);
}

__attribute__((constructor)) static void begin(void)
{
	const char *n = getenv("NTHALLOC"), *read = getenv("NTHALLOC_READ");
	const char *fd = getenv("NTHALLOC_FD");
	void *callers[1];

	/* The first call loads a library. */
	(void)backtrace(callers, 1);
	signal(SIGSEGV, on_crash);
	signal(SIGBUS, on_crash);
	signal(SIGFPE, on_crash);
	signal(SIGABRT, on_crash);
	log_fd = fd ? atoi(fd) : -1;
	atomic_store(&nr_done, 0);
	nth = n ? strtoul(n, NULL, 10) : 0;
	nth_read = read ? strtoul(read, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", atomic_load(&nr_done));
	say("allocations", text);
	snprintf(text, sizeof(text), "%lu", atomic_load(&nr_reads));
	say("reads", text);
}

void *malloc(size_t bytes)
{
	return fails_now(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t nr, size_t bytes)
{
	return fails_now(__builtin_return_address(0)) ? NULL : __libc_calloc(nr, bytes);
}

void *realloc(void *old, size_t bytes)
{
	return fails_now(__builtin_return_address(0)) ? NULL : __libc_realloc(old, bytes);
}

void *reallocarray(void *old, size_t nr, size_t bytes)
{
	size_t all_bytes;

	if (fails_now(__builtin_return_address(0)))
		return NULL;
	if (__builtin_mul_overflow(nr, bytes, &all_bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(old, all_bytes);
}

void *aligned_alloc(size_t align, size_t bytes)
{
	return fails_now(__builtin_return_address(0)) ? NULL : __libc_memalign(align, bytes);
}

int posix_memalign(void **ret, size_t align, size_t bytes)
{
	if (fails_now(__builtin_return_address(0)))
		return ENOMEM;
	*ret = __libc_memalign(align, bytes);
	return *ret ? 0 : ENOMEM;
}

ssize_t pread(int fd, void *buf, size_t nr_bytes, off_t offset)
{
	return read_fails(__builtin_return_address(0)) ? -1 :
	       syscall(SYS_pread64, fd, buf, nr_bytes, offset);
}

ssize_t pread64(int fd, void *buf, size_t nr_bytes, off64_t offset)
{
	return read_fails(__builtin_return_address(0)) ? -1 :
	       syscall(SYS_pread64, fd, buf, nr_bytes, offset);
}

ssize_t preadv(int fd, const struct iovec *parts, int nr, off_t offset)
{
	return read_fails(__builtin_return_address(0)) ? -1 :
	       syscall(SYS_preadv, fd, parts, nr, offset, 0);
}
