// SPDX-License-Identifier: GPL-2.0-only
/*
 * btsdetour: functions of btshooked, which is loaded, are reached by a detour.
 *
 *   insmod btsdetour.ko how=direct	a trampoline of ours instead of ftrace's: hooked_middle()
 *   insmod btsdetour.ko how=inject	hooked_before() returns at once, as an injected error does
 */
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/version.h>
#if __has_include(<linux/objtool.h>)
#include <linux/objtool.h>
#endif
#include <asm/ibt.h>
#include <asm/nospec-branch.h>

#ifndef CALL_DEPTH_ACCOUNT
#define CALL_DEPTH_ACCOUNT	""
#endif

static char *how = "";

module_param(how, charp, 0444);
MODULE_PARM_DESC(how, "\"direct\" or \"inject\"");

static volatile unsigned long effects;

/* The trampolines call it, and only they. */
noinline void detour_effect(void);
noinline void detour_effect(void)
{
	effects++;
}

/* As samples/ftrace/ftrace-direct.c has it; and to where an injected error goes. */
void detour_trampoline(void);
void detour_return(void);
asm(".pushsection .text\n"
    ".type detour_trampoline, @function\n"
    "detour_trampoline:\n"
    ASM_ENDBR
    "	pushq %rbp\n"
    "	movq %rsp, %rbp\n"
    CALL_DEPTH_ACCOUNT
    "	pushq %rdi\n"
    "	call detour_effect\n"
    "	popq %rdi\n"
    "	leave\n"
    "	" ASM_RET
    ".size detour_trampoline, . - detour_trampoline\n"
    ".type detour_return, @function\n"
    "detour_return:\n"
    ASM_ENDBR
    "	" ASM_RET
    ".size detour_return, . - detour_return\n"
    ".popsection\n");

static int inject(struct kprobe *probe, struct pt_regs *regs)
{
	regs->ax = (unsigned long)-ENOMEM;
	regs->ip = (unsigned long)detour_return;
	return 1;
}

static struct kprobe injected = {
	.symbol_name = "btshooked:hooked_before",
	.pre_handler = inject,
};

/* A module's function that is not exported: a probe there says where it is. */
static unsigned long address_of(const char *name)
{
	struct kprobe probe = { .symbol_name = name };
	unsigned long kva;

	if (register_kprobe(&probe))
		return 0;
	kva = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	return kva;
}

/* "ftrace: Replace register_ftrace_direct() with ..._multi()", v6.4. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
static struct ftrace_ops direct_ops;

static int go_direct(unsigned long kva)
{
	int error = ftrace_set_filter_ip(&direct_ops, kva, 0, 0);

	return error ? error : register_ftrace_direct(&direct_ops, (unsigned long)detour_trampoline);
}
#else
static int go_direct(unsigned long kva)
{
	return register_ftrace_direct(kva, (unsigned long)detour_trampoline);
}
#endif

static int __init btsdetour_init(void)
{
	unsigned long kva;

	if (!strcmp(how, "inject"))
		return register_kprobe(&injected);
	kva = strcmp(how, "direct") ? 0 : address_of("btshooked:hooked_middle");
	return kva ? go_direct(kva) : -EINVAL;
}

/* Never unloaded: it has no exit. */
module_init(btsdetour_init);
MODULE_DESCRIPTION("Functions are reached by a detour");
MODULE_LICENSE("GPL");
