// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/ring_head.h"

#include "recorder/record.h"

/* Tags are non-canonical in both widths, so that the width does not matter here. */
#define ANY_VA_BITS 57

static bool is_part(const struct btsrec_record *record, uint64_t sequence)
{
	return record && record_classify(record, ANY_VA_BITS) == RECORD_PART &&
	       record_tag(record->from).sequence == (uint32_t)sequence;
}

/* The writer moves the index over a whole annotation before it counts it as ended. */
static bool already_indexed(const struct btsrec_record *newest, uint64_t annot_end)
{
	struct record_tag tag;

	if (!is_part(newest, annot_end))
		return false;
	tag = record_tag(newest->from);
	return tag.part + 1 == tag.nr_parts;
}

unsigned int ring_head_pending(const struct ring_head_peek *peek, uint64_t nr_slots,
			       uint64_t annot_begin, uint64_t annot_end)
{
	unsigned int nr_max = nr_slots < BTSREC_MAX_PARTS ? nr_slots : BTSREC_MAX_PARTS;
	unsigned int nr = 0;

	if (annot_begin == annot_end || already_indexed(peek->newest, annot_end))
		return 0;
	while (nr < nr_max && is_part(peek->next[nr], annot_end) &&
	       record_tag(peek->next[nr]->from).part == nr)
		nr++;
	return nr;
}

enum ring_lap ring_head_lap(const struct btsrec_record *record)
{
	if (record->from == BTSREC_POISON || record->to == BTSREC_POISON ||
	    record->flags == BTSREC_POISON)
		return RING_LAP_FIRST;
	return RING_LAP_LATER;
}

bool ring_head_is_first(const struct btsrec_record *record, uint64_t annot_begin)
{
	return annot_begin <= UINT32_MAX && is_part(record, 0) &&
	       record_tag(record->from).part == 0;
}
