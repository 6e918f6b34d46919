// SPDX-License-Identifier: GPL-2.0-only
/* btspatch: a live patch of hooked_before() of btshooked, which is loaded. */
#include <linux/livepatch.h>
#include <linux/module.h>

static volatile unsigned long effects;

static noinline __noclone void patched_before(void)
{
	effects += 2;
}

static struct klp_func functions[] = {
	{ .old_name = "hooked_before", .new_func = patched_before },
	{ }
};

static struct klp_object objects[] = {
	{ .name = "btshooked", .funcs = functions },
	{ }
};

static struct klp_patch patch = { .mod = THIS_MODULE, .objs = objects };

static int __init btspatch_init(void)
{
	return klp_enable_patch(&patch);
}

static void __exit btspatch_exit(void)
{
}

module_init(btspatch_init);
module_exit(btspatch_exit);
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("Patch a function of btshooked");
MODULE_LICENSE("GPL");
