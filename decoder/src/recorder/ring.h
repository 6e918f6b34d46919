/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ring geometry: from the place of the newest record to at most two spans of
 * slots, oldest first.  Pure: numbers in, numbers out.
 */
#ifndef BTSREC_RING_H
#define BTSREC_RING_H

#include <btsrec/decoder.h>

/** enum ring_lap - whether the writer has been through the whole ring */
enum ring_lap {
	RING_LAP_UNKNOWN,	/* the slots that would show it are not in the dump */
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
 * @nr_slots: of the ring, at least 1.
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
 * struct ring_run - consecutive slots on their way to the timeline
 * @records: @nr_slots records, borrowed; NULL: there are none, @gap says why.
 * @slot: first slot.
 */
struct ring_run {
	const struct btsrec_record *records;
	enum btsrec_gap_kind gap;
	uint64_t slot;
	uint64_t nr_slots;
};

/**
 * ring_head() - the slot that a hardware index stands for
 * @ring_bytes: a multiple of BTSREC_RECORD_BYTES, not 0.
 *
 * The end of the ring is the same place as its beginning.
 *
 * Return: BTSREC_OK; BTSREC_ERR_CORRUPT if @index_kva is outside the ring or inside
 * a slot.
 */
enum btsrec_status ring_head(uint64_t ring_kva, uint64_t ring_bytes, uint64_t index_kva,
			     uint64_t *ret_slot);

/** ring_oldest() - the first slot of a history that fills the ring. */
uint64_t ring_oldest(const struct ring_layout *layout);

/** ring_plan() - fill @layout->spans from the other fields. */
void ring_plan(struct ring_layout *layout);

#endif /* BTSREC_RING_H */
