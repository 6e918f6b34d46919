// SPDX-License-Identifier: GPL-2.0-only
/*
 * btsunhook: as long as it is loaded the kernel has no memory to unhook a kprobe from ftrace.
 *
 *   cat /sys/module/btsunhook/parameters/failed	how often it could not
 *
 * ftrace_set_filter_ip() that removes an address fails without being made, which optimised
 * kprobes cannot do: debug.kprobes-optimization must be 0.  ftrace traces none of its own
 * functions, so our probe there is a breakpoint and never goes that way itself.
 */
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/module.h>

static unsigned int failed;

module_param(failed, uint, 0444);
MODULE_PARM_DESC(failed, "how often a function could not be unhooked");

void btsunhook_just_return(void);
asm(".pushsection .text\n"
    ".type btsunhook_just_return, @function\n"
    "btsunhook_just_return:\n"
    "	" ASM_RET
    ".size btsunhook_just_return, . - btsunhook_just_return\n"
    ".popsection\n");

/* ftrace_set_filter_ip(ops, ip, remove, reset), one at a time: the callers have a mutex. */
static int on_set_filter_ip(struct kprobe *probe, struct pt_regs *regs)
{
	if (!(int)regs->dx)
		return 0;
	failed++;
	regs->ax = (unsigned long)-ENOMEM;
	regs->ip = (unsigned long)btsunhook_just_return;
	return 1;
}

static struct kprobe probe = {
	.symbol_name = "ftrace_set_filter_ip",
	.pre_handler = on_set_filter_ip,
};

static int __init btsunhook_init(void)
{
	return register_kprobe(&probe);
}

static void __exit btsunhook_exit(void)
{
	unregister_kprobe(&probe);
}

module_init(btsunhook_init);
module_exit(btsunhook_exit);
MODULE_DESCRIPTION("No memory to unhook a kprobe from ftrace");
MODULE_LICENSE("GPL");
