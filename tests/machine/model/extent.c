// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "extent.h"

/** extents_add() - watch the function at @entry, too; false if there is no room */
bool extents_add(struct extents *extents, uint64_t entry)
{
	if (extents->nr == MAX_EXTENTS)
		return false;
	extents->list[extents->nr++] = (struct extent){ .entry = entry };
	return true;
}

/** extents_clear() - watch none; a call that is under way is forgotten */
void extents_clear(struct extents *extents)
{
	memset(extents, 0, sizeof(*extents));
}

/**
 * extent_leave() - has the call come to its end?
 * @sp: stack pointer at the start of a block
 * @now: the CPU's counts, without that block
 * @ret: what the call cost
 *
 * Return: false: none was under way, or it goes on.
 */
bool extent_leave(struct extent *extent, uint64_t sp, const struct extent_counts *now,
		  struct extent_counts *ret)
{
	if (!extent->sp || sp <= extent->sp)
		return false;
	extent->sp = 0;
	*ret = (struct extent_counts){
		.nr_insns = now->nr_insns - extent->before.nr_insns,
		.nr_msr_writes = now->nr_msr_writes - extent->before.nr_msr_writes,
		.nr_stores = now->nr_stores - extent->before.nr_stores,
		.nr_records = now->nr_records - extent->before.nr_records,
	};
	return true;
}

/**
 * extents_enter() - a block begins; is it that of a watched function?
 *
 * Arguments as those of extent_leave(), which comes first.
 */
void extents_enter(struct extents *extents, uint64_t rip, uint64_t sp,
		   const struct extent_counts *now)
{
	for (unsigned int i = 0; i < extents->nr; i++) {
		struct extent *extent = &extents->list[i];

		if (extent->sp || extent->entry != rip)
			continue;
		extent->sp = sp;
		extent->disturbed = false;
		extent->before = *now;
	}
}

/** extents_disturb() - an interrupt or exception begins */
void extents_disturb(struct extents *extents)
{
	for (unsigned int i = 0; i < extents->nr; i++)
		extents->list[i].disturbed = true;
}
