/* SPDX-License-Identifier: GPL-2.0-only */
/* What btsbugs and btsbugs_more share: an object, code to run, and kinds by name. */
#ifndef BTSBUGS_H
#define BTSBUGS_H

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#define NR_ROUNDS	400
#define NR_NUMBERS	8
#define WILD	0x6b6b6b6b6b6b6b6bUL

struct thing {
	struct list_head list;
	unsigned long numbers[NR_NUMBERS];
	struct thing *next;
	unsigned long *data;
	long index;
	int count;
	unsigned long (*ask)(struct thing *thing);
};

static noinline unsigned long stir(unsigned long seed)
{
	OPTIMIZER_HIDE_VAR(seed);
	barrier();
	return seed * 6364136223846793005UL + 1442695040888963407UL;
}

/* Two branches and more in each round. */
static noinline unsigned long busy(void)
{
	unsigned long seed = 1;
	int i;

	for (i = 0; i < NR_ROUNDS; i++)
		seed = stir(seed);
	OPTIMIZER_HIDE_VAR(seed);
	return seed;
}

static noinline struct thing *make(void)
{
	struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL);

	if (!thing)
		panic("btsbugs: out of memory");
	thing->next = thing;
	thing->data = thing->numbers;
	INIT_LIST_HEAD(&thing->list);
	return thing;
}

/* Most kinds end here: what is read through is bad. */
#define FAULT(kind, expression)					\
	static noinline unsigned long kind##_fault(struct thing *thing)	\
	{							\
		unsigned long value;				\
								\
		/* No two are alike: the compiler would make one of them. */	\
		asm volatile("# " #kind);			\
		value = (unsigned long)(expression);		\
								\
		OPTIMIZER_HIDE_VAR(value);			\
		return value;					\
	}

/* KIND_cause() with more than @thing. */
#define PLANT(kind, cause)						\
	static noinline void kind##_plant(struct thing *thing)		\
	{								\
		cause;							\
		busy();							\
		kind##_fault(thing);					\
	}

struct kind {
	const char *name;
	void (*plant)(struct thing *thing);
};

static int run_into(const char *value, const struct kind *kinds, size_t nr)
{
	struct thing *thing;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!sysfs_streq(value, kinds[i].name))
			continue;
		thing = make();
		kinds[i].plant(thing);
		/* The maker has it still. */
		kfree(thing);
		return 0;
	}
	return -EINVAL;
}

#endif /* BTSBUGS_H */
