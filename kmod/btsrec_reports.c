// SPDX-License-Identifier: GPL-2.0-only
/*
 * Soft lockups, hung tasks and RCU stalls are reported before panic() is called, if it is called at
 * all.  The report of a lockup has more branches than a ring of 1 MiB has slots.  So the CPU that
 * reports pauses at the beginning of its report.
 *
 * A hung task and a stall have a tracepoint there.  A soft lockup has none: the
 * first thing that watchdog_timer_fn() calls is _printk(), known by its text.  So is a
 * stall where the kernel has no such tracepoint.  That is a hook for the reason that
 * btsrec_freeze.c gives.
 *
 * No panic, no end: the pause ends at the latest with the next annotation.  A CPU that
 * is locked up has no thread switch, so a report from an interrupt ends with our
 * irq_work: interrupts stay off to the end of it, and the irq_work is the next one.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/stringify.h>
#include <linux/tracepoint.h>
#include <asm/word-at-a-time.h>
#include <trace/events/rcu.h>
#include <trace/events/sched.h>

#include "btsrec_compat.h"
#include "btsrec_trigger.h"

#define PRINTK		__stringify(BTSREC_PRINTK)

static void report_over(struct irq_work *unused)
{
	struct btsrec_pcpu *pc = this_cpu_ptr(&btsrec_pcpu);
	u64 debugctl;

	if (pc->suspect && pc->suspect != BTSREC_REASON_OOPS &&
	    pc->suspect != BTSREC_REASON_CONSOLE && btsrec_pause(pc, &debugctl))
		btsrec_resume(pc, debugctl);
}

/* Not initialised here: the loader relocates no pointers in a module's per-CPU data. */
static DEFINE_PER_CPU(struct irq_work, report_end);

static __always_inline void pause_for_report(enum btsrec_reason reason)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	pause_here(NULL, reason);
	if (btsrec_freezes_on(reason) && !btsrec_trigger_is_missed())
		btsrec_trigger_freeze(NULL, reason, NULL);
	raw_local_irq_restore(flags);
	if (in_hardirq())
		irq_work_queue(this_cpu_ptr(&report_end));
}

/* khungtaskd alone writes it; its panic may follow on another CPU. */
static u32 hung_pid;

/**
 * btsrec_hung_pid() - the thread that was last reported as hung; 0: none was
 */
u32 btsrec_hung_pid(void)
{
	return READ_ONCE(hung_pid);
}

static void probe_sched_process_hang(void *data, struct task_struct *task)
{
	WRITE_ONCE(hung_pid, task->pid);
	pause_for_report(BTSREC_REASON_HUNG_TASK);
}

static void probe_rcu_stall_warning(void *data, const char *flavour, const char *what)
{
	pause_for_report(BTSREC_REASON_RCU_STALL);
}

/*
 * Words, as a loop would be in the history; they may reach after the text.  6.1, 6.12
 * and 7.2 begin the report with the same one.
 */
static __always_inline bool is_soft_lockup(const char *format)
{
	static const union {
		char text[24];
		unsigned long words[3];
	} report = { .text = KERN_EMERG "watchdog: BUG: soft lo" };

	return load_unaligned_zeropad(format) == report.words[0] &&
	       load_unaligned_zeropad(format + 8) == report.words[1] &&
	       load_unaligned_zeropad(format + 16) == report.words[2];
}

/* 5.10 begins each report of a stall so. */
static __always_inline bool is_rcu_stall(const char *format)
{
	static const union {
		char text[16];
		unsigned long words[2];
	} report = { .text = KERN_ERR "rcu: INFO: %s " };

	return load_unaligned_zeropad(format) == report.words[0] &&
	       load_unaligned_zeropad(format + 8) == report.words[1];
}

BTSREC_HOOK_HANDLER(on_printk, regs)
{
	if (unlikely(regs && is_soft_lockup((const char *)regs->di)))
		pause_for_report(BTSREC_REASON_SOFT_LOCKUP);
	if (!BTSREC_HAS_RCU_STALL_WARNING && regs && is_rcu_stall((const char *)regs->di))
		pause_for_report(BTSREC_REASON_RCU_STALL);
}

static struct btsrec_hook printk_hook = BTSREC_HOOK_WITH_REGS(on_printk);

static bool printk_registered;

#define UNWATCHED(what)	\
	"after " what " the history of the CPU that reports it will be the report"

/**
 * struct report - a report that begins with a tracepoint
 * @name: the tracepoint
 * @is_absent: this kernel has no such tracepoint; on_printk() sees the report
 * @fn: our probe
 * @effect: what the history lacks without it
 * @tp: NULL: not probed
 */
struct report {
	const char *name;
	bool is_absent;
	void *fn;
	const char *effect;
	struct tracepoint *tp;
};

static struct report reports[] = {
	{ .name = "sched_process_hang", .fn = probe_sched_process_hang,
	  .effect = UNWATCHED("a hung task") },
	{ .name = "rcu_stall_warning", .is_absent = !BTSREC_HAS_RCU_STALL_WARNING,
	  .fn = probe_rcu_stall_warning, .effect = UNWATCHED("an RCU stall") },
};

static void report_register(struct report *report)
{
	int err = -ENOENT;

	/* Refuses a probe with another signature than the tracepoint's. */
	check_trace_callback_type_sched_process_hang(probe_sched_process_hang);
	check_trace_callback_type_rcu_stall_warning(probe_rcu_stall_warning);

	report->tp = btsrec_find_tracepoint(report->name);
	if (report->tp)
		err = tracepoint_probe_register(report->tp, report->fn, NULL);
	if (!err)
		return;
	report->tp = NULL;
	btsrec_hook_missing(report->name, err, report->effect);
}

static void printk_register(void)
{
	int err = btsrec_hook_register(&printk_hook, PRINTK);

	printk_registered = !err;
	if (err)
		btsrec_hook_missing(PRINTK, err, BTSREC_HAS_RCU_STALL_WARNING ?
				    UNWATCHED("a soft lockup") :
				    UNWATCHED("a soft lockup or an RCU stall"));
}

/**
 * btsrec_reports_register() - watch for reports of what may be followed by a panic
 *
 * What cannot be watched goes to btsrec_hook_missing().
 */
void btsrec_reports_register(void)
{
	unsigned int cpu;
	size_t i;

	for_each_possible_cpu(cpu)
		*per_cpu_ptr(&report_end, cpu) = IRQ_WORK_INIT_HARD(report_over);
	for (i = 0; i < ARRAY_SIZE(reports); i++)
		if (!reports[i].is_absent)
			report_register(&reports[i]);
	printk_register();
}

/**
 * btsrec_reports_unregister() - no longer; also if nothing is registered
 *
 * May sleep.
 */
void btsrec_reports_unregister(void)
{
	unsigned int cpu;
	size_t i;

	if (printk_registered)
		btsrec_hook_unregister(&printk_hook);
	printk_registered = false;
	for (i = 0; i < ARRAY_SIZE(reports); i++) {
		if (reports[i].tp)
			tracepoint_probe_unregister(reports[i].tp, reports[i].fn, NULL);
		reports[i].tp = NULL;
	}
	tracepoint_synchronize_unregister();
	for_each_possible_cpu(cpu)
		irq_work_sync(per_cpu_ptr(&report_end, cpu));
}

/**
 * btsrec_reports_exit() - give back what ftrace keeps for the hook; see btsrec_hook_exit()
 */
void btsrec_reports_exit(void)
{
	btsrec_hook_exit(&printk_hook);
}
