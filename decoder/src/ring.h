/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ring geometry: from index, poison and annotation counters to at most two
 * spans of slots, oldest first.  Pure: numbers and records in, numbers out.
 */
#ifndef BTSREC_RING_H
#define BTSREC_RING_H

#include <btsrec/decoder.h>

/** enum ring_lap - whether the writer has been through the whole ring */
enum ring_lap {
	RING_LAP_UNKNOWN,	/* the slots that would tell are not in the dump */
	RING_LAP_FIRST,		/* poison from the head on: nothing was overwritten */
	RING_LAP_LATER,		/* old records from the head on */
};

/** struct ring_span - @nr_slots slots from @slot on, within the ring */
struct ring_span {
	uint64_t slot;
	uint64_t nr_slots;
};

/**
 * struct ring_layout - what of the ring is history
 * @nr_slots: of the ring.
 * @head_slot: next slot to be written.
 * @nr_pending: slots from @head_slot on (modulo the ring) that an interrupted
 *	annotation writer may have changed: not history.
 * @spans: history, oldest first.
 */
struct ring_layout {
	uint64_t nr_slots;
	uint64_t head_slot;
	unsigned int nr_pending;
	enum ring_lap lap;
	unsigned int nr_spans;
	struct ring_span spans[2];
};

/**
 * ring_head() - the slot that a hardware index stands for
 *
 * An index at the end of the ring is slot 0: the CPU wraps when it writes the
 * next record (SDM vol. 3B, "BTS Buffer": index reaches absolute maximum).
 *
 * Return: BTSREC_OK; BTSREC_ERR_CORRUPT if @index_kva is outside the ring or inside
 * a slot.
 */
enum btsrec_status ring_head(uint64_t ring_kva, uint64_t ring_bytes, uint64_t index_kva,
			     uint64_t *ret_slot);

/**
 * struct ring_peek - the slots around the head
 * @newest: slot before the head, NULL: not in the dump.
 * @next: BTSREC_MAX_PARTS slots from the head on, modulo the ring; NULL as above.
 */
struct ring_peek {
	const struct btsrec_record *newest;
	const struct btsrec_record *next[BTSREC_MAX_PARTS];
};

/**
 * ring_pending() - slots from the head on that an interrupted annotation took
 *
 * Counts the parts of annotation @annot_end found there, and one slot more if
 * parts are missing: the writer may have been inside it.
 */
unsigned int ring_pending(const struct ring_peek *peek, uint64_t nr_slots,
			  uint64_t annot_begin, uint64_t annot_end);

/**
 * ring_lap() - what one slot at or after the head says about the lap
 *
 * The first slot in the dump that is not pending decides: any poison word in it
 * means that the writer has never been there.
 */
enum ring_lap ring_lap(const struct btsrec_record *record);

/** ring_plan() - fill @layout->spans from the other fields. */
void ring_plan(struct ring_layout *layout);

#endif /* BTSREC_RING_H */
