// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameters, and the order in which the recorder comes up and goes down:
 *
 *	load	root, module map, device
 *	arm	checks, perf, probes, freeze hooks, triggers, CPUs, VMCOREINFO line
 *
 * Both are undone in exactly the reverse order.  The CPU hotplug callbacks are
 * the only place where a CPU starts or stops recording in order.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/reboot.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "btsrec_annot.h"
#include "btsrec_compat.h"
#include "btsrec_lbr.h"
#include "btsrec_limit.h"
#include "btsrec_trigger.h"

static char *ring_bytes = "1M";
module_param(ring_bytes, charp, 0444);
MODULE_PARM_DESC(ring_bytes,
		 "Ring size of each CPU in bytes, with K, M suffixes; rounded down to whole records of 24 bytes, at least 768, at most 128M; for some CPUs as in 1M,0-3:16M,8:4M (default 1M)");

static char *mode = "all";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "What to record: all, kernel or user (default all)");

static char *source = "auto";
module_param(source, charp, 0444);
MODULE_PARM_DESC(source,
		 "What records: bts, every branch; lbr, the last 16 or 32 of each CPU; auto: lbr where there is no BTS (default auto)");

static bool arm = true;
module_param(arm, bool, 0444);
MODULE_PARM_DESC(arm, "Begin to record at load (default 1); 0: wait for \"arm\" in /dev/btsrec");

static bool freeze = true;
module_param(freeze, bool, 0444);
MODULE_PARM_DESC(freeze,
		 "Stop recording at a panic or oops (default 1); 0: let the crash path overwrite the history, to measure it");

static char *pti = "refuse";
module_param(pti, charp, 0444);
MODULE_PARM_DESC(pti,
		 "Where page-table isolation is on: map shows the rings to the user page tables, where Meltdown can read them; refuse does not arm (default refuse)");

static char *oops = "freeze";
module_param(oops, charp, 0444);
MODULE_PARM_DESC(oops,
		 "After an oops that the system survives: freeze keeps the history until \"arm\" is written to /dev/btsrec, rearm records again at once (default freeze)");

static char *freeze_on = "none";
module_param(freeze_on, charp, 0444);
MODULE_PARM_DESC(freeze_on,
		 "Stop recording at these, too: a list of warn, soft_lockup, hung_task, rcu_stall, oops, request, tracepoint:NAME, function:NAME and function:NAME:argN:eq:VALUE with commas between them (default none)");

static char *on_trigger = "freeze";
module_param(on_trigger, charp, 0444);
MODULE_PARM_DESC(on_trigger,
		 "At what freeze_on= names: freeze stops until \"arm\" is written to /dev/btsrec, copy keeps a copy of the rings in memory of the same size and records on at once (default freeze)");

static char *cpus = "all";
module_param(cpus, charp, 0444);
MODULE_PARM_DESC(cpus, "Which CPUs record: all, or a list as 0-3,8 (default all)");

static char *tasks = "all";
module_param(tasks, charp, 0444);
MODULE_PARM_DESC(tasks,
		 "Which threads are recorded: all, or a list of process:PID, comm:NAME and cgroup:/PATH with commas between them (default all)");

static char *max_rate = "0";
module_param(max_rate, charp, 0444);
MODULE_PARM_DESC(max_rate,
		 "Record at most so many branches a second on each CPU; 0: any number (default 0)");

static unsigned int console_records;
module_param(console_records, uint, 0444);
MODULE_PARM_DESC(console_records,
		 "Print so many of the faulting CPU's newest branches to the kernel log after an oops or panic, for machines without kdump (default 0)");

#define LATE_NMI_MS		1000

/*
 * cpuhp_state: 0 or the dynamic CPU hotplug state while armed.  stop_reason:
 * why a CPU that stops now does so.  Changed under the device's command mutex
 * or at load and unload.
 */
static int cpuhp_state;
static enum btsrec_reason stop_reason = BTSREC_REASON_DISARM;

/* On the CPU itself; may sleep. */
static int hold_and_start(unsigned int cpu)
{
	int err = btsrec_perf_hold_cpu(cpu);

	if (err)
		return err;
	err = btsrec_start_this_cpu();
	if (err)
		btsrec_perf_release_cpu(cpu);
	return err;
}

static int cpu_begins(unsigned int cpu)
{
	int err = btsrec_ring_new(cpu);

	return err || btsrec_is_frozen() ? err : hold_and_start(cpu);
}

static int cpu_comes_up(unsigned int cpu)
{
	int err = btsrec_cpu_is_chosen(cpu) ? cpu_begins(cpu) : 0;

	/* Later on a CPU may come up even if it cannot record. */
	return stop_reason == BTSREC_REASON_DISARM ? err : 0;
}

static int cpu_ends(unsigned int cpu, enum btsrec_reason reason)
{
	btsrec_stop_this_cpu(reason);
	btsrec_perf_release_cpu(cpu);
	return 0;
}

static int cpu_goes_down(unsigned int cpu)
{
	return cpu_ends(cpu, stop_reason);
}

/* On a CPU that is chosen or left out now, or was before. */
static int follow_choice(void *unused)
{
	struct btsrec_pcpu *pc = this_cpu_ptr(&btsrec_pcpu);
	unsigned int cpu = raw_smp_processor_id();

	if (!btsrec_cpu_is_chosen(cpu))
		return cpu_ends(cpu, BTSREC_REASON_LEFT_OUT);
	return READ_ONCE(pc->live) || READ_ONCE(pc->yielded) ? 0 : cpu_begins(cpu);
}

/* One that is frozen or does not record gets its ring when it begins again, as at an arming. */
static int follow_size(void *unused)
{
	struct btsrec_pcpu *pc = this_cpu_ptr(&btsrec_pcpu);
	unsigned int cpu = raw_smp_processor_id();
	int err, start_err;

	if (!READ_ONCE(pc->live) || pc->page->ring_bytes == btsrec_size_of(cpu))
		return 0;
	cpu_ends(cpu, BTSREC_REASON_DISARM);
	err = btsrec_ring_new(cpu);
	start_err = btsrec_is_frozen() ? 0 : hold_and_start(cpu);
	return err ?: start_err;
}

/* The first error, after which the others have followed all the same. */
static int cpus_follow(int (*follow)(void *))
{
	unsigned int cpu;
	int err = 0;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		int one = smp_call_on_cpu(cpu, follow, NULL, false);

		err = err ?: one;
	}
	cpus_read_unlock();
	return err;
}

/*
 * The boot CPU has no hotplug callback around suspend to memory.  Both run on
 * it with interrupts off, the second after perf has restored its own area.
 */
static int on_suspend(void)
{
	btsrec_stop_this_cpu(BTSREC_REASON_SUSPEND);
	return 0;
}

static void on_wakeup(void)
{
	if (this_cpu_read(btsrec_pcpu.page) && !btsrec_is_frozen() &&
	    btsrec_cpu_is_chosen(raw_smp_processor_id()))
		btsrec_start_this_cpu();
}

BTSREC_SYSCORE(suspend_hooks, on_suspend, on_wakeup);

/* kexec comes this way too, and the next kernel would not switch BTS off. */
static int on_reboot(struct notifier_block *nb, unsigned long action, void *data)
{
	btsrec_stop_for_reboot();
	if (!btsrec_is_armed())	/* else at the end, which the freeze hooks */
		btsrec_root_forget();
	return NOTIFY_DONE;
}

static struct notifier_block reboot_notifier = {
	.notifier_call = on_reboot,
	.priority = INT_MIN,	/* last: what the others do is still recorded */
};

static int cpus_start(void)
{
	int state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "btsrec:online", cpu_comes_up,
				      cpu_goes_down);

	if (state < 0) {
		btsrec_yield_ends_sync();
		pr_err("Not armed: not every CPU can begin to record (error %d); %s.\n", state,
		       btsrec_remedy(state, "see what is said of that CPU above"));
		return state;
	}
	cpuhp_state = state;
	stop_reason = BTSREC_REASON_CPU_OFFLINE;
	btsrec_syscore_register(&suspend_hooks);
	return 0;
}

static void cpus_stop(void)
{
	btsrec_syscore_unregister(&suspend_hooks);
	stop_reason = BTSREC_REASON_DISARM;
	cpuhp_remove_state(cpuhp_state);
	cpuhp_state = 0;
	btsrec_yield_ends_sync();
}

/**
 * btsrec_is_armed() - between a successful btsrec_arm() and btsrec_disarm()?
 */
bool btsrec_is_armed(void)
{
	return cpuhp_state;
}

/* A CPU that gave way to perf, or came online and could not record, is idle. */
static bool all_record(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		if (btsrec_cpu_is_chosen(cpu) && !READ_ONCE(per_cpu(btsrec_pcpu, cpu).live))
			return false;
	}
	return true;
}

static void restore_state(void)
{
	struct btsrec_root *root = btsrec_root_page;

	if (!btsrec_is_frozen())
		WRITE_ONCE(root->state, root->nr_arms ? BTSREC_ROOT_DISARMED : BTSREC_ROOT_LOADED);
}

/*
 * What no CPU has of its own: perf's event, probes and hooks.  The freeze is forgotten before the
 * hooks: the first of them may find a fault, and its "frozen" must stay.
 */
static int hooks_register(void)
{
	int err = bts_check(btsrec_root_page->mode, !strcmp(pti, "map"));

	if (err)
		return err;
	btsrec_errata_warn(btsrec_root_page->errata);
	err = btsrec_perf_hold();
	if (err)
		return err;
	err = btsrec_probes_register();
	if (err)
		goto release_perf;
	if (!btsrec_thaw()) {
		err = -ESHUTDOWN;
		goto unregister_probes;	/* the state is the panic's */
	}
	err = btsrec_freeze_register(freeze);
	if (err)
		goto disarmed;
	btsrec_triggers_register();
	return 0;

disarmed:
	restore_state();
unregister_probes:
	btsrec_probes_unregister();
release_perf:
	btsrec_perf_release();
	return err;
}

/* No CPU records. */
static void hooks_unregister(void)
{
	btsrec_triggers_unregister();
	btsrec_freeze_unregister();
	restore_state();
	btsrec_probes_unregister();
	btsrec_perf_release();
}

/* The end of an arming, with the hooks there. */
static int begin_with_hooks(void)
{
	int err = cpus_start();

	if (err) {
		hooks_unregister();
		return err;
	}
	btsrec_root_page->nr_arms++;
	btsrec_triggers_enable();
	return 0;
}

/**
 * btsrec_arm() - begin to record on every chosen CPU that is online, now and as they come
 *
 * Rings keep what they hold.  A frozen recorder forgets its freeze.  It keeps its hooks, which take
 * the kernel much longer than all else.  One with a CPU that does not record is disarmed first.
 * Does nothing if all record already.  If it fails, nothing records.  The caller serialises.
 *
 * Return: 0; a negative errno after a printed sentence that says why not:
 * -ENODEV, -EOPNOTSUPP (see bts_check()), -EIO (self-test), -ENOMEM, or what perf
 * says; -EBUSY: perf records branches, BTS or the DS area is in use, or
 * kernel.ftrace_enabled is 0.  -ESHUTDOWN, with nothing printed: the system panics, and a freeze
 * stays as it is.
 */
int btsrec_arm(void)
{
	int err = 0;

	if (btsrec_is_armed() && !btsrec_is_frozen() && all_record())
		return 0;
	if (btsrec_is_armed() && btsrec_is_frozen()) {
		btsrec_triggers_disable();
		cpus_stop();
		if (!btsrec_thaw()) {
			hooks_unregister();
			err = -ESHUTDOWN;
		}
	} else {
		btsrec_disarm();
		err = hooks_register();
	}
	if (!err)
		err = begin_with_hooks();
	if (err)
		return err;
	err = btsrec_vmcoreinfo_put_root();
	if (err)
		pr_warn("The VMCOREINFO note does not take the root's address (error %d); decoders will scan for it.\n",
			err);
	return 0;
}

/**
 * btsrec_disarm() - stop recording; rings keep what they hold
 *
 * A frozen recorder stays frozen in what it shows.  Does nothing if not armed.
 * The caller serialises.
 */
void btsrec_disarm(void)
{
	if (!btsrec_is_armed())
		return;
	btsrec_triggers_disable();
	cpus_stop();
	hooks_unregister();
}

/* An NMI of the freeze may still be on its way to a CPU, for as long as a hypervisor holds it. */
static bool all_can_record_on(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		const struct btsrec_pcpu *pc = per_cpu_ptr(&btsrec_pcpu, cpu);
		int i;

		for (i = 0; i < LATE_NMI_MS && READ_ONCE(pc->live); i++)
			msleep(1);
		if (btsrec_cpu_is_chosen(cpu) && !READ_ONCE(pc->yielded) &&
		    !btsrec_can_record_on(pc))
			return false;
	}
	return true;
}

/**
 * btsrec_copy_frozen() - copy what a freeze for freeze_on= has kept, and record on
 *
 * Where a CPU has come online meanwhile, or lost its buffer, all begin anew, as at an arming.
 * Does nothing if there is no such freeze, or a copy that has not been taken.  May sleep.  The
 * caller serialises.
 */
void btsrec_copy_frozen(void)
{
	bool records_on;

	if (!btsrec_copies() || !btsrec_is_armed() || !btsrec_trigger_is_due() ||
	    btsrec_copy_waits())
		return;
	btsrec_triggers_copy_begins();
	cpus_read_lock();
	records_on = all_can_record_on();
	if (records_on) {
		btsrec_copy_make();
		if (btsrec_thaw()) {
			on_each_cpu(btsrec_record_on, NULL, 1);
			btsrec_root_page->nr_arms++;
		}
	}
	cpus_read_unlock();
	if (!records_on) {
		cpus_stop();
		cpus_read_lock();
		btsrec_copy_make();
		cpus_read_unlock();
		if (btsrec_thaw())
			begin_with_hooks();
	}
	btsrec_copy_over();
}

/* Policy oops=rearm, unless freeze_on= has oops; false again at unload. */
static bool rearm_after_oops;

static void rearm(struct work_struct *unused)
{
	mutex_lock(&btsrec_command_mutex);
	if (READ_ONCE(rearm_after_oops) && btsrec_is_armed() && btsrec_is_frozen()) {
		if (!btsrec_arm())
			pr_info("Recording again after an oops.\n");
	}
	mutex_unlock(&btsrec_command_mutex);
}

static DECLARE_WORK(rearm_work, rearm);

static void queue_rearm(struct irq_work *unused)
{
	schedule_work(&rearm_work);
}

static DEFINE_IRQ_WORK(rearm_irq_work, queue_rearm);

/**
 * btsrec_survived_oops() - the task that oopsed dies, the system goes on
 *
 * In any context that an oops may leave, so without a lock: the arming is left
 * to a worker, which an interrupt calls.
 */
void btsrec_survived_oops(void)
{
	if (btsrec_freezes_on(BTSREC_REASON_OOPS))
		btsrec_trigger_due();
	else if (READ_ONCE(rearm_after_oops))
		irq_work_queue(&rearm_irq_work);
}

/* For good, with whatever a survived oops has set going. */
static void disarm_at_unload(void)
{
	WRITE_ONCE(rearm_after_oops, false);
	mutex_lock(&btsrec_command_mutex);
	btsrec_disarm();
	mutex_unlock(&btsrec_command_mutex);
	irq_work_sync(&rearm_irq_work);
	cancel_work_sync(&rearm_work);
}

static int parse_mode(void)
{
	static const char *const names[] = {
		[BTSREC_MODE_ALL] = "all",
		[BTSREC_MODE_KERNEL] = "kernel",
		[BTSREC_MODE_USER] = "user",
	};
	int which = sysfs_match_string(names, mode);

	if (which < 0)
		pr_err("Not loaded: mode=%s is unknown; use all, kernel or user.\n", mode);
	return which;
}

/* Returns whether @value is one of two; prints a sentence if not. */
static bool is_known(const char *name, const char *value, const char *one, const char *other)
{
	if (!strcmp(value, one) || !strcmp(value, other))
		return true;
	pr_err("Not loaded: %s=%s is unknown; use %s or %s.\n", name, value, one, other);
	return false;
}

/**
 * btsrec_set_freeze_on() - another list of freeze_on=
 * @list: see btsrec_trigger_list.c
 * @effect: what the sentence of a refusal begins with
 *
 * The caller serialises.
 *
 * Return: 0, or a negative errno after a printed sentence; see btsrec_triggers_set().
 */
int btsrec_set_freeze_on(const char *list, const char *effect)
{
	const char *why = "freeze=0 leaves no hook for it";
	int err = -EINVAL;

	if (freeze || !*list || !strcmp(list, "none"))
		err = btsrec_triggers_set(list, &why);
	if (err)
		pr_err("%s: freeze_on=%s: %s.\n", effect, list, why);
	return err;
}

/**
 * btsrec_set_cpus() - other CPUs record
 * @list: see btsrec_cpus_parse()
 * @effect: what the sentence of a refusal begins with
 *
 * Takes effect at once if the recorder is armed; one that is frozen waits for the next arming.  The
 * caller serialises.
 *
 * Return: 0; -EINVAL after a printed sentence, with nothing changed; or what btsrec_arm() returns
 * of a CPU that cannot begin, after a printed sentence: the others have changed then.
 */
int btsrec_set_cpus(const char *list, const char *effect)
{
	const char *why = btsrec_cpus_parse(list);

	if (why) {
		pr_err("%s: cpus=%s: %s.\n", effect, list, why);
		return -EINVAL;
	}
	if (btsrec_root_page)
		btsrec_cpus_publish();
	return btsrec_is_armed() ? cpus_follow(follow_choice) : 0;
}

/* The rings that are there are kept for somebody. */
static const char *why_no_resize(void)
{
	if (!btsrec_root_page)
		return NULL;
	if (btsrec_is_armed() && btsrec_is_frozen())
		return "the recorder is frozen; save the history, and write \"disarm\" to /dev/btsrec";
	if (btsrec_is_held())
		return "somebody copies the rings; try again";
	if (btsrec_copy_waits())
		return "a copy has not been taken; save it, and write \"taken\" to /dev/btsrec";
	return NULL;
}

/**
 * btsrec_set_ring_bytes() - rings of other sizes
 * @list: see btsrec_sizes.c
 * @effect: what the sentence of a refusal begins with
 *
 * Where the size of a ring changes what it holds is lost.  A CPU that records begins anew at once,
 * any other when it records again.  The caller serialises.
 *
 * Return: 0; -EINVAL or -EBUSY after a printed sentence, with nothing changed; or, after a printed
 * sentence, what a CPU returned that has kept its ring (-ENOMEM, -ENOSPC) or cannot begin (see
 * btsrec_arm()): the others have changed then.
 */
int btsrec_set_ring_bytes(const char *list, const char *effect)
{
	const char *error = btsrec_sizes_check(list), *busy = error ? NULL : why_no_resize();

	if (error || busy) {
		pr_err("%s: ring_bytes=%s: %s.\n", effect, list, error ?: busy);
		return error ? -EINVAL : -EBUSY;
	}
	btsrec_sizes_set(list);
	return btsrec_is_armed() ? cpus_follow(follow_size) : 0;
}

/* For as long as the module is loaded.  Returns false after a printed sentence. */
static bool __init choose_source(void)
{
	bool is_lbr = !strcmp(source, "lbr"), is_auto = !strcmp(source, "auto");

	if (!is_lbr && !is_auto && strcmp(source, "bts")) {
		pr_err("Not loaded: source=%s is unknown; use auto, bts or lbr.\n", source);
		return false;
	}
	/* What asks for it by name gets it, and at arming the sentence why there is none. */
	if (is_lbr || (is_auto && !bts_exists()))
		is_lbr |= lbr_find();
	if (is_lbr)
		lbr_use();
	return true;
}

/* What a reader of the log must know of the histories. */
static void __init say_loaded(void)
{
	pr_info("Loaded%s: root_pa=0x%llx, ring_bytes=%s, mode %s.\n",
		arm ? " and armed" : "", btsrec_root_pa, ring_bytes, mode);
	if (btsrec_uses_lbr && lbr_nr_entries())
		pr_info("The source is the last branch record (LBR): a history has the last %u branches of a CPU, and its switches of threads.\n",
			lbr_nr_entries());
}

static int __init btsrec_init(void)
{
	int err, which = parse_mode();

	if (btsrec_set_ring_bytes(ring_bytes, "Not loaded") || which < 0 || !choose_source() ||
	    !is_known("pti", pti, "map", "refuse") ||
	    !is_known("oops", oops, "freeze", "rearm") ||
	    btsrec_set_freeze_on(freeze_on, "Not loaded") || btsrec_set_cpus(cpus, "Not loaded") ||
	    btsrec_set_on_trigger(on_trigger, "Not loaded"))
		return -EINVAL;
	err = -EINVAL;
	if (btsrec_set_tasks(tasks, "Not loaded") || btsrec_set_max_rate(max_rate, "Not loaded"))
		goto exit_limits;
	btsrec_console_set(console_records);
	btsrec_yield_ends_init();
	err = btsrec_copy_init();
	if (err)
		goto exit_limits;
	err = btsrec_root_new(which);
	if (err)
		goto exit_copy;
	err = btsrec_modmap_register();
	if (err)
		goto free_root;
	err = register_reboot_notifier(&reboot_notifier);
	if (err) {
		pr_err("Not loaded: cannot be notified of a reboot (error %d), at which BTS must be switched off; %s.\n",
		       err, btsrec_remedy(err, "try again"));
		goto unregister_modmap;
	}
	if (arm)
		err = btsrec_arm();
	if (err)
		goto unregister_reboot;
	err = btsrec_dev_register();
	if (err)
		goto disarm;
	WRITE_ONCE(rearm_after_oops, !strcmp(oops, "rearm"));
	say_loaded();
	return 0;

disarm:
	btsrec_disarm();
	btsrec_vmcoreinfo_remove_root();
unregister_reboot:
	btsrec_triggers_exit();
	btsrec_freeze_exit();
	btsrec_perf_exit();
	unregister_reboot_notifier(&reboot_notifier);
unregister_modmap:
	btsrec_modmap_unregister();
free_root:
	btsrec_root_free();
exit_copy:
	btsrec_copy_exit();
exit_limits:
	btsrec_limits_exit();
	return err;
}

static void __exit btsrec_exit(void)
{
	btsrec_dev_unregister();
	disarm_at_unload();
	btsrec_limits_exit();
	btsrec_vmcoreinfo_remove_root();
	btsrec_triggers_exit();
	btsrec_freeze_exit();
	btsrec_perf_exit();
	unregister_reboot_notifier(&reboot_notifier);
	btsrec_modmap_unregister();
	btsrec_root_free();
	btsrec_copy_exit();
}

module_init(btsrec_init);
module_exit(btsrec_exit);

MODULE_DESCRIPTION("Branch flight recorder: Branch Trace Store history that survives a crash");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
