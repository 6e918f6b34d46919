// SPDX-License-Identifier: GPL-2.0-only
/*
 * btswarn: kernel trouble that the system survives, and a panic to end with.
 *
 *   echo warn >/sys/module/btswarn/parameters/do	a WARN()
 *   echo bug >/sys/module/btswarn/parameters/do	a BUG(); kills the writer
 *   echo panic >/sys/module/btswarn/parameters/do	a panic(), interrupts off
 *   echo spin >/sys/module/btswarn/parameters/do	a soft lockup and an RCU stall, and then no more
 *   echo hang >/sys/module/btswarn/parameters/do	a thread that hangs for ever
 *   echo FUNCTION >/sys/module/btswarn/parameters/panic_at	a panic() when FUNCTION is called next
 *   echo FUNCTION >/sys/module/btswarn/parameters/panic_beside	the same of another CPU; FUNCTION
 *								goes on
 */
#include <linux/bug.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <asm/tsc.h>

#define SPIN_MS		7500
#define PANIC_BEGINS_MS	5000

/* A branch of its own from time to time only: the ring shall hold all of it. */
static void spin(void)
{
	u64 end_tsc = rdtsc() + (u64)tsc_khz * SPIN_MS;

	rcu_read_lock();
	preempt_disable();
	while (rdtsc() < end_tsc)
		asm volatile(".rept 10000\n\tpause\n\t.endr");
	preempt_enable();
	rcu_read_unlock();
}

static int sleep_for_ever(void *unused)
{
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule();
	}
	return 0;
}

static int do_set(const char *what, const struct kernel_param *param)
{
	if (sysfs_streq(what, "warn"))
		WARN(1, "btswarn: as wanted\n");
	if (sysfs_streq(what, "bug")) {
		/* The writer dies: it would keep the lock. */
		kernel_param_unlock(THIS_MODULE);
		BUG();
	}
	if (sysfs_streq(what, "panic")) {
		/* An interrupt on the way into panic() would be the tail. */
		local_irq_disable();
		panic("btswarn: as wanted");
	}
	if (sysfs_streq(what, "spin"))
		spin();
	if (sysfs_streq(what, "hang"))
		return PTR_ERR_OR_ZERO(kthread_run(sleep_for_ever, NULL, "btswarn"));
	return 0;
}

static const struct kernel_param_ops do_ops = { .set = do_set };

module_param_cb(do, &do_ops, NULL, 0200);
MODULE_PARM_DESC(do, "warn, bug, panic, spin or hang");

static char panic_at[64];

static int panic_here(struct kprobe *probe, struct pt_regs *regs)
{
	panic("btswarn: at %s, as wanted", probe->symbol_name);
}

static void panic_now(void *unused)
{
	panic("btswarn: beside %s, as wanted", panic_at);
}

static call_single_data_t call = { .func = panic_now };

/* Where panic() says that there is one, it is past its beginning. */
static int panic_there(struct kprobe *probe, struct pt_regs *regs)
{
	u64 end_tsc = rdtsc() + (u64)tsc_khz * PANIC_BEGINS_MS;

	smp_call_function_single_async(cpumask_any_but(cpu_online_mask, smp_processor_id()),
				       &call);
	while (!READ_ONCE(oops_in_progress) && rdtsc() < end_tsc)
		cpu_relax();
	return 0;
}

/* Stays: the panic ends it. */
static struct kprobe probe = { .symbol_name = panic_at };

static int panic_at_set(const char *what, const struct kernel_param *param)
{
	if (*panic_at)
		return -EBUSY;
	probe.pre_handler = param->arg;
	strscpy(panic_at, what, sizeof(panic_at));
	strim(panic_at);
	return register_kprobe(&probe);
}

static const struct kernel_param_ops panic_at_ops = { .set = panic_at_set };

module_param_cb(panic_at, &panic_at_ops, panic_here, 0200);
MODULE_PARM_DESC(panic_at, "function whose next call panics");
module_param_cb(panic_beside, &panic_at_ops, panic_there, 0200);
MODULE_PARM_DESC(panic_beside, "function at whose next call another CPU panics");

MODULE_DESCRIPTION("Kernel trouble that the system survives");
MODULE_LICENSE("GPL");
