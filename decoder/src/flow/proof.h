/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a history must fulfil if it is true.  From the target of each branch a straight run of
 * instructions leads to the next branch, which can reach its target.  From the newest branch one
 * leads to where the CPU was stopped.
 *
 * An annotation does not end a run.  The recorder writes it while BTS is off, so what runs
 * meanwhile is in no record.  The straight run from the branch before must lead to a WRMSR of the
 * recorder.  After some WRMSR of the recorder a straight run must lead to the branch after.
 */
#ifndef BTSREC_PROOF_H
#define BTSREC_PROOF_H

#include "code/branch.h"
#include "recorder/locate.h"

/** enum proof_kind - what is known of one branch and the way to it */
enum proof_kind {
	PROOF_PROVEN,
	PROOF_START,		/* nothing before it: history begins here, or after a gap */
	PROOF_FILTERED,		/* between two levels, one of them not recorded */
	PROOF_UNKNOWN,		/* the dump lacks code or page tables */
	PROOF_PATCHED,		/* the kernel has changed the branch there since it ran */
	PROOF_BROKEN,		/* cannot have happened as recorded */
};

/** struct proof_range - executed code: from the instruction at @start up to @stop */
struct proof_range {
	uint64_t start;
	uint64_t stop;
};

/**
 * struct proof_step - the verdict on one branch, or on the stop (@branch.type unset)
 * @fault, @fault_va: why not PROVEN.
 * @ranges: @nr_ranges of them, what ran since the branch before, all proven.
 * @nr_insns: in @ranges.
 * @start: target of the branch before; @end: this branch, or where it stopped.
 * @length_bytes: of the instruction at @end; 0: the dump lacks it.
 * @compat, @guessed: see struct code_run.
 * @noted: where what is found out about the way is noted.  Only if this branch goes
 *	where its instruction says, and no thunk is there; else NULL.  Valid until
 *	the next event.
 */
struct proof_step {
	enum proof_kind kind;
	enum code_fault fault;
	uint64_t fault_va;
	uint64_t start;
	uint64_t end;
	struct branch branch;
	uint8_t length_bytes;
	bool compat;
	bool guessed;
	unsigned int nr_ranges;
	struct proof_range ranges[2];
	uint64_t nr_insns;
	struct code_brief *noted;
};

/** struct proof_tally - a count of steps by kind */
struct proof_tally {
	uint64_t nr[PROOF_BROKEN + 1];
};

/**
 * struct proof - one CPU under way
 * @code: borrowed; @runs, @idt: of it.
 * @located: borrowed.
 * @recorder_kva, @recorder_bytes: the recorder's text; 0 bytes: not known.
 * @filtered: one level was not recorded.
 * @has_prev, @prev_to: the run that is open; @annotated: since then.
 * @kernel, @user: pairs by where they end; the stop counts as one.
 */
struct proof {
	struct code *code;
	const struct code_runs *runs;
	const struct idt *idt;
	const struct located *located;
	uint64_t recorder_kva;
	uint64_t recorder_bytes;
	bool filtered;
	bool has_prev;
	bool annotated;
	uint64_t prev_to;
	struct proof_tally kernel;
	struct proof_tally user;
	uint64_t nr_insns;
};

/** proof_init() - nothing seen yet; @located: has the known modules. */
void proof_init(struct proof *proof, struct code *code, const struct located *located,
		bool filtered);

/**
 * proof_feed() - the next event
 * @cr3: the address space at @event; 0: unknown.
 *
 * Return: true with *@ret filled for a branch and for the stop; false for others.
 */
bool proof_feed(struct proof *proof, const struct btsrec_event *event, uint64_t cr3,
		struct proof_step *ret);

/** proof_fails() - nobody knows what @step entered or left, because something else has run */
static inline bool proof_fails(const struct proof_step *step)
{
	return step->kind == PROOF_PATCHED || step->kind == PROOF_BROKEN ||
	       step->fault == CODE_GUEST;
}

/** proof_is_plain() - may proof_plain() be asked?  Plain branches do not change that. */
static inline bool proof_is_plain(const struct proof *proof)
{
	return proof->has_prev && !proof->annotated && proof->runs->one_kernel &&
	       code_is_top(proof->prev_to);
}

/**
 * proof_plain() - the brief of the run to @branch, if all that is to be said of it is its kind
 * @prev_to: of the branch before.
 *
 * It is proven, in the kernel, and far from thunks, annotations and entries.
 *
 * Return: NULL: proof_feed() must be asked; else proof_feed_plain() is the same as that, and
 * its @judged is the kind: BRANCH_CALL, BRANCH_CALL_IND, BRANCH_RET, BRANCH_JUMP or
 * BRANCH_COND.
 */
static inline const struct code_brief *proof_plain(const struct proof *proof, uint64_t prev_to,
						   const struct btsrec_record *branch)
{
	const struct code_brief *run;

	if (!code_is_top(branch->from & branch->to))
		return NULL;
	run = code_known(proof->runs, prev_to, branch->from);
	if (!run || !run->judged)
		return NULL;
	if (run->target)
		return run->target == (uint32_t)branch->to ? run : NULL;
	return idt_may_be(proof->idt, branch->to) ? NULL : run;
}

/**
 * proof_feed_plain() - proof_feed() of @nr branches with runs that proof_plain() returned
 * @prev_to: of the last of them; @nr_insns: of all, the branches included.
 */
static inline void proof_feed_plain(struct proof *proof, uint64_t nr, uint64_t prev_to,
				    uint64_t nr_insns)
{
	proof->prev_to = prev_to;
	proof->kernel.nr[PROOF_PROVEN] += nr;
	proof->nr_insns += nr_insns;
}

/** proof_kind_str() - the kind as one lower-case word; static. */
const char *proof_kind_str(enum proof_kind kind);

#endif /* BTSREC_PROOF_H */
