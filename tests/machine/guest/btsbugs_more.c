// SPDX-License-Identifier: GPL-2.0-only
/*
 * btsbugs_more: as btsbugs, kinds that were written when the decoder knew those.
 *
 *   echo KIND >/sys/module/btsbugs_more/parameters/bug
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "btsbugs.h"

static unsigned int other_cpu(void)
{
	return !raw_smp_processor_id();
}

/* A pointer with a flag in it, to an object that there is not. */
static noinline void tagged_cause(struct thing *thing, unsigned long next, unsigned long flag)
{
	OPTIMIZER_HIDE_VAR(next);
	OPTIMIZER_HIDE_VAR(flag);
	thing->next = (struct thing *)(next | flag);
}
FAULT(tagged, READ_ONCE(((struct thing *)((unsigned long)thing->next & ~3UL))->count))

/* One more than there is room for, by one instruction. */
static noinline void offbyone_cause(struct thing *thing, unsigned long nr)
{
	unsigned long words[NR_NUMBERS + 1], *from = words, *to = thing->numbers;
	unsigned long i;

	for (i = 0; i <= NR_NUMBERS; i++)
		WRITE_ONCE(words[i], 0x80 + 8 * i);
	asm volatile("rep movsq" : "+S" (from), "+D" (to), "+c" (nr) : : "memory");
}
FAULT(offbyone, READ_ONCE(thing->next->count))

/* 56 bits of pointer, 8 of kind, and the kind is stored into the wrong byte. */
static noinline void bitfield_cause(struct thing *thing)
{
	WRITE_ONCE(((u8 *)&thing->data)[6], 0x12);
}
FAULT(bitfield, READ_ONCE(*(unsigned long *)((long)thing->data << 8 >> 8)))

/* The first entry of an empty list: what lies beside its head. */
static struct {
	struct list_head head;
	unsigned long counts[16];
} queue;

static noinline void empty_cause(void)
{
	int i;

	INIT_LIST_HEAD(&queue.head);
	for (i = 0; i < 16; i++)
		WRITE_ONCE(queue.counts[i], 0x30 + i);
}
FAULT(empty, READ_ONCE(list_first_entry(&queue.head, struct thing, list)->next->count))

/* What is handed to a callback that runs on another CPU. */
struct job {
	struct work_struct work;
	struct thing *thing;
};

static noinline void work_cause(struct job *job)
{
	job->thing = (struct thing *)0x108;
}
FAULT(work, READ_ONCE(thing->count))

static void work_run(struct work_struct *work)
{
	busy();
	work_fault(container_of(work, struct job, work)->thing);
}

static noinline void work_plant(struct thing *thing)
{
	static struct job job;

	INIT_WORK(&job.work, work_run);
	work_cause(&job);
	schedule_work_on(other_cpu(), &job.work);
	flush_work(&job.work);
}

/* On the stack of this thread, for a function that another CPU calls. */
static noinline void ipi_cause(struct thing **words)
{
	WRITE_ONCE(words[1], (struct thing *)0x60);
}
FAULT(ipi, READ_ONCE(((struct thing **)thing)[1]->count))

static void ipi_run(void *words)
{
	busy();
	ipi_fault(words);
}

static noinline void ipi_plant(struct thing *thing)
{
	struct thing *words[2] = { thing, thing };

	ipi_cause(words);
	smp_call_function_single(other_cpu(), ipi_run, words, 1);
}

/* A count that grows as a whole. */
static atomic64_t counter;

static noinline void xadd_cause(void)
{
	(void)!atomic64_fetch_add(0x40000000000, &counter);
}
FAULT(xadd, READ_ONCE(thing->data[atomic64_fetch_add(1, &counter)]))

/* An object that is handed over as a whole. */
struct big {
	unsigned long words[24];
	struct thing *thing;
};

static noinline __attribute__((noipa)) unsigned long byvalue_fault(struct big big)
{
	unsigned long value = READ_ONCE(big.thing->count);

	OPTIMIZER_HIDE_VAR(value);
	return value;
}

static noinline void byvalue_cause(struct big *big)
{
	big->thing = (struct thing *)0x78;
}

static noinline void byvalue_plant(struct thing *thing)
{
	static struct big big;

	byvalue_cause(&big);
	busy();
	byvalue_fault(big);
}

/* The variable of a CPU that the thread has left since. */
static DEFINE_PER_CPU(unsigned long *, seat);

static noinline void stalecpu_cause(void)
{
	this_cpu_write(seat, (unsigned long *)0x88);
}
FAULT(stalecpu, READ_ONCE(**(unsigned long **)thing))

static int stalecpu_thread(void *data)
{
	stalecpu_cause();
	for (;;)
		busy();
	return 0;
}

/* @run on another CPU than this one, now. */
static void begin_there(int (*run)(void *data), void *data)
{
	struct task_struct *task = kthread_create(run, data, "btsbugs-more");

	if (IS_ERR(task))
		return;
	kthread_bind(task, other_cpu());
	wake_up_process(task);
}

static noinline void stalecpu_plant(struct thing *thing)
{
	unsigned long **mine = raw_cpu_ptr(&seat);

	WRITE_ONCE(*mine, thing->numbers);
	set_cpus_allowed_ptr(current, cpumask_of(other_cpu()));
	begin_there(stalecpu_thread, NULL);
	while (READ_ONCE(*mine) == thing->numbers)
		cpu_relax();
	busy();
	stalecpu_fault((struct thing *)mine);
}

/* A number of 32 bits whose highest bit is its sign. */
static noinline void movsxd_cause(struct thing *thing, unsigned int nr)
{
	thing->count = nr << 31;
}
FAULT(movsxd, READ_ONCE(thing->data[thing->count]))

/* An error that three functions hand on. */
static noinline struct thing *errptr_cause(long error)
{
	OPTIMIZER_HIDE_VAR(error);
	return ERR_PTR(error);
}

static noinline struct thing *errptr_second(struct thing *thing)
{
	struct thing *found = errptr_cause(-EIO);

	busy();
	thing->count++;
	return found;
}

static noinline struct thing *errptr_third(struct thing *thing)
{
	struct thing *found = errptr_second(thing);

	busy();
	return found == thing ? NULL : found;
}
FAULT(errptr, READ_ONCE(thing->next->count))

/* In an array on the stack of a caller. */
static noinline void stackarray_cause(unsigned long **words, int nr)
{
	WRITE_ONCE(words[nr], (unsigned long *)0x90);
}
FAULT(stackarray, READ_ONCE(*((unsigned long **)thing)[5]))

static noinline void stackarray_plant(struct thing *thing)
{
	unsigned long *words[8];
	int i;

	for (i = 0; i < 8; i++)
		WRITE_ONCE(words[i], thing->numbers);
	stackarray_cause(words, 5);
	busy();
	stackarray_fault((struct thing *)words);
}

/* By the pages of what is less than one. */
static noinline void shift_cause(struct thing *thing)
{
	thing->index = 0x800;
}
FAULT(shift, thing->count = 1000 / (READ_ONCE(thing->index) >> 12))

/* Removed twice. */
static noinline void hlist_cause(struct hlist_node *node)
{
	hlist_del(node);
}

static noinline void hlist_fault(struct hlist_node *node)
{
	WRITE_ONCE(*node->pprev, node->next);
}

static noinline void hlist_plant(struct thing *thing)
{
	static struct hlist_head head;
	struct hlist_node *node = (struct hlist_node *)&thing->list;

	hlist_add_head(node, &head);
	hlist_cause(node);
	busy();
	hlist_fault(node);
}

/* An index that has been scaled already. */
static noinline void scaled_cause(struct thing *thing, long nr)
{
	OPTIMIZER_HIDE_VAR(nr);
	thing->index = nr * sizeof(*thing) * 0x10000000;
}
FAULT(scaled, READ_ONCE(thing->data[thing->index]))

/* Moved within one area, from its end on. */
static unsigned long area[512];

static noinline void backwards_cause(size_t nr_bytes)
{
	int i;

	for (i = 0; i < 512; i++)
		WRITE_ONCE(area[i], 0x1000 + 8 * i);
	OPTIMIZER_HIDE_VAR(nr_bytes);
	memmove(area + 32, area, nr_bytes);
}
FAULT(backwards, READ_ONCE(*(unsigned long *)area[300]))

/* 8 bytes at an address of 4. */
static noinline void unaligned_cause(struct thing *thing)
{
	*(u64 *)((char *)&thing->data + 4) = 0x60;
}
FAULT(unaligned, READ_ONCE(*thing->data))

/* What a comparison gave is taken for a pointer. */
static noinline void setcc_cause(struct thing *thing, int nr)
{
	thing->next = (struct thing *)(unsigned long)(thing->count >= nr);
}
FAULT(setcc, READ_ONCE(thing->next->count))

/* Another CPU answers with NULL what begins as NULL, on the stack of this one. */
struct box {
	struct thing *thing;
	bool done;
};

static struct box *box_to_fill;

static noinline void handed_cause(struct box *box)
{
	WRITE_ONCE(box->thing, NULL);
}

static int handed_thread(void *data)
{
	struct box *box;

	while (!(box = READ_ONCE(box_to_fill)))
		cpu_relax();
	handed_cause(box);
	WRITE_ONCE(box->done, true);
	for (;;)
		busy();
	return 0;
}
FAULT(handed, READ_ONCE(thing->count))

static noinline void handed_plant(struct thing *thing)
{
	struct box box;

	begin_there(handed_thread, NULL);
	busy();
	WRITE_ONCE(box.thing, NULL);
	WRITE_ONCE(box.done, false);
	WRITE_ONCE(box_to_fill, &box);
	while (!READ_ONCE(box.done))
		cpu_relax();
	busy();
	handed_fault(READ_ONCE(box.thing));
}

/* Another CPU takes a pointer away, and soon brings it back. */
static noinline void restored_cause(struct thing *thing)
{
	WRITE_ONCE(thing->next, (struct thing *)0xb8);
}

static noinline void restored_repair(struct thing *thing)
{
	WRITE_ONCE(thing->next, thing);
}

static int restored_thread(void *thing)
{
	restored_cause(thing);
	for (;;) {
		busy();
		if (oops_in_progress)
			restored_repair(thing);
	}
	return 0;
}
FAULT(restored, READ_ONCE(thing->next->count))

static noinline void restored_plant(struct thing *thing)
{
	begin_there(restored_thread, thing);
	while (READ_ONCE(thing->next) == thing)
		cpu_relax();
	busy();
	restored_fault(thing);
}

/* What a new thread is given, on another CPU. */
static noinline void sibling_cause(struct thing *thing)
{
	thing->next = (struct thing *)0xa8;
}
FAULT(sibling, READ_ONCE(thing->next->count))

static int sibling_thread(void *data)
{
	busy();
	sibling_fault(data);
	return 0;
}

static noinline void sibling_plant(struct thing *thing)
{
	sibling_cause(thing);
	begin_there(sibling_thread, thing);
	for (;;)
		busy();
}

/* A loop that goes too far: its end is wrong. */
static noinline void runaway_cause(struct thing *thing)
{
	thing->count = 0x10000;
}

static noinline unsigned long runaway_fault(struct thing *thing)
{
	unsigned long sum = 0;
	long i;

	for (i = 0; i < READ_ONCE(thing->count); i++)
		sum += READ_ONCE(thing->data[i << 22]);
	return sum;
}

/* Where an array is: no address, although it begins like one.  The index is good. */
static noinline void base_cause(struct thing *thing)
{
	thing->index = 3;
	thing->data = (unsigned long *)0xffff776b12345678;
}
FAULT(base, READ_ONCE(thing->data[thing->index]))

/* The wrong one of two tables of functions, which lacks the second. */
struct operations {
	unsigned long (*first)(struct thing *thing);
	unsigned long (*second)(struct thing *thing);
};

static const struct operations partial = { .first = base_fault };

static noinline void ops_cause(struct thing *thing)
{
	thing->data = (unsigned long *)&partial;
}
FAULT(ops, READ_ONCE(((struct operations *)thing->data)->second)(thing))

/* The reader sleeps without the lock while RCU's callback takes the object apart. */
struct guarded {
	struct rcu_head rcu;
	struct thing *thing;
	bool done;
};

static noinline void rcu_cause(struct rcu_head *head)
{
	struct guarded *guarded = container_of(head, struct guarded, rcu);

	guarded->thing = (struct thing *)0x48;
	WRITE_ONCE(guarded->done, true);
}
FAULT(rcu, READ_ONCE(((struct guarded *)thing)->thing->count))

static noinline void rcu_plant(struct thing *thing)
{
	static struct guarded guarded;

	WRITE_ONCE(guarded.thing, thing);
	call_rcu(&guarded.rcu, rcu_cause);
	while (!READ_ONCE(guarded.done))
		msleep(1);
	busy();
	rcu_fault((struct thing *)&guarded);
}

PLANT(tagged, tagged_cause(thing, 0, 2))
PLANT(offbyone, offbyone_cause(thing, NR_NUMBERS + 1))
PLANT(bitfield, bitfield_cause(thing))
PLANT(empty, empty_cause())
PLANT(xadd, xadd_cause())
PLANT(movsxd, movsxd_cause(thing, 1))
PLANT(errptr, thing = errptr_third(thing))
PLANT(shift, shift_cause(thing))
PLANT(scaled, scaled_cause(thing, 3))
PLANT(backwards, backwards_cause(400 * sizeof(area[0])))
PLANT(unaligned, unaligned_cause(thing))
PLANT(setcc, setcc_cause(thing, 1))
PLANT(runaway, runaway_cause(thing))
PLANT(base, base_cause(thing))
PLANT(ops, ops_cause(thing))

#define KIND(kind) { #kind, kind##_plant }

static const struct kind kinds[] = {
	KIND(tagged), KIND(offbyone), KIND(bitfield), KIND(empty), KIND(work), KIND(ipi),
	KIND(xadd), KIND(byvalue), KIND(stalecpu), KIND(movsxd), KIND(errptr), KIND(stackarray),
	KIND(shift), KIND(hlist), KIND(scaled), KIND(backwards), KIND(unaligned), KIND(setcc),
	KIND(handed), KIND(restored), KIND(sibling), KIND(runaway),
	KIND(base), KIND(ops), KIND(rcu),
};

static int bug_set(const char *value, const struct kernel_param *param)
{
	return run_into(value, kinds, ARRAY_SIZE(kinds));
}

static const struct kernel_param_ops bug_ops = { .set = bug_set };

module_param_cb(bug, &bug_ops, NULL, 0200);
MODULE_PARM_DESC(bug, "which to plant and to run into");

MODULE_DESCRIPTION("More bugs whose cause is far from the fault");
MODULE_LICENSE("GPL");
