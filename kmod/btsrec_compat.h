/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every difference between kernel versions.  No other file tests for one.
 */
#ifndef BTSREC_COMPAT_H
#define BTSREC_COMPAT_H

#include <linux/module.h>
#include <linux/syscore_ops.h>
#include <linux/version.h>
#include <asm/msr.h>

/*
 * Commit 443cbaf9e2fd ("crash: split vmcoreinfo exporting code out from
 * crash_core.c"), v6.9, moved the note's declarations.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
#include <linux/vmcore_info.h>
#else
#include <linux/crash_core.h>
#endif

/*
 * "x86/tracing, x86/mm: Move page fault tracepoints to generic", v6.16.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#include <trace/events/exceptions.h>
#else
#include <asm/trace/exceptions.h>
#endif

/* linux/kernel.h of 7.2 no longer brings hex2bin(); 6.1 has no header of its own for it. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/hex.h>
#endif

/* "x86/msr: Rename 'rdmsrl_safe()' to 'rdmsrq_safe()'" and its sibling, v6.16. */
#ifdef rdmsrq
#define btsrec_rdmsr_safe(msr, val)	rdmsrq_safe(msr, val)
#define btsrec_wrmsr_safe(msr, val)	wrmsrq_safe(msr, val)
#else
#define btsrec_rdmsr_safe(msr, val)	rdmsrl_safe(msr, val)
#define btsrec_wrmsr_safe(msr, val)	wrmsrl_safe(msr, val)
#endif

/*
 * Commit ac3b43283923 ("module: replace module_layout with module_memory"),
 * v6.4.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
static inline void *btsrec_module_text(const struct module *mod, u64 *bytes)
{
	*bytes = mod->mem[MOD_TEXT].size;
	return mod->mem[MOD_TEXT].base;
}

static inline void *btsrec_module_rodata(const struct module *mod, u64 *bytes)
{
	*bytes = mod->mem[MOD_RODATA].size;
	return mod->mem[MOD_RODATA].base;
}
#else
static inline void *btsrec_module_text(const struct module *mod, u64 *bytes)
{
	*bytes = mod->core_layout.text_size;
	return mod->core_layout.base;
}

static inline void *btsrec_module_rodata(const struct module *mod, u64 *bytes)
{
	*bytes = mod->core_layout.ro_size - mod->core_layout.text_size;
	return mod->core_layout.base + mod->core_layout.text_size;
}
#endif

/*
 * struct syscore with a data pointer replaced struct syscore_ops' callbacks
 * ("syscore: Pass context data to callbacks", v6.19).  Stable releases have it, too, Debian's
 * 6.12.117 among them, so Kbuild asks the header and not the version.
 */
#ifdef BTSREC_HAVE_SYSCORE
#define BTSREC_SYSCORE(name, suspend_fn, resume_fn)				\
	static int name##_suspend(void *data) { return suspend_fn(); }		\
	static void name##_resume(void *data) { resume_fn(); }			\
	static const struct syscore_ops name##_ops = {				\
		.suspend = name##_suspend, .resume = name##_resume };		\
	static struct syscore name = { .ops = &name##_ops }
#define btsrec_syscore_register(s)	register_syscore(s)
#define btsrec_syscore_unregister(s)	unregister_syscore(s)
#else
#define BTSREC_SYSCORE(name, suspend_fn, resume_fn)				\
	static struct syscore_ops name = { .suspend = suspend_fn, .resume = resume_fn }
#define btsrec_syscore_register(s)	register_syscore_ops(s)
#define btsrec_syscore_unregister(s)	unregister_syscore_ops(s)
#endif

/* What is hooked where the kernel has it. */
#ifdef BTSREC_HAVE_VPANIC
#define BTSREC_HAS_VPANIC	true
#else
#define BTSREC_HAS_VPANIC	false
#endif
#ifdef BTSREC_HAVE_REPORT_BUG_ENTRY
#define BTSREC_HAS_REPORT_BUG_ENTRY	true
#else
#define BTSREC_HAS_REPORT_BUG_ENTRY	false
#endif

#endif /* BTSREC_COMPAT_H */
