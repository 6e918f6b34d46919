/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The other source: the last branch record (LBR) of Intel processors, where there is no BTS or
 * source=lbr wants it (Intel SDM vol. 3B, "Last Branch, Interrupt, and Exception Recording").
 *
 * The processor keeps the newest 16 or 32 branches in MSRs.  DEBUGCTL.LBR takes the place of TR and
 * BTS, so pauses, annotations and freezes are as ever; see btsrec_bts.h.  What BTS has in the DS
 * area has a page of ours.  No branch comes into the ring before a freeze: that copies the MSRs.
 *
 * What is copied is of one thread: an annotation puts a mark over the newest entry, which is older
 * than it, and a freeze takes what is newer than the mark.  A GAP in front says that this is all.
 */
#ifndef BTSREC_LBR_H
#define BTSREC_LBR_H

#include "btsrec_bts.h"

#define LBR_MAX_ENTRIES	32

extern bool btsrec_uses_lbr;

bool lbr_exists(void);
int lbr_check(void);
unsigned int lbr_nr_entries(void);
int lbr_claim(struct btsrec_pcpu *pc, unsigned int cpu, enum btsrec_mode mode);
void lbr_release(struct btsrec_pcpu *pc);
void lbr_mark(const struct btsrec_pcpu *pc);
const struct btsrec_record *lbr_copy(const struct btsrec_pcpu *pc, unsigned int *ret_nr);

/* The kernel's own for BTS; for LBR in the page that takes stray records of BTS. */
static inline struct debug_store *lbr_debug_store(const struct btsrec_pcpu *pc)
{
	return (struct debug_store *)pc->scratch;
}

#endif /* BTSREC_LBR_H */
