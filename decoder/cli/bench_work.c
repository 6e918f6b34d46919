// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "cli.h"

#define COPY_BYTES	(1 << 20)
#define PAGE_BYTES	4096
#define NR_PAGES	64	/* that are touched and given back in one unit */
#define DEPTH		16

int bench_stopped;

/* What a wait for a process waits for; blocked at all other times. */
static sigset_t awaited;
static sigset_t before;

/* --- What there is to do ------------------------------------------------ */

static bool branches(uint64_t nr_units)
{
	/* Half of the jumps are taken, in no order that a predictor learns. */
	uint64_t random = 88172645463325252ULL, taken = 0;

	while (nr_units--) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		if (random & 1)
			__asm__ volatile("" : "+r" (taken));
	}
	return true;
}

static __attribute__((noinline)) unsigned int nest(unsigned int depth)
{
	/* The addition after it keeps it a call. */
	return depth ? nest(depth - 1) + 1 : 0;
}

static bool calls(uint64_t nr_units)
{
	volatile unsigned int depth = DEPTH;

	while (nr_units--)
		nest(depth);
	return true;
}

static bool syscalls(uint64_t nr_units)
{
	while (nr_units--)
		syscall(SYS_getppid);
	return true;
}

/* As a child that sends back what it is sent. */
static void echo(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1 && write(out, &byte, 1) == 1)
		;
	_exit(0);
}

/* Two processes on one CPU: each byte there and back are two switches. */
static bool switches(uint64_t nr_units)
{
	int there[2], back[2];
	cpu_set_t cpus;
	char byte = 0;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) || pipe(there) || pipe(back))
		return false;
	switch (fork()) {
	case -1:
		return false;
	case 0:
		close(there[1]);
		echo(there[0], back[1]);
	}
	while (nr_units--)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			return false;
	close(there[1]);
	return wait(NULL) > 0;
}

static bool faults(uint64_t nr_units)
{
	char *pages = mmap(NULL, NR_PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return false;
	while (nr_units--) {
		for (size_t i = 0; i < NR_PAGES; i++)
			((volatile char *)pages)[i * PAGE_BYTES] = 1;
		if (madvise(pages, NR_PAGES * PAGE_BYTES, MADV_DONTNEED))
			return false;
	}
	return true;
}

static bool copies(uint64_t nr_units)
{
	char *from = calloc(2, COPY_BYTES), *to;

	if (!from)
		return false;
	to = from + COPY_BYTES;
	while (nr_units--) {
		memcpy(to, from, COPY_BYTES);
		__asm__ volatile("" : : "r" (to) : "memory");
	}
	free(from);
	return true;
}

const struct bench_work bench_works[] = {
	{ "branches", "a loop of user code with a jump that is taken half of the time", branches },
	{ "calls", "16 calls in each other and back", calls },
	{ "syscalls", "getppid()", syscalls },
	{ "switches", "a byte to another process on the same CPU and back", switches },
	{ "faults", "64 pages touched for the first time", faults },
	{ "copies", "1 MiB of memory copied", copies },
	{ NULL, NULL, NULL },
};

/* --- Doing it ----------------------------------------------------------- */

static void __attribute__((noreturn)) child(const struct bench_work *work, uint64_t nr_units,
					    char *const *argv)
{
	int nowhere;

	sigprocmask(SIG_SETMASK, &before, NULL);
	if (work->run)
		_exit(work->run(nr_units) ? 0 : 126);
	nowhere = open("/dev/null", O_WRONLY);
	if (nowhere >= 0)
		dup2(nowhere, STDOUT_FILENO);
	execvp(argv[0], argv);
	fprintf(stderr, "btsrec: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void bench_block_signals(void)
{
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGCHLD);
	sigaddset(&awaited, SIGHUP);
	sigaddset(&awaited, SIGINT);
	sigaddset(&awaited, SIGTERM);
	sigprocmask(SIG_BLOCK, &awaited, &before);
}

/* A signal to this program ends the work, so that the recorder can be left in order. */
static int wait_for(pid_t pid)
{
	int status;

	while (!waitpid(pid, &status, WNOHANG)) {
		int number = sigwaitinfo(&awaited, NULL);

		if (number > 0 && number != SIGCHLD) {
			bench_stopped = number;
			kill(pid, SIGKILL);
		}
	}
	return status;
}

bool bench_time(const struct bench_work *work, uint64_t nr_units, char *const *argv,
		double *ret_s)
{
	double begin_s;
	int status;
	pid_t pid;

	fflush(NULL);
	begin_s = now_s();
	pid = fork();
	if (!pid)
		child(work, nr_units, argv);
	status = pid < 0 ? -1 : wait_for(pid);
	*ret_s = now_s() - begin_s;
	if (bench_stopped)
		return false;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return true;
	front_error("%s: %s failed, with status 0x%x", bench_command, work->name,
		    (unsigned int)status);
	return false;
}
