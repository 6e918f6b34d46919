// SPDX-License-Identifier: GPL-2.0-only
/*
 * btswarn: kernel trouble that the system survives, and a panic to end with.
 *
 *   echo warn >/sys/module/btswarn/parameters/do	a WARN()
 *   echo bug >/sys/module/btswarn/parameters/do	a BUG(); kills the writer
 *   echo panic >/sys/module/btswarn/parameters/do	a panic(), interrupts off
 *   echo spin >/sys/module/btswarn/parameters/do	a soft lockup and an RCU stall, and then no more
 *   echo hang >/sys/module/btswarn/parameters/do	a thread that hangs for ever
 *   echo request >/sys/module/btswarn/parameters/do	asks the recorder to freeze
 *   echo request-all >/sys/module/btswarn/parameters/do	the same from all CPUs at once
 */
#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <asm/tsc.h>

#define SPIN_MS		7500

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

/* btsrec/freeze.h */
int btsrec_freeze_request(const char *why);

static int (*request)(const char *why);
static atomic_t nr_arrived;

static void request_together(void *unused)
{
	atomic_inc(&nr_arrived);
	while (atomic_read(&nr_arrived) < num_online_cpus())
		cpu_relax();
	request("btswarn: as wanted");
}

static int ask_for_freeze(bool together)
{
	request = symbol_get(btsrec_freeze_request);
	if (!request)
		return -ENOENT;
	atomic_set(&nr_arrived, 0);
	if (together)
		on_each_cpu(request_together, NULL, 1);
	else
		request("btswarn: as wanted");
	symbol_put(btsrec_freeze_request);
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
	if (sysfs_streq(what, "request") || sysfs_streq(what, "request-all"))
		return ask_for_freeze(sysfs_streq(what, "request-all"));
	return 0;
}

static const struct kernel_param_ops do_ops = { .set = do_set };

module_param_cb(do, &do_ops, NULL, 0200);
MODULE_PARM_DESC(do, "warn, bug, panic, spin, hang, request or request-all");

MODULE_DESCRIPTION("Kernel trouble that the system survives");
MODULE_LICENSE("GPL");
