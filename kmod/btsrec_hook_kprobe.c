// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks where the kernel has no CONFIG_FUNCTION_TRACER: breakpoints, or jumps in their place.  Each
 * function is described in btsrec_hook_ftrace.c.
 */
#include <linux/errno.h>
#include <linux/kprobes.h>

#include "btsrec.h"
#include "btsrec_compat.h"

/* Returns as that of ftrace; -EINVAL also where the kernel has no kprobes. */
int btsrec_hook_register(struct btsrec_hook *hook, const char *function)
{
	int err;

	/* What was registered before has left its address and flags. */
	hook->probe = (struct kprobe){
		.symbol_name = function,
		.pre_handler = hook->probe.pre_handler,
	};
	err = register_kprobe(&hook->probe);
	return err == -ENOENT || err == -EOPNOTSUPP || err == -ENOSYS ? -EINVAL : err;
}

void btsrec_hook_unregister(struct btsrec_hook *hook)
{
	unregister_kprobe(&hook->probe);
}

void btsrec_hook_exit(struct btsrec_hook *hook)
{
}

void btsrec_hook_say_kind(void)
{
	btsrec_hook_unsupported("CONFIG_FUNCTION_TRACER",
				"functions are hooked by breakpoints, whose handling is in the history");
}
