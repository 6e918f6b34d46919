/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing annotations into this CPU's ring.  Interrupts are off throughout:
 *
 *	if (btsrec_pause(pc, &debugctl)) {
 *		... btsrec_annot_*() ...
 *		btsrec_resume(pc, debugctl);
 *	}
 *
 * Only pause and resume must be inline: between them BTS is off, so calls
 * leave no branches.
 */
#ifndef BTSREC_ANNOT_H
#define BTSREC_ANNOT_H

#include <linux/mm_types.h>
#include <linux/sched.h>

#include "btsrec_bts.h"

void btsrec_pause_idle(struct btsrec_pcpu *pc);
bool btsrec_pause_foreign(struct btsrec_pcpu *pc, u64 *debugctl);
bool btsrec_pause_ends(struct btsrec_pcpu *pc, u64 *debugctl);
void btsrec_annot_put(struct btsrec_pcpu *pc, enum btsrec_annot_kind kind, const void *payload,
		      size_t payload_bytes);
void btsrec_annot_switch(struct btsrec_pcpu *pc, enum btsrec_annot_kind kind,
			 const struct btsrec_switch *change);
void btsrec_annot_lost(struct btsrec_pcpu *pc, enum btsrec_annot_kind kind,
		       enum btsrec_reason reason, u64 stop_tsc, const struct task_struct *task,
		       u64 cr3);
void btsrec_annot_resume(struct btsrec_pcpu *pc, enum btsrec_annot_kind kind,
			 enum btsrec_reason reason, u64 stop_tsc);
void btsrec_annot_nmi_over(struct btsrec_pcpu *pc, u64 stop_tsc);
void btsrec_annot_lbr(struct btsrec_pcpu *pc);
void btsrec_annot_forget_torn(struct btsrec_pcpu *pc);
u64 btsrec_recorded_bytes(const struct btsrec_pcpu *pc);
void btsrec_recorded_until(struct btsrec_pcpu *pc, u64 tsc);
void btsrec_side_fill(struct btsrec_side *side, const struct task_struct *task, u64 cr3);

/* Of a thread that is switched to.  One of the kernel keeps the page table that is loaded. */
static inline u64 btsrec_next_cr3(const struct task_struct *next, u64 cr3)
{
	return next->mm ? __pa(next->mm->pgd) : cr3;
}

/**
 * btsrec_pause() - switch BTS off to annotate
 * @pc: this CPU's
 * @debugctl: where the register's value goes, for btsrec_resume()
 *
 * One read and one write of DEBUGCTL; the tests are laid out so that a pause
 * takes no branch.  Of a machine that goes on after a freeze it sees that BTS stays off.
 *
 * Return: true if BTS is off now and the ring is ours; false: do nothing.
 */
static __always_inline bool btsrec_pause(struct btsrec_pcpu *pc, u64 *debugctl)
{
	if (unlikely(!READ_ONCE(pc->live))) {
		btsrec_pause_idle(pc);
		return false;
	}
	*debugctl = bts_read_debugctl();
	if (unlikely(!bts_is_on(*debugctl) || !bts_fields_are_ours(pc) || pc->foreign))
		return btsrec_pause_foreign(pc, debugctl);
	bts_stop(&pc->stop_ip, *debugctl & ~btsrec_record_bits);
	return true;
}

/**
 * btsrec_resume() - record again after btsrec_pause()
 * @pc: this CPU's
 * @debugctl: what btsrec_pause() gave
 *
 * A freeze that came meanwhile wins: @live is tested again after the write,
 * for an NMI between the first test and the write.  Without BTS in @debugctl it stays off, and
 * @stop_ip what it is.
 */
static __always_inline void btsrec_resume(struct btsrec_pcpu *pc, u64 debugctl)
{
	if (unlikely(!READ_ONCE(pc->live) || !(debugctl & btsrec_record_bits)))
		return;
	bts_write_debugctl(debugctl);
	WRITE_ONCE(pc->stop_ip, 0);	/* after it: a freeze between the two finds BTS on */
	if (unlikely(!READ_ONCE(pc->live)))
		bts_switch_off();
}

#endif /* BTSREC_ANNOT_H */
