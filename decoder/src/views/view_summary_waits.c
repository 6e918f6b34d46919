// SPDX-License-Identifier: GPL-2.0-or-later
/* The lock that a hung thread waits for, its owner, and what that one waits for, by memory. */
#include <inttypes.h>
#include <string.h>

#include "flow/trace.h"
#include "symbols/symbol.h"
#include "symbols/user.h"
#include "tally/lock_functions.h"
#include "views/view_summary.h"
#include "views/view_summary_sentence.h"

/** struct wait_search - what a search through threads that wait for each other needs */
struct wait_search {
	struct btsrec *rec;
	struct renderer *r;
	struct code *code;
	struct user *user;
	const struct kread *kernel;
	const struct types *types;
};

/**
 * struct wait_frame - a frame of a function of the table of locks
 * @begin_kva, @end_kva: of it, on the stack.
 */
struct wait_frame {
	enum lock_family family;
	uint64_t wait;
	uint64_t begin_kva;
	uint64_t end_kva;
};

/* --- One thread ------------------------------------------------------------ */

/* What the compiler has split off or made of a function has its name, and more behind a dot. */
const struct lock_function *summary_lock_function(struct renderer *r, uint64_t ip)
{
	struct symbol_name name;
	enum symbol_why why;
	const char *dot;

	if (!render_find(r, ip, &name, &why) || !name.name_bytes || *name.module)
		return NULL;
	dot = memchr(name.name, '.', name.name_bytes);
	return lock_function_at(lock_function_find(
		name.name, dot ? (size_t)(dot - name.name) : name.name_bytes));
}

static bool kind_of(enum lock_family family, enum sleep_lock_kind *ret)
{
	*ret = family == LOCK_MUTEX ? SLEEP_LOCK_MUTEX : SLEEP_LOCK_RWSEM;
	return family == LOCK_MUTEX || family == LOCK_RWSEM_READ || family == LOCK_RWSEM_WRITE;
}

static bool find_lock(const struct wait_search *search, const struct tasks_thread *thread,
		      const struct wait_frame *frame, struct summary_blocked *ret)
{
	struct sleep_lock lock;
	enum sleep_lock_kind kind;

	if (!kind_of(frame->family, &kind) ||
	    !sleep_lock_find(search->kernel, search->types, kind, thread->task_kva,
			     frame->begin_kva, frame->end_kva, &lock))
		return false;
	ret->lock.lock = lock_family_str(frame->family);
	ret->lock.address = lock.kva;
	ret->lock.wait = frame->wait;
	ret->state = lock.state;
	ret->owner_kva = lock.owner_kva;
	return true;
}

/*
 * Through the functions that only wait, up to what called them: *@ret_ip, 0 if that is not known.
 * One of them may be proven to wait for a lock: then *@ret has it.
 */
static bool search_stack(const struct wait_search *search, const struct tasks_thread *thread,
			 uint64_t *ret_ip, struct summary_blocked *ret)
{
	enum sleep_lock_kind kind;
	struct unwind unwind;
	bool found = false;

	*ret_ip = 0;
	ret->is_unproven = false;
	if (!unwind_switched(&unwind, search->code, thread->sp))
		return false;
	for (unsigned int i = 0; i < SUMMARY_MAX_PLACES && unwind.how == UNWIND_CALLED; i++) {
		const struct lock_function *function =
			summary_lock_function(search->r, unwind.from);
		struct wait_frame frame = { .wait = unwind.from, .begin_kva = unwind.sp };

		if (!summary_in_sched(search->rec, unwind.from)) {
			*ret_ip = unwind.from;
			return found;
		}
		(void)unwind_next(&unwind);
		frame.end_kva = unwind.sp - sizeof(uint64_t);
		if (!function || unwind.how != UNWIND_CALLED || found)
			continue;
		frame.family = function->family;
		found = find_lock(search, thread, &frame, ret);
		ret->is_unproven = !found && kind_of(frame.family, &kind);
	}
	return found;
}

static struct btsrec_task task_of(const struct tasks_thread *thread)
{
	struct btsrec_task task = { .pid = thread->pid, .tgid = thread->tgid };

	memcpy(task.comm, thread->comm, sizeof(task.comm));
	return task;
}

/* --- And so on -------------------------------------------------------------- */

static void find_circle(struct summary *view, uint32_t owner_pid)
{
	size_t i = 0;

	while (i < view->nr_blocked && view->blocked[i].lock.task.pid != owner_pid)
		i++;
	for (; i < view->nr_blocked; i++)
		view->blocked[i].is_deadlock = true;
}

/* The owner of the lock of the last one; false: it is not known to wait. */
static bool find_owner(struct summary *view, const struct wait_search *search,
		       struct tasks_thread *ret)
{
	struct summary_blocked *blocked = &view->blocked[view->nr_blocked - 1];

	blocked->found = TASKS_UNKNOWN;
	if (!blocked->owner_kva)
		return false;
	blocked->found = user_thread_at(search->user, blocked->owner_kva, ret);
	if (blocked->found != TASKS_FOUND)
		return false;
	blocked->lock.has_owner = blocked->state == SLEEP_LOCK_OWNED;
	blocked->lock.owner = task_of(ret);
	if (blocked->lock.has_owner)
		find_circle(view, ret->pid);
	return !blocked->is_deadlock && !summary_thread_runs(search->rec, ret->pid,
							     &blocked->owner_cpu,
							     &blocked->owner_runs);
}

static bool search_init(struct wait_search *search, struct summary *view, struct btsrec *rec,
			struct code *code)
{
	const char *why;

	*search = (struct wait_search){ .rec = rec, .r = &view->calls.renderer, .code = code,
					.user = symbols_user(rec), .kernel = symbols_kread(rec),
					.types = symbols_types(rec, &why) };
	return search->user && search->kernel && search->types &&
	       symbols_place(rec, SYMBOL_DUMP_SCHED_TEXT);
}

/* The thread that hung, what the owner of its lock waits for, and so on. */
static void read_chain(struct summary *view, const struct wait_search *search,
		       struct tasks_thread thread)
{
	uint64_t ip;

	while (view->nr_blocked < SUMMARY_MAX_WAITS) {
		struct summary_blocked blocked = { .lock = { .cpu = thread.cpu,
							     .task = task_of(&thread) } };

		if (!search_stack(search, &thread, &ip, &blocked)) {
			if (view->nr_blocked)
				view->blocked[view->nr_blocked - 1].owner_ip = ip;
			else
				view->lock_unknown = blocked.is_unproven;
			return;
		}
		blocked.lock.from = ip;
		view->blocked[view->nr_blocked++] = blocked;
		if (!find_owner(view, search, &thread))
			return;
	}
}

/* --- Those that wait for it -------------------------------------------------- */

/** struct waiter_search - for threads that wait for a lock of @owner */
struct waiter_search {
	struct summary *view;
	const struct wait_search *search;
	const struct tasks_thread *owner;
};

static bool is_in_chain(const struct summary *view, uint32_t pid)
{
	for (size_t i = 0; i < view->nr_chain; i++)
		if (view->blocked[i].lock.task.pid == pid)
			return true;
	return false;
}

static bool add_waiter(void *arg, const struct tasks_thread *thread)
{
	const struct waiter_search *waiters = arg;
	struct summary *view = waiters->view;
	struct summary_blocked blocked = { .lock = { .cpu = thread->cpu,
						     .task = task_of(thread) } };

	/* It may be about to sleep: then its stack is not where the last switch left it. */
	if (is_in_chain(view, thread->pid) ||
	    summary_thread_runs(waiters->search->rec, thread->pid, NULL, NULL) ||
	    !search_stack(waiters->search, thread, &blocked.lock.from, &blocked) ||
	    blocked.state != SLEEP_LOCK_OWNED || blocked.owner_kva != waiters->owner->task_kva)
		return true;
	blocked.found = TASKS_FOUND;
	blocked.lock.has_owner = true;
	blocked.lock.owner = task_of(waiters->owner);
	view->blocked[view->nr_blocked++] = blocked;
	return view->nr_blocked < SUMMARY_MAX_WAITS;
}

void summary_waits_read(struct summary *view, struct btsrec *rec, struct code *code)
{
	struct wait_search search;
	struct tasks_thread thread;
	struct waiter_search waiters = { view, &search, &thread };

	if (!view->stack.pid || !search_init(&search, view, rec, code) ||
	    !user_thread(search.user, view->stack.pid, &thread))
		return;
	read_chain(view, &search, thread);
	view->nr_chain = view->nr_blocked;
	if (view->nr_blocked < SUMMARY_MAX_WAITS)
		user_sleepers(search.user, add_waiter, &waiters);
}

/* --- Words ------------------------------------------------------------------ */

static void add_task(struct sentence *sentence, const struct btsrec_task *task)
{
	sentence_add(sentence, "thread %" PRIu32, task->pid);
	sentence_add_comm(sentence, task->comm);
}

static void add_lock(struct sentence *sentence, const struct summary_lock *lock)
{
	sentence_add(sentence, "a %s at ", lock->lock);
	sentence_add_data(sentence, lock->address);
}

static void add_owner(struct sentence *sentence, const struct summary_blocked *blocked)
{
	const struct summary_lock *lock = &blocked->lock;

	if (blocked->found == TASKS_FOUND && lock->owner.pid == lock->task.pid)
		sentence_add(sentence, "it");
	else if (blocked->found == TASKS_FOUND)
		add_task(sentence, &lock->owner);
	else
		sentence_add(sentence, "the task at 0x%016" PRIx64, blocked->owner_kva);
}

static void add_state(struct sentence *sentence, const struct summary_blocked *blocked)
{
	switch (blocked->state) {
	case SLEEP_LOCK_OWNED:
		add_owner(sentence, blocked);
		sentence_add(sentence, " owns");
		if (blocked->found == TASKS_GONE)
			sentence_add(sentence, ", which is no thread any more");
		break;
	case SLEEP_LOCK_HANDED:
		sentence_add(sentence, "was handed to ");
		add_owner(sentence, blocked);
		break;
	case SLEEP_LOCK_READ:
		sentence_add(sentence, "readers hold, which the kernel does not note");
		break;
	case SLEEP_LOCK_FREE:
		sentence_add(sentence, "nobody owns now");
		break;
	case SLEEP_LOCK_TAKEN:
		sentence_add(sentence, "a writer holds");
		break;
	}
}

void summary_add_owner(struct sentence *sentence, const struct summary *view)
{
	if (view->lock_unknown)
		sentence_add(sentence, " for a lock that is not known");
	if (!view->nr_chain)
		return;
	sentence_add(sentence, " for ");
	add_lock(sentence, &view->blocked[0].lock);
	sentence_add(sentence, " that ");
	add_state(sentence, &view->blocked[0]);
	if (view->blocked[0].is_deadlock)
		sentence_add(sentence, ": a deadlock");
}

void summary_say_blocked(struct summary *view, const struct summary_blocked *blocked, char *ret)
{
	struct sentence sentence = { .r = &view->calls.renderer, .text = ret };
	const struct summary_lock *lock = &blocked->lock;

	if (blocked->is_deadlock)
		sentence_add(&sentence, "deadlock: ");
	add_task(&sentence, &lock->task);
	sentence_add(&sentence, " waits in ");
	sentence_add_place(&sentence, lock->from ? lock->from : lock->wait);
	sentence_add(&sentence, " for ");
	add_lock(&sentence, lock);
	sentence_add(&sentence, " that ");
	add_state(&sentence, blocked);
	if (blocked->owner_runs)
		sentence_add(&sentence, ", which runs on CPU %u", blocked->owner_cpu);
	if (!blocked->owner_ip)
		return;
	sentence_add(&sentence, ", which is off the CPU in ");
	sentence_add_place(&sentence, blocked->owner_ip);
}
