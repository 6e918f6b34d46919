// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "failing_alloc.h"
#include "kernel/tasks.h"
#include "userkernel.h"

#define OTHER_PA	0x6200u
#define THREAD_PA	0x6300u
#define INIT_KVA	UK_KVA(UK_INIT_PA)

static struct uk uk;
static struct tasks tasks;

static enum btsrec_status read_tasks(void)
{
	tasks_fini(&tasks);
	return tasks_read(&uk.kread, &uk_layout, INIT_KVA, &tasks);
}

static struct uk_task *task_at(uint64_t pa)
{
	return uk_at(&uk, pa);
}

static uint64_t thread_kva(uint64_t pa)
{
	return UK_KVA(pa) + offsetof(struct uk_task, thread_node);
}

/* One more process, which shares the address space of the first. */
static void put_other(void)
{
	*task_at(OTHER_PA) = *task_at(UK_TASK_PA);
	task_at(OTHER_PA)->tgid = 4243;
	task_at(UK_TASK_PA)->tasks.next = uk_tasks_kva(OTHER_PA);
}

START_TEST(one_process)
{
	uk_init(&uk);
	btsrec_ck_ok(read_tasks());
	ck_assert(tasks.complete);
	ck_assert_uint_eq(tasks.nr, 1);
	ck_assert_uint_eq(tasks.spaces[0].mm_kva, UK_KVA(UK_MM_PA));
	ck_assert_uint_eq(tasks.spaces[0].pgd_pa, UK_PGD_PA);
	ck_assert_uint_eq(tasks.spaces[0].tgid, UK_TGID);
	tasks_fini(&tasks);
}
END_TEST

START_TEST(found_by_both)
{
	uk_init(&uk);
	put_other();
	btsrec_ck_ok(read_tasks());
	ck_assert_uint_eq(tasks.nr, 2);
	ck_assert_ptr_eq(tasks_find(&tasks, UK_PGD_PA, UK_TGID), &tasks.spaces[0]);
	ck_assert_ptr_eq(tasks_find(&tasks, UK_PGD_PA, 4243), &tasks.spaces[1]);
	ck_assert_ptr_null(tasks_find(&tasks, UK_PGD_PA, 1));
	ck_assert_ptr_null(tasks_find(&tasks, UK_PUD_PA, UK_TGID));
	tasks_fini(&tasks);
}
END_TEST

START_TEST(kernel_threads_have_no_space)
{
	uk_init(&uk);
	task_at(UK_TASK_PA)->mm = 0;
	btsrec_ck_ok(read_tasks());
	ck_assert(tasks.complete);
	ck_assert_uint_eq(tasks.nr, 0);
}
END_TEST

START_TEST(the_first_thread_has_exited)
{
	uk_init(&uk);
	task_at(UK_TASK_PA)->mm = 0;
	task_at(UK_TASK_PA)->thread_node.next = thread_kva(THREAD_PA);
	task_at(THREAD_PA)->mm = UK_KVA(UK_MM_PA);
	btsrec_ck_ok(read_tasks());
	ck_assert(tasks.complete);
	ck_assert_uint_eq(tasks.nr, 1);
	ck_assert_uint_eq(tasks.spaces[0].mm_kva, UK_KVA(UK_MM_PA));
	ck_assert_uint_eq(tasks.spaces[0].tgid, UK_TGID);
	tasks_fini(&tasks);
}
END_TEST

/* What is there is used, and that it is not all is said. */
static void expect_cut_off(size_t nr)
{
	btsrec_ck_ok(read_tasks());
	ck_assert(!tasks.complete);
	ck_assert_uint_eq(tasks.nr, nr);
	tasks_fini(&tasks);
}

START_TEST(the_list_is_cut_off)
{
	uk_init(&uk);
	task_at(UK_TASK_PA)->tasks.next = UK_KVA(UK_BYTES);
	expect_cut_off(1);
	task_at(UK_TASK_PA)->tasks.next = 0;
	expect_cut_off(1);
	uk_link(&uk, uk_tasks_kva(UK_INIT_PA), 0);
	expect_cut_off(0);
}
END_TEST

START_TEST(the_list_misses_its_head)
{
	uk_init(&uk);
	put_other();
	task_at(OTHER_PA)->tasks.next = uk_tasks_kva(UK_TASK_PA);
	btsrec_ck_ok(read_tasks());
	ck_assert(!tasks.complete);
	ck_assert_uint_le(tasks.nr, 6);
	ck_assert_ptr_nonnull(tasks_find(&tasks, UK_PGD_PA, 4243));
	task_at(OTHER_PA)->tasks.next = uk_tasks_kva(OTHER_PA);
	btsrec_ck_ok(read_tasks());
	ck_assert(!tasks.complete);
	ck_assert_uint_le(tasks.nr, 6);
	tasks_fini(&tasks);
}
END_TEST

START_TEST(threads_that_cannot_be_read)
{
	uk_init(&uk);
	task_at(UK_TASK_PA)->mm = 0;
	task_at(UK_TASK_PA)->thread_node.next = thread_kva(UK_TASK_PA);
	expect_cut_off(0);
	task_at(UK_TASK_PA)->thread_node.next = UK_KVA(UK_BYTES) + 0x100;
	expect_cut_off(0);
	task_at(UK_TASK_PA)->signal = UK_KVA(UK_BYTES);
	expect_cut_off(0);
}
END_TEST

START_TEST(parts_that_are_not_in_the_dump)
{
	uk_init(&uk);
	uk.hole_pa = UK_MM_PA;
	expect_cut_off(0);
	uk_init(&uk);
	((struct uk_mm *)uk_at(&uk, UK_MM_PA))->pgd = 0xffff888000001000;
	expect_cut_off(0);
	uk_init(&uk);
	put_other();
	task_at(UK_TASK_PA)->mm = UK_KVA(UK_BYTES);
	expect_cut_off(1);
}
END_TEST

/* All processes without an address space, all with the same long list of threads. */
static uint64_t nr_many_reads;

/* An endless list: every word points to the next. */
static enum btsrec_status read_endless(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				       size_t *ret_bytes)
{
	uint64_t next_kva = UK_KVA(pa + 0x80);

	(void)arg;
	nr_many_reads++;
	memset(buf, 0, len_bytes);
	*ret_bytes = len_bytes;
	if (len_bytes == sizeof(next_kva) &&
	    pa % 0x80 != uk_layout.at[TASK_MM].offset_bytes)
		memcpy(buf, &next_kva, sizeof(next_kva));
	return BTSREC_OK;
}

START_TEST(lists_without_end)
{
	struct btsrec_image image = { .read_pa = read_endless, .max_pa = IMAGE_MAX_PA };
	struct kread kernel = { .image = &image };

	tasks_fini(&tasks);
	nr_many_reads = 0;
	btsrec_ck_ok(tasks_read(&kernel, &uk_layout, INIT_KVA, &tasks));
	ck_assert(!tasks.complete);
	ck_assert_uint_le(nr_many_reads, 1u << 26);
	tasks_fini(&tasks);
}
END_TEST

static void expect_thread(const struct tasks_thread *thread)
{
	ck_assert_uint_eq(thread->task_kva, UK_KVA(UK_TASK_PA));
	ck_assert_uint_eq(thread->pid, UK_TGID);
	ck_assert_uint_eq(thread->tgid, UK_TGID);
	ck_assert_uint_eq(thread->cpu, 3);
	ck_assert_uint_eq(thread->sp, 0x1234);
	ck_assert_uint_eq(thread->arrival_ns, 0);
	ck_assert_str_eq(thread->comm, "prog");
}

START_TEST(one_thread)
{
	struct types *types;
	struct tasks_thread thread;

	uk_init(&uk);
	types = types_new(uk_at(&uk, UK_BTF_PA), uk.btf_bytes);
	task_at(UK_TASK_PA)->thread_info.cpu = 3;
	task_at(UK_TASK_PA)->thread.sp = 0x1234;
	ck_assert(tasks_thread(&uk.kread, &uk_layout, types, INIT_KVA, UK_TGID, &thread));
	expect_thread(&thread);
	ck_assert(!tasks_thread(&uk.kread, &uk_layout, types, INIT_KVA, 1, &thread));
	ck_assert_int_eq((int)tasks_thread_at(&uk.kread, &uk_layout, types, INIT_KVA,
					      UK_KVA(UK_TASK_PA), &thread), TASKS_FOUND);
	expect_thread(&thread);
	ck_assert_int_eq((int)tasks_thread_at(&uk.kread, &uk_layout, types, INIT_KVA,
					      UK_KVA(OTHER_PA), &thread), TASKS_GONE);
	/* It is known where a thread ran as long as it sleeps. */
	task_at(UK_TASK_PA)->sched_info.last_arrival = 77;
	ck_assert(tasks_thread(&uk.kread, &uk_layout, types, INIT_KVA, UK_TGID, &thread));
	ck_assert_uint_eq(thread.arrival_ns, 0);
	task_at(UK_TASK_PA)->__state = 0x200;
	ck_assert(tasks_thread(&uk.kread, &uk_layout, types, INIT_KVA, UK_TGID, &thread));
	ck_assert_uint_eq(thread.arrival_ns, 0);
	task_at(UK_TASK_PA)->__state = 2;
	ck_assert(tasks_thread(&uk.kread, &uk_layout, types, INIT_KVA, UK_TGID, &thread));
	ck_assert_uint_eq(thread.arrival_ns, 77);
	/* Maybe it is in the part that is not there. */
	task_at(UK_TASK_PA)->tasks.next = UK_KVA(UK_BYTES);
	ck_assert_int_eq((int)tasks_thread_at(&uk.kread, &uk_layout, types, INIT_KVA,
					      UK_KVA(OTHER_PA), &thread), TASKS_UNKNOWN);
	types_free(types);
}
END_TEST

static unsigned int nr_visits;

static bool visit(void *wants_more, const struct tasks_thread *thread)
{
	ck_assert_uint_eq(thread->task_kva, UK_KVA(UK_TASK_PA));
	ck_assert_str_eq(thread->comm, "prog");
	nr_visits++;
	return *(bool *)wants_more;
}

static unsigned int nr_sleepers(const struct types *types, bool wants_more)
{
	nr_visits = 0;
	tasks_sleepers(&uk.kread, &uk_layout, types, INIT_KVA, visit, &wants_more);
	return nr_visits;
}

START_TEST(what_no_signal_wakes)
{
	const unsigned int runs = 0, interruptible = 1, uninterruptible = 2, killable = 0x102,
			   idle = 0x402;
	struct types *types;

	uk_init(&uk);
	types = types_new(uk_at(&uk, UK_BTF_PA), uk.btf_bytes);
	task_at(UK_TASK_PA)->__state = runs;
	ck_assert_uint_eq(nr_sleepers(types, true), 0);
	task_at(UK_TASK_PA)->__state = interruptible;
	ck_assert_uint_eq(nr_sleepers(types, true), 0);
	task_at(UK_TASK_PA)->__state = idle;
	ck_assert_uint_eq(nr_sleepers(types, true), 0);
	task_at(UK_TASK_PA)->__state = uninterruptible;
	ck_assert_uint_eq(nr_sleepers(types, true), 1);
	task_at(UK_TASK_PA)->__state = killable;
	ck_assert_uint_eq(nr_sleepers(types, true), 1);
	/* The other process has the same thread. */
	put_other();
	ck_assert_uint_eq(nr_sleepers(types, true), 2);
	ck_assert_uint_eq(nr_sleepers(types, false), 1);
	types_free(types);
}
END_TEST

START_TEST(out_of_memory)
{
	uk_init(&uk);
	failing_alloc_arm(1);
	btsrec_ck_status(read_tasks(), BTSREC_ERR_NOMEM);
	ck_assert(failing_alloc_disarm());
	tasks_fini(&tasks);
}
END_TEST

BTSREC_CK_MAIN("tasks", one_process, found_by_both, kernel_threads_have_no_space,
	       the_first_thread_has_exited, the_list_is_cut_off, the_list_misses_its_head,
	       threads_that_cannot_be_read, parts_that_are_not_in_the_dump, lists_without_end,
	       one_thread, what_no_signal_wakes, out_of_memory)
