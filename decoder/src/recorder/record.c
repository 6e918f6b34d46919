// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/record.h"

#include <stddef.h>
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

/* The size of a payload, which begins with the time. */
#define PAYLOAD(type) \
	(sizeof(struct type) + 0 * sizeof(char[offsetof(struct type, tsc) ? -1 : 1]))

#define ANNOTATION(kind_, payload_, event_, name_, meaning_) \
	[BTSREC_ANNOT_##kind_] = { name_, PAYLOAD(payload_), BTSREC_EVENT_##event_ },

/** struct annotation - the event that a kind of annotation is, and what that is called */
static const struct annotation {
	const char *name;
	size_t payload_bytes;
	enum btsrec_event_kind event;
} annotations[] = { BTSREC_ANNOTATIONS(ANNOTATION) };

#define NR_ANNOTATIONS (sizeof(annotations) / sizeof(annotations[0]))

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

/* All members of the union begin at one place. */
static void set_payload(struct btsrec_event *event, unsigned int kind, const uint8_t *payload)
{
	event->kind = annotations[kind].event;
	event->mm_only = kind == BTSREC_ANNOT_MM;
	memcpy((uint8_t *)event + offsetof(struct btsrec_event, sw), payload,
	       annotations[kind].payload_bytes);
}

void record_annotation(unsigned int kind, const uint8_t *payload, unsigned int nr_parts,
		       struct btsrec_event *ret)
{
	ret->mm_only = false;
	if (kind >= NR_ANNOTATIONS || !annotations[kind].name)
		set_gap(ret, BTSREC_GAP_UNKNOWN_KIND);
	else if (nr_parts * BTSREC_PART_BYTES < annotations[kind].payload_bytes)
		set_gap(ret, BTSREC_GAP_BAD_RECORD);
	else if (kind == BTSREC_ANNOT_GAP)
		set_paused(ret, payload);
	else
		set_payload(ret, kind, payload);
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
	default:
		return false;
	}
}

const char *record_event_str(enum btsrec_event_kind kind)
{
	if (kind == BTSREC_EVENT_BRANCH)
		return "branch";
	if (kind == BTSREC_EVENT_FREEZE)
		return "freeze";
	for (size_t i = 0; i < NR_ANNOTATIONS; i++)
		if (annotations[i].name && annotations[i].event == kind)
			return annotations[i].name;
	return "unknown";
}
