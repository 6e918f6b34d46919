// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first signs of an oops, each with a way to find out that it was none.
 *
 * Functions that return are kretprobes: 6.1 has no fprobe.  Those on ftrace
 * locations stay armed because kernel.ftrace_enabled=0 is refused as long as the
 * PERMANENT ftrace_ops of the freeze exist.  Without any of them only more of the
 * handling of the fault is in the history: not worth a refusal.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/tracepoint.h>
#include <asm/cpufeature.h>
#include <asm/processor-flags.h>
#include <asm/trapnr.h>

#include "btsrec_compat.h"
#include "btsrec_suspect.h"

/* While BTS is off. */
static noinline void suspicion_over(const struct pt_regs *regs)
{
	struct btsrec_pcpu *pc;
	unsigned long flags;
	u64 debugctl;

	raw_local_irq_save(flags);
	pc = this_cpu_ptr(&btsrec_pcpu);
	if (pc->suspect && pc->suspect_regs == regs && btsrec_pause(pc, &debugctl))
		btsrec_resume(pc, debugctl);
	raw_local_irq_restore(flags);
}

/*
 * What a handler needs at the return: the exception, by its registers.  The
 * argument is the first one of fixup_exception() and the second one of
 * report_bug().
 */
struct suspect {
	const struct pt_regs *regs;
};

/*
 * A page fault of kernel code, before anything else is asked.  It is an oops
 * unless it is fixed up, and rarely so where no user page can be meant: in the
 * kernel's half, in the page at 0, and, where SMAP is enforced, without AC.  What
 * copies from or to user memory faults with AC set.
 */
static bool is_suspect_fault(unsigned long address, const struct pt_regs *regs)
{
	return (long)address < 0 || address < PAGE_SIZE ||
	       (boot_cpu_has(X86_FEATURE_SMAP) && !(regs->flags & X86_EFLAGS_AC));
}

static void probe_page_fault_kernel(void *data, unsigned long address, struct pt_regs *regs,
				    unsigned long error_code)
{
	if (unlikely(is_suspect_fault(address, regs)))
		pause_at_exception(regs, X86_TRAP_PF, error_code, address);
}

static struct tracepoint *page_fault_tracepoint;

static void page_fault_register(void)
{
	int err = -ENOENT;

	check_trace_callback_type_page_fault_kernel(probe_page_fault_kernel);
	page_fault_tracepoint = btsrec_find_tracepoint("page_fault_kernel");
	if (page_fault_tracepoint)
		err = tracepoint_probe_register(page_fault_tracepoint, probe_page_fault_kernel,
						NULL);
	if (!err)
		return;
	page_fault_tracepoint = NULL;
	btsrec_hook_missing("page_fault_kernel", err,
			    "the history of a fault will end with the search of the mapping");
}

static void page_fault_unregister(void)
{
	if (!page_fault_tracepoint)
		return;
	tracepoint_probe_unregister(page_fault_tracepoint, probe_page_fault_kernel, NULL);
	tracepoint_synchronize_unregister();
	page_fault_tracepoint = NULL;
}

/*
 * fixup_exception(regs, trapnr, error_code, fault_addr) is what every exception of kernel code
 * asks: a long search of all exception tables.  What finds an entry there was no oops.
 */
static int on_fixup(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct suspect *suspect = (struct suspect *)instance->data;

	pause_at_exception((struct pt_regs *)regs->di, regs->si, regs->dx, regs->cx);
	suspect->regs = (struct pt_regs *)regs->di;
	return 0;
}

static int on_fixup_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	if (regs_return_value(regs))
		suspicion_over(((struct suspect *)instance->data)->regs);
	return 0;
}

/*
 * A WARN() is a report_bug() that returns; a BUG() prints before oops_enter(). Where the
 * kernel has report_bug_entry(), that is what a WARN() with a text comes to instead; its
 * second argument and what it returns are the same (lib/bug.c).
 * ftrace cannot trace these functions, so this is a breakpoint.  Having a
 * post-handler keeps the kernel from making a jump of it: a breakpoint switches
 * interrupts off, and one that is due would be in the history after the fault.
 */
static int on_report_bug(struct kprobe *probe, struct pt_regs *regs)
{
	pause_at_exception((struct pt_regs *)regs->si, X86_TRAP_UD, 0, 0);
	return 0;
}

static void after_report_bug(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static int keep_report_bug(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	((struct suspect *)instance->data)->regs = (struct pt_regs *)regs->si;
	return 0;
}

static int on_report_bug_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	if (regs_return_value(regs) == BUG_TRAP_TYPE_WARN)
		suspicion_over(((struct suspect *)instance->data)->regs);
	return 0;
}

/*
 * Before a probe is unregistered, so that this cannot fail.  To unhook a function from ftrace
 * takes memory; without it unregister_kprobe() says nothing and leaves the probe in the kernel's
 * table.  An arming or unloading that follows would take the memory from under it.
 * disable_kprobe() returns the error, and a disabled probe is always taken out of the table.
 *
 * A second try would be wrong: before it asks for memory the kernel has counted the probe as
 * unhooked, and would do so twice (__disarm_kprobe_ftrace() of 6.1, 6.12 and 7.2).  So the probe
 * is disabled in all but the flag, which only we and the kernel's functions that we call write.
 * ftrace goes on calling the kernel's handler there, which finds no probe, until the next
 * arming, which adds what is there already, and disarming.
 */
static void disable_probe(struct kprobe *probe)
{
	int err = disable_kprobe(probe);

	if (!err)
		return;
	probe->flags |= KPROBE_FLAG_DISABLED;
	pr_warn("The kernel could not unhook %s() (error %d), for lack of memory: calls of it will take a little longer until the recorder is armed and disarmed again.\n",
		probe->symbol_name, err);
}

static void remove_kretprobe(struct kretprobe *probe)
{
	disable_probe(&probe->kp);
	unregister_kretprobe(probe);
}

static struct kretprobe fixup_probe;
static bool fixup_registered;

/**
 * struct bug_report - a function that reports a BUG() or WARN()
 * @name: the function
 * @is_there: this kernel has it
 * @registered: both probes are there
 * @back: its return
 * @entry: its beginning
 */
struct bug_report {
	const char *name;
	bool is_there;
	bool registered;
	struct kretprobe back;
	struct kprobe entry;
};

static struct bug_report bug_reports[] = {
	{ .name = "report_bug", .is_there = true },
	{ .name = "report_bug_entry", .is_there = BTSREC_HAS_REPORT_BUG_ENTRY },
};

static void fixup_register(void)
{
	int err;

	fixup_probe = (struct kretprobe){
		.kp.symbol_name = "fixup_exception",
		.entry_handler = on_fixup,
		.handler = on_fixup_return,
		.data_size = sizeof(struct suspect),
	};
	err = register_kretprobe(&fixup_probe);
	fixup_registered = !err;
	if (err)
		btsrec_hook_missing("fixup_exception", err,
				    "the history of a fault will end with the search of the exception tables");
}

static void fixup_unregister(void)
{
	if (fixup_registered)
		remove_kretprobe(&fixup_probe);
	fixup_registered = false;
}

/* Both or none.  Of two probes at one place that registered last runs first. */
static void report_bug_register(struct bug_report *report)
{
	int err;

	report->back = (struct kretprobe){
		.kp.symbol_name = report->name,
		.entry_handler = keep_report_bug,
		.handler = on_report_bug_return,
		.data_size = sizeof(struct suspect),
	};
	report->entry = (struct kprobe){
		.symbol_name = report->name,
		.pre_handler = on_report_bug,
		.post_handler = after_report_bug,
	};
	err = register_kretprobe(&report->back);
	if (!err) {
		err = register_kprobe(&report->entry);
		if (err)
			remove_kretprobe(&report->back);
	}
	report->registered = !err;
	if (err)
		btsrec_hook_missing(report->name, err,
				    "the history of a BUG() or WARN() will end with the printing of it");
}

static void report_bug_unregister(struct bug_report *report)
{
	if (!report->registered)
		return;
	disable_probe(&report->entry);
	unregister_kprobe(&report->entry);
	remove_kretprobe(&report->back);
	report->registered = false;
}

/**
 * btsrec_suspect_register() - watch for the first signs of an oops
 *
 * What cannot be watched goes to btsrec_hook_missing().
 */
void btsrec_suspect_register(void)
{
	size_t i;

	page_fault_register();
	fixup_register();
	for (i = 0; i < ARRAY_SIZE(bug_reports); i++)
		if (bug_reports[i].is_there)
			report_bug_register(&bug_reports[i]);
}

/**
 * btsrec_suspect_unregister() - no longer; also if nothing is registered
 */
void btsrec_suspect_unregister(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bug_reports); i++)
		report_bug_unregister(&bug_reports[i]);
	fixup_unregister();
	page_fault_unregister();
}
