// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every step either emits one event or consumes input.  What is open is a gap that may grow, or an
 * annotation that lacks parts.  It is closed before anything else is emitted, so that events leave
 * in the order of their slots.
 */
#include "recorder/timeline.h"

#include <string.h>

#include "recorder/record.h"

void timeline_init(struct timeline *tl, unsigned int cpu, unsigned int va_bits)
{
	memset(tl, 0, sizeof(*tl));
	tl->cpu = cpu;
	tl->va_bits = va_bits;
}

void timeline_feed(struct timeline *tl, const struct ring_run *run)
{
	tl->run = *run;
	tl->pos = 0;
	tl->has_run = !run->records || run->nr_slots;
}

void timeline_end(struct timeline *tl, const struct btsrec_freeze *freeze)
{
	tl->ended = true;
	tl->freeze = freeze;
}

static void consume_slot(struct timeline *tl)
{
	tl->pos++;
	tl->has_run = tl->pos < tl->run.nr_slots;
}

static void stamp(struct timeline *tl, struct btsrec_event *event, uint64_t slot)
{
	event->cpu = tl->cpu;
	event->n = tl->n++;
	event->slot = slot;
}

static bool emit_gap(struct timeline *tl, struct btsrec_event *ret)
{
	tl->has_gap = false;
	ret->kind = BTSREC_EVENT_GAP;
	ret->mm_only = false;
	ret->gap = tl->gap;
	/* What was overwritten has left no slot behind. */
	stamp(tl, ret, tl->gap.kind == BTSREC_GAP_OVERWRITTEN ? UINT64_MAX : tl->gap.slot);
	return true;
}

static void open_gap(struct timeline *tl, enum btsrec_gap_kind kind, uint64_t slot,
		     uint64_t nr_slots)
{
	memset(&tl->gap, 0, sizeof(tl->gap));
	tl->gap.kind = kind;
	tl->gap.slot = slot;
	tl->gap.nr_slots = nr_slots;
	tl->has_gap = true;
}

/* Return: true if another gap had to be emitted first; then nothing was added. */
static bool add_gap(struct timeline *tl, enum btsrec_gap_kind kind, uint64_t slot,
		    uint64_t nr_slots, struct btsrec_event *ret)
{
	if (tl->has_gap && tl->gap.kind != kind)
		return emit_gap(tl, ret);
	if (tl->has_gap)
		tl->gap.nr_slots += nr_slots;
	else
		open_gap(tl, kind, slot, nr_slots);
	return false;
}

static bool lose_slot(struct timeline *tl, enum btsrec_gap_kind kind, struct btsrec_event *ret)
{
	if (add_gap(tl, kind, tl->run.slot + tl->pos, 1, ret))
		return true;
	consume_slot(tl);
	return false;
}

static bool lose_run(struct timeline *tl, struct btsrec_event *ret)
{
	if (add_gap(tl, tl->run.gap, tl->run.slot, tl->run.nr_slots, ret))
		return true;
	tl->has_run = false;
	return false;
}

/* No gap is open while an annotation is put together: take_part() saw to that. */
static void tear_annotation(struct timeline *tl)
{
	open_gap(tl, BTSREC_GAP_TORN, tl->annot_slot, tl->annot_nr_have);
	tl->annot_nr_parts = 0;
}

static bool emit_branch(struct timeline *tl, const struct btsrec_record *record,
			struct btsrec_event *ret)
{
	if (tl->has_gap)
		return emit_gap(tl, ret);
	timeline_branch(ret, record, tl->cpu, tl->n++, tl->run.slot + tl->pos);
	consume_slot(tl);
	return true;
}

/*
 * A near branch to an address that is not canonical is a #GP of the branch itself, which leaves
 * no record (SDM vol. 2A and 2B, "JMP", "CALL", "RET").  An emulator may record both the branch and
 * the exception at its target: together they are what a processor has recorded.
 */
static bool is_fault_at_target(const struct timeline *tl, const struct btsrec_record *record)
{
	const struct btsrec_record *next = record + 1;

	return tl->pos + 1 < tl->run.nr_slots && record_canonical(record->from, tl->va_bits) &&
	       !record_canonical(record->to, tl->va_bits) && record->to != BTSREC_POISON &&
	       record->to >> BTSREC_TAG_SHIFT != BTSREC_TAG && next->from == record->to &&
	       record_canonical(next->to, tl->va_bits) && next->to >> 63;
}

static bool emit_fault_at_target(struct timeline *tl, const struct btsrec_record *record,
				 struct btsrec_event *ret)
{
	struct btsrec_record fault = record[1];

	if (tl->has_gap)
		return emit_gap(tl, ret);
	fault.from = record->from;
	consume_slot(tl);
	return emit_branch(tl, &fault, ret);
}

static bool emit_annotation(struct timeline *tl, struct btsrec_event *ret)
{
	record_annotation(record_tag(tl->annot_from).kind, tl->annot_payload,
			  tl->annot_nr_parts, ret);
	if (ret->kind == BTSREC_EVENT_GAP) {
		ret->gap.slot = tl->annot_slot;
		/* A pause was read; the other gaps are slots nobody could read. */
		if (ret->gap.kind != BTSREC_GAP_PAUSED)
			ret->gap.nr_slots = tl->annot_nr_parts;
	}
	tl->annot_nr_parts = 0;
	stamp(tl, ret, tl->annot_slot);
	return true;
}

/* Is @from the tag of the next part of the annotation that is being put together? */
static bool continues(const struct timeline *tl, uint64_t from)
{
	return from == tl->annot_from + ((uint64_t)tl->annot_nr_have << BTSREC_TAG_PART_SHIFT);
}

static bool take_part(struct timeline *tl, const struct btsrec_record *record,
		      struct btsrec_event *ret)
{
	struct record_tag tag = record_tag(record->from);

	if (!tl->annot_nr_parts) {
		if (tag.part)
			return lose_slot(tl, BTSREC_GAP_TORN, ret);
		if (tl->has_gap)
			return emit_gap(tl, ret);
		tl->annot_nr_have = 0;
		tl->annot_nr_parts = tag.nr_parts;
		tl->annot_from = record->from;
		tl->annot_slot = tl->run.slot + tl->pos;
	}
	memcpy(tl->annot_payload + tl->annot_nr_have * BTSREC_PART_BYTES,
	       (const uint8_t *)record + offsetof(struct btsrec_record, to), BTSREC_PART_BYTES);
	tl->annot_nr_have++;
	consume_slot(tl);
	return tl->annot_nr_have == tl->annot_nr_parts && emit_annotation(tl, ret);
}

static bool step(struct timeline *tl, struct btsrec_event *ret)
{
	const struct btsrec_record *record = tl->run.records ? &tl->run.records[tl->pos] : NULL;

	if (tl->annot_nr_parts && (!record || !continues(tl, record->from)))
		tear_annotation(tl);
	if (!record)
		return lose_run(tl, ret);
	switch (record_classify(record, tl->va_bits)) {
	case RECORD_BRANCH:
		return emit_branch(tl, record, ret);
	case RECORD_PART:
		return take_part(tl, record, ret);
	case RECORD_POISON:
		return lose_slot(tl, BTSREC_GAP_NEVER_WRITTEN, ret);
	case RECORD_HALF_POISON:
		return lose_slot(tl, BTSREC_GAP_TORN, ret);
	case RECORD_BAD:
		break;
	}
	if (is_fault_at_target(tl, record))
		return emit_fault_at_target(tl, record, ret);
	return lose_slot(tl, BTSREC_GAP_BAD_RECORD, ret);
}

static bool emit_freeze(struct timeline *tl, struct btsrec_event *ret)
{
	ret->kind = BTSREC_EVENT_FREEZE;
	ret->mm_only = false;
	ret->freeze = *tl->freeze;
	tl->freeze = NULL;
	stamp(tl, ret, UINT64_MAX);
	return true;
}

static bool finish(struct timeline *tl, struct btsrec_event *ret)
{
	if (tl->annot_nr_parts)
		tear_annotation(tl);
	if (tl->has_gap)
		return emit_gap(tl, ret);
	return tl->freeze && emit_freeze(tl, ret);
}

bool timeline_next(struct timeline *tl, struct btsrec_event *ret)
{
	while (tl->has_run) {
		if (step(tl, ret))
			return true;
	}
	return tl->ended && finish(tl, ret);
}

bool timeline_branches(struct timeline *tl, uint64_t end_n, struct timeline_branches *ret)
{
	const struct btsrec_record *records;
	uint64_t nr_max, nr;

	/* What is open has to be closed first. */
	if (!tl->has_run || !tl->run.records || tl->has_gap || tl->annot_nr_parts ||
	    tl->n >= end_n)
		return false;
	records = &tl->run.records[tl->pos];
	nr_max = tl->run.nr_slots - tl->pos;
	if (nr_max > end_n - tl->n)
		nr_max = end_n - tl->n;
	nr = record_nr_branches(records, nr_max, tl->va_bits);
	*ret = (struct timeline_branches){ records, nr, tl->n, tl->run.slot + tl->pos };
	tl->n += nr;
	tl->pos += nr;
	tl->has_run = tl->pos < tl->run.nr_slots;
	return nr;
}
