/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pausing this CPU at what looks like the beginning of a crash but may be none: its
 * history then ends there, and a freeze that follows finds it so.
 *
 * A pause for an oops belongs to one exception, known by its pt_regs; one for a report
 * (btsrec_reports.c) or for a console's output (btsrec_printk.c) has none.  The reason
 * is that of the GAP.  If no freeze follows,
 * it ends with suspicion_over() for the same exception or with the next annotation.
 * That is at the latest the one of the next thread switch; a GAP records it.
 * Exceptions within a paused one pause nothing and end nothing.
 */
#ifndef BTSREC_SUSPECT_H
#define BTSREC_SUSPECT_H

#include <linux/irqflags.h>
#include <asm/ptrace.h>

#include "btsrec_annot.h"

/* With interrupts off.  Return: the CPU's, if it has paused now; else NULL. */
static __always_inline struct btsrec_pcpu *pause_here(const struct pt_regs *regs,
						      enum btsrec_reason reason)
{
	struct btsrec_pcpu *pc = this_cpu_ptr(&btsrec_pcpu);
	u64 debugctl = bts_read_debugctl();

	if (unlikely(!READ_ONCE(pc->live) || !bts_is_on(debugctl) ||
		     !bts_fields_are_ours(pc)))
		return NULL;
	bts_stop(&pc->stop_ip, debugctl & ~btsrec_record_bits);
	pc->stop_tsc = rdtsc_ordered();
	pc->entry_flags = 0;
	pc->suspect_regs = regs;
	pc->suspect = reason;
	return pc;
}

static __always_inline void pause_on_suspicion(const struct pt_regs *regs,
						enum btsrec_reason reason)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	pause_here(regs, reason);
	raw_local_irq_restore(flags);
}

/* For an oops, with what is known of the exception; see btsrec_registers_enter(). */
static __always_inline void pause_at_exception(const struct pt_regs *regs, u32 vector,
					       u64 error_code, u64 address)
{
	struct btsrec_pcpu *pc;
	unsigned long flags;

	raw_local_irq_save(flags);
	pc = pause_here(regs, BTSREC_REASON_OOPS);
	if (pc)
		btsrec_registers_enter(pc, regs, vector, error_code, address);
	raw_local_irq_restore(flags);
}

/* btsrec_suspect.c */
void btsrec_suspect_register(void);
void btsrec_suspect_unregister(void);

/* btsrec_reports.c */
void btsrec_reports_register(void);
void btsrec_reports_unregister(void);
void btsrec_reports_exit(void);
u32 btsrec_hung_pid(void);

/* btsrec_printk.c */
void btsrec_printk_register(void);
void btsrec_printk_unregister(void);
void btsrec_printk_exit(void);

#endif /* BTSREC_SUSPECT_H */
