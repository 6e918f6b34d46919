// SPDX-License-Identifier: GPL-2.0-or-later
#include "btffix.h"
#include "check_btsrec.h"
#include "kernel/sleep_lock.h"
#include "userkernel.h"

/* Two threads, each with a stack of a page and a waiter in it, and the lock. */
#define TASK_KVA	UK_KVA(0x1000)
#define OTHER_KVA	UK_KVA(0x1100)
#define LOCK_KVA	UK_KVA(0x2000)
#define STACK_KVA	UK_KVA(0x4000)
#define OTHER_STACK_KVA	UK_KVA(0x14000)
#define FRAME_KVA	(STACK_KVA + 0x800)
#define FRAME_END_KVA	(STACK_KVA + 0x880)
#define WAITER_KVA	(STACK_KVA + 0x820)
#define OTHER_WAITER_KVA (OTHER_STACK_KVA + 0x700)

/* task_struct: stack, blocked_on, blocker; a waiter: next, prev, task; a lock, see put_lock(). */
#define BLOCKED_ON	8
#define BLOCKER		16
#define WAITER_TASK	16
#define OWNER		8
#define WAITERS		16

static struct uk uk;
static struct types *types;

static void add_fields(struct btf *btf, int id, const char *const *names)
{
	for (uint32_t i = 0; names[i]; i++)
		if (*names[i])
			btf__add_field(btf, names[i], id, 64 * i, 0);
}

static void add_lock(struct btf *btf, int u64, int list, const char *name, const char *waiter,
		     bool by_first)
{
	btf__add_struct(btf, name, 32);
	btf__add_field(btf, "count", u64, 0, 0);
	btf__add_field(btf, "owner", u64, 64, 0);
	btf__add_field(btf, by_first ? "first_waiter" : "wait_list", by_first ? u64 : list, 128,
		       0);
	btf__add_struct(btf, waiter, 24);
	btf__add_field(btf, "list", list, 0, 0);
	btf__add_field(btf, "task", u64, 128, 0);
}

/* @by_first: as from Linux 7.1 on. */
static void begin(bool by_first)
{
	static const char *const task[] = { "stack", "blocked_on", "blocker", NULL };
	static const char *const list[] = { "next", "prev", NULL };
	struct btf *btf = btf__new_empty();
	int u64 = btf__add_int(btf, "u64", 8, 0), list_id;

	list_id = btf__add_struct(btf, "list_head", 16);
	add_fields(btf, u64, list);
	btf__add_struct(btf, "task_struct", 24);
	add_fields(btf, u64, task);
	add_lock(btf, u64, list_id, "mutex", "mutex_waiter", by_first);
	add_lock(btf, u64, list_id, "rw_semaphore", "rwsem_waiter", by_first);
	types_free(types);
	types = types_of(btf);
	uk_init(&uk);
	memset(uk.bytes, 0, sizeof(uk.bytes));
}

static void put(uint64_t kva, uint64_t word)
{
	uk_link(&uk, kva, word);
}

static void link_nodes(uint64_t a, uint64_t b)
{
	put(a, b);
	put(b + 8, a);
}

/* The lock, @owner_word and @count, with the waiters of both threads. */
static void put_lock(bool by_first, uint64_t owner_word, uint64_t count)
{
	put(TASK_KVA, STACK_KVA);
	put(OTHER_KVA, OTHER_STACK_KVA);
	put(WAITER_KVA + WAITER_TASK, TASK_KVA);
	put(OTHER_WAITER_KVA + WAITER_TASK, OTHER_KVA);
	link_nodes(WAITER_KVA, OTHER_WAITER_KVA);
	put(LOCK_KVA, count);
	put(LOCK_KVA + OWNER, owner_word);
	if (by_first) {
		link_nodes(OTHER_WAITER_KVA, WAITER_KVA);
		put(LOCK_KVA + WAITERS, OTHER_WAITER_KVA);
		put(TASK_KVA + BLOCKED_ON, LOCK_KVA);
	} else {
		link_nodes(OTHER_WAITER_KVA, LOCK_KVA + WAITERS);
		link_nodes(LOCK_KVA + WAITERS, WAITER_KVA);
	}
}

static bool find(enum sleep_lock_kind kind, struct sleep_lock *ret)
{
	return sleep_lock_find(&uk.kread, types, kind, TASK_KVA, FRAME_KVA, FRAME_END_KVA, ret);
}

static void expect(enum sleep_lock_kind kind, enum sleep_lock_state state, uint64_t owner_kva)
{
	struct sleep_lock lock;

	ck_assert(find(kind, &lock));
	ck_assert_uint_eq(lock.kva, LOCK_KVA);
	ck_assert_int_eq((int)lock.state, (int)state);
	ck_assert_uint_eq(lock.owner_kva, owner_kva);
}

static void expect_none(enum sleep_lock_kind kind)
{
	struct sleep_lock lock = { .kva = DIRT };

	ck_assert(!find(kind, &lock));
	ck_assert_uint_eq(lock.kva, DIRT);
}

START_TEST(a_mutex_has_an_owner)
{
	for (int by_first = 0; by_first < 2; by_first++) {
		begin(by_first);
		put_lock(by_first, OTHER_KVA | 1, 0);
		expect(SLEEP_LOCK_MUTEX, SLEEP_LOCK_OWNED, OTHER_KVA);
		put(LOCK_KVA + OWNER, OTHER_KVA | 5);
		expect(SLEEP_LOCK_MUTEX, SLEEP_LOCK_HANDED, OTHER_KVA);
		put(LOCK_KVA + OWNER, 1);
		expect(SLEEP_LOCK_MUTEX, SLEEP_LOCK_FREE, 0);
		/* It would say that somebody waits. */
		put(LOCK_KVA + OWNER, OTHER_KVA);
		expect_none(SLEEP_LOCK_MUTEX);
	}
}
END_TEST

START_TEST(of_an_rwsem_a_writer_is_noted)
{
	begin(false);
	put_lock(false, OTHER_KVA, 3);
	expect(SLEEP_LOCK_RWSEM, SLEEP_LOCK_OWNED, OTHER_KVA);
	put(LOCK_KVA + OWNER, 0);
	expect(SLEEP_LOCK_RWSEM, SLEEP_LOCK_TAKEN, 0);
	put(LOCK_KVA + OWNER, OTHER_KVA | 1);
	expect(SLEEP_LOCK_RWSEM, SLEEP_LOCK_TAKEN, 0);
	put(LOCK_KVA, 0x202);
	expect(SLEEP_LOCK_RWSEM, SLEEP_LOCK_READ, 0);
	put(LOCK_KVA, 2);
	expect(SLEEP_LOCK_RWSEM, SLEEP_LOCK_FREE, 0);
	put(LOCK_KVA, 1);
	expect_none(SLEEP_LOCK_RWSEM);
}
END_TEST

START_TEST(the_thread_says_which_lock_by_its_kind)
{
	begin(true);
	put_lock(true, OTHER_KVA, 3);
	/* That member is for mutexes. */
	expect_none(SLEEP_LOCK_RWSEM);
	put(TASK_KVA + BLOCKER, LOCK_KVA | 3);
	expect(SLEEP_LOCK_RWSEM, SLEEP_LOCK_OWNED, OTHER_KVA);
	put(TASK_KVA + BLOCKER, LOCK_KVA | 1);
	expect_none(SLEEP_LOCK_RWSEM);
	put(TASK_KVA + BLOCKED_ON, 0);
	put(LOCK_KVA + OWNER, OTHER_KVA | 1);
	expect_none(SLEEP_LOCK_MUTEX);
	put(TASK_KVA + BLOCKER, LOCK_KVA);
	expect(SLEEP_LOCK_MUTEX, SLEEP_LOCK_OWNED, OTHER_KVA);
}
END_TEST

START_TEST(what_does_not_lead_back_is_none)
{
	begin(true);
	put_lock(true, OTHER_KVA | 1, 0);
	put(LOCK_KVA + WAITERS, OTHER_WAITER_KVA + 8);
	expect_none(SLEEP_LOCK_MUTEX);
	for (int i = 0; i < 5; i++) {
		begin(false);
		put_lock(false, OTHER_KVA | 1, 0);
		if (i == 0)		/* a waiter that was removed, or an older one */
			put(OTHER_WAITER_KVA + 8, LOCK_KVA + WAITERS);
		else if (i == 1)	/* no lock */
			link_nodes(OTHER_WAITER_KVA, WAITER_KVA);
		else if (i == 2)	/* two that may be the lock */
			put(OTHER_WAITER_KVA + WAITER_TASK, TASK_KVA);
		else if (i == 3)	/* another thread's */
			put(WAITER_KVA + WAITER_TASK, OTHER_KVA);
		else			/* a list without end */
			put(OTHER_WAITER_KVA, OTHER_WAITER_KVA);
		expect_none(SLEEP_LOCK_MUTEX);
	}
}
END_TEST

START_TEST(a_part_that_is_not_in_the_dump)
{
	static const uint64_t holes[] = { 0x1000, 0x2000, 0x4000, 0x14000 };

	for (size_t i = 0; i < sizeof(holes) / sizeof(holes[0]); i++) {
		begin(false);
		put_lock(false, OTHER_KVA | 1, 0);
		uk.hole_pa = holes[i];
		expect_none(SLEEP_LOCK_MUTEX);
	}
}
END_TEST

START_TEST(outside_of_the_frame_nothing_is_looked_for)
{
	struct sleep_lock lock;

	begin(false);
	put_lock(false, OTHER_KVA | 1, 0);
	ck_assert(!sleep_lock_find(&uk.kread, types, SLEEP_LOCK_MUTEX, TASK_KVA, FRAME_KVA,
				   WAITER_KVA + WAITER_TASK, &lock));
	ck_assert(!sleep_lock_find(&uk.kread, types, SLEEP_LOCK_MUTEX, TASK_KVA, WAITER_KVA + 8,
				   FRAME_END_KVA, &lock));
	ck_assert(!sleep_lock_find(&uk.kread, types, SLEEP_LOCK_MUTEX, TASK_KVA, FRAME_END_KVA,
				   FRAME_KVA, &lock));
}
END_TEST

BTSREC_CK_MAIN("sleep_lock", a_mutex_has_an_owner, of_an_rwsem_a_writer_is_noted,
	       the_thread_says_which_lock_by_its_kind, what_does_not_lead_back_is_none,
	       a_part_that_is_not_in_the_dump, outside_of_the_frame_nothing_is_looked_for)
