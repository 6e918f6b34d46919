// SPDX-License-Identifier: GPL-2.0-only
/*
 * btswarn: kernel trouble that the system survives.
 *
 *   echo warn >/sys/module/btswarn/parameters/do	a WARN()
 *   echo bug >/sys/module/btswarn/parameters/do	a BUG(); kills the writer
 */
#include <linux/bug.h>
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
	return 0;
}

static const struct kernel_param_ops do_ops = { .set = do_set };

module_param_cb(do, &do_ops, NULL, 0200);
MODULE_PARM_DESC(do, "warn or bug");

MODULE_DESCRIPTION("Kernel trouble that the system survives");
MODULE_LICENSE("GPL");
