/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads of the library's own. */
#ifndef BTSREC_HELPER_H
#define BTSREC_HELPER_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

/* A line of the cache: it goes from processor to processor as a whole. */
#define HELPER_LINE_BYTES	64

/**
 * helper_start() - a thread that runs @work with @arg, for pthread_join()
 *
 * It gets no signals: they are the business of the program's own threads.  It begins on
 * another processor than the caller's, if it may.
 *
 * Return: false: the system gives none.
 */
bool helper_start(pthread_t *ret, void *(*work)(void *arg), void *arg);

/** helper_elsewhere() - @allowed without @cpu, -1: not known; false: then there is none */
bool helper_elsewhere(const cpu_set_t *allowed, int cpu, cpu_set_t *ret);

/** helper_lock_init() - a lock that is never held for long: who waits need not sleep */
void helper_lock_init(pthread_mutex_t *lock);

#endif /* BTSREC_HELPER_H */
