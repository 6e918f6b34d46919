/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one call of a function costs, with all that it calls: from its first instruction to
 * the one after the call.  Followed by the stack pointer, as the call stack is (shadow.h).
 * Pure.
 */
#ifndef BTSREC_TESTS_MODEL_EXTENT_H
#define BTSREC_TESTS_MODEL_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

#define MAX_EXTENTS	8

/** struct extent_counts - of a CPU while blocks call the model */
struct extent_counts {
	uint64_t nr_insns;
	uint64_t nr_msr_writes;
	uint64_t nr_stores;
	uint64_t nr_records;
};

/**
 * struct extent - one watched function
 * @entry: its address.
 * @sp: where the return address of the call that is under way lies; 0: none is.
 * @disturbed: an interrupt or exception came during the call; its handler counts, too.
 * @before: the CPU's counts when the call began.
 */
struct extent {
	uint64_t entry;
	uint64_t sp;
	bool disturbed;
	struct extent_counts before;
};

struct extents {
	unsigned int nr;
	struct extent list[MAX_EXTENTS];
};

bool extents_add(struct extents *extents, uint64_t entry);
void extents_clear(struct extents *extents);
bool extent_leave(struct extent *extent, uint64_t sp, const struct extent_counts *now,
		  struct extent_counts *ret);
void extents_enter(struct extents *extents, uint64_t rip, uint64_t sp,
		   const struct extent_counts *now);
void extents_disturb(struct extents *extents);

#endif
