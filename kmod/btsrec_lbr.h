/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The other source: the last branch record (LBR), where there is no BTS or source=lbr wants it.
 *
 * The processor keeps the newest branches in MSRs.  One bit of an MSR takes the place of TR and
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

/**
 * struct lbr_layout - where the last branches are, and what they look like
 * @nr_entries: 0: there are none that we know
 * @control: the MSR with @enable, which switches it, and @filter, which is ours while we record
 * @record: bits of @filter that record, in mode=all
 * @no_user, @no_os: what leaves out a level: set in @select, else taken from @record; 0: nothing
 * @select: an MSR; 0: there is none
 * @depth: an MSR that takes @nr_entries, and empties them; 0: likewise
 * @tos: an MSR with the number of the newest entry; 0: that is always entry 0
 * @from_0, @to_0, @info_0: the MSRs of entry 0; the others follow, every @stride; @info_0 may be 0
 * @nr_from_flags, @nr_to_flags: highest bits that are no address
 * @to_has_state: one is set in TO if there is a branch, see read_entry()
 * @excludes_pt: and Processor Trace
 */
struct lbr_layout {
	unsigned int nr_entries;
	u32 control;
	u64 enable;
	u64 filter;
	u64 record;
	u64 no_user;
	u64 no_os;
	u32 select;
	u32 depth;
	u32 tos;
	u32 from_0;
	u32 to_0;
	u32 info_0;
	u32 stride;
	unsigned int nr_from_flags;
	unsigned int nr_to_flags;
	bool to_has_state;
	bool excludes_pt;
};

extern bool btsrec_uses_lbr;
extern struct lbr_layout lbr_layout;

bool lbr_find(void);
bool lbr_has_msrs(void);
void lbr_use(void);
int lbr_check(void);
u64 lbr_debugctl(u64 control);
int lbr_claim(struct btsrec_pcpu *pc, unsigned int cpu, enum btsrec_mode mode);
void lbr_release(struct btsrec_pcpu *pc);
void lbr_mark(const struct btsrec_pcpu *pc);
const struct btsrec_record *lbr_copy(const struct btsrec_pcpu *pc, unsigned int *ret_nr);

/* So many branches a CPU keeps, after lbr_find(). */
static inline unsigned int lbr_nr_entries(void)
{
	return lbr_layout.nr_entries;
}

/* The kernel's own for BTS; for LBR in the page that takes stray records of BTS. */
static inline struct debug_store *lbr_debug_store(const struct btsrec_pcpu *pc)
{
	return (struct debug_store *)pc->scratch;
}

#endif /* BTSREC_LBR_H */
