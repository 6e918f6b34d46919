// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * roam: a thread that goes from CPU to CPU, until somebody ends it.
 *
 *   roam NR_CPUS
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WORK_ROUNDS	200
#define REST_US		50

/* Branches of its own, on whichever CPU it is. */
static unsigned int work(void)
{
	volatile unsigned int sum = 0;

	for (unsigned int i = 0; i < WORK_ROUNDS; i++)
		sum += i;
	return sum;
}

int main(int argc, char **argv)
{
	int nr_cpus = argc > 1 ? atoi(argv[1]) : 0;

	for (int cpu = 0; nr_cpus > 0; cpu = (cpu + 1) % nr_cpus) {
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			break;
		work();
		usleep(REST_US);
	}
	perror("roam");
	return 1;
}
