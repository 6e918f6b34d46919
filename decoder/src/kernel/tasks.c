// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/*
 * PID_MAX_LIMIT of include/linux/threads.h: there cannot be more threads.  Each is looked at twice
 * at most: as a process, and as a thread of one.
 */
#define MAX_STEPS	(2u << 22)

/**
 * struct list_walk - through a circular list of the kernel that may be none any more
 * @kva: of the current list_head.
 * @seen_kva: an earlier one, further back each time: a loop that misses @head_kva
 *	comes by it (R. P. Brent's way to find a cycle).
 * @nr_left: steps that may be made, by all walks together.
 */
struct list_walk {
	const struct kread *kread;
	uint64_t head_kva;
	uint64_t kva;
	uint64_t seen_kva;
	unsigned int nr;
	unsigned int nr_to_next_seen;
	unsigned int *nr_left;
	bool broken;
};

static void list_walk_init(struct list_walk *walk, const struct kread *kernel, uint64_t head_kva,
			   unsigned int *nr_left)
{
	memset(walk, 0, sizeof(*walk));
	walk->kread = kernel;
	walk->head_kva = head_kva;
	walk->kva = head_kva;
	walk->nr_to_next_seen = 1;
	walk->nr_left = nr_left;
}

/* On to the next entry; false: that was all, or @broken. */
static bool list_walk_next(struct list_walk *walk)
{
	uint64_t next_kva;

	walk->broken = true;
	if (!kread(walk->kread, walk->kva, &next_kva, sizeof(next_kva)))
		return false;
	if (next_kva == walk->head_kva) {
		walk->broken = false;
		return false;
	}
	if (next_kva == walk->seen_kva || !*walk->nr_left)
		return false;
	--*walk->nr_left;
	if (++walk->nr == walk->nr_to_next_seen) {
		walk->seen_kva = next_kva;
		walk->nr_to_next_seen *= 2;
	}
	walk->kva = next_kva;
	walk->broken = false;
	return true;
}

static bool add_space(struct tasks *tasks, const struct tasks_space *space)
{
	if (!grow_from(&tasks->spaces, sizeof(*space), tasks->nr, &tasks->nr_room, 64))
		return false;
	tasks->spaces[tasks->nr++] = *space;
	return true;
}

/* The mm of the first thread that still has one; false: a thread cannot be read. */
static bool mm_of_threads(const struct kread *kernel, const struct layout *layout,
			  uint64_t task_kva, unsigned int *nr_left, uint64_t *ret)
{
	uint64_t offset_bytes = layout->at[TASK_THREAD_NODE].offset_bytes, signal_kva;
	struct list_walk walk;

	if (!layout_read(layout, kernel, task_kva, TASK_SIGNAL, &signal_kva))
		return false;
	list_walk_init(&walk, kernel, signal_kva + layout->at[SIGNAL_THREAD_HEAD].offset_bytes,
		       nr_left);
	*ret = 0;
	while (!*ret && list_walk_next(&walk))
		if (!layout_read(layout, kernel, walk.kva - offset_bytes, TASK_MM, ret))
			return false;
	return *ret || !walk.broken;
}

/* false: what there is to know of this process is not in the dump. */
static bool read_space(const struct kread *kernel, const struct layout *layout,
		       uint64_t task_kva, unsigned int *nr_left, struct tasks_space *ret)
{
	uint64_t pgd_kva, tgid;

	if (!layout_read(layout, kernel, task_kva, TASK_TGID, &tgid) ||
	    !layout_read(layout, kernel, task_kva, TASK_MM, &ret->mm_kva))
		return false;
	ret->tgid = (uint32_t)tgid;
	if (!ret->mm_kva && !mm_of_threads(kernel, layout, task_kva, nr_left, &ret->mm_kva))
		return false;
	if (!ret->mm_kva)
		return true;
	return layout_read(layout, kernel, ret->mm_kva, MM_PGD, &pgd_kva) &&
	       kread_pa(kernel, pgd_kva, &ret->pgd_pa);
}

enum btsrec_status tasks_read(const struct kread *kernel, const struct layout *layout,
			      uint64_t init_task_kva, struct tasks *ret)
{
	uint64_t offset_bytes = layout->at[TASK_TASKS].offset_bytes;
	unsigned int nr_left = MAX_STEPS;
	struct list_walk walk;

	list_walk_init(&walk, kernel, init_task_kva + offset_bytes, &nr_left);
	ret->complete = true;
	while (list_walk_next(&walk)) {
		struct tasks_space space = { 0 };

		if (!read_space(kernel, layout, walk.kva - offset_bytes, &nr_left, &space))
			ret->complete = false;
		else if (space.mm_kva && !add_space(ret, &space))
			return BTSREC_ERR_NOMEM;
	}
	if (walk.broken)
		ret->complete = false;
	return BTSREC_OK;
}

const struct tasks_space *tasks_find(const struct tasks *tasks, uint64_t pgd_pa, uint32_t tgid)
{
	for (size_t i = 0; i < tasks->nr; i++)
		if (tasks->spaces[i].pgd_pa == pgd_pa && tasks->spaces[i].tgid == tgid)
			return &tasks->spaces[i];
	return NULL;
}

/**
 * struct thread_search - for the first thread that @is_wanted
 * @pid, @kva: of is_the_one(): that thread, or the one at @kva if that is not 0.
 * @types, @visit, @arg: of is_last_sleeper(): those of tasks_sleepers().
 * @broken: a list was not read to its end.
 */
struct thread_search {
	const struct kread *kernel;
	const struct layout *layout;
	bool (*is_wanted)(struct thread_search *search, uint64_t task_kva);
	uint32_t pid;
	uint64_t kva;
	const struct types *types;
	bool (*visit)(void *arg, const struct tasks_thread *thread);
	void *arg;
	unsigned int nr_left;
	bool broken;
};

static bool is_the_one(struct thread_search *search, uint64_t task_kva)
{
	uint64_t number;

	if (search->kva)
		return task_kva == search->kva;
	if (layout_read(search->layout, search->kernel, task_kva, TASK_PID, &number))
		return number == search->pid;
	search->broken = true;
	return false;
}

/* Of the process of @task_kva; 0: not there. */
static uint64_t find_in_process(struct thread_search *search, uint64_t task_kva)
{
	const struct layout *layout = search->layout;
	uint64_t offset_bytes = layout->at[TASK_THREAD_NODE].offset_bytes, signal_kva;
	struct list_walk walk;

	if (!layout_read(layout, search->kernel, task_kva, TASK_SIGNAL, &signal_kva)) {
		search->broken = true;
		return 0;
	}
	list_walk_init(&walk, search->kernel,
		       signal_kva + layout->at[SIGNAL_THREAD_HEAD].offset_bytes, &search->nr_left);
	while (list_walk_next(&walk))
		if (search->is_wanted(search, walk.kva - offset_bytes))
			return walk.kva - offset_bytes;
	search->broken |= walk.broken;
	return 0;
}

/* Of all processes; 0: not there. */
static uint64_t find_thread(struct thread_search *search, uint64_t init_task_kva)
{
	uint64_t offset_bytes = search->layout->at[TASK_TASKS].offset_bytes, task_kva = 0;
	struct list_walk walk;

	search->nr_left = MAX_STEPS;
	list_walk_init(&walk, search->kernel, init_task_kva + offset_bytes, &search->nr_left);
	while (!task_kva && list_walk_next(&walk))
		task_kva = find_in_process(search, walk.kva - offset_bytes);
	search->broken |= walk.broken;
	return task_kva;
}

/* A number of four or eight bytes. */
static bool read_number(const struct kread *kernel, uint64_t task_kva,
			const struct types_field *field, uint64_t *ret)
{
	uint64_t number = 0;

	if ((field->size_bytes != sizeof(uint32_t) && field->size_bytes != sizeof(number)) ||
	    !kread(kernel, task_kva + field->offset_bytes, &number, field->size_bytes))
		return false;
	*ret = number;
	return true;
}

/* Since v5.16 the number of the CPU is in thread_info (bcf9033e5449). */
static bool read_cpu(const struct kread *kernel, const struct types *types, uint64_t task_kva,
		     struct tasks_thread *ret)
{
	struct types_field field;
	uint64_t number;

	if (!types_field(types, "task_struct", "thread_info.cpu", &field) &&
	    !types_field(types, "task_struct", "cpu", &field))
		return false;
	if (!read_number(kernel, task_kva, &field, &number))
		return false;
	ret->cpu = (uint32_t)number;
	return true;
}

/* TASK_INTERRUPTIBLE, TASK_UNINTERRUPTIBLE and TASK_NOLOAD of linux/sched.h. */
#define INTERRUPTIBLE	0x1u
#define UNINTERRUPTIBLE	0x2u
#define NOLOAD		0x400u

/* 0: it runs, or that is not known. */
static uint64_t state_of(const struct kread *kernel, const struct types *types, uint64_t task_kva)
{
	struct types_field field;
	uint64_t state;

	if (!types_field(types, "task_struct", "__state", &field) &&
	    !types_field(types, "task_struct", "state", &field))
		return 0;
	return read_number(kernel, task_kva, &field, &state) ? state : 0;
}

/* Not running, and not woken, which may have moved it: select_task_rq() of try_to_wake_up(). */
static bool is_asleep(const struct kread *kernel, const struct types *types, uint64_t task_kva)
{
	return state_of(kernel, types, task_kva) & (INTERRUPTIBLE | UNINTERRUPTIBLE);
}

static bool read_numbers(const struct kread *kernel, const struct layout *layout,
			 const struct types *types, uint64_t task_kva, struct tasks_thread *ret)
{
	struct types_field field;
	uint64_t pid, tgid;

	if (!layout_read(layout, kernel, task_kva, TASK_PID, &pid) ||
	    !layout_read(layout, kernel, task_kva, TASK_TGID, &tgid))
		return false;
	ret->pid = (uint32_t)pid;
	ret->tgid = (uint32_t)tgid;
	/* Only with CONFIG_SCHED_INFO. */
	ret->arrival_ns = 0;
	if (types_field(types, "task_struct", "sched_info.last_arrival", &field) &&
	    is_asleep(kernel, types, task_kva))
		(void)read_number(kernel, task_kva, &field, &ret->arrival_ns);
	return read_cpu(kernel, types, task_kva, ret);
}

static bool read_thread(const struct kread *kernel, const struct layout *layout,
			const struct types *types, uint64_t task_kva, struct tasks_thread *ret)
{
	struct types_field sp, comm;

	ret->task_kva = task_kva;
	return types_field(types, "task_struct", "thread.sp", &sp) &&
	       types_field(types, "task_struct", "comm", &comm) &&
	       comm.size_bytes == sizeof(ret->comm) && sp.size_bytes == sizeof(ret->sp) &&
	       kread(kernel, task_kva + sp.offset_bytes, &ret->sp, sizeof(ret->sp)) &&
	       kread(kernel, task_kva + comm.offset_bytes, ret->comm, sizeof(ret->comm)) &&
	       read_numbers(kernel, layout, types, task_kva, ret);
}

bool tasks_thread(const struct kread *kernel, const struct layout *layout,
		  const struct types *types, uint64_t init_task_kva, uint32_t pid,
		  struct tasks_thread *ret)
{
	struct thread_search search = { .kernel = kernel, .layout = layout,
					.is_wanted = is_the_one, .pid = pid };
	uint64_t task_kva = find_thread(&search, init_task_kva);

	return task_kva && read_thread(kernel, layout, types, task_kva, ret);
}

enum tasks_found tasks_thread_at(const struct kread *kernel, const struct layout *layout,
				 const struct types *types, uint64_t init_task_kva,
				 uint64_t task_kva, struct tasks_thread *ret)
{
	struct thread_search search = { .kernel = kernel, .layout = layout,
					.is_wanted = is_the_one, .kva = task_kva };

	if (!find_thread(&search, init_task_kva))
		return search.broken ? TASKS_UNKNOWN : TASKS_GONE;
	return read_thread(kernel, layout, types, task_kva, ret) ? TASKS_FOUND : TASKS_UNKNOWN;
}

/* A thread that only has nothing to do is TASK_IDLE: that has NOLOAD. */
static bool is_last_sleeper(struct thread_search *search, uint64_t task_kva)
{
	uint64_t state = state_of(search->kernel, search->types, task_kva);
	struct tasks_thread thread;

	return state & UNINTERRUPTIBLE && !(state & NOLOAD) &&
	       read_thread(search->kernel, search->layout, search->types, task_kva, &thread) &&
	       !search->visit(search->arg, &thread);
}

void tasks_sleepers(const struct kread *kernel, const struct layout *layout,
		    const struct types *types, uint64_t init_task_kva,
		    bool (*visit)(void *arg, const struct tasks_thread *thread), void *arg)
{
	struct thread_search search = { .kernel = kernel, .layout = layout,
					.is_wanted = is_last_sleeper, .types = types,
					.visit = visit, .arg = arg };

	(void)find_thread(&search, init_task_kva);
}

void tasks_fini(struct tasks *tasks)
{
	free(tasks->spaces);
	memset(tasks, 0, sizeof(*tasks));
}
