/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions by which the kernel takes and releases locks, and in which it waits for them.
 *
 * The names are those of the kernel's headers, v5.10 to v7.3, with and without lockdep:
 * include/linux/spinlock_api_smp.h, rwlock_api_smp.h, spinlock_rt.h, rwlock_rt.h, mutex.h,
 * ww_mutex.h, rtmutex.h, rwsem.h, semaphore.h, percpu-rwsem.h, srcu.h.  Slow paths are static
 * functions of kernel/locking/.  What is inlined everywhere has no function, so it is not here:
 * bit spinlocks, sequence counters, arch_spin_lock(), readers of a percpu_rw_semaphore.  Pure.
 */
#ifndef BTSREC_LOCK_FUNCTIONS_H
#define BTSREC_LOCK_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** enum lock_family - what is taken by one function of a family is released by any other of it */
enum lock_family {
	LOCK_SPIN,
	LOCK_READ,
	LOCK_WRITE,
	LOCK_RT_SPIN,		/* with PREEMPT_RT: these three sleep */
	LOCK_RT_READ,
	LOCK_RT_WRITE,
	LOCK_MUTEX,
	LOCK_RT_MUTEX,
	LOCK_RWSEM_READ,
	LOCK_RWSEM_WRITE,
	LOCK_PERCPU_WRITE,
	LOCK_SEMAPHORE,
	LOCK_SRCU,
	LOCK_NR_FAMILIES,
};

/** enum lock_act - what a call of the function does */
enum lock_act {
	LOCK_TAKES,
	LOCK_RELEASES,
	LOCK_WAITS,		/* it is the slow path of a function that takes */
	LOCK_DOWNGRADES,	/* it releases the family, and takes LOCK_RWSEM_READ */
};

/** enum lock_success - which value that a function returns means that the lock is taken */
enum lock_success {
	LOCK_ALWAYS,		/* it always is */
	LOCK_IF_ZERO,		/* a signal or a timeout may end it */
	LOCK_IF_NOT_ZERO,	/* it only tries */
};

/**
 * struct lock_function - a row of the table
 * @may_be_inline: kernels without preemption have no such function, but inline it
 *	(kernel/Kconfig.locks).
 */
struct lock_function {
	const char *name;
	uint8_t name_bytes;
	enum lock_act act : 8;
	enum lock_family family : 8;
	enum lock_success success : 8;
	bool may_be_inline;
};

/* Numbers of rows are from 1 to this. */
#define LOCK_MAX_FUNCTIONS	254

/** lock_function_find() - the number of the row of the function @name; 0: it is none of them */
uint8_t lock_function_find(const char *name, size_t name_bytes);

/** lock_function_at() - the row with the number @number; NULL: there is none */
const struct lock_function *lock_function_at(unsigned int number);

/** enum lock_scope - where what was taken may be released */
enum lock_scope {
	LOCK_OF_CPU,		/* the CPU that took it: it must not sleep, nor be preempted */
	LOCK_OF_THREAD,
	LOCK_OF_ANY,		/* any thread */
};

/**
 * lock_scope() - the scope of a family
 *
 * A runqueue's lock is taken by one thread and released by the next one, on the same CPU.
 */
enum lock_scope lock_scope(enum lock_family family);

/**
 * lock_is_passed_on() - of a family with a scope of threads: do some users release it in another
 *	thread?  The readers of a rw_semaphore are not noted, freeze_super() leaves the lock behind.
 */
bool lock_is_passed_on(enum lock_family family);

/** lock_family_str() - "spinlock", "rwlock, read", ...; static */
const char *lock_family_str(enum lock_family family);

#endif /* BTSREC_LOCK_FUNCTIONS_H */
