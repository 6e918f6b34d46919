// SPDX-License-Identifier: GPL-2.0-only
/*
 * btsmisuse: bugs that the kernel's own checks find, or that break what the kernel offers.
 *
 *   echo KIND >/sys/module/btsmisuse/parameters/misuse
 *   insmod btsmisuse.ko at_init=1
 *
 * What fails is a function of the kernel; what is wrong was done by a function of this module.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/kref.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/seqlock.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "guest.h"

#define NR_NUMBERS	7
#define SHORT_BYTES	16
#define FREED		0x6b

struct item {
	struct list_head list;
	struct kref ref;
	struct timer_list timer;
	struct work_struct work;
	void (*done)(struct item *item);
	unsigned long *data;
	unsigned long numbers[NR_NUMBERS];
};

/* Two of them are neighbours in an array. */
struct slot {
	unsigned long *data;
	unsigned long numbers[NR_NUMBERS];
};

static LIST_HEAD(items);
static DEFINE_MUTEX(items_lock);
static DEFINE_MUTEX(other_lock);
static DECLARE_RWSEM(table);
static DEFINE_SPINLOCK(spin);
static struct item *registered;

static noinline void finished(struct item *item)
{
	item->numbers[0]++;
}

/* With a constructor it is shared with nobody: what is freed last is given next. */
static struct kmem_cache *cache;

static void construct(void *item)
{
	memset(item, 0, sizeof(struct item));
}

static noinline struct item *make_item(void)
{
	struct item *item = kmem_cache_alloc(cache, GFP_KERNEL);

	if (!item)
		panic("btsmisuse: out of memory");
	construct(item);
	kref_init(&item->ref);
	item->done = finished;
	item->data = item->numbers;
	return item;
}

/* The memory that was freed last gets another owner. */
static noinline void reuse(void)
{
	void *other = kmem_cache_alloc(cache, GFP_KERNEL);

	if (!other)
		return;
	memset(other, FREED, sizeof(struct item));
	/* Nobody reads it, as far as the compiler can see. */
	barrier_data(other);
}

/* --- A callback of what was freed ---------------------------------------- */

/* It forgets what is registered. */
static noinline void free_item(struct item *item)
{
	kmem_cache_free(cache, item);
}

static noinline void notify(void)
{
	registered->done(registered);
}

static void callback(void)
{
	registered = make_item();
	notify();
	free_item(registered);
	reuse();
	notify();
}

/* --- Deleted in an error path, and again --------------------------------- */

static noinline int start_item(struct item *item)
{
	list_add(&item->list, &items);
	if (READ_ONCE(item->numbers[0]))
		return 0;
	list_del(&item->list);
	return -EINVAL;
}

static noinline void stop_item(struct item *item)
{
	list_del(&item->list);
}

static void double_delete(void)
{
	struct item *item = make_item();

	start_item(item);
	msleep(20);
	stop_item(item);
}

/* --- A lock that an error path keeps ------------------------------------- */

static noinline int update_item(struct item *item, unsigned long number)
{
	mutex_lock(&items_lock);
	if (!number)
		return -EINVAL;
	item->numbers[0] = number;
	mutex_unlock(&items_lock);
	return 0;
}

static int update_thread(void *item)
{
	update_item(item, 1);
	return 0;
}

static void missing_unlock(void)
{
	struct item *item = make_item();

	update_item(item, 0);
	kthread_run(update_thread, item, "btsmisuse-wait");
}

/* --- Two locks in turn, and one that is kept ------------------------------ */

static noinline void take_both(struct mutex *first, struct mutex *second)
{
	mutex_lock(first);
	msleep(100);
	mutex_lock(second);
	mutex_unlock(second);
	mutex_unlock(first);
}

static int take_thread(void *unused)
{
	take_both(&other_lock, &items_lock);
	return 0;
}

static void lock_circle(void)
{
	kthread_run(take_thread, NULL, "btsmisuse-turn");
	take_both(&items_lock, &other_lock);
}

static noinline void read_table(void)
{
	down_read(&table);
	up_read(&table);
}

static int read_thread(void *unused)
{
	read_table();
	return 0;
}

static noinline void write_table(void)
{
	down_write(&table);
	kthread_run(read_thread, NULL, "btsmisuse-read");
	msleep_interruptible(100000);
	up_write(&table);
}

/* --- A CPU that does not answer ------------------------------------------- */

static noinline void stay_deaf(void)
{
	local_irq_disable();
	for (;;)
		cpu_relax();
}

static int deaf_thread(void *unused)
{
	stay_deaf();
	return 0;
}

static void answer(void *unused)
{
}

static void wait_ipi(void)
{
	struct task_struct *task = kthread_create(deaf_thread, NULL, "btsmisuse-deaf");
	unsigned int cpu;

	if (IS_ERR(task))
		return;
	preempt_disable();
	cpu = (smp_processor_id() + 1) % num_online_cpus();
	kthread_bind(task, cpu);
	wake_up_process(task);
	mdelay(100);
	smp_call_function_single(cpu, answer, NULL, 1);
	preempt_enable();
}

/* --- Work that waits for the one that waits for it ------------------------ */

static void update_work(struct work_struct *work)
{
	mutex_lock(&items_lock);
	mutex_unlock(&items_lock);
}

static noinline void flush_with_lock(struct item *item)
{
	mutex_lock(&items_lock);
	schedule_work(&item->work);
	flush_work(&item->work);
	mutex_unlock(&items_lock);
}

static void flush_circle(void)
{
	struct item *item = make_item();

	INIT_WORK(&item->work, update_work);
	flush_with_lock(item);
}

/* --- One more than there are --------------------------------------------- */

static noinline void fill_slot(struct slot *slot)
{
	int i;

	for (i = 0; i <= NR_NUMBERS; i++)
		WRITE_ONCE(slot->numbers[i], i);
}

static noinline unsigned long read_slot(struct slot *slot)
{
	return READ_ONCE(*slot->data);
}

static void neighbour(void)
{
	struct slot *slots = kcalloc(2, sizeof(*slots), GFP_KERNEL);

	if (!slots)
		return;
	slots[1].data = slots[1].numbers;
	fill_slot(&slots[0]);
	msleep(20);
	read_slot(&slots[1]);
}

/* --- Used after the reference was put ------------------------------------ */

static void release_item(struct kref *ref)
{
	kmem_cache_free(cache, container_of(ref, struct item, ref));
}

static noinline void put_item(struct item *item)
{
	kref_put(&item->ref, release_item);
}

static noinline unsigned long count_item(struct item *item)
{
	return READ_ONCE(*item->data);
}

static void early_put(void)
{
	struct item *item = make_item();

	put_item(item);
	reuse();
	count_item(item);
}

/* --- A timer of what was freed ------------------------------------------- */

static void on_timer(struct timer_list *timer)
{
	pr_info("btsmisuse: the timer of %px\n", timer);
}

static noinline void tear_down(struct item *item)
{
	kmem_cache_free(cache, item);
}

static void timer(void)
{
	struct item *item = make_item();

	timer_setup(&item->timer, on_timer, 0);
	mod_timer(&item->timer, jiffies + 5);
	tear_down(item);
	reuse();
	msleep(1000);
}

/* --- Two CPUs and one list ----------------------------------------------- */

static noinline void enlist(struct item *item)
{
	list_add(&item->list, &items);
}

static noinline void unlist(struct item *item)
{
	list_del(&item->list);
	item->numbers[0]++;
}

static int list_thread(void *unused)
{
	struct item *item = make_item();

	for (;;) {
		enlist(item);
		unlist(item);
		cond_resched();
	}
	return 0;
}

static void two_cpus(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		struct task_struct *task = kthread_create(list_thread, NULL, "btsmisuse/%u", cpu);

		if (IS_ERR(task))
			return;
		kthread_bind(task, cpu);
		wake_up_process(task);
	}
	msleep(60000);
}

/* --- Two functions that call each other ---------------------------------- */

static noinline int visit_children(struct item *item, int depth);

static noinline int visit(struct item *item, int depth)
{
	volatile char name[64];

	name[0] = (char)depth;
	return visit_children(item, depth + 1) + name[0];
}

/* It is a child of its own. */
static noinline int visit_children(struct item *item, int depth)
{
	if (READ_ONCE(item->numbers[0]))
		return 0;
	return visit(item, depth) + 1;
}

/* It calls others, too, which need more of the stack than it does. */
static noinline int descend(int depth)
{
	struct item *item = make_item();
	volatile char name[64];
	int nr;

	name[0] = (char)depth;
	nr = READ_ONCE(item->numbers[0]) ? 0 : descend(depth + 1);
	kmem_cache_free(cache, item);
	return nr + name[0];
}

static void recursion_leaf(void)
{
	descend(0);
}

static void recursion(void)
{
	visit(make_item(), 0);
}

/* --- What the kernel checks ---------------------------------------------- */

static noinline void get_dead(struct item *item)
{
	refcount_inc(&item->ref.refcount);
}

static void refcount(void)
{
	struct item *item = make_item();

	refcount_set(&item->ref.refcount, 0);
	get_dead(item);
}

static noinline void copy_too_much(struct item *item, unsigned long nr_bytes)
{
	if (copy_to_user((void __user *)current->mm->start_stack, item, nr_bytes))
		pr_err("btsmisuse: not copied\n");
}

static void usercopy(void)
{
	unsigned long nr_bytes = 2 * sizeof(struct item);

	OPTIMIZER_HIDE_VAR(nr_bytes);
	copy_too_much(make_item(), nr_bytes);
}

static noinline void free_twice(struct item *item)
{
	void *again = item;

	OPTIMIZER_HIDE_VAR(again);
	kmem_cache_free(cache, item);
	kmem_cache_free(cache, again);
}

static void double_free(void)
{
	free_twice(make_item());
}

static noinline void fill_short(size_t nr_bytes)
{
	volatile char text[SHORT_BYTES];
	size_t i;

	for (i = 0; i < nr_bytes; i++)
		text[i] = FREED;
}

static void smash_stack(void)
{
	size_t nr_bytes = 3 * SHORT_BYTES;

	OPTIMIZER_HIDE_VAR(nr_bytes);
	fill_short(nr_bytes);
}

static noinline void sleep_with_lock(void)
{
	spin_lock(&spin);
	msleep(20);
	spin_unlock(&spin);
}

static noinline void take_all(void)
{
	while (alloc_pages(GFP_KERNEL, 0))
		;
}

static void spin_work(struct work_struct *work)
{
	preempt_disable();
	for (;;)
		cpu_relax();
}

static void spin_worker(void)
{
	struct item *item = make_item();

	INIT_WORK(&item->work, spin_work);
	schedule_work(&item->work);
	msleep(60000);
}

static noinline void copy_from(struct item *item, const void *from, size_t nr_bytes)
{
	memcpy(item->numbers, from, nr_bytes);
}

/* Through the kernel's memcpy(). */
static void bad_copy(void)
{
	size_t nr_bytes = sizeof(unsigned long) * (NR_NUMBERS - 1);
	unsigned long from = 0xffff800000000123UL;

	OPTIMIZER_HIDE_VAR(nr_bytes);
	OPTIMIZER_HIDE_VAR(from);
	copy_from(make_item(), (void *)from, nr_bytes);
}

/* --- What never changes --------------------------------------------------- */

static DEFINE_SPINLOCK(count_lock);
static seqcount_t count_version = SEQCNT_ZERO(count_version);
static unsigned long count;

/* The lock is not one that a thread may take again. */
static noinline void count_twice(void)
{
	spin_lock(&count_lock);
	count++;
	spin_lock(&count_lock);
	count++;
	spin_unlock(&count_lock);
}

static void lock_twice(void)
{
	count_twice();
	spin_unlock(&count_lock);
}

static noinline unsigned long read_odd(void)
{
	unsigned long value;
	unsigned int version;

	do {
		version = raw_read_seqcount_begin(&count_version);
		value = READ_ONCE(count);
	} while (read_seqcount_retry(&count_version, version));
	return value;
}

/* The writer has gone away without a word. */
static void begin_to_write(void)
{
	raw_write_seqcount_begin(&count_version);
	preempt_disable();
	pr_info("%lu\n", read_odd());
	preempt_enable();
}

/* --- What the error code of a page fault says ----------------------------- */

/* A pointer of user space, taken for one of the kernel's. */
static noinline void set_option(unsigned long *option)
{
	WRITE_ONCE(*option, 1);
}

static void user_memory(void)
{
	set_option((unsigned long *)current->mm->start_stack);
}

/* No physical address has this bit, which the emulated CPU reserves. */
#define TOO_HIGH	51

static noinline unsigned long read_mapped(const unsigned long *mapped)
{
	return READ_ONCE(*mapped);
}

static void page_table(void)
{
	unsigned long *mapped = vzalloc(PAGE_SIZE);
	unsigned int level;
	pte_t *pte;

	if (!mapped)
		panic("btsmisuse: out of memory");
	pte = lookup_address((unsigned long)mapped, &level);
	WRITE_ONCE(*(u64 *)pte, READ_ONCE(*(u64 *)pte) | BIT_ULL(TOO_HIGH));
	asm volatile("invlpg (%0)" : : "r" (mapped) : "memory");
	read_mapped(mapped);
}

static const struct {
	const char *name;
	void (*misuse)(void);
} kinds[] = {
	{ "callback", callback },
	{ "double-delete", double_delete },
	{ "missing-unlock", missing_unlock },
	{ "lock-circle", lock_circle },
	{ "writer-stays", write_table },
	{ "wait-ipi", wait_ipi },
	{ "flush-circle", flush_circle },
	{ "neighbour", neighbour },
	{ "early-put", early_put },
	{ "timer", timer },
	{ "two-cpus", two_cpus },
	{ "recursion", recursion },
	{ "recursion-leaf", recursion_leaf },
	{ "refcount", refcount },
	{ "usercopy", usercopy },
	{ "double-free", double_free },
	{ "smash-stack", smash_stack },
	{ "sleep-with-lock", sleep_with_lock },
	{ "take-all", take_all },
	{ "spin-worker", spin_worker },
	{ "lock-twice", lock_twice },
	{ "read-odd", begin_to_write },
	{ "bad-copy", bad_copy },
	{ "user-memory", user_memory },
	{ "page-table", page_table },
};

static int misuse_set(const char *value, const struct kernel_param *param)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!sysfs_streq(value, kinds[i].name))
			continue;
		kinds[i].misuse();
		return 0;
	}
	return -EINVAL;
}

static const struct kernel_param_ops misuse_ops = { .set = misuse_set };

module_param_cb(misuse, &misuse_ops, NULL, 0200);
MODULE_PARM_DESC(misuse, "what to do wrong, now");

static bool at_init;
module_param(at_init, bool, 0);
MODULE_PARM_DESC(at_init, "use what is not there yet, while the module is initialised");

static noinline void __init count_early(void)
{
	WRITE_ONCE(registered->numbers[0], 1);
}

static int __init btsmisuse_init(void)
{
	if (at_init)
		count_early();
	cache = kmem_cache_create("btsmisuse", sizeof(struct item), 0, 0, construct);
	return cache ? 0 : -ENOMEM;
}

static void __exit btsmisuse_exit(void)
{
	kmem_cache_destroy(cache);
}

module_init(btsmisuse_init);
module_exit(btsmisuse_exit);
MODULE_DESCRIPTION("Bugs that the kernel's own checks find");
MODULE_LICENSE("GPL");
