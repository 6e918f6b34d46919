// SPDX-License-Identifier: GPL-2.0-only
/*
 * btsmark: marks for the BTS model when a kernel function is entered for the first time.
 *
 *   insmod btsmark.ko symbol=panic
 *
 * The model then writes into msr.log how many records each CPU has made so far.  Load it after the
 * recorder: of several hooks on a function ftrace calls the newest first.
 */
#include <linux/kprobes.h>
#include <linux/module.h>

#include "guest.h"

static char *symbol = "panic";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "the function");

static atomic_t entered = ATOMIC_INIT(0);

static int on_entry(struct kprobe *probe, struct pt_regs *regs)
{
	if (!atomic_xchg(&entered, 1))
		model_mark();
	return 0;
}

static struct kprobe probe = {
	.pre_handler = on_entry,
};

static int __init btsmark_init(void)
{
	probe.symbol_name = symbol;
	return register_kprobe(&probe);
}

static void __exit btsmark_exit(void)
{
	unregister_kprobe(&probe);
}

module_init(btsmark_init);
module_exit(btsmark_exit);
MODULE_DESCRIPTION("Mark the entry of a function in the log of the emulated Branch Trace Store");
MODULE_LICENSE("GPL");
