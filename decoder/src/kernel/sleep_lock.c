// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/sleep_lock.h"

#define WORD_BYTES	8u

/* With KASAN stacks have 32 KiB, else half of it (THREAD_SIZE of asm/page_64_types.h). */
#define STACK_MAX_BYTES	(64u << 10)

/* No function that waits has more on the stack. */
#define FRAME_MAX_BYTES	4096u

/* More threads than these do not wait for one lock. */
#define MAX_WAITERS	(1u << 16)

/* MUTEX_FLAG_WAITERS, MUTEX_FLAG_PICKUP and MUTEX_FLAGS of kernel/locking/mutex.h. */
#define MUTEX_WAITERS	1u
#define MUTEX_PICKUP	4u
#define OWNER_FLAGS	7u

/* RWSEM_WRITER_LOCKED, _FLAG_WAITERS, _READER_OWNED, _READER_SHIFT of kernel/locking/rwsem.c. */
#define RWSEM_WRITER	1u
#define RWSEM_WAITERS	2u
#define RWSEM_READ	1u
#define RWSEM_READERS	0x7fffffffffffff00ULL

/* enum blocker of linux/hung_task.h: in the low bits of task_struct.blocker. */
#define BLOCKER_BITS	3u
#define BLOCKER_MUTEX	0u
#define BLOCKER_RWSEM	2u	/* and with 1: a writer */

/**
 * struct shape - where the members are
 * @list, @task: of the struct that waits.
 * @stack: of task_struct.
 * @owner, @count: of the lock; only an rwsem has the second.
 * @waiters: of the lock: the head of the list, or, if @by_first, a pointer to the first one.
 * @blocked_on, @blocker: of task_struct; without them their size is 0.
 */
struct shape {
	struct types_field list;
	struct types_field task;
	struct types_field stack;
	struct types_field owner;
	struct types_field count;
	struct types_field waiters;
	bool by_first;
	struct types_field blocked_on;
	struct types_field blocker;
};

/**
 * struct wait_list - a search
 * @head_kva: what the list leads through that is not in the frame of a thread, @nr_heads of that.
 * @first_kva: is looked for among the waiters; @has_first: it is there.
 */
struct wait_list {
	const struct kread *kernel;
	const struct shape *shape;
	uint64_t head_kva;
	unsigned int nr_heads;
	uint64_t first_kva;
	bool has_first;
};

static bool find_words(const struct types *types, const char *type, const char *path,
		       struct types_field *ret)
{
	return types_field(types, type, path, ret) && ret->size_bytes == WORD_BYTES;
}

static bool find_shape(const struct types *types, enum sleep_lock_kind kind, struct shape *ret)
{
	bool is_mutex = kind == SLEEP_LOCK_MUTEX;
	const char *lock = is_mutex ? "mutex" : "rw_semaphore";
	const char *waiter = is_mutex ? "mutex_waiter" : "rwsem_waiter";

	*ret = (struct shape){ 0 };
	ret->by_first = find_words(types, lock, "first_waiter", &ret->waiters);
	if (!find_words(types, "task_struct", "blocked_on", &ret->blocked_on) || !is_mutex)
		ret->blocked_on.size_bytes = 0;
	if (!find_words(types, "task_struct", "blocker", &ret->blocker))
		ret->blocker.size_bytes = 0;
	return (ret->by_first || types_field(types, lock, "wait_list", &ret->waiters)) &&
	       types_field(types, waiter, "list", &ret->list) &&
	       find_words(types, waiter, "task", &ret->task) &&
	       find_words(types, "task_struct", "stack", &ret->stack) &&
	       find_words(types, lock, "owner", &ret->owner) &&
	       (is_mutex || find_words(types, lock, "count", &ret->count));
}

static bool read_word(const struct kread *kernel, uint64_t kva, uint64_t *ret)
{
	return kread(kernel, kva, ret, sizeof(*ret));
}

/* --- The list of waiters ------------------------------------------------------------- */

/* Is the waiter on the stack of the thread that it names? */
static bool is_on_stack(const struct wait_list *list, uint64_t waiter_kva)
{
	uint64_t task, stack;

	return read_word(list->kernel, waiter_kva + list->shape->task.offset_bytes, &task) &&
	       read_word(list->kernel, task + list->shape->stack.offset_bytes, &stack) &&
	       waiter_kva - stack < STACK_MAX_BYTES;
}

static void look_at(struct wait_list *list, uint64_t node_kva)
{
	uint64_t waiter_kva = node_kva - list->shape->list.offset_bytes;

	if (is_on_stack(list, waiter_kva)) {
		list->has_first |= waiter_kva == list->first_kva;
		return;
	}
	list->head_kva = node_kva;
	list->nr_heads++;
}

/* Through the circle of all that wait; false: it is none, or not all of it is in the dump. */
static bool walk(struct wait_list *list, uint64_t waiter_kva)
{
	uint64_t begin = waiter_kva + list->shape->list.offset_bytes, at = begin, next, back;

	for (unsigned int i = 0; i < MAX_WAITERS; i++) {
		if (!read_word(list->kernel, at, &next) ||
		    !read_word(list->kernel, next + WORD_BYTES, &back) || back != at)
			return false;
		look_at(list, next);
		if (next == begin)
			return true;
		at = next;
	}
	return false;
}

/* --- The lock -------------------------------------------------------------- */

/* What the thread itself says; 0: nothing. */
static uint64_t lock_of_task(const struct kread *kernel, const struct shape *shape,
			     enum sleep_lock_kind kind, uint64_t task_kva)
{
	uint64_t word;

	if (shape->blocked_on.size_bytes &&
	    read_word(kernel, task_kva + shape->blocked_on.offset_bytes, &word) && word)
		return word;
	if (!shape->blocker.size_bytes ||
	    !read_word(kernel, task_kva + shape->blocker.offset_bytes, &word))
		return 0;
	if (kind == SLEEP_LOCK_MUTEX ? (word & BLOCKER_BITS) != BLOCKER_MUTEX :
				       !(word & BLOCKER_RWSEM))
		return 0;
	return word & ~(uint64_t)BLOCKER_BITS;
}

/* The lock whose list leads through @waiter_kva; 0: none. */
static uint64_t lock_of(const struct kread *kernel, const struct shape *shape,
			enum sleep_lock_kind kind, uint64_t task_kva, uint64_t waiter_kva)
{
	struct wait_list list = { .kernel = kernel, .shape = shape };
	uint64_t lock = 0;

	if (shape->by_first) {
		lock = lock_of_task(kernel, shape, kind, task_kva);
		if (!lock || !read_word(kernel, lock + shape->waiters.offset_bytes,
					&list.first_kva))
			return 0;
		return walk(&list, waiter_kva) && list.has_first && !list.nr_heads ? lock : 0;
	}
	if (!walk(&list, waiter_kva) || list.nr_heads != 1)
		return 0;
	return list.head_kva - shape->waiters.offset_bytes;
}

/* Something waits, so a mutex says that it does. */
static bool read_mutex(const struct kread *kernel, const struct shape *shape,
		       struct sleep_lock *lock)
{
	uint64_t owner;

	if (!read_word(kernel, lock->kva + shape->owner.offset_bytes, &owner) ||
	    !(owner & MUTEX_WAITERS))
		return false;
	lock->owner_kva = owner & ~(uint64_t)OWNER_FLAGS;
	lock->state = !lock->owner_kva	     ? SLEEP_LOCK_FREE :
		      owner & MUTEX_PICKUP ? SLEEP_LOCK_HANDED :
					     SLEEP_LOCK_OWNED;
	return true;
}

/* What notes a reader is a hint: it need not be one that still reads. */
static bool read_rwsem(const struct kread *kernel, const struct shape *shape,
		       struct sleep_lock *lock)
{
	uint64_t owner, count;

	if (!read_word(kernel, lock->kva + shape->owner.offset_bytes, &owner) ||
	    !read_word(kernel, lock->kva + shape->count.offset_bytes, &count) ||
	    !(count & RWSEM_WAITERS))
		return false;
	if (!(count & RWSEM_WRITER)) {
		lock->state = count & RWSEM_READERS ? SLEEP_LOCK_READ : SLEEP_LOCK_FREE;
		return true;
	}
	if (!(owner & RWSEM_READ))
		lock->owner_kva = owner & ~(uint64_t)OWNER_FLAGS;
	lock->state = lock->owner_kva ? SLEEP_LOCK_OWNED : SLEEP_LOCK_TAKEN;
	return true;
}

bool sleep_lock_find(const struct kread *kernel, const struct types *types,
		     enum sleep_lock_kind kind, uint64_t task_kva, uint64_t frame_kva,
		     uint64_t end_kva, struct sleep_lock *ret)
{
	struct sleep_lock lock = { 0 };
	struct shape shape;
	uint64_t word;

	if (!find_shape(types, kind, &shape) || end_kva - frame_kva > FRAME_MAX_BYTES)
		return false;
	for (uint64_t at = frame_kva; !lock.kva && at + shape.task.offset_bytes < end_kva;
	     at += WORD_BYTES)
		if (read_word(kernel, at + shape.task.offset_bytes, &word) && word == task_kva)
			lock.kva = lock_of(kernel, &shape, kind, task_kva, at);
	if (!lock.kva)
		return false;
	if (!(kind == SLEEP_LOCK_MUTEX ? read_mutex(kernel, &shape, &lock) :
					 read_rwsem(kernel, &shape, &lock)))
		return false;
	*ret = lock;
	return true;
}
