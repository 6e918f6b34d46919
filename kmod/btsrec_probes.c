// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoint probes.  sched_switch runs before the switch with the old CR3
 * loaded; tlb_flush with reason 0 runs after every CR3 load of
 * switch_mm_irqs_off() and catches the loads that are no thread switch.  Both
 * run with interrupts off.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/binfmts.h>
#include <linux/kernel.h>
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include <trace/events/tlb.h>

#include "btsrec_annot.h"
#include "btsrec_compat.h"
#include "btsrec_limit.h"

/* While BTS is off. */
static noinline void annotate_switch(struct btsrec_pcpu *pc, const struct task_struct *prev,
				     const struct task_struct *next)
{
	u64 cr3 = bts_cr3() & CR3_BASE_MASK;
	struct btsrec_switch change = {
		.tsc = rdtsc_ordered(),
		.next_task_kva = (u64)next,
	};

	btsrec_side_fill(&change.prev, prev, cr3);
	btsrec_side_fill(&change.next, next, btsrec_next_cr3(next, cr3));
	btsrec_annot_switch(pc, BTSREC_ANNOT_SWITCH, &change);
}

static BTSREC_PROBE_SCHED_SWITCH(probe_sched_switch, prev, next)
{
	struct btsrec_pcpu *pc = this_cpu_ptr(&btsrec_pcpu);
	u64 debugctl;

	if (unlikely(!btsrec_pause(pc, &debugctl)))
		return;
	if (btsrec_limit(pc, next, &debugctl))
		return;
	annotate_switch(pc, prev, next);
	btsrec_resume(pc, debugctl);
}

/*
 * While BTS is off.  The thread is the one last annotated: between
 * trace_sched_switch() and switch_to(), current is still the old one.
 */
static noinline void annotate_mm(struct btsrec_pcpu *pc, u64 cr3)
{
	struct btsrec_switch change = pc->page->context;

	change.tsc = rdtsc_ordered();
	change.prev = change.next;
	change.next.cr3 = cr3;
	btsrec_annot_switch(pc, BTSREC_ANNOT_MM, &change);
}

static void probe_tlb_flush(void *data, int reason, unsigned long pages)
{
	struct btsrec_pcpu *pc = this_cpu_ptr(&btsrec_pcpu);
	u64 debugctl, cr3 = bts_cr3() & CR3_BASE_MASK;

	if (likely(reason != TLB_FLUSH_ON_TASK_SWITCH || cr3 == pc->last_cr3))
		return;
	if (!btsrec_pause(pc, &debugctl))
		return;
	annotate_mm(pc, cr3);
	btsrec_resume(pc, debugctl);
}

/* Any context may add: the slot is reserved by one atomic addition. */
static void note_exec_path(const struct task_struct *task, const char *path, u64 tsc, u64 cr3)
{
	u64 number = atomic64_fetch_inc((atomic64_t *)&btsrec_root_page->nr_execs);
	struct btsrec_exec *exec = btsrec_exec_slot(number);

	WRITE_ONCE(exec->seq, 0);
	smp_wmb();	/* "never used" before the first field */
	exec->tsc = tsc;
	exec->cr3 = cr3;
	exec->pid = task->pid;
	exec->tgid = task->tgid;
	strscpy(exec->path, path, sizeof(exec->path));
	smp_wmb();	/* the number after the last field */
	WRITE_ONCE(exec->seq, number + 1);
}

/* While BTS is off. */
static void annotate_exec(struct btsrec_pcpu *pc, const struct task_struct *task, const char *path)
{
	u64 cr3 = bts_cr3() & CR3_BASE_MASK;
	struct btsrec_switch change = {
		.tsc = rdtsc_ordered(),
		.next_task_kva = (u64)task,
		.prev = pc->page->context.next,
	};

	btsrec_side_fill(&change.next, task, cr3);
	btsrec_annot_switch(pc, BTSREC_ANNOT_EXEC, &change);
	note_exec_path(task, path, change.tsc, cr3);
}

static void probe_sched_process_exec(void *data, struct task_struct *task, pid_t old_pid,
				     struct linux_binprm *bprm)
{
	struct btsrec_pcpu *pc;
	unsigned long flags;
	u64 debugctl;

	raw_local_irq_save(flags);
	pc = this_cpu_ptr(&btsrec_pcpu);
	if (btsrec_pause(pc, &debugctl)) {
		btsrec_limit(pc, task, &debugctl);
		annotate_exec(pc, task, bprm->filename);
		btsrec_resume(pc, debugctl);
	}
	raw_local_irq_restore(flags);
}

/* @tp is NULL until found, @registered says what to undo. */
static struct probe {
	const char *name;
	void *fn;
	struct tracepoint *tp;
	bool registered;
} probes[] = {
	{ .name = "sched_switch", .fn = probe_sched_switch },
	{ .name = "tlb_flush", .fn = probe_tlb_flush },
	{ .name = "sched_process_exec", .fn = probe_sched_process_exec },
};

struct tracepoint_search {
	const char *name;
	struct tracepoint *found;
};

static void compare_tracepoint(struct tracepoint *tp, void *data)
{
	struct tracepoint_search *search = data;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

/**
 * btsrec_find_tracepoint() - a tracepoint of the kernel by its name
 * @name: without "trace_"
 *
 * They are not exported.
 *
 * Return: the tracepoint, or NULL if this kernel has none of that name.
 */
struct tracepoint *btsrec_find_tracepoint(const char *name)
{
	struct tracepoint_search search = { .name = name };

	for_each_kernel_tracepoint(compare_tracepoint, &search);
	return search.found;
}

static int probe_register(struct probe *probe)
{
	int err = -ENOENT;

	/* Refuses a probe with another signature than the tracepoint's. */
	check_trace_callback_type_sched_switch(probe_sched_switch);
	check_trace_callback_type_tlb_flush(probe_tlb_flush);
	check_trace_callback_type_sched_process_exec(probe_sched_process_exec);

	probe->tp = btsrec_find_tracepoint(probe->name);
	if (probe->tp)
		err = tracepoint_probe_register(probe->tp, probe->fn, NULL);
	if (err)
		pr_err("Not armed: cannot probe the tracepoint \"%s\" (error %d), without which the history has no tasks; %s.\n",
		       probe->name, err, btsrec_remedy(err, "use a kernel with tracepoints"));
	probe->registered = !err;
	return err;
}

/**
 * btsrec_probes_register() - begin to annotate switches and execs
 *
 * Return: 0, or a negative errno after a printed sentence, with nothing
 * registered.
 */
int btsrec_probes_register(void)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		err = probe_register(&probes[i]);
		if (err) {
			btsrec_probes_unregister();
			return err;
		}
	}
	return 0;
}

/**
 * btsrec_probes_unregister() - end it; when this returns no probe runs
 */
void btsrec_probes_unregister(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		if (probes[i].registered)
			tracepoint_probe_unregister(probes[i].tp, probes[i].fn, NULL);
		probes[i].registered = false;
	}
	tracepoint_synchronize_unregister();
}
