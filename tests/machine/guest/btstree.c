// SPDX-License-Identifier: GPL-2.0-only
/*
 * btstree: functions that call each other in a known way, and then a panic.
 *
 * Each of them has an effect that the compiler cannot see through, so that it neither
 * inlines nor merges them; jumps in place of calls are where tree_tail() is.
 */
#include <linux/module.h>

#include "guest.h"

#define TURNS 100

static volatile unsigned long effects;

static noinline __noclone void tree_leaf(void)
{
	effects++;
}

static noinline __noclone void tree_twice(void)
{
	tree_leaf();
	tree_leaf();
	effects++;
}

static noinline __noclone void tree_depth(unsigned int depth)
{
	if (depth)
		tree_depth(depth - 1);
	effects++;
}

static noinline __noclone void tree_many(void)
{
	unsigned int i;

	for (i = 0; i < TURNS; i++)
		tree_twice();
	effects++;
}

static noinline __noclone void tree_loop(void)
{
	unsigned int i;

	for (i = 0; i < TURNS; i++)
		effects++;
}

static void (*volatile tree_pointer)(void) = tree_leaf;

static noinline __noclone void tree_indirect(void)
{
	tree_pointer();
	effects++;
}

/* Compiled to a jump. */
static noinline __noclone void tree_tail(void)
{
	effects++;
	tree_twice();
}

static noinline __noclone void tree_root(void)
{
	tree_twice();
	tree_depth(3);
	tree_many();
	tree_loop();
	tree_indirect();
	tree_tail();
	effects++;
}

/* Outside of the code that is only there while the module is loaded. */
static noinline __noclone void tree_start(void)
{
	unsigned long flags;

	/* Interrupts have no place in the tree. */
	local_irq_save(flags);
	tree_root();
	panic("btstree");
	local_irq_restore(flags);
}

static int __init btstree_init(void)
{
	tree_start();
	return 0;
}

module_init(btstree_init);
MODULE_DESCRIPTION("Call functions in a known way and panic");
MODULE_LICENSE("GPL");
