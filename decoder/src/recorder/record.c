// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/record.h"

#include <string.h>

struct record_tag record_tag(uint64_t from)
{
	return (struct record_tag){
		.kind = from >> BTSREC_TAG_KIND_SHIFT & 0xff,
		.part = from >> BTSREC_TAG_PART_SHIFT & 0xf,
		.nr_parts = from >> BTSREC_TAG_NR_PARTS_SHIFT & 0xf,
		.sequence = (uint32_t)from,
	};
}

static unsigned int nr_poison_words(const struct btsrec_record *record)
{
	return (record->from == BTSREC_POISON) + (record->to == BTSREC_POISON) +
	       (record->flags == BTSREC_POISON);
}

static bool tag_consistent(uint64_t from)
{
	struct record_tag tag = record_tag(from);

	return tag.kind && tag.nr_parts <= BTSREC_MAX_PARTS && tag.part < tag.nr_parts;
}

enum record_kind record_classify(const struct btsrec_record *record, unsigned int va_bits)
{
	if (record_is_branch(record, va_bits))
		return RECORD_BRANCH;
	/* A payload may hold any word, poison too; so the tag is looked at first. */
	if (record->from >> BTSREC_TAG_SHIFT == BTSREC_TAG)
		return tag_consistent(record->from) ? RECORD_PART : RECORD_BAD;
	switch (nr_poison_words(record)) {
	case 0:
		return RECORD_BAD;
	case 3:
		return RECORD_POISON;
	default:
		return RECORD_HALF_POISON;
	}
}

static size_t payload_bytes(unsigned int kind)
{
	switch ((enum btsrec_annot_kind)kind) {
	case BTSREC_ANNOT_SWITCH:
	case BTSREC_ANNOT_MM:
	case BTSREC_ANNOT_EXEC:
		return sizeof(struct btsrec_switch);
	case BTSREC_ANNOT_ARM:
	case BTSREC_ANNOT_GAP:
		return sizeof(struct btsrec_resume);
	case BTSREC_ANNOT_MARK:
		return sizeof(struct btsrec_mark);
	case BTSREC_ANNOT_TIME:
		return sizeof(struct btsrec_time);
	}
	return 0;
}

static void set_gap(struct btsrec_event *event, enum btsrec_gap_kind kind)
{
	event->kind = BTSREC_EVENT_GAP;
	memset(&event->gap, 0, sizeof(event->gap));
	event->gap.kind = kind;
}

static void set_paused(struct btsrec_event *event, const uint8_t *payload)
{
	set_gap(event, BTSREC_GAP_PAUSED);
	event->gap.has_resume = true;
	memcpy(&event->gap.resume, payload, sizeof(event->gap.resume));
}

void record_annotation(unsigned int kind, const uint8_t *payload, unsigned int nr_parts,
		       struct btsrec_event *ret)
{
	size_t bytes = payload_bytes(kind);

	ret->mm_only = false;
	if (!bytes) {
		set_gap(ret, BTSREC_GAP_UNKNOWN_KIND);
		return;
	}
	if (nr_parts * BTSREC_PART_BYTES < bytes) {
		set_gap(ret, BTSREC_GAP_BAD_RECORD);
		return;
	}
	switch ((enum btsrec_annot_kind)kind) {
	case BTSREC_ANNOT_MM:
	case BTSREC_ANNOT_SWITCH:
		ret->mm_only = kind == BTSREC_ANNOT_MM;
		memcpy(&ret->sw, payload, sizeof(ret->sw));
		ret->kind = BTSREC_EVENT_SWITCH;
		break;
	case BTSREC_ANNOT_EXEC:
		memcpy(&ret->sw, payload, sizeof(ret->sw));
		ret->kind = BTSREC_EVENT_EXEC;
		break;
	case BTSREC_ANNOT_ARM:
		memcpy(&ret->resume, payload, sizeof(ret->resume));
		ret->kind = BTSREC_EVENT_ARM;
		break;
	case BTSREC_ANNOT_GAP:
		set_paused(ret, payload);
		break;
	case BTSREC_ANNOT_MARK:
		memcpy(&ret->mark, payload, sizeof(ret->mark));
		ret->kind = BTSREC_EVENT_MARK;
		break;
	case BTSREC_ANNOT_TIME:
		memcpy(&ret->time, payload, sizeof(ret->time));
		ret->kind = BTSREC_EVENT_TIME;
		break;
	}
}

static struct btsrec_switch resumed_context(const struct btsrec_resume *resume)
{
	return (struct btsrec_switch){
		.tsc = resume->tsc,
		.next_task_kva = resume->task_kva,
		.next = resume->now,
	};
}

bool record_context(const struct btsrec_event *event, struct btsrec_switch *ret)
{
	switch (event->kind) {
	case BTSREC_EVENT_SWITCH:
	case BTSREC_EVENT_EXEC:
		*ret = event->sw;
		return true;
	case BTSREC_EVENT_ARM:
		*ret = resumed_context(&event->resume);
		return true;
	case BTSREC_EVENT_GAP:
		if (!event->gap.has_resume || event->gap.resume.reason == BTSREC_REASON_NMI)
			return false;
		*ret = resumed_context(&event->gap.resume);
		return true;
	case BTSREC_EVENT_BRANCH:
	case BTSREC_EVENT_MARK:
	case BTSREC_EVENT_TIME:
	case BTSREC_EVENT_FREEZE:
		return false;
	}
	return false;
}
