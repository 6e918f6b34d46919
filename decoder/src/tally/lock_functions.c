// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/lock_functions.h"

#include <assert.h>
#include <string.h>

#define NAMED(name)		    name, sizeof(name) - 1
#define TAKES(name, family)	    { NAMED(name), LOCK_TAKES, family, LOCK_ALWAYS, false }
#define MAY_TAKE(name, family, success) { NAMED(name), LOCK_TAKES, family, success, false }
#define RELEASES(name, family)	    { NAMED(name), LOCK_RELEASES, family, LOCK_ALWAYS, false }
#define INLINED(name, family)	    { NAMED(name), LOCK_RELEASES, family, LOCK_ALWAYS, true }
#define WAITS(name, family)	    { NAMED(name), LOCK_WAITS, family, LOCK_ALWAYS, false }

static const struct lock_function functions[] = {
	TAKES("_raw_spin_lock", LOCK_SPIN),
	TAKES("_raw_spin_lock_irq", LOCK_SPIN),
	TAKES("_raw_spin_lock_irqsave", LOCK_SPIN),
	TAKES("_raw_spin_lock_bh", LOCK_SPIN),
	TAKES("_raw_spin_lock_nested", LOCK_SPIN),
	TAKES("_raw_spin_lock_irqsave_nested", LOCK_SPIN),
	TAKES("_raw_spin_lock_nest_lock", LOCK_SPIN),
	MAY_TAKE("_raw_spin_trylock", LOCK_SPIN, LOCK_IF_NOT_ZERO),
	MAY_TAKE("_raw_spin_trylock_bh", LOCK_SPIN, LOCK_IF_NOT_ZERO),
	INLINED("_raw_spin_unlock", LOCK_SPIN),
	INLINED("_raw_spin_unlock_irq", LOCK_SPIN),
	RELEASES("_raw_spin_unlock_irqrestore", LOCK_SPIN),
	RELEASES("_raw_spin_unlock_bh", LOCK_SPIN),
	WAITS("native_queued_spin_lock_slowpath", LOCK_SPIN),
	WAITS("__pv_queued_spin_lock_slowpath", LOCK_SPIN),
	WAITS("queued_spin_lock_slowpath", LOCK_SPIN),

	TAKES("_raw_read_lock", LOCK_READ),
	TAKES("_raw_read_lock_irq", LOCK_READ),
	TAKES("_raw_read_lock_irqsave", LOCK_READ),
	TAKES("_raw_read_lock_bh", LOCK_READ),
	MAY_TAKE("_raw_read_trylock", LOCK_READ, LOCK_IF_NOT_ZERO),
	INLINED("_raw_read_unlock", LOCK_READ),
	INLINED("_raw_read_unlock_irq", LOCK_READ),
	RELEASES("_raw_read_unlock_irqrestore", LOCK_READ),
	RELEASES("_raw_read_unlock_bh", LOCK_READ),
	WAITS("queued_read_lock_slowpath", LOCK_READ),

	TAKES("_raw_write_lock", LOCK_WRITE),
	TAKES("_raw_write_lock_nested", LOCK_WRITE),
	TAKES("_raw_write_lock_irq", LOCK_WRITE),
	TAKES("_raw_write_lock_irqsave", LOCK_WRITE),
	TAKES("_raw_write_lock_bh", LOCK_WRITE),
	MAY_TAKE("_raw_write_trylock", LOCK_WRITE, LOCK_IF_NOT_ZERO),
	INLINED("_raw_write_unlock", LOCK_WRITE),
	INLINED("_raw_write_unlock_irq", LOCK_WRITE),
	RELEASES("_raw_write_unlock_irqrestore", LOCK_WRITE),
	RELEASES("_raw_write_unlock_bh", LOCK_WRITE),
	WAITS("queued_write_lock_slowpath", LOCK_WRITE),

	TAKES("rt_spin_lock", LOCK_RT_SPIN),
	TAKES("rt_spin_lock_nested", LOCK_RT_SPIN),
	TAKES("rt_spin_lock_nest_lock", LOCK_RT_SPIN),
	MAY_TAKE("rt_spin_trylock", LOCK_RT_SPIN, LOCK_IF_NOT_ZERO),
	MAY_TAKE("rt_spin_trylock_bh", LOCK_RT_SPIN, LOCK_IF_NOT_ZERO),
	RELEASES("rt_spin_unlock", LOCK_RT_SPIN),
	WAITS("rtlock_slowlock_locked", LOCK_RT_SPIN),
	WAITS("rtlock_slowlock", LOCK_RT_SPIN),
	TAKES("rt_read_lock", LOCK_RT_READ),
	MAY_TAKE("rt_read_trylock", LOCK_RT_READ, LOCK_IF_NOT_ZERO),
	RELEASES("rt_read_unlock", LOCK_RT_READ),
	TAKES("rt_write_lock", LOCK_RT_WRITE),
	TAKES("rt_write_lock_nested", LOCK_RT_WRITE),
	MAY_TAKE("rt_write_trylock", LOCK_RT_WRITE, LOCK_IF_NOT_ZERO),
	RELEASES("rt_write_unlock", LOCK_RT_WRITE),

	TAKES("mutex_lock", LOCK_MUTEX),
	TAKES("mutex_lock_nested", LOCK_MUTEX),
	TAKES("_mutex_lock_nest_lock", LOCK_MUTEX),
	TAKES("mutex_lock_io", LOCK_MUTEX),
	TAKES("mutex_lock_io_nested", LOCK_MUTEX),
	MAY_TAKE("mutex_lock_interruptible", LOCK_MUTEX, LOCK_IF_ZERO),
	MAY_TAKE("mutex_lock_interruptible_nested", LOCK_MUTEX, LOCK_IF_ZERO),
	MAY_TAKE("mutex_lock_killable", LOCK_MUTEX, LOCK_IF_ZERO),
	MAY_TAKE("mutex_lock_killable_nested", LOCK_MUTEX, LOCK_IF_ZERO),
	MAY_TAKE("_mutex_lock_killable", LOCK_MUTEX, LOCK_IF_ZERO),
	MAY_TAKE("ww_mutex_lock", LOCK_MUTEX, LOCK_IF_ZERO),
	MAY_TAKE("ww_mutex_lock_interruptible", LOCK_MUTEX, LOCK_IF_ZERO),
	MAY_TAKE("mutex_trylock", LOCK_MUTEX, LOCK_IF_NOT_ZERO),
	MAY_TAKE("_mutex_trylock_nest_lock", LOCK_MUTEX, LOCK_IF_NOT_ZERO),
	MAY_TAKE("ww_mutex_trylock", LOCK_MUTEX, LOCK_IF_NOT_ZERO),
	RELEASES("mutex_unlock", LOCK_MUTEX),
	RELEASES("ww_mutex_unlock", LOCK_MUTEX),
	WAITS("__mutex_lock", LOCK_MUTEX),
	WAITS("__mutex_lock_slowpath", LOCK_MUTEX),
	WAITS("__mutex_lock_interruptible_slowpath", LOCK_MUTEX),
	WAITS("__mutex_lock_killable_slowpath", LOCK_MUTEX),
	WAITS("__ww_mutex_lock", LOCK_MUTEX),
	WAITS("__ww_mutex_lock_slowpath", LOCK_MUTEX),
	WAITS("__ww_mutex_lock_interruptible_slowpath", LOCK_MUTEX),

	TAKES("rt_mutex_lock", LOCK_RT_MUTEX),
	TAKES("rt_mutex_lock_nested", LOCK_RT_MUTEX),
	TAKES("_rt_mutex_lock_nest_lock", LOCK_RT_MUTEX),
	MAY_TAKE("rt_mutex_lock_interruptible", LOCK_RT_MUTEX, LOCK_IF_ZERO),
	MAY_TAKE("rt_mutex_lock_killable", LOCK_RT_MUTEX, LOCK_IF_ZERO),
	MAY_TAKE("rt_mutex_trylock", LOCK_RT_MUTEX, LOCK_IF_NOT_ZERO),
	RELEASES("rt_mutex_unlock", LOCK_RT_MUTEX),
	WAITS("__rt_mutex_slowlock", LOCK_RT_MUTEX),
	WAITS("__rt_mutex_slowlock_locked", LOCK_RT_MUTEX),
	WAITS("rt_mutex_slowlock", LOCK_RT_MUTEX),

	TAKES("down_read", LOCK_RWSEM_READ),
	TAKES("down_read_nested", LOCK_RWSEM_READ),
	TAKES("down_read_non_owner", LOCK_RWSEM_READ),
	MAY_TAKE("down_read_interruptible", LOCK_RWSEM_READ, LOCK_IF_ZERO),
	MAY_TAKE("down_read_killable", LOCK_RWSEM_READ, LOCK_IF_ZERO),
	MAY_TAKE("down_read_killable_nested", LOCK_RWSEM_READ, LOCK_IF_ZERO),
	MAY_TAKE("down_read_trylock", LOCK_RWSEM_READ, LOCK_IF_NOT_ZERO),
	RELEASES("up_read", LOCK_RWSEM_READ),
	RELEASES("up_read_non_owner", LOCK_RWSEM_READ),
	WAITS("rwsem_down_read_slowpath", LOCK_RWSEM_READ),

	TAKES("down_write", LOCK_RWSEM_WRITE),
	TAKES("down_write_nested", LOCK_RWSEM_WRITE),
	TAKES("_down_write_nest_lock", LOCK_RWSEM_WRITE),
	MAY_TAKE("down_write_killable", LOCK_RWSEM_WRITE, LOCK_IF_ZERO),
	MAY_TAKE("down_write_killable_nested", LOCK_RWSEM_WRITE, LOCK_IF_ZERO),
	MAY_TAKE("down_write_trylock", LOCK_RWSEM_WRITE, LOCK_IF_NOT_ZERO),
	RELEASES("up_write", LOCK_RWSEM_WRITE),
	{ NAMED("downgrade_write"), LOCK_DOWNGRADES, LOCK_RWSEM_WRITE, LOCK_ALWAYS, false },
	WAITS("rwsem_down_write_slowpath", LOCK_RWSEM_WRITE),

	TAKES("percpu_down_write", LOCK_PERCPU_WRITE),
	RELEASES("percpu_up_write", LOCK_PERCPU_WRITE),
	WAITS("percpu_rwsem_wait", LOCK_PERCPU_WRITE),

	TAKES("down", LOCK_SEMAPHORE),
	MAY_TAKE("down_interruptible", LOCK_SEMAPHORE, LOCK_IF_ZERO),
	MAY_TAKE("down_killable", LOCK_SEMAPHORE, LOCK_IF_ZERO),
	MAY_TAKE("down_timeout", LOCK_SEMAPHORE, LOCK_IF_ZERO),
	MAY_TAKE("down_trylock", LOCK_SEMAPHORE, LOCK_IF_ZERO),
	RELEASES("up", LOCK_SEMAPHORE),
	WAITS("__down", LOCK_SEMAPHORE),
	WAITS("__down_common", LOCK_SEMAPHORE),
	WAITS("___down_common", LOCK_SEMAPHORE),
	WAITS("__down_interruptible", LOCK_SEMAPHORE),
	WAITS("__down_killable", LOCK_SEMAPHORE),
	WAITS("__down_timeout", LOCK_SEMAPHORE),

	TAKES("__srcu_read_lock", LOCK_SRCU),
	RELEASES("__srcu_read_unlock", LOCK_SRCU),
};

#define NR_FUNCTIONS	(sizeof(functions) / sizeof(functions[0]))

static_assert(NR_FUNCTIONS <= LOCK_MAX_FUNCTIONS, "numbers fit");

uint8_t lock_function_find(const char *name, size_t name_bytes)
{
	for (size_t i = 0; i < NR_FUNCTIONS; i++)
		if (functions[i].name_bytes == name_bytes &&
		    !memcmp(functions[i].name, name, name_bytes))
			return (uint8_t)(i + 1);
	return 0;
}

const struct lock_function *lock_function_at(unsigned int number)
{
	return number && number <= NR_FUNCTIONS ? &functions[number - 1] : NULL;
}

enum lock_scope lock_scope(enum lock_family family)
{
	switch (family) {
	case LOCK_SPIN:
	case LOCK_READ:
	case LOCK_WRITE:
		return LOCK_OF_CPU;
	case LOCK_SEMAPHORE:
		return LOCK_OF_ANY;
	default:
		return LOCK_OF_THREAD;
	}
}

bool lock_is_passed_on(enum lock_family family)
{
	return family == LOCK_RWSEM_READ || family == LOCK_PERCPU_WRITE || family == LOCK_SRCU;
}

const char *lock_family_str(enum lock_family family)
{
	static const char *const names[] = {
		[LOCK_SPIN] = "spinlock",
		[LOCK_READ] = "rwlock, read",
		[LOCK_WRITE] = "rwlock, write",
		[LOCK_RT_SPIN] = "RT spinlock",
		[LOCK_RT_READ] = "RT rwlock, read",
		[LOCK_RT_WRITE] = "RT rwlock, write",
		[LOCK_MUTEX] = "mutex",
		[LOCK_RT_MUTEX] = "rt_mutex",
		[LOCK_RWSEM_READ] = "rwsem, read",
		[LOCK_RWSEM_WRITE] = "rwsem, write",
		[LOCK_PERCPU_WRITE] = "percpu rwsem, write",
		[LOCK_SEMAPHORE] = "semaphore",
		[LOCK_SRCU] = "SRCU",
	};

	return names[family];
}
