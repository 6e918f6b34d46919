// SPDX-License-Identifier: GPL-2.0-only
/*
 * btshooked: a bug with functions on its way that the kernel can hook, probe and patch.
 *
 *   echo 1 >/sys/module/btshooked/parameters/run
 *
 * btspatch patches hooked_before(), which returns before the bug.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>

static volatile unsigned long effects;
static unsigned long *volatile nothing;

noinline __noclone void hooked_before(void)
{
	effects++;
}

static noinline __noclone void hooked_last(void)
{
	effects++;
	*nothing = 1;
	effects++;
}

static noinline __noclone void hooked_middle(void)
{
	hooked_before();
	effects += 2;
	hooked_last();
	effects++;
}

static noinline __noclone void hooked_root(void)
{
	effects++;
	hooked_middle();
	effects++;
}

static int run_set(const char *text, const struct kernel_param *param)
{
	hooked_root();
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = run_set };

module_param_cb(run, &run_ops, NULL, 0200);
MODULE_DESCRIPTION("A bug on a way that can be hooked");
MODULE_LICENSE("GPL");
