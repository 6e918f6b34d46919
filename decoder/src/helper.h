/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads of the library's own. */
#ifndef BTSREC_HELPER_H
#define BTSREC_HELPER_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* A line of the cache: it goes from processor to processor as a whole. */
#define HELPER_LINE_BYTES	64

/**
 * helper_start() - a thread that runs @work with @arg, for pthread_join()
 *
 * It gets no signals: they are the business of the program's own threads.
 *
 * Return: false: the system gives none.
 */
static inline bool helper_start(pthread_t *ret, void *(*work)(void *arg), void *arg)
{
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = !pthread_create(ret, NULL, work, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

/** helper_lock_init() - a lock that is never held for long: who waits need not sleep */
static inline void helper_lock_init(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
#ifdef __GLIBC__
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

#endif /* BTSREC_HELPER_H */
