// SPDX-License-Identifier: GPL-2.0-only
/*
 * btsfleet: a driver with twenty bugs, which runs the same functions on healthy machines.
 *
 *   echo "BUG ROUNDS" >/sys/module/btsfleet/parameters/run
 *
 * Each round runs a step of the driver, by chance, and some rounds later its use of a box.  BUG
 * names the step that goes wrong once, in the second half of the rounds; "none": none does.  What
 * a step spoils is used by STEP_use(), or, of five of the steps, by box_use(): these share a
 * crash site.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#define NR_SLOTS	8
#define NR_BOXES	4
#define MAX_STIRS	40

struct box {
	unsigned long slots[NR_SLOTS];
	unsigned long *data;
	struct box *next;
	struct list_head list;
	long index;
	long share;
	int users;
	unsigned long (*ask)(struct box *box);
};

static struct box *boxes[NR_BOXES];
static DEFINE_MUTEX(lock);
static unsigned long chance;
static unsigned long used;

static noinline unsigned long stir(unsigned long seed)
{
	OPTIMIZER_HIDE_VAR(seed);
	barrier();
	return seed * 6364136223846793005UL + 1442695040888963407UL;
}

static noinline unsigned int draw(unsigned int limit)
{
	chance = stir(chance);
	return (chance >> 33) % limit;
}

/* Work of no effect, of another length each time. */
static noinline void settle(struct box *box)
{
	unsigned int nr = draw(MAX_STIRS);
	unsigned long seed = 1;

	while (nr--)
		seed = stir(seed);
	OPTIMIZER_HIDE_VAR(seed);
}

static unsigned long sum(struct box *box)
{
	return box->slots[0] + box->users;
}

/* As a new box is. */
static noinline void box_reset(struct box *box, struct box *next)
{
	memset(box, 0, sizeof(*box));
	box->data = box->slots;
	box->next = next;
	INIT_LIST_HEAD(&box->list);
	box->share = 1;
	box->users = 2;
	box->ask = sum;
}

static noinline void use(unsigned long value)
{
	WRITE_ONCE(used, value);
}

/* What all boxes go through: five bugs are seen here alone. */
static noinline void box_use(struct box *box)
{
	settle(box);
	use(READ_ONCE(*box->data));
}

/* A step that does GOOD, or BAD if it is the bug. */
#define STEP(name, good, bad)							\
	static noinline void name(struct box *box, bool is_bug)			\
	{									\
		settle(box);							\
		if (is_bug)							\
			bad;							\
		else								\
			good;							\
		settle(box);							\
	}

/* The use of what the step has left, with a site of its own. */
#define OWN_USE(name, expression)						\
	static noinline void name##_use(struct box *box)			\
	{									\
		settle(box);							\
		asm volatile("# " #name);					\
		use((unsigned long)(expression));				\
	}

/* Code that runs only where the bug is: an error path that nobody has tried. */
#define RARE(name, what)							\
	static noinline void name(struct box *box)				\
	{									\
		settle(box);							\
		what;								\
	}

/* Five with one crash site. */
STEP(trim, box->data = box->slots, box->data = NULL)
STEP(shift, box->data = box->slots + 1, box->data = (unsigned long *)((long)box->slots << 4))
STEP(mark, box->data = box->slots, box->data = (unsigned long *)0x6b6b6b6b6b6b6b6bUL)
RARE(lookup_failed, box->data = ERR_CAST(ERR_PTR(-ENOENT)))
STEP(lookup, box->data = box->slots + 2, lookup_failed(box))
RARE(rollback, memcpy(&box->data, "rollback", sizeof(box->data)))
STEP(store, box->data = box->slots + 3, rollback(box))

/* Fifteen with their own. */
STEP(chain, box->next = box, box->next = NULL)
OWN_USE(chain, READ_ONCE(box->next->users))
STEP(hook, box->ask = sum, box->ask = NULL)
OWN_USE(hook, box->ask(box))
STEP(pick, box->index = NR_SLOTS - 1, box->index = 0x40000000000)
OWN_USE(pick, READ_ONCE(box->slots[box->index]))
/* Without the barrier both are one store, of what the caller made of its flag. */
STEP(divide, box->share = 1, ({ barrier(); box->share = 0; }))
OWN_USE(divide, 1000 / READ_ONCE(box->share))
STEP(put, box->users = 2, box->users = -1)
OWN_USE(put, ({ BUG_ON(READ_ONCE(box->users) < 0); 0; }))
STEP(truncate, box->next = box, box->next = (struct box *)(unsigned long)(u32)(unsigned long)box)
OWN_USE(truncate, READ_ONCE(box->next->users))
STEP(unlink, INIT_LIST_HEAD(&box->list), list_del(&box->list))
OWN_USE(unlink, READ_ONCE(box->list.next->prev->next))
STEP(flag, box->next = box,
     box->next = (struct box *)((unsigned long)box ^ 1UL << 45))
OWN_USE(flag, READ_ONCE(box->next->users))
STEP(fill, memset(box->slots, 0, sizeof(box->slots)),
     memset(box->slots, 0x5a, sizeof(box->slots) + sizeof(box->data)))
OWN_USE(fill, READ_ONCE(*box->data))
RARE(retry, box->next = (struct box *)0x28)
STEP(submit, box->next = box, retry(box))
OWN_USE(submit, READ_ONCE(box->next->users))
RARE(timeout, box->ask = (void *)0x100)
STEP(await, box->ask = sum, timeout(box))
OWN_USE(await, box->ask(box))
RARE(grow, box->index = -0x7000000000)
STEP(append, box->index = 0, grow(box))
OWN_USE(append, READ_ONCE(box->slots[box->index]))
RARE(share_out, box->share = 0)
STEP(reserve, box->share = 2, share_out(box))
OWN_USE(reserve, 1000 / READ_ONCE(box->share))
RARE(drop_twice, box->users = -2)
STEP(drop, box->users = 1, drop_twice(box))
OWN_USE(drop, ({ BUG_ON(READ_ONCE(box->users) < 0); 0; }))

/* By another CPU. */
struct job {
	struct work_struct work;
	struct box *box;
	bool is_bug;
};

static noinline void drain(struct box *box, bool is_bug)
{
	settle(box);
	WRITE_ONCE(box->next, is_bug ? NULL : box);
}

static void drain_run(struct work_struct *work)
{
	struct job *job = container_of(work, struct job, work);

	drain(job->box, job->is_bug);
}

static noinline void drain_elsewhere(struct box *box, bool is_bug)
{
	struct job job = { .box = box, .is_bug = is_bug };

	INIT_WORK_ONSTACK(&job.work, drain_run);
	schedule_work_on(!raw_smp_processor_id(), &job.work);
	flush_work(&job.work);
	destroy_work_on_stack(&job.work);
}
OWN_USE(drain, READ_ONCE(box->next->users))

static const struct {
	const char *name;
	void (*step)(struct box *box, bool is_bug);
	void (*use)(struct box *box);
} steps[] = {
	{ "trim", trim, box_use },
	{ "shift", shift, box_use },
	{ "mark", mark, box_use },
	{ "lookup", lookup, box_use },
	{ "store", store, box_use },
	{ "chain", chain, chain_use },
	{ "hook", hook, hook_use },
	{ "pick", pick, pick_use },
	{ "divide", divide, divide_use },
	{ "put", put, put_use },
	{ "truncate", truncate, truncate_use },
	{ "unlink", unlink, unlink_use },
	{ "flag", flag, flag_use },
	{ "fill", fill, fill_use },
	{ "submit", submit, submit_use },
	{ "await", await, await_use },
	{ "append", append, append_use },
	{ "reserve", reserve, reserve_use },
	{ "drop", drop, drop_use },
	{ "drain", drain_elsewhere, drain_use },
};

/* Two or three steps, each on a box of its own, then their uses in the same order. */
static noinline void turn(int bug)
{
	unsigned int chosen[NR_BOXES - 1];
	int i, nr = 2 + draw(NR_BOXES - 2);

	for (i = 0; i < NR_BOXES; i++)
		box_reset(boxes[i], boxes[i]);
	for (i = 0; i < nr; i++)
		chosen[i] = draw(ARRAY_SIZE(steps));
	if (bug >= 0)
		chosen[0] = bug;
	for (i = 0; i < nr; i++)
		steps[chosen[i]].step(boxes[i], bug >= 0 && i == 0);
	for (i = 0; i < nr; i++)
		steps[chosen[i]].use(boxes[i]);
}

static int run_set(const char *text, const struct kernel_param *param)
{
	unsigned int round, when, nr_rounds;
	int bug = -1;
	char name[16];
	size_t i;

	if (sscanf(text, "%15s %u", name, &nr_rounds) != 2 || !nr_rounds)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(steps); i++)
		if (!strcmp(name, steps[i].name))
			bug = i;
	if (bug < 0 && strcmp(name, "none"))
		return -EINVAL;
	mutex_lock(&lock);
	chance += ktime_get_ns();
	when = nr_rounds / 2 + draw(nr_rounds / 2 + 1);
	for (round = 0; round <= nr_rounds; round++) {
		turn(round == when ? bug : -1);
		cond_resched();
	}
	mutex_unlock(&lock);
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = run_set };

module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "which step goes wrong, or none, and how many rounds");

static void btsfleet_free(void)
{
	int i;

	for (i = 0; i < NR_BOXES; i++)
		kfree(boxes[i]);
}

static int __init btsfleet_init(void)
{
	int i;

	for (i = 0; i < NR_BOXES; i++) {
		boxes[i] = kzalloc(sizeof(*boxes[i]), GFP_KERNEL);
		if (!boxes[i]) {
			btsfleet_free();
			return -ENOMEM;
		}
	}
	return 0;
}

static void __exit btsfleet_exit(void)
{
	btsfleet_free();
}

module_init(btsfleet_init);
module_exit(btsfleet_exit);
MODULE_DESCRIPTION("A driver with twenty bugs");
MODULE_LICENSE("GPL");
