// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process for the scenarios user-names and perf-agrees: user code of every kind that
 * has a name of its own, or none.  Argument: how many rounds; without one it never ends.
 * With "crash" a child of it works and ends, then it works itself and crashes the kernel.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "library.h"

/* Not inlined, so that each is a symbol with branches. */
#define FUNCTION	__attribute__((noinline))

static FUNCTION unsigned int work_local(unsigned int value)
{
	return value % 3 ? value * 5 : value + 1;
}

FUNCTION unsigned int work_global(unsigned int value)
{
	for (int i = 0; i < 20; i++)
		value = work_local(value + (unsigned int)i);
	return value;
}

/* mov %edi,%eax; dec %eax; jnz -4; ret */
static const uint8_t made_code[] = { 0x89, 0xf8, 0xff, 0xc8, 0x75, 0xfc, 0xc3 };

static int (*make_code(void))(int)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		exit(1);
	memcpy(page, made_code, sizeof(made_code));
	return (int (*)(int))page;
}

static int compare(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

static FUNCTION void work_round(int (*made)(int), unsigned int round)
{
	int numbers[32];
	struct timespec now;

	for (unsigned int i = 0; i < 32; i++)
		numbers[i] = (int)(work_global(round + i) % 1000);
	qsort(numbers, 32, sizeof(numbers[0]), compare);
	clock_gettime(CLOCK_MONOTONIC, &now);
	library_work((unsigned int)numbers[3]);
	made(20);
	(void)getppid();
}

/* On one CPU, so that its ring has both processes, in this order, and little else. */
static int work_and_crash(int (*made)(int))
{
	cpu_set_t first;
	pid_t child;
	int trigger;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	trigger = open("/proc/sysrq-trigger", O_WRONLY);
	if (trigger < 0 || sched_setaffinity(0, sizeof(first), &first))
		return 1;
	child = fork();
	if (child < 0)
		return 1;
	work_round(made, 0);
	if (!child)
		return 0;
	if (waitpid(child, NULL, 0) != child)
		return 1;
	work_round(made, 1);
	return write(trigger, "c", 1) != 1;
}

int main(int argc, char **argv)
{
	unsigned long nr_rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	int (*made)(int) = make_code();

	if (argc > 1 && !strcmp(argv[1], "crash"))
		return work_and_crash(made);
	for (unsigned long round = 0; !nr_rounds || round < nr_rounds; round++) {
		work_round(made, (unsigned int)round);
		if (round % 4 == 3)
			usleep(1000);
	}
	return 0;
}
