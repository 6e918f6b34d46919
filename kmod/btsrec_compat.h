/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every difference between kernels.  No other file tests for one, and nothing tests for a version:
 * distributions take single changes into old kernels.  What is no macro of the kernel's, Kbuild
 * looks for in its headers (BTSREC_HAVE_*).
 */
#ifndef BTSREC_COMPAT_H
#define BTSREC_COMPAT_H

#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/syscore_ops.h>
#include <asm/msr.h>

/*
 * Commit 443cbaf9e2fd ("crash: split vmcoreinfo exporting code out from
 * crash_core.c"), v6.9, moved the note's declarations.
 */
#ifdef BTSREC_HAVE_VMCORE_INFO_H
#include <linux/vmcore_info.h>
#else
#include <linux/crash_core.h>
#endif

/* Since v7.2 asm/processor.h does not bring cpuid_count() along. */
#ifdef BTSREC_HAVE_ASM_CPUID_API_H
#include <asm/cpuid/api.h>
#else
#include <asm/processor.h>
#endif

/*
 * "x86/tracing, x86/mm: Move page fault tracepoints to generic", v6.16.
 */
#ifdef BTSREC_HAVE_ASM_TRACE_EXCEPTIONS_H
#include <asm/trace/exceptions.h>
#else
#include <trace/events/exceptions.h>
#endif

/* What these declare was in linux/kernel.h before. */
#ifdef BTSREC_HAVE_HEX_H
#include <linux/hex.h>
#endif
#ifdef BTSREC_HAVE_PANIC_NOTIFIER_H
#include <linux/panic_notifier.h>
#endif
#ifdef BTSREC_HAVE_INSTRUCTION_POINTER_H
#include <linux/instruction_pointer.h>
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
#ifdef BTSREC_HAVE_MODULE_MEMORY
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
 * 6.12.117 among them.
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

/*
 * struct btsrec_hook - our handler is called where a function of the kernel begins
 *
 * BTSREC_HOOK_HANDLER(name, regs) is the head of a handler.  BTSREC_HOOK_HANDLER_OF(name, hook,
 * regs) is that of one that asks which hook it is.  BTSREC_HOOK(name) and
 * BTSREC_HOOK_WITH_REGS(name) are what a hook is initialised with.  Without the latter @regs may be
 * NULL.  By ftrace; where the kernel has no CONFIG_FUNCTION_TRACER, by a kprobe.
 */
#define BTSREC_HOOK_HANDLER(name, regs)	BTSREC_HOOK_HANDLER_OF(name, unused_hook, regs)

#ifdef BTSREC_HOOKS_ftrace
struct btsrec_hook {
	struct ftrace_ops ops;
};

#define BTSREC_HOOK_HANDLER_OF(name, hook, regs)				\
	static __always_inline void name##_with(const struct btsrec_hook *hook,	\
						const struct pt_regs *regs);	\
	static void name(unsigned long ip, unsigned long parent_ip,		\
			 struct ftrace_ops *ops, struct ftrace_regs *fregs)	\
	{									\
		name##_with(container_of(ops, struct btsrec_hook, ops),		\
			    ftrace_get_regs(fregs));				\
	}									\
	static __always_inline void name##_with(const struct btsrec_hook *hook,	\
						const struct pt_regs *regs)
#define BTSREC_HOOK(name)							\
	{ .ops = { .func = name, .flags = BTSREC_FTRACE_FLAGS } }
#define BTSREC_HOOK_WITH_REGS(name)						\
	{ .ops = { .func = name, .flags = BTSREC_FTRACE_FLAGS | FTRACE_OPS_FL_SAVE_REGS } }

/*
 * The registers of an ftrace callback came as they are before "ftrace: Have the callbacks receive
 * a struct ftrace_regs instead of pt_regs", v5.11.
 */
#ifndef BTSREC_HAVE_FTRACE_REGS
#define ftrace_regs pt_regs
static inline struct pt_regs *ftrace_get_regs(struct pt_regs *regs)
{
	return regs;
}
#endif

/*
 * Up to v5.10 an ops had to ask to be called without a guard against recursion ("ftrace: Reverse
 * what the RECURSION flag means in the ftrace_ops").  The guard runs before our handler, which
 * would be in the history, and may leave out a call.
 */
#ifdef BTSREC_HAVE_FTRACE_RECURSION_SAFE
#define BTSREC_FTRACE_FLAGS	(FTRACE_OPS_FL_PERMANENT | FTRACE_OPS_FL_RECURSION_SAFE)
#else
#define BTSREC_FTRACE_FLAGS	FTRACE_OPS_FL_PERMANENT
#endif

/*
 * "ftrace: Export ftrace_free_filter() to modules", v6.2.  Without it a reset takes memory, and a
 * filter stays where there is none.
 */
static inline void btsrec_ftrace_free_filter(struct ftrace_ops *ops)
{
#ifdef BTSREC_HAVE_FTRACE_FREE_FILTER
	ftrace_free_filter(ops);
#else
	ftrace_set_filter(ops, NULL, 0, 1);
#endif
}

#else
struct btsrec_hook {
	struct kprobe probe;
};

#define BTSREC_HOOK_HANDLER_OF(name, hook, regs)				\
	static __always_inline void name##_with(const struct btsrec_hook *hook,	\
						const struct pt_regs *regs);	\
	static int name(struct kprobe *probe, struct pt_regs *regs)		\
	{									\
		name##_with(container_of(probe, struct btsrec_hook, probe), regs); \
		return 0;							\
	}									\
	static __always_inline void name##_with(const struct btsrec_hook *hook,	\
						const struct pt_regs *regs)
#define BTSREC_HOOK(name)		{ .probe = { .pre_handler = name } }
#define BTSREC_HOOK_WITH_REGS(name)	BTSREC_HOOK(name)
#endif

/* "irq_work: Cleanup" and "preempt: Cleanup the macro maze a bit", both v5.11. */
#ifndef IRQ_WORK_INIT_HARD
#define IRQ_WORK_INIT_HARD(fn)							\
	((struct irq_work){ .flags = ATOMIC_INIT(IRQ_WORK_HARD_IRQ), .func = (fn) })
#endif
#ifndef in_hardirq
#define in_hardirq()	in_irq()
#endif

/* "printk: Userspace format indexing support", v5.15, made printk() a macro. */
#ifdef printk
#define BTSREC_PRINTK		_printk
#else
#define BTSREC_PRINTK		printk
#endif

/* "sched/tracing: Append prev_state to tp args instead", v5.18. */
#ifdef BTSREC_HAVE_SCHED_SWITCH_STATE
#define BTSREC_PROBE_SCHED_SWITCH(name, prev, next)				\
	void name(void *data, bool preempt, struct task_struct *prev,		\
		  struct task_struct *next, unsigned int prev_state)
#else
#define BTSREC_PROBE_SCHED_SWITCH(name, prev, next)				\
	void name(void *data, bool preempt, struct task_struct *prev,		\
		  struct task_struct *next)
#endif

/* Of the hierarchy of version 2, in which a thread is in one cgroup and those around it. */
#ifdef CONFIG_CGROUPS
static inline struct cgroup *btsrec_cgroup_get(const char *path)
{
	return cgroup_get_from_path(path);
}

static inline void btsrec_cgroup_put(struct cgroup *cgroup)
{
	cgroup_put(cgroup);
}

/* Interrupts are off, or the thread is the current one. */
static inline bool btsrec_is_in_cgroup(struct task_struct *task, struct cgroup *cgroup)
{
	bool is_in;

	rcu_read_lock();
	is_in = cgroup_is_descendant(task_dfl_cgroup(task), cgroup);
	rcu_read_unlock();
	return is_in;
}
#else
static inline struct cgroup *btsrec_cgroup_get(const char *path)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void btsrec_cgroup_put(struct cgroup *cgroup)
{
}

static inline bool btsrec_is_in_cgroup(struct task_struct *task, struct cgroup *cgroup)
{
	return false;
}
#endif

/* The tracepoint came with v5.13. */
#ifdef BTSREC_HAVE_RCU_STALL_WARNING
#define BTSREC_HAS_RCU_STALL_WARNING	true
#else
#define BTSREC_HAS_RCU_STALL_WARNING	false
static inline void check_trace_callback_type_rcu_stall_warning(void (*cb)(void *, const char *,
									  const char *))
{
}
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

/*
 * A probe of any tracepoint has not the type by which it is called, which CFI refuses.  "cfi:
 * Switch to -fsanitize=kcfi", v6.1; "kcfi: Rename CONFIG_CFI_CLANG to CONFIG_CFI", v6.18.
 */
#if defined(CONFIG_CFI_CLANG) || defined(CONFIG_CFI)
#define BTSREC_HAS_CFI		true
#else
#define BTSREC_HAS_CFI		false
#endif

#endif /* BTSREC_COMPAT_H */
