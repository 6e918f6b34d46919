// SPDX-License-Identifier: GPL-2.0-or-later
/*
 *            first lap                           a later lap
 *
 *  0                     nr_slots       0                     nr_slots
 *  |#########|PP|........|              |+++++++++|PP|========|
 *            ^head                                ^head
 *
 *  #  history, one span                 =  older span, comes first
 *  .  poison                            +  newer span
 *  P  taken by an annotation that was never finished; may run over the end and
 *     then takes slots from the beginning
 */
#include "recorder/ring.h"

enum btsrec_status ring_head(uint64_t ring_kva, uint64_t ring_bytes, uint64_t index_kva,
			     uint64_t *ret_slot)
{
	uint64_t off_bytes = index_kva - ring_kva;

	if (index_kva < ring_kva || off_bytes > ring_bytes)
		return BTSREC_ERR_CORRUPT;
	if (off_bytes % BTSREC_RECORD_BYTES)
		return BTSREC_ERR_CORRUPT;
	*ret_slot = off_bytes == ring_bytes ? 0 : off_bytes / BTSREC_RECORD_BYTES;
	return BTSREC_OK;
}

uint64_t ring_oldest(const struct ring_layout *layout)
{
	return (layout->head_slot + layout->nr_pending) % layout->nr_slots;
}

static void ring_add_span(struct ring_layout *layout, uint64_t slot, uint64_t nr_slots)
{
	if (!nr_slots)
		return;
	layout->spans[layout->nr_spans].slot = slot;
	layout->spans[layout->nr_spans].nr_slots = nr_slots;
	layout->nr_spans++;
}

void ring_plan(struct ring_layout *layout)
{
	uint64_t oldest = ring_oldest(layout);
	uint64_t nr_slots = layout->nr_slots - layout->nr_pending;
	uint64_t nr_to_end = layout->nr_slots - oldest;

	layout->nr_spans = 0;
	if (layout->lap == RING_LAP_FIRST) {
		ring_add_span(layout, 0, layout->head_slot);
		return;
	}
	if (nr_slots <= nr_to_end) {
		ring_add_span(layout, oldest, nr_slots);
		return;
	}
	ring_add_span(layout, oldest, nr_to_end);
	ring_add_span(layout, 0, nr_slots - nr_to_end);
}
