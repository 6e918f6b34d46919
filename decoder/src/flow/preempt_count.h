/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether preemption is on, along the instructions and branches of one CPU.  Pure.
 *
 * A CPU counts what forbids it: preempt_disable() and spinlocks, softirqs, interrupts, NMIs.  The
 * count is a variable of the CPU, changed by single instructions; a switch to another thread leaves
 * it alone.  It is 0 in user code.  Where no such code was seen, what was added since the lowest
 * point is a lower bound.  Source: arch/x86/include/asm/preempt.h, include/linux/preempt.h.
 */
#ifndef BTSREC_PREEMPT_COUNT_H
#define BTSREC_PREEMPT_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "code/semantics.h"
#include "flow/onoff.h"

/** enum preempt_op - what an instruction does to the count */
enum preempt_op {
	PREEMPT_KEEPS,
	PREEMPT_ADDS,
	PREEMPT_SETS,	/* to a value that is not known */
};

/** struct preempt_change - @added: of PREEMPT_ADDS, negative if it takes away */
struct preempt_change {
	enum preempt_op op;
	int32_t added;
};

/**
 * struct preempt_count - one CPU under way; all zero before its first event
 * @count: of what forbids preemption, at least; @exact: so much.
 */
struct preempt_count {
	struct onoff now;
	int64_t count;
	bool exact;
};

/** preempt_change_of() - by @insn; @place: of the count in the area of a CPU */
struct preempt_change preempt_change_of(const struct sem_insn *insn, uint64_t place);

/** preempt_count_insn() - it ran at @ip, up to event @n */
void preempt_count_insn(struct preempt_count *count, const struct preempt_change *change,
			uint64_t n, uint64_t ip);

/** preempt_count_user() - user code runs */
void preempt_count_user(struct preempt_count *count);

/** preempt_count_cut() - something may have run that nobody knows */
void preempt_count_cut(struct preempt_count *count);

#endif /* BTSREC_PREEMPT_COUNT_H */
