// SPDX-License-Identifier: GPL-2.0-only
/*
 * btswarn: kernel trouble that the system survives, and a panic to end with.
 *
 *   echo warn >/sys/module/btswarn/parameters/do	a WARN()
 *   echo bug >/sys/module/btswarn/parameters/do	a BUG(); kills the writer
 *   echo panic >/sys/module/btswarn/parameters/do	a panic(), interrupts off
 */
#include <linux/bug.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

static int do_set(const char *what, const struct kernel_param *param)
{
	if (sysfs_streq(what, "warn"))
		WARN(1, "btswarn: as wanted\n");
	if (sysfs_streq(what, "bug")) {
		/* The writer dies: it would keep the lock. */
		kernel_param_unlock(THIS_MODULE);
		BUG();
	}
	if (sysfs_streq(what, "panic")) {
		/* An interrupt on the way into panic() would be the tail. */
		local_irq_disable();
		panic("btswarn: as wanted");
	}
	return 0;
}

static const struct kernel_param_ops do_ops = { .set = do_set };

module_param_cb(do, &do_ops, NULL, 0200);
MODULE_PARM_DESC(do, "warn, bug or panic");

MODULE_DESCRIPTION("Kernel trouble that the system survives");
MODULE_LICENSE("GPL");
