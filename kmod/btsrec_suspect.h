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

static __always_inline void pause_on_suspicion(const struct pt_regs *regs,
						enum btsrec_reason reason)
{
	struct btsrec_pcpu *pc;
	unsigned long flags;
	u64 debugctl;

	raw_local_irq_save(flags);
	pc = this_cpu_ptr(&btsrec_pcpu);
	debugctl = bts_read_debugctl();
	if (likely(READ_ONCE(pc->live) && (debugctl & BTS_ON) == BTS_ON &&
		   bts_fields_are_ours(pc))) {
		bts_stop(&pc->stop_ip, debugctl & ~BTS_ON);
		pc->stop_tsc = rdtsc_ordered();
		pc->suspect_regs = regs;
		pc->suspect = reason;
	}
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
