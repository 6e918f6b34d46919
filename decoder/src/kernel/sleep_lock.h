/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lock that a thread sleeps for, and its owner, from the kernel's memory.
 *
 * A thread that waits has a struct mutex_waiter or rwsem_waiter in its stack.  It is linked with
 * those of the others that wait.  Up to Linux 7.0 the lock itself is in that list.  From 7.1 on it
 * has a pointer to the first of them, and the thread one to the lock.  Nothing is taken for a lock
 * whose waiters do not lead back to the thread.  Pure: types and kernel memory in, numbers out.
 *
 * Sources: kernel/locking/mutex.c and rwsem.c, v5.10 to v7.3.  The locks of PREEMPT_RT are others.
 */
#ifndef BTSREC_SLEEP_LOCK_H
#define BTSREC_SLEEP_LOCK_H

#include "kernel/kread.h"
#include "kernel/types.h"

enum sleep_lock_kind { SLEEP_LOCK_MUTEX, SLEEP_LOCK_RWSEM };

/** enum sleep_lock_state - by the memory of the lock */
enum sleep_lock_state {
	SLEEP_LOCK_OWNED,	/* by a mutex's owner, or by a writer */
	SLEEP_LOCK_HANDED,	/* to a thread that has yet to run for it */
	SLEEP_LOCK_READ,	/* by readers, which the kernel does not note */
	SLEEP_LOCK_FREE,	/* it was released, and the next one has not run yet */
	SLEEP_LOCK_TAKEN,	/* by a writer that was not noted yet */
};

/** struct sleep_lock - @kva: where it is; @owner_kva: of the first two states: a task_struct */
struct sleep_lock {
	uint64_t kva;
	enum sleep_lock_state state;
	uint64_t owner_kva;
};

/**
 * sleep_lock_find() - the lock that a thread waits for that does not run
 * @kind: by the function whose frame it is.
 * @task_kva: the thread's task_struct.
 * @frame_kva, @end_kva: the frame of the function that waits, on the thread's stack.
 *
 * Return: false: none that is proven, or a part of the proof is not in the dump.
 */
bool sleep_lock_find(const struct kread *kernel, const struct types *types,
		     enum sleep_lock_kind kind, uint64_t task_kva, uint64_t frame_kva,
		     uint64_t end_kva, struct sleep_lock *ret);

#endif /* BTSREC_SLEEP_LOCK_H */
