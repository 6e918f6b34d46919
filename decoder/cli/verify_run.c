// SPDX-License-Identifier: GPL-2.0-or-later
/* Executes the code with known branches, in a process of its own for each run. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "verify.h"

#define PAGE_BYTES	       4096
#define WAIT_MS		       1000
#define MAX_SIGNALS	       5 /* each is some thousand branches */
#define TICK_US		       5000
#define IDLE_MS		       300
#define COST_RUNS	       5
#define COST_ROUNDS	       500
#define MAX_STOPS	       100
#define PTRACE_SINGLEBLOCK_X86 33 /* asm/ptrace-abi.h */

struct verify_shared *verify_shared;

bool verify_pin(unsigned int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (!sched_setaffinity(0, sizeof(cpus), &cpus))
		return true;
	front_error("verify-hardware: cannot run on CPU %u", cpu);
	return false;
}

static bool handle(int number, void (*handler)(int))
{
	/* The handlers are of the known code; one of them changes the context. */
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_SIGINFO};

	return !sigaction(number, &action, NULL);
}

bool verify_run_codes(uint64_t nr)
{
	char *page =
		mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)nr;
	if (page == MAP_FAILED || !handle(SIGTRAP, verify_handler_next) ||
	    !handle(SIGILL, verify_handler_skip) || !handle(SIGFPE, verify_handler_skip))
		return false;
	if (!verify_mark())
		return false;
	for (const struct verify_code *code = verify_codes; code->name; code++)
		code->run(page);
	return true;
}

bool verify_run_sequence(uint64_t nr)
{
	(void)nr;
	if (!verify_mark())
		return false;
	verify_sequence.run(NULL);
	return true;
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void count_signal(int number)
{
	(void)number;
	verify_shared->nr_signals++;
}

/* The timer interrupts the CPU on which the process runs. */
bool verify_run_interrupts(uint64_t nr)
{
	struct itimerval every = {{0, TICK_US}, {0, TICK_US}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = count_signal};
	double end_ms = now_ms() + WAIT_MS;

	(void)nr;
	verify_shared->nr_signals = 0;
	if (sigaction(SIGALRM, &action, NULL) || !verify_mark() ||
	    setitimer(ITIMER_REAL, &every, NULL))
		return false;
	while (now_ms() < end_ms && verify_shared->nr_signals < MAX_SIGNALS)
		verify_wait_code.run(NULL);
	return !setitimer(ITIMER_REAL, &never, NULL);
}

bool verify_run_idle(uint64_t nr)
{
	struct timespec pause = {0, IDLE_MS * 1000000L};

	(void)nr;
	if (!verify_mark())
		return false;
	nanosleep(&pause, NULL);
	verify_codes->run(NULL);
	return true;
}

/* The least of some runs: little else can happen in the shortest. */
bool verify_run_costs(uint64_t nr)
{
	(void)nr;
	for (unsigned int i = 0; i < VERIFY_NR_COSTS; i++) {
		double least_ms = 0;

		for (unsigned int run = 0; run < COST_RUNS; run++) {
			double begin_ms = now_ms(), took_ms;

			verify_costs[i].run((void *)(uintptr_t)COST_ROUNDS);
			took_ms = now_ms() - begin_ms;
			if (!run || took_ms < least_ms)
				least_ms = took_ms;
		}
		verify_shared->cost_ns[i] = least_ms * 1e6 / (COST_ROUNDS * 8);
	}
	return true;
}

/* --- Steps --------------------------------------------------------------- */

static void __attribute__((noreturn)) stepped(void)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || !verify_mark())
		_exit(2);
	verify_step_code.run(NULL);
	_exit(0);
}

/* So that the other one has its CPU and its ring to itself; without another CPU it has not. */
static void go_elsewhere(void)
{
	cpu_set_t cpus;

	memset(&cpus, 0xff, sizeof(cpus));
	CPU_CLR(sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static bool is_trapped(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
}

/* One step, and where it led; false: there was none. */
static bool step(pid_t pid, struct user_regs_struct *ret)
{
	return !ptrace((enum __ptrace_request)PTRACE_SINGLEBLOCK_X86, pid, NULL, NULL) &&
	       is_trapped(pid) && !ptrace(PTRACE_GETREGS, pid, NULL, ret);
}

/* Counts stops, until the code has been left. */
static bool step_through(pid_t pid)
{
	struct user_regs_struct regs;

	for (unsigned int i = 0; i < MAX_STOPS; i++) {
		if (!step(pid, &regs))
			return false;
		if (regs.rip < (uintptr_t)verify_step_code.begin ||
		    regs.rip >= (uintptr_t)verify_step_code.end)
			return true;
		verify_shared->nr_stops++;
	}
	return false;
}

bool verify_run_steps(uint64_t nr)
{
	pid_t pid;
	bool done;

	(void)nr;
	verify_shared->nr_stops = 0;
	pid = fork();
	if (!pid)
		stepped();
	if (pid < 0)
		return false;
	go_elsewhere();
	/* It stays stopped, and ends with this process: its end would fill the ring. */
	done = is_trapped(pid) && !ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_EXITKILL) &&
	       step_through(pid);
	if (!done)
		kill(pid, SIGKILL);
	return done;
}
