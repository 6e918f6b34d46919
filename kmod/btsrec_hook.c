// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which hooks of any kind this kernel does not give us, and what to do about it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>

#include "btsrec.h"

#define MAX_MISSING	32

/* Since the newest arming; changed and shown under the device's command mutex. */
static struct {
	const char *name;
	const char *effect;
} missing[MAX_MISSING];
static unsigned int nr_missing;

static void keep(const char *name, const char *effect)
{
	if (nr_missing == MAX_MISSING)
		return;
	missing[nr_missing].name = name;
	missing[nr_missing++].effect = effect;
}

/**
 * btsrec_hook_missing() - print and keep that the recorder does without a hook
 * @name: the function, tracepoint or notifier; lives as long as the module
 * @err: why it is not hooked, a negative errno
 * @effect: what the history lacks then, as the end of a sentence; lives as long
 */
void btsrec_hook_missing(const char *name, int err, const char *effect)
{
	pr_warn("Cannot hook %s (error %d): %s.\n", name, err, effect);
	keep(name, effect);
}

/**
 * btsrec_hook_unsupported() - print and keep that the kernel lacks what hooks or a decoder need
 * @option: of its configuration; lives as long as the module
 * @effect: as above
 */
void btsrec_hook_unsupported(const char *option, const char *effect)
{
	pr_warn("The kernel was built without %s: %s.\n", option, effect);
	keep(option, effect);
}

/**
 * btsrec_hook_forget_missing() - an arming begins, which hooks anew
 */
void btsrec_hook_forget_missing(void)
{
	nr_missing = 0;
}

/**
 * btsrec_hook_forget_effect() - nobody wants the hooks with this effect any more
 * @effect: as it was given
 */
void btsrec_hook_forget_effect(const char *effect)
{
	unsigned int i, nr = 0;

	for (i = 0; i < nr_missing; i++)
		if (missing[i].effect != effect)
			missing[nr++] = missing[i];
	nr_missing = nr;
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

/**
 * btsrec_hook_remedy() - what to do where a function cannot be hooked, as the end of a sentence
 * @err: of btsrec_hook_register()
 */
const char *btsrec_hook_remedy(int err)
{
	switch (err) {
	case -EBUSY:
		return "set kernel.ftrace_enabled=1";
	case -EINVAL:
		return "use a kernel that can trace it (CONFIG_FUNCTION_TRACER)";
	default:
		return btsrec_remedy(err, "ftrace has switched itself off, so boot again");
	}
}
