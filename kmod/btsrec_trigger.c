// SPDX-License-Identifier: GPL-2.0-only
/*
 * Freezes without a crash, and those that wait for them.
 *
 * What watches for a crash asks btsrec_freezes_on() where it pauses: a WARN() (btsrec_freeze.c),
 * a report of a lockup, hung task or stall (btsrec_reports.c), a survived oops (btsrec_main.c).
 * Tracepoints, functions and requests are here.  Each pauses first and inline, so that the newest
 * branch leads to the place; what runs then is as on the panic path.
 *
 * "wait" written to /dev/btsrec sleeps until such a freeze.  The waker is an irq_work, as a trigger
 * may hold any lock.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/tracepoint.h>
#include <linux/wait.h>

#include <btsrec/freeze.h>

#include "btsrec_trigger.h"

#define EFFECT	"freeze_on= does not freeze there"

/* BIT(enum btsrec_reason); 0 while nothing is registered, so that no hook freezes. */
u32 btsrec_freeze_on;

/* From the beginning of a copy until it has been taken. */
bool btsrec_counts_only;

/* A freeze that is to be reported, until the next arming. */
static bool is_due;
static DECLARE_WAIT_QUEUE_HEAD(due_queue);

static void wake_waiters(struct irq_work *unused)
{
	wake_up_interruptible_all(&due_queue);
	btsrec_copy_queue();
}

static DEFINE_IRQ_WORK(wake_work, wake_waiters);

/**
 * btsrec_trigger_count() - count what freeze_on= names and does not freeze
 *
 * In any context.
 */
void btsrec_trigger_count(void)
{
	atomic64_inc((atomic64_t *)&btsrec_root_page->nr_missed_triggers);
}

/**
 * btsrec_trigger_due() - the freeze is one that freeze_on= names
 *
 * In any context.
 */
void btsrec_trigger_due(void)
{
	WRITE_ONCE(is_due, true);
	irq_work_queue(&wake_work);
}

/** btsrec_trigger_is_due() - is there such a freeze, which is neither copied nor forgotten? */
bool btsrec_trigger_is_due(void)
{
	return READ_ONCE(is_due) && btsrec_is_frozen();
}

/** btsrec_trigger_wake() - what there is to wait for, or to be copied, may have changed */
void btsrec_trigger_wake(void)
{
	irq_work_queue(&wake_work);
}

static bool has_history(void)
{
	return btsrec_copy_waits() || (btsrec_trigger_is_due() && !btsrec_copies());
}

/**
 * btsrec_trigger_wait() - sleep until a freeze that freeze_on= names, or the copy of one
 *
 * Return: 0; -ERESTARTSYS: a signal came.
 */
int btsrec_trigger_wait(void)
{
	return wait_event_interruptible(due_queue, has_history());
}

/**
 * btsrec_trigger_freeze() - freeze for what freeze_on= names, and wake those that wait for it
 * @regs: of the place; NULL: of this one
 * @reason: what it is
 * @trigger: which of its kind; NULL: there is but one
 *
 * This CPU has paused.  In any context.
 */
void btsrec_trigger_freeze(const struct pt_regs *regs, enum btsrec_reason reason,
			   const char *trigger)
{
	if (btsrec_freeze_for(regs, reason, trigger))
		btsrec_trigger_due();
}

/**
 * btsrec_freeze_request() - stop the recorder, which has the history of what led here
 * @why: a text for the report, below 64 bytes; longer ones are cut
 *
 * For modules that know when something has gone wrong.  In any context, NMI included; takes no lock
 * and does not sleep.  Only where freeze_on= has "request".
 *
 * Return: 0: it is frozen, perhaps by an earlier event; -ENXIO: it is not armed, or is not to be
 * frozen so.
 */
int btsrec_freeze_request(const char *why)
{
	return btsrec_trigger_stop(NULL, BTSREC_REASON_REQUEST, why) ? 0 : -ENXIO;
}
EXPORT_SYMBOL_GPL(btsrec_freeze_request);

/* --- Tracepoints and functions -------------------------------------------- */

/* A tracepoint's own arguments follow in registers, which we do not look at. */
static void on_tracepoint(void *data)
{
	const struct btsrec_trigger *trigger = data;

	btsrec_trigger_stop(NULL, BTSREC_REASON_TRACEPOINT, trigger->name);
}

/* Without a branch, as those of all calls that do not freeze are recorded. */
static __always_inline bool is_met(const struct btsrec_condition *condition,
				   const struct pt_regs *regs)
{
	u64 raw = *(const u64 *)((const char *)regs + condition->offset);
	s64 value = (s64)(raw << condition->shift) >> condition->shift;
	u8 found = (value < condition->with) * BTSREC_LESS |
		   (value == condition->with) * BTSREC_EQUAL |
		   (value > condition->with) * BTSREC_GREATER |
		   !!(value & condition->with) * BTSREC_HAS_BITS;

	return found & condition->wanted;
}

BTSREC_HOOK_HANDLER_OF(on_function, hook, regs)
{
	const struct btsrec_trigger *trigger = container_of(hook, struct btsrec_trigger, hook);

	if (likely(!regs || !is_met(&trigger->condition, regs)))
		return;
	btsrec_trigger_stop(regs, BTSREC_REASON_FUNCTION, trigger->name);
}

static struct btsrec_trigger_set sets[] = {
	{ .triggers = { [0 ... BTSREC_MAX_TRIGGERS - 1] = {
		.hook = BTSREC_HOOK_WITH_REGS(on_function) } } },
	{ .triggers = { [0 ... BTSREC_MAX_TRIGGERS - 1] = {
		.hook = BTSREC_HOOK_WITH_REGS(on_function) } } },
};

/* The one in use; changed under the device's command mutex, or at load. */
static struct btsrec_trigger_set *current_set = &sets[0];

static int tracepoint_register(struct btsrec_trigger *trigger)
{
	if (BTSREC_HAS_CFI)
		return -EOPNOTSUPP;
	trigger->tp = btsrec_find_tracepoint(trigger->name);
	if (!trigger->tp)
		return -ENOENT;
	return tracepoint_probe_register(trigger->tp, (void *)on_tracepoint, trigger);
}

static int trigger_register(struct btsrec_trigger *trigger)
{
	int err = trigger->reason == BTSREC_REASON_TRACEPOINT ? tracepoint_register(trigger) :
		  btsrec_hook_register(&trigger->hook, trigger->name);

	trigger->registered = !err;
	return err;
}

static void trigger_unregister(struct btsrec_trigger *trigger)
{
	if (trigger->registered && trigger->reason == BTSREC_REASON_TRACEPOINT)
		tracepoint_probe_unregister(trigger->tp, (void *)on_tracepoint, trigger);
	else if (trigger->registered)
		btsrec_hook_unregister(&trigger->hook);
	trigger->registered = false;
}

static void set_unregister(struct btsrec_trigger_set *set)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++)
		trigger_unregister(&set->triggers[i]);
	tracepoint_synchronize_unregister();
}

/* Returns the first trigger that cannot be registered, with none registered then; NULL: all are. */
static const struct btsrec_trigger *set_register(struct btsrec_trigger_set *set)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		if (trigger_register(&set->triggers[i])) {
			set_unregister(set);
			return &set->triggers[i];
		}
	}
	return NULL;
}

/* --- The list ------------------------------------------------------------- */

static const char *why_not(const struct btsrec_trigger *trigger)
{
	if (trigger->reason == BTSREC_REASON_FUNCTION)
		return "this kernel cannot hook that function, or has none of that name";
	return BTSREC_HAS_CFI ? "this kernel checks calls (CFI), so use function:NAME" :
				"this kernel has no tracepoint of that name outside of its modules";
}

/**
 * btsrec_triggers_set() - another list of freeze_on=
 * @list: see btsrec_trigger_list.c
 * @ret_why: why not, as the end of a sentence; static
 *
 * Takes effect at once if the recorder is armed.  The caller serialises.
 *
 * Return: 0; -EINVAL: no such list; -ENOENT: a place that this kernel does not have.  What was
 * there before is there still.
 */
int btsrec_triggers_set(const char *list, const char **ret_why)
{
	struct btsrec_trigger_set *old = current_set, *set = old == &sets[0] ? &sets[1] : &sets[0];
	const struct btsrec_trigger *refused;

	*ret_why = btsrec_trigger_list_parse(list, set);
	if (*ret_why)
		return -EINVAL;
	if (btsrec_is_armed()) {
		refused = set_register(set);
		if (refused) {
			*ret_why = why_not(refused);
			return -ENOENT;
		}
		WRITE_ONCE(btsrec_freeze_on, set->reasons);
		set_unregister(old);
		btsrec_hook_forget_effect(EFFECT);
	}
	current_set = set;
	return 0;
}

/**
 * btsrec_triggers_list() - the list in use; valid until the next one is set
 */
const char *btsrec_triggers_list(void)
{
	return *current_set->text ? current_set->text : "none";
}

/**
 * btsrec_triggers_register() - hook what the list names, which freezes nothing yet
 *
 * Before anything is recorded: to look for a function takes the kernel millions of branches.  What
 * this kernel does not have goes to btsrec_hook_missing(): a crash is recorded all the same.
 */
void btsrec_triggers_register(void)
{
	unsigned int i;

	for (i = 0; i < current_set->nr; i++) {
		int err = trigger_register(&current_set->triggers[i]);

		if (err)
			btsrec_hook_missing(current_set->triggers[i].name, err, EFFECT);
	}
}

/**
 * btsrec_triggers_enable() - an arming is complete: freeze where the list says so
 */
void btsrec_triggers_enable(void)
{
	WRITE_ONCE(is_due, false);
	WRITE_ONCE(btsrec_freeze_on, current_set->reasons);
}

/**
 * btsrec_triggers_copy_begins() - count what the list names from now on
 *
 * When this returns nothing freezes that it names, and all that did is in what will be copied.
 */
void btsrec_triggers_copy_begins(void)
{
	WRITE_ONCE(btsrec_counts_only, true);
	btsrec_freezers_sync();
	WRITE_ONCE(is_due, false);
}

/**
 * btsrec_triggers_copy_taken() - freeze again where the list says so
 *
 * What an oops froze meanwhile is copied now, if the list has oops.
 */
void btsrec_triggers_copy_taken(void)
{
	WRITE_ONCE(btsrec_counts_only, false);
	btsrec_trigger_wake();
}

/**
 * btsrec_triggers_disable() - no longer; when this returns nothing freezes that the list names
 *
 * The hooks stay.
 */
void btsrec_triggers_disable(void)
{
	WRITE_ONCE(btsrec_freeze_on, 0);
	btsrec_freezers_sync();
}

/**
 * btsrec_triggers_unregister() - the same, and give the hooks back
 *
 * Also if nothing is registered.
 */
void btsrec_triggers_unregister(void)
{
	btsrec_triggers_disable();
	set_unregister(current_set);
}

/**
 * btsrec_triggers_exit() - give back what ftrace keeps for the hooks; see btsrec_hook_exit()
 */
void btsrec_triggers_exit(void)
{
	unsigned int i, j;

	irq_work_sync(&wake_work);
	btsrec_copy_sync();
	irq_work_sync(&wake_work);	/* the worker's own */
	for (i = 0; i < ARRAY_SIZE(sets); i++)
		for (j = 0; j < BTSREC_MAX_TRIGGERS; j++)
			btsrec_hook_exit(&sets[i].triggers[j].hook);
}
