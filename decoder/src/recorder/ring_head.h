/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the slots around the head of a ring show: its lap, and whether an annotation was being
 * written.  Pure.
 */
#ifndef BTSREC_RING_HEAD_H
#define BTSREC_RING_HEAD_H

#include "recorder/ring.h"

/**
 * struct ring_head_peek - the slots around the head
 * @newest: slot before the head.
 * @next: slots from the head on, modulo the ring.
 *
 * NULL: not in the dump, or the ring has no such slot.
 */
struct ring_head_peek {
	const struct btsrec_record *newest;
	const struct btsrec_record *next[BTSREC_MAX_PARTS];
};

/**
 * ring_head_pending() - slots from the head on that an unfinished annotation took
 *
 * They hold parts of annotation @annot_end, from part 0 on.  The tag of a part
 * is stored before its payload, so a slot without one has not been touched.
 */
unsigned int ring_head_pending(const struct ring_head_peek *peek, uint64_t nr_slots,
			       uint64_t annot_begin, uint64_t annot_end);

/**
 * ring_head_lap() - what one slot at or after the head says about the lap
 *
 * To be asked about the first slot in the dump that is not pending.  One poison
 * word is enough: nobody has been there before, and the CPU may have been
 * stopped while it wrote the slot.
 */
enum ring_lap ring_head_lap(const struct btsrec_record *record);

/**
 * ring_head_is_first() - whether @record is the first slot ever written
 *
 * Every history starts with part 0 of annotation 0.  @annot_begin rules out
 * that the 32 bits of a sequence in the ring stand for a later one.
 */
bool ring_head_is_first(const struct btsrec_record *record, uint64_t annot_begin);

#endif /* BTSREC_RING_HEAD_H */
