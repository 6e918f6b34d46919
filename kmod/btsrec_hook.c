// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which function an ftrace_ops of ours is called at, and what to do where it cannot be.
 */
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "btsrec.h"

/**
 * btsrec_hook_at() - choose the function at which an ftrace_ops is called
 * @ops: not registered; ftrace_free_filter() gives back what is allocated for it
 * @function: its name
 *
 * Where memory for the one entry of a filter is lacking, ftrace_set_filter() says 0 and leaves
 * a filter without entries, which stands for all functions (ftrace_set_hash() of 6.1, 6.12
 * and 7.2 asks match_records() only for zero).  An ops of the freeze registered so would stop
 * everything at once.  All filters without entries are one and the same, which a reset shows.
 *
 * Return: 0; -EINVAL: this kernel has no such function, or does not trace it; -ENOMEM; or
 * -ENODEV: ftrace has found itself broken.
 */
int btsrec_hook_at(struct ftrace_ops *ops, const char *function)
{
	const struct ftrace_hash *all;
	int err = ftrace_set_filter(ops, NULL, 0, 1);

	if (err)
		return err;
	all = rcu_access_pointer(ops->func_hash->filter_hash);
	err = ftrace_set_filter(ops, (unsigned char *)function, strlen(function), 1);
	if (!err && rcu_access_pointer(ops->func_hash->filter_hash) == all)
		err = -ENOMEM;
	return err;
}

/**
 * btsrec_hook_remedy() - what to do where a function cannot be hooked, as the end of a sentence
 * @err: of btsrec_hook_at(), or of register_ftrace_function(), which adds -EBUSY: ftrace is
 *	switched off, so it takes no permanent ops
 */
const char *btsrec_hook_remedy(int err)
{
	switch (err) {
	case -EBUSY:
		return "set kernel.ftrace_enabled=1";
	case -EINVAL:
		return "use a kernel whose ftrace can trace it";
	default:
		return btsrec_remedy(err, "ftrace has switched itself off, so boot again");
	}
}
