// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * blockstep: runs a child with PTRACE_SINGLEBLOCK, so that the kernel sets DEBUGCTL.BTF.
 *
 *   blockstep STEPS
 *
 * Prints how often the child stopped, and at how many different places.  Exits with 1 if
 * a step was no step, or if the child did not compute what it should.
 *
 * The emulated processor has no BTF: each of its steps is an instruction.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS		20000
#define SUM		171414287	/* of what compute() adds up */
#define EXPECTED	77
#define PTRACE_SINGLEBLOCK_X86	33

static int compute(void)
{
	volatile uint32_t sum = 0;

	for (uint32_t i = 0; i < ROUNDS; i++)
		sum += i % 7 ? i : 1;
	return sum == SUM ? EXPECTED : 1;
}

static void child(void)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(2);
	raise(SIGSTOP);
	_exit(compute());
}

static int step(pid_t pid, unsigned long *moves)
{
	struct user_regs_struct before, after;
	int status;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &before) ||
	    ptrace((enum __ptrace_request)PTRACE_SINGLEBLOCK_X86, pid, NULL, NULL) ||
	    waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    WSTOPSIG(status) != SIGTRAP || ptrace(PTRACE_GETREGS, pid, NULL, &after))
		return -1;
	*moves += before.rip != after.rip;
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long i, moves = 0, steps = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000;
	pid_t pid = fork();
	int status;

	if (!pid)
		child();
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return 1;
	for (i = 0; i < steps; i++) {
		if (step(pid, &moves)) {
			fprintf(stderr, "step %lu is no step\n", i);
			return 1;
		}
	}
	if (ptrace(PTRACE_CONT, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid ||
	    !WIFEXITED(status) || WEXITSTATUS(status) != EXPECTED) {
		fprintf(stderr, "the child ended with status 0x%x\n", status);
		return 1;
	}
	printf("steps=%lu moves=%lu\n", i, moves);
	return 0;
}
