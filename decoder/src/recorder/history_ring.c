// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/history_ring.h"

#include "recorder/ring_head.h"
#include "source/image.h"

const char *session_index_str(enum session_index index)
{
	switch (index) {
	case SESSION_INDEX_NEVER:	return "never armed";
	case SESSION_INDEX_FROZEN:	return "frozen";
	case SESSION_INDEX_STOPPED:	return "stopped";
	case SESSION_INDEX_LIVE:	return "live";
	}
	return "unknown";
}

/* Only a frozen or stopped CPU has an index that nobody moves any more. */
static enum session_index index_source(const struct btsrec_cpu *cpu)
{
	if (cpu->frozen)
		return SESSION_INDEX_FROZEN;
	switch ((enum btsrec_cpu_state)cpu->state) {
	case BTSREC_CPU_NEVER:
		return SESSION_INDEX_NEVER;
	case BTSREC_CPU_STOPPED:
		return SESSION_INDEX_STOPPED;
	case BTSREC_CPU_ARMED:
	case BTSREC_CPU_FROZEN:
		break;
	}
	return SESSION_INDEX_LIVE;
}

static enum btsrec_status read_index(const struct btsrec *rec, const struct btsrec_cpu *cpu,
				     struct session_ring *ring)
{
	switch (ring->index) {
	case SESSION_INDEX_NEVER:
		ring->index_kva = cpu->ring_kva;
		break;
	case SESSION_INDEX_FROZEN:
		ring->index_kva = cpu->freeze.index_kva;
		break;
	case SESSION_INDEX_STOPPED:
		ring->index_kva = cpu->stop_index_kva;
		break;
	case SESSION_INDEX_LIVE:
		/* SDM vol. 3B, "DS Save Area", DTES64: BTS index is the second word. */
		return image_read(&rec->image, cpu->ds_pa + 8, &ring->index_kva,
				  sizeof(ring->index_kva));
	}
	return BTSREC_OK;
}

/* Fill in *@ret and return it; NULL: not in the dump.  Other failures go to *@status. */
static const struct btsrec_record *peek_slot(struct fetch *fetch, uint64_t slot,
					     struct btsrec_record *ret,
					     enum btsrec_status *status)
{
	enum btsrec_status one = fetch_one(fetch, slot, ret);

	if (one != BTSREC_OK && one != BTSREC_ERR_NODATA)
		*status = one;
	return one == BTSREC_OK ? ret : NULL;
}

static enum btsrec_status find_pending(struct fetch *fetch, const struct btsrec_cpu *cpu,
				       struct ring_layout *layout)
{
	uint64_t nr_slots = layout->nr_slots, head = layout->head_slot;
	struct btsrec_record newest, next[BTSREC_MAX_PARTS];
	enum btsrec_status status = BTSREC_OK;
	struct ring_head_peek peek;

	peek.newest = peek_slot(fetch, (head + nr_slots - 1) % nr_slots, &newest, &status);
	for (unsigned int i = 0; i < BTSREC_MAX_PARTS; i++)
		peek.next[i] = peek_slot(fetch, (head + i) % nr_slots, &next[i], &status);
	if (status != BTSREC_OK)
		return status;
	layout->nr_pending = ring_head_pending(&peek, nr_slots, cpu->annot_begin, cpu->annot_end);
	return BTSREC_OK;
}

static enum btsrec_status find_lap(struct fetch *fetch, const struct btsrec_cpu *cpu,
				   struct session_ring *ring)
{
	struct ring_layout *layout = &ring->layout;
	uint64_t behind = layout->head_slot + layout->nr_pending;
	enum btsrec_status status = BTSREC_OK;
	struct btsrec_record record;
	struct ring_run run;

	/* Nothing lies between the head and the end: the beginning was overwritten. */
	layout->lap = behind < layout->nr_slots ? RING_LAP_UNKNOWN : RING_LAP_LATER;
	if (behind < layout->nr_slots)
		fetch_seek(fetch, behind, layout->nr_slots - behind);
	while (layout->lap == RING_LAP_UNKNOWN) {
		status = fetch_next(fetch, &run);
		if (!run.nr_slots)
			break;
		if (run.records)
			layout->lap = ring_head_lap(run.records);
	}
	ring->complete = layout->lap == RING_LAP_FIRST;
	if (!ring->complete && peek_slot(fetch, ring_oldest(layout), &record, &status))
		ring->complete = ring_head_is_first(&record, cpu->annot_begin);
	return status;
}

enum btsrec_status history_ring(struct btsrec *rec, const struct located_cpu *lc,
				struct fetch *fetch, struct session_ring *ret)
{
	const struct btsrec_cpu *cpu = &lc->page;
	struct session_ring ring = { .index = index_source(cpu) };
	enum btsrec_status status;

	ring.layout.nr_slots = cpu->ring_bytes / BTSREC_RECORD_BYTES;
	ring.index_status = read_index(rec, cpu, &ring);
	if (ring.index_status == BTSREC_OK)
		ring.index_status = ring_head(cpu->ring_kva, cpu->ring_bytes, ring.index_kva,
					      &ring.layout.head_slot);
	else if (ring.index_status != BTSREC_ERR_NODATA)
		return ring.index_status;
	status = BTSREC_OK;
	if (ring.index == SESSION_INDEX_NEVER) {
		ring.complete = true;
		ring.layout.lap = RING_LAP_FIRST;
	} else if (ring.index_status == BTSREC_OK) {
		status = find_pending(fetch, cpu, &ring.layout);
		if (status == BTSREC_OK)
			status = find_lap(fetch, cpu, &ring);
		ring_plan(&ring.layout);
	}
	if (status == BTSREC_OK)
		*ret = ring;
	return status;
}
