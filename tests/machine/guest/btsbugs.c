// SPDX-License-Identifier: GPL-2.0-only
/*
 * btsbugs: bugs whose cause is far from the fault, as real ones are.
 *
 *   echo KIND >/sys/module/btsbugs/parameters/bug
 *
 * Each kind has a function KIND_cause(), which stores or makes the bad value, and KIND_fault(),
 * which uses it.  Between them more than 500 branches are taken.
 */
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/objtool.h>
#include <linux/percpu.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "btsbugs.h"

static struct thing *shared;
static DEFINE_MUTEX(lock);

/* NULL where a pointer should be. */
static noinline void null_cause(struct thing *thing)
{
	thing->next = NULL;
}
FAULT(null, READ_ONCE(thing->next->count))

/* A call through a pointer that nobody has set. */
static noinline void call_cause(struct thing *thing)
{
	thing->ask = NULL;
}
FAULT(call, thing->ask(thing))

/* An object that holds what its former owner left in it. */
static noinline void uninitialised_cause(struct thing *thing)
{
	memset64((u64 *)thing->numbers, WILD, NR_NUMBERS);
	thing->data = (unsigned long *)thing->numbers[0];
}
FAULT(uninitialised, READ_ONCE(*thing->data))

/* The object is somebody else's already. */
static noinline void after_free_cause(struct thing *thing)
{
	unsigned long *other;
	size_t i;

	kfree(thing);
	other = kmalloc(sizeof(*thing), GFP_KERNEL);
	for (i = 0; other && i < sizeof(*thing) / sizeof(*other); i++)
		WRITE_ONCE(other[i], WILD);
}
FAULT(after_free, READ_ONCE(thing->next->count))

/* One too many in an array, and the pointer beyond it is gone. */
static noinline void overflow_cause(struct thing *thing, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		WRITE_ONCE(*(thing->data + i), 0x100 + i);
}
FAULT(overflow, READ_ONCE(thing->next->count))

/* A length in the wrong unit. */
static noinline void length_cause(struct thing *thing, const void *from, size_t nr_bytes)
{
	unsigned long *to = thing->numbers;

	OPTIMIZER_HIDE_VAR(to);
	memcpy(to, from, nr_bytes);
}
FAULT(length, READ_ONCE(thing->next->count))

/* A pointer that was read under a lock is used when it is not held any more. */
static noinline void stale_cause(struct thing *thing)
{
	mutex_lock(&lock);
	thing->data = (unsigned long *)0x18;
	mutex_unlock(&lock);
}
FAULT(stale, READ_ONCE(*thing->data))

/* The second put takes the object apart that a third still uses. */
static noinline void double_put_cause(struct thing *thing)
{
	if (--thing->count)
		return;
	thing->next = NULL;
}
FAULT(double_put, READ_ONCE(thing->next->count))

/* The wrong one of two indices. */
static noinline void index_cause(struct thing *thing)
{
	thing->index = 0x40000000000;
}
FAULT(index, READ_ONCE(thing->data[thing->index]))

/* -1 of 32 bits that became 4294967295 of 64. */
static noinline void sign_cause(struct thing *thing, int index)
{
	thing->index = (unsigned int)index;
}
FAULT(sign, READ_ONCE(thing->data[thing->index << 12]))

/* A pointer in 32 bits. */
static noinline void truncated_cause(struct thing *thing)
{
	thing->next = (struct thing *)(unsigned long)(u32)(unsigned long)thing;
}
FAULT(truncated, READ_ONCE(thing->next->count))

/* One bit. */
static noinline void bit_cause(struct thing *thing)
{
	thing->next = (struct thing *)((unsigned long)thing->next ^ 1UL << 45);
}
FAULT(bit, READ_ONCE(thing->next->count))

/* An error is taken for a pointer. */
static noinline struct thing *error_cause(void)
{
	struct thing *thing = ERR_PTR(-ENOENT);

	OPTIMIZER_HIDE_VAR(thing);
	return thing;
}
FAULT(error, READ_ONCE(thing->next->count))

/* A member of a list that was removed from it. */
static noinline void list_cause(struct thing *thing)
{
	list_del(&thing->list);
}
FAULT(list, READ_ONCE(thing->list.next->prev->next))

/* NULL, less than where the member is in its object. */
static noinline void member_cause(struct thing *thing)
{
	thing->data = NULL;
}
FAULT(member, READ_ONCE(((struct thing *)((char *)thing->data -
					  offsetof(struct thing, numbers)))->count))

/* A value on the stack of a caller, by a pointer that is one word off. */
static noinline void caller_cause(unsigned long *words)
{
	WRITE_ONCE(words[1], 0x20);
}

static noinline unsigned long caller_fault(struct thing *thing)
{
	unsigned long *volatile words[2] = { thing->numbers, thing->numbers };

	caller_cause((unsigned long *)words);
	busy();
	return READ_ONCE(*words[1]);
}

/*
 * The return address, by a store beyond an array.  It is canonical: else the processor faults at
 * the RET, and the emulated one at its target.
 */
static noinline void smash_cause(unsigned long *words)
{
	WRITE_ONCE(*words, 0x6b6b6b6b6b6bUL);
}

static noinline unsigned long smash_fault(struct thing *thing)
{
	unsigned long value;

	smash_cause((unsigned long *)__builtin_frame_address(0) + 1);
	value = busy();
	OPTIMIZER_HIDE_VAR(value);
	return value;
}
STACK_FRAME_NON_STANDARD(smash_fault);

/* Another CPU clears what this one has tested. */
static noinline void race_cause(struct thing *thing)
{
	WRITE_ONCE(thing->next, NULL);
}

static int race_thread(void *thing)
{
	race_cause(thing);
	for (;;)
		busy();
	return 0;
}
FAULT(race, READ_ONCE(thing->next->count))

static void race_begin(struct thing *thing)
{
	struct task_struct *task = kthread_create(race_thread, thing, "btsbugs-race");

	if (IS_ERR(task))
		return;
	kthread_bind(task, !raw_smp_processor_id());
	wake_up_process(task);
	while (READ_ONCE(thing->next))
		cpu_relax();
}

/* Freed memory of a shared pointer that one side forgot to replace. */
static noinline void forgotten_cause(struct thing *thing)
{
	shared = thing;
	thing->data = (unsigned long *)0x100000008;
}
FAULT(forgotten, READ_ONCE(*shared->data))

/* Arguments in the wrong order. */
static noinline void order_cause(struct thing *thing, unsigned long *data, long index)
{
	thing->index = index;
	thing->data = data;
}
FAULT(order, READ_ONCE(*thing->data))

/* 0 less 1, without a sign. */
static noinline void underflow_cause(struct thing *thing, unsigned int nr)
{
	thing->index = nr - 1;
}
FAULT(underflow, READ_ONCE(thing->data[thing->index << 8]))

/* A bad pointer in an object that was copied. */
static noinline void copied_cause(struct thing *thing)
{
	thing->next = (struct thing *)0x28;
}

static noinline void copied_copy(struct thing *to, const struct thing *from)
{
	size_t nr_bytes = sizeof(*to);

	OPTIMIZER_HIDE_VAR(nr_bytes);
	memcpy(to, from, nr_bytes);
}
FAULT(copied, READ_ONCE(thing->next->count))

/* What is handed to a callback that runs later, in another thread. */
struct job {
	struct work_struct work;
	struct thing *thing;
};

static unsigned long callback_fault(struct thing *thing);

static void callback_run(struct work_struct *work)
{
	struct job *job = container_of(work, struct job, work);

	busy();
	callback_fault(job->thing);
}

static noinline void callback_cause(struct job *job)
{
	job->thing = (struct thing *)0x100;
}
FAULT(callback, READ_ONCE(thing->count))

static void callback_begin(void)
{
	static struct job job;

	INIT_WORK(&job.work, callback_run);
	callback_cause(&job);
	schedule_work_on(raw_smp_processor_id(), &job.work);
	flush_work(&job.work);
}

/* A user's number is taken for a pointer. */
static noinline void user_cause(struct thing *thing)
{
	unsigned long value = 0;

	if (get_user(value, (unsigned long __user *)current->mm->arg_start))
		pr_err("btsbugs: no arguments\n");
	thing->data = (unsigned long *)value;
}
FAULT(user, READ_ONCE(*thing->data))

/* A variable of the CPU. */
static DEFINE_PER_CPU(unsigned long *, slot);

static noinline void percpu_cause(void)
{
	this_cpu_write(slot, (unsigned long *)0x48);
}
FAULT(percpu, READ_ONCE(*this_cpu_read(slot)))

/* A flag in the wrong word. */
static noinline void setbit_cause(struct thing *thing, long nr)
{
	OPTIMIZER_HIDE_VAR(nr);
	change_bit(nr, (unsigned long *)&thing->next);
}
FAULT(setbit, READ_ONCE(thing->next->count))

/* By nothing. */
static noinline void divide_cause(struct thing *thing)
{
	thing->index = 0;
}
FAULT(divide, thing->count = 1000 / READ_ONCE(thing->index))

/* Taken away twice. */
static noinline struct thing *xchg_cause(struct thing *thing)
{
	return xchg(&thing->next, NULL);
}
FAULT(xchg, READ_ONCE(thing->next->count))

/* A pointer to a variable of a function that has returned: another one's is there now. */
static noinline void local_keep(struct thing *thing)
{
	unsigned long words[64];
	unsigned long *kept = words;
	int i;

	for (i = 0; i < 64; i++)
		WRITE_ONCE(words[i], (unsigned long)thing);
	OPTIMIZER_HIDE_VAR(kept);
	thing->data = kept;
}

static noinline void local_cause(void)
{
	unsigned long words[64];
	int i;

	for (i = 0; i < 64; i++)
		WRITE_ONCE(words[i], 0x58);
}
FAULT(local, READ_ONCE(**(unsigned long **)thing->data))

/* A length of 200 in a signed byte. */
static noinline void narrow_cause(struct thing *thing, int nr)
{
	thing->index = (signed char)nr;
}
FAULT(narrow, READ_ONCE(thing->data[thing->index << 32]))

/* All of the object where its array was meant. */
static noinline void fill_cause(struct thing *thing, size_t nr_bytes)
{
	OPTIMIZER_HIDE_VAR(nr_bytes);
	memset(thing->numbers, 0x6b, nr_bytes);
}
FAULT(fill, READ_ONCE(thing->next->count))

/* Put there without a lock, if the old one was. */
static noinline void cmpxchg_cause(struct thing *thing)
{
	cmpxchg(&thing->next, thing, (struct thing *)0x68);
}
FAULT(cmpxchg, READ_ONCE(thing->next->count))

/* A count that goes below nothing, where a pointer is. */
static noinline void decrement_cause(struct thing *thing)
{
	thing->next = NULL;
	atomic64_dec((atomic64_t *)&thing->next);
}
FAULT(decrement, READ_ONCE(thing->next->data))

/* The other member of a union: half of the pointer. */
static noinline void half_cause(struct thing *thing)
{
	WRITE_ONCE(((u32 *)&thing->next)[1], 0x77);
}
FAULT(half, READ_ONCE(thing->next->count))

/* What a timer's function finds. */
struct wake {
	struct timer_list timer;
	struct thing *thing;
};

static noinline unsigned long timer_fault(struct thing *thing);

static void timer_run(struct timer_list *timer)
{
	busy();
	timer_fault(container_of(timer, struct wake, timer)->thing);
}

static noinline void timer_cause(struct wake *wake)
{
	wake->thing = (struct thing *)0x200;
}
FAULT(timer, READ_ONCE(thing->count))

static void timer_begin(void)
{
	static struct wake wake;

	timer_setup(&wake.timer, timer_run, 0);
	timer_cause(&wake);
	mod_timer(&wake.timer, jiffies + 1);
	for (;;)
		busy();
}

/* A table of functions with a hole, and the index of that. */
static unsigned long (*table[4])(struct thing *thing) = { null_fault, call_fault, index_fault };

static noinline void table_cause(struct thing *thing)
{
	thing->index = 3;
}
FAULT(table, READ_ONCE(table[thing->index])(thing))

/* A bad pointer in an object that is assigned. */
static noinline void assigned_cause(struct thing *thing)
{
	thing->next = (struct thing *)0x70;
}

static noinline void assigned_copy(struct thing *to, const struct thing *from)
{
	*to = *from;
}
FAULT(assigned, READ_ONCE(thing->next->count))

/* Stored on one CPU, used on another one after the thread went there. */
static noinline void migrate_cause(struct thing *thing)
{
	thing->next = (struct thing *)0x38;
}
FAULT(migrate, READ_ONCE(thing->next->count))

/* Some numbers of the user at once. */
static noinline void block_cause(struct thing *thing)
{
	size_t nr_bytes = 4 * sizeof(thing->numbers[0]);

	OPTIMIZER_HIDE_VAR(nr_bytes);
	if (copy_from_user(thing->numbers, (void __user *)current->mm->arg_start, nr_bytes))
		pr_err("btsbugs: no arguments\n");
}
FAULT(block, READ_ONCE(*(unsigned long *)thing->numbers[0]))

/* The object is somebody else's, who has cleared it. */
static noinline void zeroed_cause(struct thing *thing)
{
	void *other;

	kfree(thing);
	other = kzalloc(sizeof(*thing), GFP_KERNEL);
	OPTIMIZER_HIDE_VAR(other);
}
FAULT(zeroed, READ_ONCE(thing->next->count))

/* A text that is longer than its room. */
static noinline void string_cause(struct thing *thing, const char *text)
{
	char *to = (char *)&thing->numbers[NR_NUMBERS - 1];

	while ((*to++ = *text++))
		barrier();
}
FAULT(string, READ_ONCE(thing->next->count))

PLANT(null, null_cause(thing))
PLANT(call, call_cause(thing))
PLANT(uninitialised, uninitialised_cause(thing))
PLANT(after_free, after_free_cause(thing))
PLANT(overflow, overflow_cause(thing, NR_NUMBERS + 1))
PLANT(length, length_cause(thing, make(), sizeof(*thing) - sizeof(thing->list)))
PLANT(stale, stale_cause(thing))
PLANT(double_put, thing->count = 2; double_put_cause(thing); double_put_cause(thing))
PLANT(index, index_cause(thing))
PLANT(sign, sign_cause(thing, -1))
PLANT(truncated, truncated_cause(thing))
PLANT(bit, bit_cause(thing))
PLANT(error, thing = error_cause())
PLANT(list, list_cause(thing))
PLANT(member, member_cause(thing))
PLANT(caller, (void)0)
PLANT(smash, (void)0)
PLANT(race, race_begin(thing))
PLANT(forgotten, forgotten_cause(thing))
PLANT(order, order_cause(thing, (unsigned long *)7UL, (long)thing->numbers))

PLANT(underflow, underflow_cause(thing, 0))

static noinline void copied_plant(struct thing *thing)
{
	struct thing *to = make();

	copied_cause(thing);
	busy();
	copied_copy(to, thing);
	copied_fault(to);
}
PLANT(user, user_cause(thing))
PLANT(percpu, percpu_cause())
PLANT(setbit, setbit_cause(thing, 45))
PLANT(divide, divide_cause(thing))
PLANT(xchg, xchg_cause(thing))
PLANT(local, local_keep(thing); local_cause())

PLANT(narrow, narrow_cause(thing, 200))
PLANT(fill, fill_cause(thing, sizeof(*thing) - sizeof(thing->list)))
PLANT(cmpxchg, cmpxchg_cause(thing))
PLANT(decrement, decrement_cause(thing))
PLANT(half, half_cause(thing))
PLANT(timer, timer_begin())
PLANT(table, table_cause(thing))
PLANT(block, block_cause(thing))
PLANT(zeroed, zeroed_cause(thing))
PLANT(string, string_cause(thing, "longer than 8"))

static noinline void assigned_plant(struct thing *thing)
{
	struct thing *to = make();

	assigned_cause(thing);
	busy();
	assigned_copy(to, thing);
	assigned_fault(to);
}

static noinline void migrate_plant(struct thing *thing)
{
	int cpu = raw_smp_processor_id();

	migrate_cause(thing);
	busy();
	set_cpus_allowed_ptr(current, cpumask_of(!cpu));
	busy();
	migrate_fault(thing);
}

static noinline void callback_plant(struct thing *thing)
{
	callback_begin();
}

static const struct kind kinds[] = {
	{ "null", null_plant },
	{ "call", call_plant },
	{ "uninitialised", uninitialised_plant },
	{ "after-free", after_free_plant },
	{ "overflow", overflow_plant },
	{ "length", length_plant },
	{ "stale", stale_plant },
	{ "double-put", double_put_plant },
	{ "index", index_plant },
	{ "sign", sign_plant },
	{ "truncated", truncated_plant },
	{ "bit", bit_plant },
	{ "error", error_plant },
	{ "list", list_plant },
	{ "member", member_plant },
	{ "caller", caller_plant },
	{ "smash", smash_plant },
	{ "race", race_plant },
	{ "forgotten", forgotten_plant },
	{ "order", order_plant },
	{ "underflow", underflow_plant },
	{ "copied", copied_plant },
	{ "callback", callback_plant },
	{ "user", user_plant },
	{ "percpu", percpu_plant },
	{ "setbit", setbit_plant },
	{ "divide", divide_plant },
	{ "xchg", xchg_plant },
	{ "local", local_plant },
	{ "narrow", narrow_plant },
	{ "fill", fill_plant },
	{ "cmpxchg", cmpxchg_plant },
	{ "decrement", decrement_plant },
	{ "half", half_plant },
	{ "timer", timer_plant },
	{ "table", table_plant },
	{ "assigned", assigned_plant },
	{ "migrate", migrate_plant },
	{ "block", block_plant },
	{ "zeroed", zeroed_plant },
	{ "string", string_plant },
};

static int bug_set(const char *value, const struct kernel_param *param)
{
	return run_into(value, kinds, ARRAY_SIZE(kinds));
}

static const struct kernel_param_ops bug_ops = { .set = bug_set };

module_param_cb(bug, &bug_ops, NULL, 0200);
MODULE_PARM_DESC(bug, "which to plant and to run into");

MODULE_DESCRIPTION("Bugs whose cause is far from the fault");
MODULE_LICENSE("GPL");
