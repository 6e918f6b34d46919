// SPDX-License-Identifier: GPL-2.0-only
/*
 * btscrash: crashes the guest in a way of one's choice.
 *
 *   echo KIND >/sys/module/btscrash/parameters/crash
 *
 * Wherever the moment of the fault is known, the model gets a mark immediately before, so that its
 * log says how many records of each CPU are newer.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/hw_breakpoint.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/objtool.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#include "guest.h"

#define NMI_NAME	"btscrash"
#define SPIN_MS		200
#define DEADLOCK_MS	10
#define HUNT_SECONDS	200
#define FRAME_BYTES	512

/* Nothing is mapped at either; the second is no canonical address. */
#define UNMAPPED	0xfffffffffffff123UL
#define WILD	0x6b6b6b6b6b6b6b6bUL
#define NOT_CANONICAL	0x5a5a000000000000UL

static unsigned long hunt_start;
module_param(hunt_start, ulong, 0644);
MODULE_PARM_DESC(hunt_start, "kinds nmi-in-text, break: panic when an NMI finds BTS off in code from here ...");

static unsigned long hunt_end;
module_param(hunt_end, ulong, 0644);
MODULE_PARM_DESC(hunt_end, "... to here ...");

static char hunt_comm[TASK_COMM_LEN];
module_param_string(hunt_comm, hunt_comm, sizeof(hunt_comm), 0644);
MODULE_PARM_DESC(hunt_comm, "... in a thread of this name or of the CPU hotplug (empty: any)");

static int hunt_skip;
module_param(hunt_skip, int, 0644);
MODULE_PARM_DESC(hunt_skip, "... after so many other chances");

/* What an NMI of ours is to do. */
static enum { NMI_NOTHING, NMI_PANIC, NMI_LOCKUP, NMI_HUNT, NMI_NOTE } nmi_task;

static DEFINE_PER_CPU(bool, nmi_came);

static volatile int *volatile nowhere;

static noinline void null_dereference(void)
{
	model_mark();
	*nowhere = 1;
}

static noinline void general_protection(void)
{
	volatile int *bad = (int *)NOT_CANONICAL;

	OPTIMIZER_HIDE_VAR(bad);
	model_mark();
	*bad = 1;
}

static noinline void bug(void)
{
	model_mark();
	BUG();
}

static noinline void warn(void)
{
	model_mark();
	WARN(1, "btscrash: a warning with a text\n");
}

static noinline void printed_bug(void)
{
	model_mark();
	pr_err("btscrash: a line that is printed before the bug, as that of a corrupted list is\n");
	BUG();
}

/* The kernel has no reader of this one, and no other writes to it. */
static const int read_only = 1;

static noinline void write_read_only(void)
{
	volatile int *target = (int *)&read_only;

	OPTIMIZER_HIDE_VAR(target);
	model_mark();
	*target = 2;
}

static noinline int divide(int by)
{
	model_mark();
	return 1000 / by;
}

static void divide_by_zero(void)
{
	int zero = 0;

	OPTIMIZER_HIDE_VAR(zero);
	if (divide(zero))
		pr_info("btscrash: divided\n");
}

/* PUSH ES, which there is not in 64-bit mode. */
static noinline void no_instruction(void)
{
	model_mark();
	asm volatile(".byte 0x06");
}
STACK_FRAME_NON_STANDARD(no_instruction);

static noinline void breakpoint(void)
{
	model_mark();
	asm volatile("int3");
}
STACK_FRAME_NON_STANDARD(breakpoint);

static noinline void bad_stack(void)
{
	model_mark();
	asm volatile("mov %0, %%rsp\n\tpush %0" : : "r" (UNMAPPED) : "memory");
}
STACK_FRAME_NON_STANDARD(bad_stack);

static noinline void call_null(void)
{
	void (*target)(void) = NULL;

	OPTIMIZER_HIDE_VAR(target);
	model_mark();
	target();
}

/* It may be written, and not be executed. */
static char data[16];

static noinline void call_data(void)
{
	void (*target)(void) = (void *)data;

	OPTIMIZER_HIDE_VAR(target);
	model_mark();
	target();
}

static void in_irq_work(struct irq_work *work)
{
	null_dereference();
}

static struct irq_work work;

static void hard_interrupt(void)
{
	init_irq_work(&work, in_irq_work);
	irq_work_queue(&work);
	msleep(1000);
}

static void in_timer(struct timer_list *unused)
{
	null_dereference();
}

static void bug_in_timer(struct timer_list *unused)
{
	bug();
}

static struct timer_list timer;

static void on_timer(void (*function)(struct timer_list *timer))
{
	timer_setup(&timer, function, 0);
	mod_timer(&timer, jiffies + 1);
	msleep(1000);
}

static void soft_interrupt(void)
{
	on_timer(in_timer);
}

static void bug_softirq(void)
{
	on_timer(bug_in_timer);
}

static noinline int recurse(int depth)
{
	volatile char fill[FRAME_BYTES];

	fill[0] = (char)depth;
	if (depth < 0)
		return 0;
	return recurse(depth + 1) + fill[0];
}

static void stack_overflow(void)
{
	model_mark();
	recurse(0);
}

static noinline void jump_corrupt(void)
{
	void (*target)(void) = (void *)UNMAPPED;

	OPTIMIZER_HIDE_VAR(target);
	model_mark();
	target();
}

static noinline void return_corrupt(void)
{
	model_mark();
	asm volatile("push %0\n" ASM_RET : : "r" (UNMAPPED) : "memory");
}
STACK_FRAME_NON_STANDARD(return_corrupt);

/* What freed memory is filled with: not canonical, so the jump itself is a #GP. */
static noinline void jump_wild(void)
{
	void (*target)(void) = (void *)WILD;

	OPTIMIZER_HIDE_VAR(target);
	model_mark();
	target();
}

static noinline void return_wild(void)
{
	model_mark();
	asm volatile("push %0\n" ASM_RET : : "r" (WILD) : "memory");
}
STACK_FRAME_NON_STANDARD(return_wild);

static void send_nmi(unsigned int cpu)
{
	apic->send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
}

static void panic_in_nmi(void)
{
	WRITE_ONCE(nmi_task, NMI_PANIC);
	send_nmi(raw_smp_processor_id());
	mdelay(1000);
}

/*
 * The model's counters do not overflow, so the NMI watchdog never fires.  Ours interrupts
 * what it would, and panics as it does.
 */
static void hard_lockup(void)
{
	local_irq_disable();
	mdelay(SPIN_MS);
	WRITE_ONCE(nmi_task, NMI_LOCKUP);
	send_nmi(raw_smp_processor_id());
	for (;;)
		cpu_relax();
}

static void soft_lockup(void)
{
	preempt_disable();
	for (;;)
		cpu_relax();
}

static DEFINE_SPINLOCK(lock_a);
static DEFINE_SPINLOCK(lock_b);
static atomic_t nr_holders = ATOMIC_INIT(0);
static unsigned int other_cpu;

static void await_other_holder(void)
{
	atomic_inc(&nr_holders);
	while (atomic_read(&nr_holders) < 2)
		cpu_relax();
}

static noinline void deadlock_ab(void)
{
	spin_lock(&lock_a);
	await_other_holder();
	spin_lock(&lock_b);
	spin_unlock(&lock_b);
	spin_unlock(&lock_a);
}

/* With interrupts off, so that only an NMI gets it out of there. */
static noinline int deadlock_ba(void *unused)
{
	unsigned long flags;

	spin_lock_irqsave(&lock_b, flags);
	await_other_holder();
	spin_lock(&lock_a);
	spin_unlock(&lock_a);
	spin_unlock_irqrestore(&lock_b, flags);
	return 0;
}

/* In the interrupt itself: softirqs may have been left to a thread, which waits for this CPU. */
static enum hrtimer_restart on_deadlock(struct hrtimer *timer)
{
	if (atomic_read(&nr_holders) < 2) {
		hrtimer_forward_now(timer, ms_to_ktime(DEADLOCK_MS));
		return HRTIMER_RESTART;
	}
	WRITE_ONCE(nmi_task, NMI_LOCKUP);
	send_nmi(other_cpu);
	return HRTIMER_NORESTART;
}

static struct hrtimer deadlock_timer;

/* The NMI is soon, while the rings still have where the locks were taken. */
static void deadlock(void)
{
	unsigned int cpu = raw_smp_processor_id();
	struct task_struct *task = kthread_create(deadlock_ba, NULL, "btscrash-ba");

	other_cpu = cpumask_any_but(cpu_online_mask, cpu);
	if (IS_ERR(task) || other_cpu >= nr_cpu_ids) {
		pr_err("btscrash: no thread or no other CPU\n");
		return;
	}
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
	kthread_bind(task, other_cpu);
	setup_hrtimer(&deadlock_timer, on_deadlock, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&deadlock_timer, ms_to_ktime(DEADLOCK_MS), HRTIMER_MODE_REL_PINNED_HARD);
	wake_up_process(task);
	deadlock_ab();
}

static void rcu_stall(void)
{
	rcu_read_lock();
	preempt_disable();
	for (;;)
		cpu_relax();
}

static int sleep_for_ever(void *unused)
{
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule();
	}
	return 0;
}

static void hung_task(void)
{
	struct task_struct *task = kthread_run(sleep_for_ever, NULL, "btscrash-hung");

	if (IS_ERR(task))
		pr_err("btscrash: no thread\n");
}

static int borrow_mm(void *mm)
{
	kthread_use_mm(mm);
	msleep(100);
	null_dereference();
	return 0;
}

static void kthread_with_mm(void)
{
	mmget(current->mm);
	kthread_run(borrow_mm, current->mm, "btscrash-mm");
	msleep(5000);
}

static atomic_t nr_arrived = ATOMIC_INIT(0);

static void panic_together(void *unused)
{
	atomic_inc(&nr_arrived);
	while (atomic_read(&nr_arrived) < num_online_cpus())
		cpu_relax();
	panic("btscrash: CPU %d with the others", raw_smp_processor_id());
}

/* 5.10 would wait for the other CPUs before it calls the function here. */
static void all_panic(void)
{
	on_each_cpu(panic_together, NULL, 0);
}

/* BTS is off: the recorder is at work on the ring or the DS area. */
static bool is_prey(const struct pt_regs *regs)
{
	if (native_read_msr(MSR_IA32_DEBUGCTLMSR) & DEBUGCTLMSR_BTS)
		return false;
	if (regs->ip < hunt_start || regs->ip >= hunt_end)
		return false;
	if (*hunt_comm && strcmp(current->comm, hunt_comm) && strncmp(current->comm, "cpuhp/", 6))
		return false;
	return hunt_skip-- <= 0;
}

/* Once: the NMI that the panic sends to the other CPUs comes here, too. */
static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	switch (READ_ONCE(nmi_task)) {
	case NMI_PANIC:
		WRITE_ONCE(nmi_task, NMI_NOTHING);
		model_mark();
		panic("btscrash: in an NMI handler");
	case NMI_LOCKUP:
		WRITE_ONCE(nmi_task, NMI_NOTHING);
		model_mark();
		nmi_panic(regs, "Hard LOCKUP");
		break;
	case NMI_HUNT:
		if (!is_prey(regs))
			break;
		WRITE_ONCE(nmi_task, NMI_NOTHING);
		model_mark();
		panic("btscrash: NMI at %pS in %s", (void *)regs->ip, current->comm);
	case NMI_NOTE:
		this_cpu_write(nmi_came, true);
		break;
	case NMI_NOTHING:
		return NMI_DONE;
	}
	return NMI_HANDLED;
}

/* NMIs for all the other CPUs in turn, at no regular distance. */
static int hunter(void *unused)
{
	unsigned long end = jiffies + HUNT_SECONDS * HZ;
	unsigned int cpu = 0, round = 0;

	sched_set_fifo(current);
	while (READ_ONCE(nmi_task) != NMI_NOTHING && time_before(jiffies, end)) {
		cpu = cpumask_next(cpu, cpu_online_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_online_mask);
		preempt_disable();
		if (cpu != smp_processor_id())
			send_nmi(cpu);
		preempt_enable();
		usleep_range(1000 + round % 601, 1100 + round % 601);
		round++;
	}
	return 0;
}

static void hunt(int task)
{
	WRITE_ONCE(nmi_task, task);
	kthread_run(hunter, NULL, "btscrash-hunter");
}

static void nmi_in_text(void)
{
	hunt(NMI_HUNT);
}

/* The newest pause before that of the code was for an NMI: the freeze must not show its place. */
static void on_break(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	if (!this_cpu_read(nmi_came))
		return;
	WRITE_ONCE(nmi_task, NMI_NOTHING);
	panic("btscrash: breakpoint at %pS", (void *)regs->ip);
}

/* At the address hunt_start, and nowhere else. */
static void break_there(void)
{
	struct perf_event_attr attr;

	hw_breakpoint_init(&attr);
	attr.bp_addr = hunt_start;
	attr.bp_len = sizeof(long);
	attr.bp_type = HW_BREAKPOINT_X;
	if (IS_ERR((void __force *)register_wide_hw_breakpoint(&attr, on_break, NULL)))
		pr_err("btscrash: no breakpoint\n");
	hunt(NMI_NOTE);
	msleep(60000);
}

static const struct {
	const char *name;
	void (*crash)(void);
} kinds[] = {
	{ "null", null_dereference },
	{ "gp", general_protection },
	{ "bug", bug },
	{ "warn", warn },
	{ "printed-bug", printed_bug },
	{ "null-hardirq", hard_interrupt },
	{ "null-softirq", soft_interrupt },
	{ "bug-softirq", bug_softirq },
	{ "read-only", write_read_only },
	{ "divide", divide_by_zero },
	{ "no-instruction", no_instruction },
	{ "breakpoint", breakpoint },
	{ "bad-stack", bad_stack },
	{ "call-null", call_null },
	{ "call-data", call_data },
	{ "stack-overflow", stack_overflow },
	{ "jump-corrupt", jump_corrupt },
	{ "return-corrupt", return_corrupt },
	{ "jump-wild", jump_wild },
	{ "return-wild", return_wild },
	{ "panic-in-nmi", panic_in_nmi },
	{ "hard-lockup", hard_lockup },
	{ "soft-lockup", soft_lockup },
	{ "deadlock", deadlock },
	{ "rcu-stall", rcu_stall },
	{ "hung-task", hung_task },
	{ "kthread-mm", kthread_with_mm },
	{ "all-panic", all_panic },
	{ "nmi-in-text", nmi_in_text },
	{ "break", break_there },
};

static int crash_set(const char *value, const struct kernel_param *param)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!sysfs_streq(value, kinds[i].name))
			continue;
		kinds[i].crash();
		return 0;
	}
	return -EINVAL;
}

static const struct kernel_param_ops crash_ops = {
	.set = crash_set,
};

module_param_cb(crash, &crash_ops, NULL, 0200);
MODULE_PARM_DESC(crash, "crash in this way, now");

static int __init btscrash_init(void)
{
	return register_nmi_handler(NMI_LOCAL, on_nmi, 0, NMI_NAME);
}

static void __exit btscrash_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, NMI_NAME);
}

module_init(btscrash_init);
module_exit(btscrash_exit);
MODULE_DESCRIPTION("Crashes the guest of the emulated machine in many ways");
MODULE_LICENSE("GPL");
