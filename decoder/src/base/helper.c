// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/helper.h"

#include <signal.h>

bool helper_elsewhere(const cpu_set_t *allowed, int cpu, cpu_set_t *ret)
{
	*ret = *allowed;
	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return false;
	CPU_CLR(cpu, ret);
	return CPU_COUNT(ret) > 0;
}

/*
 * Linux lets a new thread begin beside who started it when every other processor is busy at that
 * moment, and be it with the end of the thread before: there both took turns for 3 to 12 ms, while
 * the other one had long been idle (measured with v6.18 on two processors).
 */
static bool start_elsewhere(pthread_t *ret, void *(*work)(void *arg), void *arg)
{
	cpu_set_t allowed, other;
	pthread_attr_t attr;
	bool started;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) ||
	    !helper_elsewhere(&allowed, sched_getcpu(), &other) || pthread_attr_init(&attr))
		return false;
	started = !pthread_attr_setaffinity_np(&attr, sizeof(other), &other) &&
		  !pthread_create(ret, &attr, work, arg);
	pthread_attr_destroy(&attr);
	if (started)
		(void)pthread_setaffinity_np(*ret, sizeof(allowed), &allowed);
	return started;
}

bool helper_start(pthread_t *ret, void *(*work)(void *arg), void *arg)
{
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = start_elsewhere(ret, work, arg) || !pthread_create(ret, NULL, work, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

void helper_lock_init(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
#ifdef __GLIBC__
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}
