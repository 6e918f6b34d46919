// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "tally/lock_functions.h"

static const struct lock_function *find(const char *name)
{
	return lock_function_at(lock_function_find(name, strlen(name)));
}

START_TEST(what_a_function_does)
{
	const struct lock_function *function = find("_raw_spin_lock_irqsave");

	ck_assert(function->act == LOCK_TAKES && function->family == LOCK_SPIN);
	ck_assert(function->success == LOCK_ALWAYS && !function->may_be_inline);
	function = find("_raw_spin_unlock");
	ck_assert(function->act == LOCK_RELEASES && function->may_be_inline);
	ck_assert(!find("_raw_spin_unlock_irqrestore")->may_be_inline);
	ck_assert(find("native_queued_spin_lock_slowpath")->act == LOCK_WAITS);
	ck_assert(find("downgrade_write")->act == LOCK_DOWNGRADES);
	ck_assert(find("up_read")->family == LOCK_RWSEM_READ);
}
END_TEST

/* include/linux/mutex.h, rwsem.h and semaphore.h say what each returns. */
START_TEST(what_it_returns)
{
	ck_assert(find("mutex_trylock")->success == LOCK_IF_NOT_ZERO);
	ck_assert(find("down_read_trylock")->success == LOCK_IF_NOT_ZERO);
	ck_assert(find("_raw_write_trylock")->success == LOCK_IF_NOT_ZERO);
	ck_assert(find("down_trylock")->success == LOCK_IF_ZERO);
	ck_assert(find("mutex_lock_interruptible")->success == LOCK_IF_ZERO);
	ck_assert(find("down_timeout")->success == LOCK_IF_ZERO);
}
END_TEST

START_TEST(other_names)
{
	ck_assert(!lock_function_find("mutex_loc", 9) && !lock_function_find("", 0));
	ck_assert(!lock_function_find("mutex_lock_", 11));
	ck_assert(lock_function_find("mutex_lock_", 10));
	ck_assert(!lock_function_at(0) && !lock_function_at(LOCK_MAX_FUNCTIONS));
}
END_TEST

/* What is taken can be released; each name is there once; each family has a word. */
START_TEST(table_is_whole)
{
	bool takes[LOCK_NR_FAMILIES] = { false }, releases[LOCK_NR_FAMILIES] = { false };
	const struct lock_function *function;

	for (unsigned int i = 1; (function = lock_function_at(i)); i++) {
		ck_assert_uint_eq(lock_function_find(function->name, strlen(function->name)), i);
		takes[function->family] |= function->act == LOCK_TAKES;
		releases[function->family] |= function->act == LOCK_RELEASES;
		ck_assert(function->success == LOCK_ALWAYS || function->act == LOCK_TAKES);
		ck_assert(!function->may_be_inline || function->act == LOCK_RELEASES);
	}
	for (unsigned int i = 0; i < LOCK_NR_FAMILIES; i++)
		ck_assert(takes[i] && releases[i] && *lock_family_str((enum lock_family)i));
}
END_TEST

START_TEST(who_may_release)
{
	ck_assert(lock_scope(LOCK_SPIN) == LOCK_OF_CPU && lock_scope(LOCK_WRITE) == LOCK_OF_CPU);
	ck_assert(lock_scope(LOCK_RT_SPIN) == LOCK_OF_THREAD);
	ck_assert(lock_scope(LOCK_MUTEX) == LOCK_OF_THREAD);
	ck_assert(lock_scope(LOCK_SEMAPHORE) == LOCK_OF_ANY);
	ck_assert(lock_is_passed_on(LOCK_RWSEM_READ) && !lock_is_passed_on(LOCK_RWSEM_WRITE));
}
END_TEST

BTSREC_CK_MAIN("lock_functions", what_a_function_does, what_it_returns, other_names,
	       table_is_whole, who_may_release)
