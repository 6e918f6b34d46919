// SPDX-License-Identifier: GPL-2.0-only
/*
 * The freeze: at the first sign of a crash every CPU stops for good and keeps
 * its registers.  Nothing from freeze_cpu() on allocates, locks, prints or can
 * fault.
 *
 * Hooks are ftrace callbacks, and kprobes only where the kernel has no ftrace.  They are no
 * notifiers: those of a panic do not run when a capture kernel is loaded, and the kernel's
 * shootdown NMI bypasses the NMI handler lists.  kernel.ftrace_enabled=0 silently disarms kprobes
 * that use ftrace, while it refuses as long as a PERMANENT ftrace_ops exists.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/kdebug.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/apic.h>
#include <asm/nmi.h>
#include <asm/segment.h>
#include <asm/tsc.h>

#include "btsrec_annot.h"
#include "btsrec_compat.h"
#include "btsrec_lbr.h"
#include "btsrec_suspect.h"
#include "btsrec_trigger.h"

#define NMI_HANDLER_NAME	"btsrec"
#define WAIT_MS			50

/* NONE until the first freeze; only the CPU that sets it writes the root. */
static u32 freeze_reason;

/* The system is over: what is frozen stays. Set before the freeze is tried, never cleared. */
static bool panicked;

/* Without @regs: of this very place. */
static __always_inline void store_registers(struct btsrec_freeze *freeze,
					    const struct pt_regs *regs)
{
	if (!regs) {
		freeze->ip = _THIS_IP_;
		freeze->sp = current_stack_pointer;
		freeze->bp = (u64)__builtin_frame_address(0);
		freeze->rflags = native_save_fl();
		freeze->cs = __KERNEL_CS;
		return;
	}
	freeze->ip = regs->ip;
	freeze->sp = regs->sp;
	freeze->bp = regs->bp;
	freeze->rflags = regs->flags;
	freeze->cs = regs->cs;
}

/*
 * The pause that is open: nobody pauses while BTS is off, so it is one. None where an annotation
 * is being written, which is a pause of some hundred instructions.
 */
static void store_pause(const struct btsrec_pcpu *pc, struct btsrec_freeze *freeze, u64 debugctl)
{
	freeze->pause_reason = BTSREC_REASON_NONE;
	freeze->pause_tsc = 0;
	if (bts_is_on(debugctl))
		return;
	if (pc->nmi_stop_tsc) {
		freeze->pause_reason = BTSREC_REASON_NMI;
		freeze->pause_tsc = pc->nmi_stop_tsc;
	} else if (pc->hold_tsc) {
		freeze->pause_reason = BTSREC_REASON_SNAPSHOT;
		freeze->pause_tsc = pc->hold_tsc;
	} else if (pc->off_reason) {
		freeze->pause_reason = pc->off_reason;
		freeze->pause_tsc = pc->off_tsc;
	} else if (pc->suspect) {
		freeze->pause_reason = pc->suspect;
		freeze->pause_tsc = pc->stop_tsc;
	}
}

static noinline void store_freeze(struct btsrec_pcpu *pc, const struct pt_regs *regs,
				  u32 reason, bool via_nmi, u64 debugctl, u64 stop_ip)
{
	struct btsrec_cpu *page = pc->page;
	struct btsrec_freeze *freeze = &page->freeze;

	freeze->reason = reason;
	freeze->via_nmi = via_nmi;
	freeze->tsc = rdtsc_ordered();
	if (btsrec_uses_lbr && bts_fields_are_ours(pc))
		btsrec_annot_lbr(pc);
	freeze->index_kva = bts_last_index(pc);
	freeze->stop_ip = stop_ip;
	store_pause(pc, freeze, debugctl);
	store_registers(freeze, regs);
	btsrec_registers_freeze(pc, regs);
	freeze->cr3 = bts_cr3();
	freeze->debugctl = btsrec_uses_lbr ? lbr_debugctl(debugctl) : debugctl;
	freeze->task_kva = (u64)current;
	freeze->pid = current->pid;
	freeze->tgid = current->tgid;
	memcpy(freeze->comm, current->comm, sizeof(freeze->comm));
	freeze->subject_pid = via_nmi ? 0 : btsrec_hung_pid();
	if (bts_fields_are_ours(pc))
		bts_point_at_scratch(pc);
	WRITE_ONCE(page->state, BTSREC_CPU_FROZEN);
	smp_wmb();	/* a reader of "frozen" sees a whole snapshot */
	WRITE_ONCE(page->frozen, 1);
}

/*
 * Stops this CPU; interrupts are off.  Up to the write of DEBUGCTL every branch would be in the
 * history, so there is none.  In an NMI handler, or if the switch path was interrupted while
 * paused, BTS is off already.  Where it was stopped is known; it is not if other code switched it
 * off, such as KVM for its guest.
 */
static __always_inline void freeze_cpu(const struct pt_regs *regs, u32 reason, bool via_nmi)
{
	struct btsrec_pcpu *pc = this_cpu_ptr(&btsrec_pcpu);
	u64 debugctl, stop_ip;

	if (unlikely(!xchg(&pc->live, 0))) {
		bts_keep_off(pc);
		return;
	}
	debugctl = bts_read_debugctl();
	stop_ip = bts_write_debugctl(debugctl & ~btsrec_record_bits);
	if (!bts_is_on(debugctl))
		stop_ip = pc->nmi_stop_tsc ? pc->nmi_stop_ip : pc->stop_ip;
	store_freeze(pc, regs, reason, via_nmi, debugctl, stop_ip);
}

/* Bounded by time for all CPUs together: a dead one must not hold the crash up. */
static void wait_for_others(void)
{
	u64 end_tsc = rdtsc() + (u64)(tsc_khz ?: 1000000) * WAIT_MS;
	unsigned int cpu;

	for_each_cpu(cpu, cpu_online_mask) {
		while (READ_ONCE(per_cpu(btsrec_pcpu, cpu).live) && rdtsc() < end_tsc)
			cpu_relax();
	}
}

/*
 * The other CPUs, by an NMI of our own; interrupts are off.  The mask form of the IPI is used
 * because the shorthand may reach CPUs that are offline.  Returns whether this freeze is the one.
 */
static noinline bool freeze_others(u32 reason, const char *trigger)
{
	struct btsrec_root *root = btsrec_root_page;

	if (cmpxchg(&freeze_reason, BTSREC_REASON_NONE, reason) != BTSREC_REASON_NONE)
		return false;
	this_cpu_write(btsrec_pcpu.frozen_tsc, 1);
	apic->send_IPI_mask_allbutself(cpu_online_mask, NMI_VECTOR);
	wait_for_others();
	root->freeze_tsc = rdtsc_ordered();
	root->freeze_cpu = raw_smp_processor_id();
	if (trigger)
		strscpy(root->freeze_trigger, trigger, sizeof(root->freeze_trigger));
	WRITE_ONCE(root->state, BTSREC_ROOT_FROZEN);
	smp_wmb();	/* the reason after the rest: it says "frozen" */
	WRITE_ONCE(root->freeze_reason, reason);
	return true;
}

/*
 * An NMI of somebody else may have found the freeze before ours came, which nobody would know
 * then: the kernel complains of such, or panics.
 */
static bool may_be_ours(void)
{
	return rdtsc() - this_cpu_read(btsrec_pcpu.frozen_tsc) <
	       (u64)(tsc_khz ?: 1000000) * WAIT_MS;
}

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	u32 reason = READ_ONCE(freeze_reason);

	/* Laid out for the freeze: there a taken branch would be a record. */
	if (unlikely(!reason || this_cpu_read(btsrec_pcpu.frozen_tsc))) {
		btsrec_nmi_pause(regs);
		return reason && may_be_ours() ? NMI_HANDLED : NMI_DONE;
	}
	freeze_cpu(regs, reason, true);
	this_cpu_write(btsrec_pcpu.frozen_tsc, rdtsc());
	return NMI_HANDLED;
}

/* Beginnings of panic messages that name the cause. */
static const struct {
	const char *text;
	enum btsrec_reason reason;
} panic_causes[] = {
	{ "Hard LOCKUP", BTSREC_REASON_HARD_LOCKUP },
	{ "softlockup: ", BTSREC_REASON_SOFT_LOCKUP },
	{ "hung_task: ", BTSREC_REASON_HUNG_TASK },
	{ "RCU Stall", BTSREC_REASON_RCU_STALL },
	{ "Fatal machine check", BTSREC_REASON_MCE },
	{ "Fatal local machine check", BTSREC_REASON_MCE },
	{ "Timeout: Not all CPUs entered broadcast exception", BTSREC_REASON_MCE },
	{ "Machine check from unknown source", BTSREC_REASON_MCE },
	{ "NMI: Not continuing", BTSREC_REASON_NMI },
	{ "NMI IOCK error", BTSREC_REASON_NMI },
};

/* panic(fmt, ...): nmi_panic() passes its message as the argument of "%s". */
static u32 panic_reason(const struct pt_regs *regs)
{
	char text[24] = "";
	size_t i;

	if (!regs || copy_from_kernel_nofault(text, (void *)regs->di, sizeof(text) - 1))
		return BTSREC_REASON_PANIC;
	if (!strcmp(text, "%s") &&
	    copy_from_kernel_nofault(text, (void *)regs->si, sizeof(text) - 1))
		return BTSREC_REASON_PANIC;
	for (i = 0; i < ARRAY_SIZE(panic_causes); i++) {
		size_t bytes = min(strlen(panic_causes[i].text), sizeof(text) - 1);

		if (!strncmp(text, panic_causes[i].text, bytes))
			return panic_causes[i].reason;
	}
	return BTSREC_REASON_PANIC;
}

/*
 * The cause is read after the stop, so the snapshot of this CPU gets it late.  An older one stays
 * as it is: that of a CPU that does not record again yet after a copy.
 */
static noinline void freeze_others_at_panic(const struct pt_regs *regs)
{
	struct btsrec_cpu *page = this_cpu_read(btsrec_pcpu.page);
	u32 reason = panic_reason(regs);

	if (page && page->frozen && page->freeze.reason == BTSREC_REASON_PANIC &&
	    !btsrec_is_frozen())
		page->freeze.reason = reason;
	WRITE_ONCE(panicked, true);	/* its LOCK CMPXCHG orders this; see btsrec_thaw() */
	freeze_others(reason, NULL);
}

static __always_inline void freeze_all(const struct pt_regs *regs, u32 reason)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	freeze_cpu(regs, reason, false);
	if (reason == BTSREC_REASON_PANIC)
		freeze_others_at_panic(regs);
	else
		freeze_others(reason, NULL);
	raw_local_irq_restore(flags);
}

/**
 * btsrec_freeze_for() - freeze all CPUs for what freeze_on= names
 * @regs: of the place; NULL: of this one
 * @reason: what it is
 * @trigger: which of its kind, below BTSREC_TRIGGER_BYTES; NULL: there is but one
 *
 * In any context, as at a crash.  The caller has paused this CPU, so that the call is not
 * recorded.
 *
 * Return: false: it was frozen already, or another CPU was first; that is counted.
 */
bool btsrec_freeze_for(const struct pt_regs *regs, enum btsrec_reason reason, const char *trigger)
{
	struct btsrec_cpu *page;
	unsigned long flags;
	bool is_first;

	raw_local_irq_save(flags);
	freeze_cpu(regs, reason, false);
	page = this_cpu_read(btsrec_pcpu.page);
	if (page && page->frozen && page->freeze.reason == reason)
		WRITE_ONCE(page->survived, 1);	/* what is in memory will not be of this moment */
	is_first = freeze_others(reason, trigger);
	if (!is_first)
		atomic64_inc((atomic64_t *)&btsrec_root_page->nr_late_triggers);
	raw_local_irq_restore(flags);
	return is_first;
}

BTSREC_HOOK_HANDLER(on_panic, regs)
{
	freeze_all(regs, BTSREC_REASON_PANIC);
}

BTSREC_HOOK_HANDLER(on_oops, regs)
{
	freeze_all(regs, BTSREC_REASON_OOPS);
}

/*
 * __warn(), which reports a WARN().  It is not called for what warns once only and has done so.
 * report_bug() has paused already, where it could be hooked.
 */
BTSREC_HOOK_HANDLER(on_warn, regs)
{
	btsrec_trigger_stop(regs, BTSREC_REASON_WARN, NULL);
}

/* BTS must be off before the next kernel: nothing there would switch it off. */
BTSREC_HOOK_HANDLER(on_crash_shutdown, regs)
{
	freeze_all(regs, BTSREC_REASON_CRASH_SHUTDOWN);
	btsrec_vmcoreinfo_put_root();
}

/*
 * page_fault_oops(regs, ...).  It may return: KFENCE reports the access and makes it possible.
 * Its forerunner no_context(regs, ...) asks fixup_exception() as well.  A compiler's copy of it may
 * have other arguments, so what they point to is not looked at.
 */
BTSREC_HOOK_HANDLER(on_page_fault_oops, regs)
{
	pause_on_suspicion(regs ? (const struct pt_regs *)regs->di : NULL, BTSREC_REASON_OOPS);
}

/*
 * Traps of the kernel before they are printed, or, for #GP, before the
 * instruction is decoded.  A #GP for which there was a fixup does not come
 * here; as nobody after us can stop it, it is an oops.  Other traps may still
 * be fixed up.
 */
static int on_die(struct notifier_block *nb, unsigned long what, void *data)
{
	const struct die_args *args = data;

	if (!args->regs || user_mode(args->regs))
		return NOTIFY_DONE;
	if (what == DIE_GPF)
		freeze_all(args->regs, BTSREC_REASON_OOPS);
	else if (what == DIE_TRAP)
		pause_at_exception(args->regs, args->trapnr, args->err, 0);
	return NOTIFY_DONE;
}

static struct notifier_block die_notifier = {
	.notifier_call = on_die,
	.priority = INT_MIN,
};

/* The oops has been printed; what kmsg dumpers take along comes before it returns. */
BTSREC_HOOK_HANDLER(on_oops_exit, regs)
{
	btsrec_console_print();
}

BTSREC_HOOK_HANDLER(on_make_task_dead, regs)
{
	struct btsrec_cpu *page;

	if (READ_ONCE(freeze_reason) != BTSREC_REASON_OOPS)
		return;
	page = per_cpu(btsrec_pcpu, READ_ONCE(btsrec_root_page->freeze_cpu)).page;
	if (page)
		WRITE_ONCE(page->survived, 1);
	btsrec_survived_oops();
}

/* kdump_nmi_callback(cpu, regs) on a CPU that our own NMI did not reach. */
BTSREC_HOOK_HANDLER(on_kdump_nmi, regs)
{
	freeze_cpu(regs ? (const struct pt_regs *)regs->si : NULL,
		   READ_ONCE(freeze_reason) ?: BTSREC_REASON_CRASH_SHUTDOWN, true);
}

/* Every way out of this kernel but that of a crash; what crashed up to here has its history. */
BTSREC_HOOK_HANDLER(on_shutdown, regs)
{
	btsrec_root_forget();
}

/**
 * struct freeze_hook - a function of the kernel at which we freeze
 * @name: the function
 * @old_name: what it was before; NULL: the same
 * @guard: needed even with freeze=0
 * @is_absent: a kernel of this kind has no such function
 * @effect: what is lost without it; NULL: so much that nothing is armed
 * @registered: what to undo
 * @hook: what calls us
 */
struct freeze_hook {
	const char *name;
	const char *old_name;
	bool guard;
	bool is_absent;
	const char *effect;
	bool registered;
	struct btsrec_hook hook;
};

static struct freeze_hook hooks[] = {
	{ .name = "oops_enter", .hook = BTSREC_HOOK_WITH_REGS(on_oops) },
	{ .name = "panic", .hook = BTSREC_HOOK_WITH_REGS(on_panic) },
	/* Where it exists, other callers than panic() use it, too. */
	{ .name = "vpanic", .is_absent = !BTSREC_HAS_VPANIC,
	  .hook = BTSREC_HOOK_WITH_REGS(on_panic) },
	/* "x86/fault: Split the OOPS code out from no_context()", v5.12. */
	{ .name = "page_fault_oops", .old_name = "no_context",
	  .effect = "the history of a fault may end with the search for its cause",
	  .hook = BTSREC_HOOK_WITH_REGS(on_page_fault_oops) },
	{ .name = "oops_exit",
	  .effect = "after an oops the kernel log will not say where the history is",
	  .hook = BTSREC_HOOK_WITH_REGS(on_oops_exit) },
	{ .name = "__warn",
	  .effect = "freeze_on=warn does not freeze",
	  .hook = BTSREC_HOOK_WITH_REGS(on_warn) },
	{ .name = "make_task_dead",
	  .effect = "with oops=rearm recording will not go on after an oops",
	  .hook = BTSREC_HOOK_WITH_REGS(on_make_task_dead) },
	{ .name = "kdump_nmi_callback", .guard = true, .is_absent = !IS_ENABLED(CONFIG_KEXEC_CORE),
	  .effect = "a CPU that the NMI of a freeze does not reach records on until kdump stops it",
	  .hook = BTSREC_HOOK_WITH_REGS(on_kdump_nmi) },
	{ .name = "machine_crash_shutdown", .guard = true,
	  .is_absent = !IS_ENABLED(CONFIG_KEXEC_CORE),
	  .effect = "the capture kernel may start with BTS on and without the root's address",
	  .hook = BTSREC_HOOK_WITH_REGS(on_crash_shutdown) },
	{ .name = "machine_shutdown", .guard = true,
	  .effect = "a kernel that is entered by kexec may find this history, and take it for its own",
	  .hook = BTSREC_HOOK_WITH_REGS(on_shutdown) },
};

static int hook_register(struct freeze_hook *hook)
{
	int err = btsrec_hook_register(&hook->hook, hook->name);

	if (err == -EINVAL && hook->old_name)
		err = btsrec_hook_register(&hook->hook, hook->old_name);
	if (err == -EINVAL && hook->effect) {
		btsrec_hook_missing(hook->name, err, hook->effect);
		return 0;
	}
	hook->registered = !err;
	return err;
}

static void hook_unregister(struct freeze_hook *hook)
{
	if (hook->registered)
		btsrec_hook_unregister(&hook->hook);
	hook->registered = false;
}

/* What makes the history end nearer to the fault, but is not needed for a freeze. */
static void early_register(void)
{
	int err = register_die_notifier(&die_notifier);

	if (err)
		btsrec_hook_missing("die_chain", err,
				    "the history of a #GP or trap will end with the report of it");
	btsrec_suspect_register();
	btsrec_reports_register();
	/* A console's driver runs in the kernel: in mode=user it leaves nothing. */
	if (btsrec_root_page->mode != BTSREC_MODE_USER)
		btsrec_printk_register();
	btsrec_console_register();
}

/* Also if nothing is registered. */
static void early_unregister(void)
{
	btsrec_console_unregister();
	btsrec_printk_unregister();
	btsrec_reports_unregister();
	btsrec_suspect_unregister();
	unregister_die_notifier(&die_notifier);
}

/* The last handler first: where one pauses there must be one that resumes. */
static int nmi_register(void)
{
	int err = btsrec_nmi_register();

	if (!err) {
		err = register_nmi_handler(NMI_LOCAL, on_nmi, NMI_FLAG_FIRST, NMI_HANDLER_NAME);
		if (err)
			btsrec_nmi_unregister();
	}
	if (err)
		pr_err("Not armed: cannot register an NMI handler (error %d), so the other CPUs could not be stopped at a crash; %s.\n",
		       err, btsrec_remedy(err, "try again"));
	return err;
}

static void nmi_unregister(void)
{
	unregister_nmi_handler(NMI_LOCAL, NMI_HANDLER_NAME);
	btsrec_nmi_unregister();
}

/**
 * btsrec_freeze_register() - watch for crashes
 * @freeze_on_fault: false: only guard the way into the next kernel
 *
 * Return: 0, or a negative errno after a printed sentence, with nothing
 * registered.
 */
int btsrec_freeze_register(bool freeze_on_fault)
{
	size_t i;
	int err;

	btsrec_hook_forget_missing();
	btsrec_hook_say_kind();
	btsrec_root_say_place();
	err = nmi_register();
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (hooks[i].is_absent || (!freeze_on_fault && !hooks[i].guard))
			continue;
		err = hook_register(&hooks[i]);
		if (err) {
			pr_err("Not armed: cannot hook %s() (error %d), so a crash would overwrite the history; %s.\n",
			       hooks[i].name, err, btsrec_hook_remedy(err));
			btsrec_freeze_unregister();
			return err;
		}
	}
	if (freeze_on_fault)
		early_register();
	return 0;
}

/**
 * btsrec_freeze_unregister() - no longer; when this returns no hook runs
 */
void btsrec_freeze_unregister(void)
{
	size_t i;

	early_unregister();
	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		hook_unregister(&hooks[i]);
	nmi_unregister();
}

/**
 * btsrec_freeze_exit() - give back what ftrace keeps for the hooks; see btsrec_hook_exit()
 */
void btsrec_freeze_exit(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		btsrec_hook_exit(&hooks[i].hook);
	btsrec_reports_exit();
	btsrec_printk_exit();
}

/**
 * btsrec_freeze_now() - freeze all CPUs on request
 */
void btsrec_freeze_now(void)
{
	freeze_all(NULL, BTSREC_REASON_MANUAL);
}

/**
 * btsrec_is_frozen() - has a freeze begun?
 */
bool btsrec_is_frozen(void)
{
	return READ_ONCE(freeze_reason);
}

/**
 * btsrec_freeze_missed() - freeze this CPU, too, if its NMI came before it was live
 *
 * Interrupts are off, BTS is off.
 *
 * Return: whether it is frozen now.
 */
bool btsrec_freeze_missed(void)
{
	u32 reason;

	smp_mb();	/* live before this; freeze_others() looks the other way round */
	reason = READ_ONCE(freeze_reason);
	if (reason)
		freeze_cpu(NULL, reason, false);
	return reason;
}

/* In an interrupt, which comes after an NMI, and when interrupts are on. */
static void nothing(void *unused)
{
}

/**
 * btsrec_freezers_sync() - wait for hooks and NMI handlers that are about to freeze
 *
 * May sleep.
 */
void btsrec_freezers_sync(void)
{
	on_each_cpu(nothing, NULL, 1);
}

/* A panic came while the freeze was being forgotten. It may have found none, and made its own. */
static void keep_frozen(u32 reason)
{
	struct btsrec_root *root = btsrec_root_page;

	if (!reason ||
	    cmpxchg(&freeze_reason, BTSREC_REASON_NONE, reason) != BTSREC_REASON_NONE)
		return;
	WRITE_ONCE(root->state, BTSREC_ROOT_FROZEN);
	smp_wmb();	/* as freeze_others() */
	WRITE_ONCE(root->freeze_reason, reason);
}

/**
 * btsrec_thaw() - the recorder is armed: allow a new freeze
 *
 * A panic that found a freeze, as that of a trigger which is being copied, leaves it as it is:
 * there will be no other one.
 *
 * No CPU may be live.  What each CPU's page says about the last freeze stays until the CPU is armed
 * again, and that it was survived.  Hooks and our NMI handler may be registered: a freeze that
 * comes at any moment finds no CPU that records, and its "frozen" stays.  May sleep.
 *
 * Return: false: the system panics, and no CPU may record again.
 */
bool btsrec_thaw(void)
{
	struct btsrec_root *root = btsrec_root_page;
	unsigned int cpu;
	u32 reason;

	if (READ_ONCE(panicked))
		return false;
	for_each_possible_cpu(cpu) {
		struct btsrec_cpu *page = per_cpu(btsrec_pcpu, cpu).page;

		if (page && page->frozen)
			WRITE_ONCE(page->survived, 1);
	}
	WRITE_ONCE(root->state, BTSREC_ROOT_ARMED);
	root->freeze_reason = BTSREC_REASON_NONE;
	memset(root->freeze_trigger, 0, sizeof(root->freeze_trigger));
	WRITE_ONCE(root->nr_late_triggers, 0);
	reason = xchg(&freeze_reason, BTSREC_REASON_NONE);
	if (READ_ONCE(panicked)) {
		keep_frozen(reason);
		return false;
	}
	btsrec_freezers_sync();	/* an NMI that has read the old reason is over */
	for_each_possible_cpu(cpu)
		per_cpu(btsrec_pcpu, cpu).frozen_tsc = 0;
	return true;
}
