/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs of slots in, events out: branches, annotations put together from their
 * parts, and a gap for every slot that is neither.  Pure and of constant size:
 * feed a run, take events until there are none, feed the next; then end it.
 */
#ifndef BTSREC_TIMELINE_H
#define BTSREC_TIMELINE_H

#include "recorder/ring.h"

/**
 * struct timeline - a history, half read; a copy taken between two runs resumes there
 * @n: number of the next event.
 * @run: being consumed if @has_run, borrowed from the caller; @pos slots are done.
 * @gap: open if @has_gap: may still grow.
 * @annot_nr_have: parts seen of an annotation of @annot_nr_parts parts (0: none
 *	being put together).
 */
struct timeline {
	unsigned int cpu;
	unsigned int va_bits;
	uint64_t n;
	bool has_run;
	struct ring_run run;
	uint64_t pos;
	bool has_gap;
	struct btsrec_gap gap;
	unsigned int annot_nr_have;
	unsigned int annot_nr_parts;
	uint64_t annot_from;
	uint64_t annot_slot;
	uint8_t annot_payload[BTSREC_MAX_PARTS * BTSREC_PART_BYTES];
	bool ended;
	const struct btsrec_freeze *freeze;
};

/** timeline_init() - an empty history; @va_bits as in record_classify(). */
void timeline_init(struct timeline *tl, unsigned int cpu, unsigned int va_bits);

/**
 * timeline_feed() - the next run, after timeline_next() has returned false
 *
 * @run->records must stay until then.
 */
void timeline_feed(struct timeline *tl, const struct ring_run *run);

/** timeline_end() - no more runs; @freeze: NULL, or the snapshot to end with, borrowed. */
void timeline_end(struct timeline *tl, const struct btsrec_freeze *freeze);

/**
 * timeline_next() - take the next event
 *
 * Return: false when there is none before another timeline_feed(), or, after
 * timeline_end(), none at all.  *@ret is only valid if true.
 */
bool timeline_next(struct timeline *tl, struct btsrec_event *ret);

/** timeline_branch() - the branch @record as event @n */
static inline void timeline_branch(struct btsrec_event *ret, const struct btsrec_record *record,
				   unsigned int cpu, uint64_t n, uint64_t slot)
{
	ret->kind = BTSREC_EVENT_BRANCH;
	ret->mm_only = false;
	ret->cpu = cpu;
	ret->n = n;
	ret->slot = slot;
	ret->branch = *record;
}

/** struct timeline_branches - @nr branches in a row, from event @n and slot @slot on */
struct timeline_branches {
	const struct btsrec_record *records;
	uint64_t nr;
	uint64_t n;
	uint64_t slot;
};

/**
 * timeline_branches() - take as many branches as come next, but none from event @end_n on
 * @ret: @records are those of the run, so valid until the next timeline_feed().
 *
 * The same events as timeline_next() gives, without making one of each.
 *
 * Return: false: what comes next is not a branch, or only timeline_next() can decide.
 */
bool timeline_branches(struct timeline *tl, uint64_t end_n, struct timeline_branches *ret);

#endif /* BTSREC_TIMELINE_H */
