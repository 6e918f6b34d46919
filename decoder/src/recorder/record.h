/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one slot of a ring holds, and what an annotation's payload means.  Pure.
 */
#ifndef BTSREC_RECORD_H
#define BTSREC_RECORD_H

#include <btsrec/decoder.h>

/* As most records are branches, so many are asked about together. */
#define RECORD_GROUP 8

enum record_kind {
	RECORD_BRANCH,
	RECORD_PART,		/* part of an annotation with a consistent tag */
	RECORD_POISON,		/* never written */
	RECORD_HALF_POISON,	/* some words never written */
	RECORD_BAD,		/* none of these */
};

/** struct record_tag - the tag of an annotation part, see abi.h "Annotations" */
struct record_tag {
	unsigned int kind;
	unsigned int part;
	unsigned int nr_parts;
	uint32_t sequence;
};

/** record_tag() - take @from of a RECORD_PART apart. */
struct record_tag record_tag(uint64_t from);

/* SDM vol. 1, "Canonical Addressing": the bits above the width repeat its top bit. */
static inline bool record_canonical(uint64_t va, unsigned int va_bits)
{
	return !((va + (1ULL << (va_bits - 1))) >> va_bits);
}

/** record_are_branches() - record_is_branch() of each of @nr records */
static inline bool record_are_branches(const struct btsrec_record *records, unsigned int nr,
				       unsigned int va_bits)
{
	uint64_t half = 1ULL << (va_bits - 1), above = -(1ULL << va_bits), bad = 0;
	bool poison = false, zero = false;

	/* record_canonical() of both ends. */
	for (unsigned int i = 0; i < nr; i++) {
		bad |= (records[i].from + half) | (records[i].to + half);
		poison |= records[i].flags == BTSREC_POISON;
		zero |= !(records[i].from | records[i].to | records[i].flags);
	}
	return !(bad & above) && !poison && !zero;
}

/** record_is_branch() - is it RECORD_BRANCH?  The question that most records answer. */
static inline bool record_is_branch(const struct btsrec_record *record, unsigned int va_bits)
{
	return record_are_branches(record, 1, va_bits);
}

/** record_nr_branches() - how many of the first @nr_max records are branches */
static inline uint64_t record_nr_branches(const struct btsrec_record *records, uint64_t nr_max,
					  unsigned int va_bits)
{
	uint64_t nr = 0;

	while (nr_max - nr >= RECORD_GROUP &&
	       record_are_branches(records + nr, RECORD_GROUP, va_bits))
		nr += RECORD_GROUP;
	while (nr < nr_max && record_is_branch(&records[nr], va_bits))
		nr++;
	return nr;
}

/**
 * record_classify() - what the three words are
 * @va_bits: width of a linear address, 48 or 57.
 *
 * Both ends of a branch are canonical; its reserved flag bits are not judged,
 * because no manual promises that they are zero.  Three words of zero are RECORD_BAD: no
 * processor jumps from address 0 to address 0, and a page that was lost may read so.
 */
enum record_kind record_classify(const struct btsrec_record *record, unsigned int va_bits);

/**
 * record_annotation() - the event of a whole annotation
 * @payload: @nr_parts * BTSREC_PART_BYTES bytes.
 * @ret: kind, mm_only, gap and the payload's member are set; the rest is untouched.
 *
 * An annotation that is no event of its own comes back as BTSREC_EVENT_GAP:
 * PAUSED, UNKNOWN_KIND, or BAD_RECORD if it has fewer bytes than its kind.
 */
void record_annotation(unsigned int kind, const uint8_t *payload, unsigned int nr_parts,
		       struct btsrec_event *ret);

/** record_event_str() - the kind as the word that every format prints; static */
const char *record_event_str(enum btsrec_event_kind kind);

/**
 * record_is_own_pause() - did the recorder pause itself here, and resume, each time with a WRMSR in
 * its own code?  At the sign of an oops that was none, and during NMIs.  During the report of a
 * lockup, a hung task or a stall, and while a console's driver wrote.
 */
static inline bool record_is_own_pause(const struct btsrec_gap *gap)
{
	if (gap->kind != BTSREC_GAP_PAUSED || !gap->has_resume)
		return false;
	switch (gap->resume.reason) {
	case BTSREC_REASON_OOPS:
	case BTSREC_REASON_NMI:
	case BTSREC_REASON_SOFT_LOCKUP:
	case BTSREC_REASON_HUNG_TASK:
	case BTSREC_REASON_RCU_STALL:
	case BTSREC_REASON_CONSOLE:
		return true;
	default:
		return false;
	}
}

/**
 * record_context() - what the context block of the CPU page holds after this annotation
 * @ret: untouched on false.
 *
 * abi.h, "CPU": the thread that runs from here on, as switches and the ends of pauses have it.  The
 * end of an NMI changes none: the recorder leaves the block as it is.
 *
 * Return: false: the event leaves the block alone.
 */
bool record_context(const struct btsrec_event *event, struct btsrec_switch *ret);

#endif /* BTSREC_RECORD_H */
