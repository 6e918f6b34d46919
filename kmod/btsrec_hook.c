// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which function an ftrace_ops of ours is called at, and what to do where it cannot be.  Which
 * hooks of any kind this kernel does not give us.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "btsrec.h"

#define MAX_MISSING	32

/* Since the newest arming; changed and shown under the device's command mutex. */
static struct {
	const char *name;
	const char *effect;
} missing[MAX_MISSING];
static unsigned int nr_missing;

/**
 * btsrec_hook_missing() - print and keep that the recorder does without a hook
 * @name: the function, tracepoint or notifier; lives as long as the module
 * @err: why it is not hooked, a negative errno
 * @effect: what the history lacks then, as the end of a sentence; lives as long
 */
void btsrec_hook_missing(const char *name, int err, const char *effect)
{
	pr_warn("Cannot hook %s (error %d): %s.\n", name, err, effect);
	if (nr_missing == MAX_MISSING)
		return;
	missing[nr_missing].name = name;
	missing[nr_missing++].effect = effect;
}

/**
 * btsrec_hook_forget_missing() - an arming begins, which hooks anew
 */
void btsrec_hook_forget_missing(void)
{
	nr_missing = 0;
}

/**
 * btsrec_hook_show_missing() - the missing hooks as lines of /dev/btsrec
 * @m: where they go
 */
void btsrec_hook_show_missing(struct seq_file *m)
{
	unsigned int i;

	seq_printf(m, "hooks_missing: %u\n", nr_missing);
	for (i = 0; i < nr_missing; i++)
		seq_printf(m, "missing_hook: %s: %s\n", missing[i].name, missing[i].effect);
}

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

/**
 * btsrec_hook_at() - choose the function at which an ftrace_ops is called
 * @ops: not registered; btsrec_ftrace_free_filter() gives back what is allocated for it
 * @function: its name, below 60 bytes
 *
 * The compiler may have made a copy of it, whose name goes on with a dot (F.isra.0,
 * F.constprop.0).  That is taken if there is no other.  It need not have all arguments, so a
 * handler may not rely on one where the kernel does not take the function's address.
 *
 * Return: 0; -EINVAL: this kernel has no such function, or does not trace it; -ENOMEM; or
 * -ENODEV: ftrace has found itself broken.
 */
int btsrec_hook_at(struct ftrace_ops *ops, const char *function)
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
		return "use a kernel with an ftrace that can trace it";
	default:
		return btsrec_remedy(err, "ftrace has switched itself off, so boot again");
	}
}
