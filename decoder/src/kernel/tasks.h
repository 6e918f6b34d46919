/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The address spaces that were alive: a walk of the kernel's list of tasks.  Pure:
 * kernel memory in, a list out.
 */
#ifndef BTSREC_TASKS_H
#define BTSREC_TASKS_H

#include "kernel/layout.h"
#include "base/status.h"

/**
 * struct tasks_space - a process that has an address space
 * @mm_kva: its mm_struct; processes that share one have the same.
 * @pgd_pa: the page table: what CR3 holds, without PCID and the half of PTI.
 */
struct tasks_space {
	uint64_t mm_kva;
	uint64_t pgd_pa;
	uint32_t tgid;
};

/**
 * struct tasks - what the walk has found; owned
 * @complete: the list was read to its end; else a process that is missing here may
 *	well have been there.
 */
struct tasks {
	struct tasks_space *spaces;
	size_t nr;
	size_t nr_room;
	bool complete;
};

/**
 * tasks_read() - walk from init_task through all processes
 * @init_task_kva: the first entry of the circular list; it has no address space.
 * @ret: zero-filled by the caller, which frees it with tasks_fini() in every case.
 *
 * If its first thread has exited a process keeps its address space in the others, so the threads
 * are asked then.
 *
 * Sources: for_each_process_thread() in include/linux/sched/signal.h, exit_mm() in
 * kernel/exit.c.
 *
 * Return: BTSREC_OK, also for a list that breaks off; BTSREC_ERR_NOMEM.
 */
enum btsrec_status tasks_read(const struct kread *kernel, const struct layout *layout,
			      uint64_t init_task_kva, struct tasks *ret);

/**
 * tasks_find() - the address space with the page table @pgd_pa that is of @tgid
 *
 * Both must agree: the page table of a process that is gone may be somebody else's.
 *
 * Return: valid until tasks_fini(); NULL: there is none.
 */
const struct tasks_space *tasks_find(const struct tasks *tasks, uint64_t pgd_pa, uint32_t tgid);

/**
 * struct tasks_thread - a thread
 * @sp: its stack pointer when it was switched from, if it does not run.
 * @cpu: where it runs, or ran last; of one that was woken, where it is to run.
 * @arrival_ns: if it sleeps: when it came to run there last, by the clock of printk; 0: not known.
 */
struct tasks_thread {
	uint64_t task_kva;
	uint64_t sp;
	uint32_t pid;
	uint32_t tgid;
	uint32_t cpu;
	uint64_t arrival_ns;
	char comm[BTSREC_COMM_BYTES];
};

/**
 * tasks_thread() - look for thread @pid among those of all processes
 * @types: where the stack pointer is kept.
 * @init_task_kva: as for tasks_read().
 *
 * Return: false: it is not there, or not in the dump.
 */
bool tasks_thread(const struct kread *kernel, const struct layout *layout,
		  const struct types *types, uint64_t init_task_kva, uint32_t pid,
		  struct tasks_thread *ret);

/** enum tasks_found - TASKS_UNKNOWN: the list, or the thread, is not whole in the dump */
enum tasks_found { TASKS_FOUND, TASKS_GONE, TASKS_UNKNOWN };

/**
 * tasks_thread_at() - tasks_thread() of the one whose task_struct is at @task_kva
 *
 * Return: TASKS_GONE: it is none of the threads, which were all looked at.
 */
enum tasks_found tasks_thread_at(const struct kread *kernel, const struct layout *layout,
				 const struct types *types, uint64_t init_task_kva,
				 uint64_t task_kva, struct tasks_thread *ret);

/**
 * tasks_sleepers() - the threads that wait for what no signal ends, as for a lock
 * @types, @init_task_kva: as for tasks_thread().
 * @visit: called with @arg for each one that is in the dump, until it returns false.
 */
void tasks_sleepers(const struct kread *kernel, const struct layout *layout,
		    const struct types *types, uint64_t init_task_kva,
		    bool (*visit)(void *arg, const struct tasks_thread *thread), void *arg);

/** tasks_fini() - free what tasks_read() allocated */
void tasks_fini(struct tasks *tasks);

#endif /* BTSREC_TASKS_H */
