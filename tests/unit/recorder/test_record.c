// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "fixture.h"
#include "recorder/record.h"

#define P BTSREC_POISON
#define KERNEL 0xffffffff81000000ULL
#define USER 0x00007fffffffe000ULL
/* Canonical in 57 bits only. */
#define USER57 0x0080000000000000ULL
#define KERNEL57 0xff80000000000000ULL
#define NOWHERE 0x0100000000000000ULL

static enum record_kind classify(uint64_t from, uint64_t to, uint64_t flags, unsigned int bits)
{
	struct btsrec_record record = { from, to, flags };

	return record_classify(&record, bits);
}

START_TEST(branches)
{
	ck_assert_int_eq(classify(KERNEL, USER, 0, 48), RECORD_BRANCH);
	ck_assert_int_eq(classify(USER, KERNEL, BTSREC_FLAG_PREDICTED, 48), RECORD_BRANCH);
	ck_assert_int_eq(classify(0, 1, 0, 48), RECORD_BRANCH);
	ck_assert_int_eq(classify(UINT64_MAX, 0x00007fffffffffffULL, 0, 48), RECORD_BRANCH);
}
END_TEST

START_TEST(reserved_flags_are_not_judged)
{
	ck_assert_int_eq(classify(KERNEL, USER, UINT64_MAX, 48), RECORD_BRANCH);
}
END_TEST

START_TEST(canonical_width)
{
	ck_assert_int_eq(classify(0x0000800000000000ULL, USER, 0, 48), RECORD_BAD);
	ck_assert_int_eq(classify(0, 0, 0, 48), RECORD_BAD);
	ck_assert_int_eq(classify(0, 0, BTSREC_FLAG_PREDICTED, 48), RECORD_BRANCH);
	ck_assert_int_eq(classify(0, KERNEL, 0, 48), RECORD_BRANCH);
	ck_assert_int_eq(classify(KERNEL, 0, 0, 48), RECORD_BRANCH);
	ck_assert_int_eq(classify(0xffff7fffffffffffULL, USER, 0, 48), RECORD_BAD);
	ck_assert_int_eq(classify(0x0000800000000000ULL, USER, 0, 57), RECORD_BRANCH);
	ck_assert_int_eq(classify(USER57, KERNEL57, 0, 48), RECORD_BAD);
	ck_assert_int_eq(classify(KERNEL, USER57, 0, 48), RECORD_BAD);
	ck_assert_int_eq(classify(NOWHERE, KERNEL, 0, 57), RECORD_BAD);
	ck_assert_int_eq(classify(KERNEL57 | 0x0080000000000000ULL, KERNEL57 >> 1, 0, 57),
			 RECORD_BAD);
	ck_assert_int_eq(classify(0xff00000000000000ULL, 0x00ffffffffffffffULL, 0, 57),
			 RECORD_BRANCH);
}
END_TEST

START_TEST(poison)
{
	ck_assert_int_eq(classify(P, P, P, 48), RECORD_POISON);
	ck_assert_int_eq(classify(P, P, P, 57), RECORD_POISON);
}
END_TEST

START_TEST(half_poison_in_every_word)
{
	ck_assert_int_eq(classify(P, USER, 0, 48), RECORD_HALF_POISON);
	ck_assert_int_eq(classify(USER, P, 0, 48), RECORD_HALF_POISON);
	ck_assert_int_eq(classify(USER, USER, P, 48), RECORD_HALF_POISON);
	ck_assert_int_eq(classify(USER, P, P, 48), RECORD_HALF_POISON);
	ck_assert_int_eq(classify(P, P, 0, 57), RECORD_HALF_POISON);
}
END_TEST

START_TEST(parts)
{
	for (unsigned int nr = 1; nr <= BTSREC_MAX_PARTS; nr++) {
		for (unsigned int part = 0; part < nr; part++) {
			struct btsrec_record record = fixture_part(200, part, nr, 0xfedcba98);
			struct record_tag tag = record_tag(record.from);

			ck_assert_int_eq(record_classify(&record, 57), RECORD_PART);
			ck_assert_uint_eq(tag.kind, 200);
			ck_assert_uint_eq(tag.part, part);
			ck_assert_uint_eq(tag.nr_parts, nr);
			ck_assert_uint_eq(tag.sequence, 0xfedcba98);
		}
	}
}
END_TEST

START_TEST(part_with_poison_payload_is_a_part)
{
	struct btsrec_record record = fixture_part(1, 0, 5, 7);

	record.to = record.flags = P;
	ck_assert_int_eq(record_classify(&record, 48), RECORD_PART);
}
END_TEST

START_TEST(tag_that_contradicts_itself)
{
	struct btsrec_record record = fixture_part(0, 0, 5, 7);

	ck_assert_int_eq(record_classify(&record, 48), RECORD_BAD);
	record = fixture_part(1, 5, 5, 7);
	ck_assert_int_eq(record_classify(&record, 48), RECORD_BAD);
	record = fixture_part(1, 0, 0, 7);
	ck_assert_int_eq(record_classify(&record, 48), RECORD_BAD);
	record = fixture_part(1, 0, 6, 7);
	ck_assert_int_eq(record_classify(&record, 48), RECORD_BAD);
	record = fixture_part(1, 0, 6, 7);
	record.to = P;
	ck_assert_int_eq(record_classify(&record, 48), RECORD_BAD);
}
END_TEST

static uint8_t payload[BTSREC_MAX_PARTS * BTSREC_PART_BYTES];

static struct btsrec_event decode(unsigned int kind, unsigned int nr_parts)
{
	struct btsrec_event event;

	memset(&event, DIRT, sizeof(event));
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = i + 1;
	record_annotation(kind, payload, nr_parts, &event);
	return event;
}

START_TEST(switches)
{
	struct btsrec_event event = decode(BTSREC_ANNOT_SWITCH, 5);

	ck_assert_int_eq(event.kind, BTSREC_EVENT_SWITCH);
	ck_assert(!event.mm_only);
	ck_assert_mem_eq(&event.sw, payload, sizeof(event.sw));
	event = decode(BTSREC_ANNOT_MM, 5);
	ck_assert_int_eq(event.kind, BTSREC_EVENT_SWITCH);
	ck_assert(event.mm_only);
	ck_assert_mem_eq(&event.sw, payload, sizeof(event.sw));
	event = decode(BTSREC_ANNOT_EXEC, 5);
	ck_assert_int_eq(event.kind, BTSREC_EVENT_EXEC);
	ck_assert(!event.mm_only);
	ck_assert_mem_eq(&event.sw, payload, sizeof(event.sw));
}
END_TEST

START_TEST(arm_and_gap)
{
	struct btsrec_event event = decode(BTSREC_ANNOT_ARM, 4);

	ck_assert_int_eq(event.kind, BTSREC_EVENT_ARM);
	ck_assert_mem_eq(&event.resume, payload, sizeof(event.resume));
	event = decode(BTSREC_ANNOT_GAP, 4);
	ck_assert_int_eq(event.kind, BTSREC_EVENT_GAP);
	ck_assert_int_eq(event.gap.kind, BTSREC_GAP_PAUSED);
	ck_assert_uint_eq(event.gap.nr_slots, 0);
	ck_assert(event.gap.has_resume);
	ck_assert_mem_eq(&event.gap.resume, payload, sizeof(event.gap.resume));
}
END_TEST

START_TEST(mark_and_time)
{
	struct btsrec_event event = decode(BTSREC_ANNOT_MARK, 4);

	ck_assert_int_eq(event.kind, BTSREC_EVENT_MARK);
	ck_assert_mem_eq(&event.mark, payload, sizeof(event.mark));
	event = decode(BTSREC_ANNOT_TIME, 2);
	ck_assert_int_eq(event.kind, BTSREC_EVENT_TIME);
	ck_assert_mem_eq(&event.time, payload, sizeof(event.time));
}
END_TEST

START_TEST(unknown_kind)
{
	static const unsigned int kinds[] = { 0, 200, 255 };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct btsrec_event event = decode(kinds[i], 2);

		ck_assert_int_eq(event.kind, BTSREC_EVENT_GAP);
		ck_assert_int_eq(event.gap.kind, BTSREC_GAP_UNKNOWN_KIND);
		ck_assert(!event.gap.has_resume);
	}
}
END_TEST

START_TEST(words)
{
	ck_assert_str_eq(record_event_str(BTSREC_EVENT_BRANCH), "branch");
	ck_assert_str_eq(record_event_str(BTSREC_EVENT_SWITCH), "switch");
	ck_assert_str_eq(record_event_str(BTSREC_EVENT_EXEC), "exec");
	ck_assert_str_eq(record_event_str(BTSREC_EVENT_ARM), "arm");
	ck_assert_str_eq(record_event_str(BTSREC_EVENT_MARK), "mark");
	ck_assert_str_eq(record_event_str(BTSREC_EVENT_TIME), "time");
	ck_assert_str_eq(record_event_str(BTSREC_EVENT_FREEZE), "freeze");
	ck_assert_str_eq(record_event_str(BTSREC_EVENT_GAP), "gap");
	ck_assert_str_eq(record_event_str((enum btsrec_event_kind)99), "unknown");
}
END_TEST

START_TEST(fewer_bytes_than_the_kind_has)
{
	static const struct { unsigned int kind, nr_parts; } shorts[] = {
		{ BTSREC_ANNOT_SWITCH, 4 }, { BTSREC_ANNOT_MM, 4 }, { BTSREC_ANNOT_EXEC, 1 },
		{ BTSREC_ANNOT_ARM, 3 }, { BTSREC_ANNOT_GAP, 3 }, { BTSREC_ANNOT_MARK, 3 },
		{ BTSREC_ANNOT_TIME, 1 },
	};

	for (size_t i = 0; i < sizeof(shorts) / sizeof(shorts[0]); i++) {
		struct btsrec_event event = decode(shorts[i].kind, shorts[i].nr_parts);

		ck_assert_int_eq(event.kind, BTSREC_EVENT_GAP);
		ck_assert_int_eq(event.gap.kind, BTSREC_GAP_BAD_RECORD);
	}
}
END_TEST

START_TEST(more_bytes_than_the_kind_has_is_a_newer_minor)
{
	struct btsrec_event event = decode(BTSREC_ANNOT_TIME, 3);

	ck_assert_int_eq(event.kind, BTSREC_EVENT_TIME);
	ck_assert_mem_eq(&event.time, payload, sizeof(event.time));
}
END_TEST

BTSREC_CK_MAIN("record", branches, reserved_flags_are_not_judged, canonical_width, poison,
	       half_poison_in_every_word, parts, part_with_poison_payload_is_a_part,
	       tag_that_contradicts_itself, switches, arm_and_gap, mark_and_time, unknown_kind, words,
	       fewer_bytes_than_the_kind_has, more_bytes_than_the_kind_has_is_a_newer_minor)
