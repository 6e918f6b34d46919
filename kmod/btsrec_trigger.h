/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Freezes without a crash: what freeze_on= names.  The list is text; a set is what it says.
 *
 * There are two sets.  A new list goes into the one that is not in use, whose hooks are registered
 * before those of the other are given back.
 */
#ifndef BTSREC_TRIGGER_H
#define BTSREC_TRIGGER_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <asm/ptrace.h>

#include "btsrec.h"
#include "btsrec_compat.h"
#include "btsrec_suspect.h"

#define BTSREC_MAX_TRIGGERS	8

/**
 * struct btsrec_condition - a test of one argument that takes no branch
 * @offset: of the argument in struct pt_regs
 * @shift: 32: the low half as an int; 0: all of it as a long
 * @wanted: BTSREC_LESS and its like: which of them make it true
 * @with: what it is compared with
 */
struct btsrec_condition {
	u16 offset;
	u8 shift;
	u8 wanted;
	s64 with;
};

#define BTSREC_LESS	BIT(0)
#define BTSREC_EQUAL	BIT(1)
#define BTSREC_GREATER	BIT(2)
#define BTSREC_HAS_BITS	BIT(3)

/**
 * struct btsrec_trigger - a tracepoint or a function at which we freeze
 * @reason: TRACEPOINT or FUNCTION
 * @name: which
 * @condition: on its arguments; always true for a tracepoint
 * @tp: the tracepoint while it is probed
 * @registered: the function is hooked, or the tracepoint probed
 * @hook: what calls us at a function
 */
struct btsrec_trigger {
	enum btsrec_reason reason;
	char name[BTSREC_TRIGGER_BYTES];
	struct btsrec_condition condition;
	struct tracepoint *tp;
	bool registered;
	struct btsrec_hook hook;
};

/**
 * struct btsrec_trigger_set - what a list says
 * @reasons: BIT(enum btsrec_reason) of all that freezes
 * @text: the list
 * @nr: of @triggers that are used
 */
struct btsrec_trigger_set {
	u32 reasons;
	char text[BTSREC_MAX_LIST_BYTES];
	unsigned int nr;
	struct btsrec_trigger triggers[BTSREC_MAX_TRIGGERS];
};

/* btsrec_trigger_list.c */
const char *btsrec_trigger_list_parse(const char *list, struct btsrec_trigger_set *ret);

/* btsrec_trigger.c */
extern u32 btsrec_freeze_on;
extern bool btsrec_counts_only;
int btsrec_triggers_set(const char *list, const char **ret_why);
void btsrec_triggers_register(void);
void btsrec_triggers_enable(void);
void btsrec_triggers_disable(void);
void btsrec_triggers_copy_begins(void);
void btsrec_triggers_copy_taken(void);
void btsrec_triggers_unregister(void);
void btsrec_triggers_exit(void);
const char *btsrec_triggers_list(void);
void btsrec_trigger_freeze(const struct pt_regs *regs, enum btsrec_reason reason,
			   const char *trigger);
void btsrec_trigger_count(void);
void btsrec_trigger_due(void);
bool btsrec_trigger_is_due(void);
void btsrec_trigger_wake(void);
int btsrec_trigger_wait(void);

/* Does @reason freeze? Of BTSREC_REASON_OOPS: and is it reported, and recorded on after it? */
static __always_inline bool btsrec_freezes_on(enum btsrec_reason reason)
{
	return READ_ONCE(btsrec_freeze_on) & BIT(reason);
}

/* Is a copy to be taken before what freeze_on= names freezes again? This one is counted then. */
static __always_inline bool btsrec_trigger_is_missed(void)
{
	if (likely(!READ_ONCE(btsrec_counts_only)))
		return false;
	btsrec_trigger_count();
	return true;
}

/*
 * Stop here, if @reason freezes, and freeze the others.  Interrupts stay off: the handling of one
 * that came between would not be recorded, or end the pause.  btsrec_triggers_disable() waits for
 * all that had them off.  The rest is as btsrec_trigger_freeze() has it.  Returns whether it does,
 * or has been counted.
 */
static __always_inline bool btsrec_trigger_stop(const struct pt_regs *regs,
						enum btsrec_reason reason, const char *trigger)
{
	unsigned long flags;
	bool is_named;

	raw_local_irq_save(flags);
	is_named = btsrec_freezes_on(reason);
	if (likely(is_named) && !btsrec_trigger_is_missed()) {
		pause_here(NULL, reason);
		btsrec_trigger_freeze(regs, reason, trigger);
	}
	raw_local_irq_restore(flags);
	return is_named;
}

#endif /* BTSREC_TRIGGER_H */
