// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks by ftrace.  kernel.ftrace_enabled=0 is refused as long as there is a PERMANENT ops.
 */
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "btsrec.h"
#include "btsrec_compat.h"

/*
 * Where memory for the one entry of a filter is lacking, ftrace_set_filter() returns 0 and leaves a
 * filter without entries.  That stands for all functions (ftrace_set_hash() of 6.1, 6.12 and 7.2
 * asks match_records() only for zero).  An ops of the freeze registered so would stop everything at
 * once.  All filters without entries are the same one, which a reset shows.
 */
static int set_filter(struct ftrace_ops *ops, char *pattern)
{
	const struct ftrace_hash *all;
	int err = ftrace_set_filter(ops, NULL, 0, 1);

	if (err)
		return err;
	all = rcu_access_pointer(ops->func_hash->filter_hash);
	err = ftrace_set_filter(ops, (unsigned char *)pattern, strlen(pattern), 1);
	if (!err && rcu_access_pointer(ops->func_hash->filter_hash) == all)
		err = -ENOMEM;
	return err;
}

static int set_function(struct ftrace_ops *ops, const char *function)
{
	char pattern[64];	/* ftrace writes into one with a "*" */
	int err;

	strscpy(pattern, function, sizeof(pattern));
	err = set_filter(ops, pattern);
	if (err != -EINVAL)
		return err;
	scnprintf(pattern, sizeof(pattern), "%s.*", function);
	return set_filter(ops, pattern);
}

/**
 * btsrec_hook_register() - be called where a function begins
 * @hook: not registered; btsrec_hook_exit() gives back what is allocated for it
 * @function: its name, below 60 bytes
 *
 * The compiler may have made a copy of it, whose name goes on with a dot (F.isra.0,
 * F.constprop.0).  That is taken if there is no other.  It need not have all arguments, so a
 * handler may not rely on one where the kernel does not take the function's address.
 *
 * Return: 0; -EINVAL: this kernel has no such function, or does not trace it; -ENOMEM; -EBUSY:
 * ftrace is switched off, so it takes no permanent ops; or -ENODEV: it has found itself broken.
 */
int btsrec_hook_register(struct btsrec_hook *hook, const char *function)
{
	int err = set_function(&hook->ops, function);

	return err ?: register_ftrace_function(&hook->ops);
}

/**
 * btsrec_hook_unregister() - no longer; when this returns the handler does not run
 * @hook: registered
 */
void btsrec_hook_unregister(struct btsrec_hook *hook)
{
	unregister_ftrace_function(&hook->ops);
}

/**
 * btsrec_hook_exit() - give back what ftrace keeps for a hook
 * @hook: not registered
 *
 * Once, at the very end: 6.1's ftrace_free_filter() leaves the ops with pointers to what it
 * freed.
 */
void btsrec_hook_exit(struct btsrec_hook *hook)
{
	btsrec_ftrace_free_filter(&hook->ops);
}

/**
 * btsrec_hook_say_kind() - print and keep what all hooks of this kernel lack
 */
void btsrec_hook_say_kind(void)
{
}
