/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which thread ran when: the annotations of one CPU turned into spans of event numbers.  Each has
 * one thread and one address space.  Pure.
 */
#ifndef BTSREC_ASPACE_H
#define BTSREC_ASPACE_H

#include <btsrec/decoder.h>

/**
 * struct aspace_span - from event @first_n on
 * @known: @side holds; else a part of the history is missing, and with it maybe a
 *	switch.
 * @end_tsc: when @side is known to have run last: at the switch to somebody else, before
 *	a stop, or, before a gap that may hold a switch, when it began to run.
 */
struct aspace_span {
	uint64_t first_n;
	bool known;
	uint64_t end_tsc;
	struct btsrec_side side;
};

/**
 * struct aspace - the spans of one CPU, ascending; owned
 * @nomem: a span was lost for lack of memory.
 * @at: where the last aspace_at() was answered.
 */
struct aspace {
	struct aspace_span *spans;
	size_t nr;
	size_t nr_room;
	bool nomem;
	size_t at;
};

/** aspace_begin() - the first event is number @first_n; only where not all events are fed */
void aspace_begin(struct aspace *as, uint64_t first_n);

/**
 * aspace_feed() - the next event of the CPU, oldest first
 *
 * All of them; after aspace_begin() branches may be left out.
 */
void aspace_feed(struct aspace *as, const struct btsrec_event *event);

/**
 * aspace_end() - there are no more events
 * @now: the thread that runs at the end; NULL: unknown.
 * @tsc: when that thread is known to have run; UINT64_MAX: until now.
 *
 * Before its first annotation a history belongs to the thread that was switched away from there.
 * Or to the one that ran when a pause of the recorder's own ended there; without any, to @now.
 *
 * Return: BTSREC_OK, BTSREC_ERR_NOMEM.
 */
enum btsrec_status aspace_end(struct aspace *as, const struct btsrec_side *now, uint64_t tsc);

/** aspace_find() - the last span that begins at or before event @n, or the first one */
size_t aspace_find(const struct aspace *as, uint64_t n);

/** aspace_span() - the span of event @n; NULL: there is none.  Fast for nearby questions. */
static inline struct aspace_span *aspace_span(struct aspace *as, uint64_t n)
{
	struct aspace_span *span;

	if (!as->nr)
		return NULL;
	span = &as->spans[as->at];
	if (span->first_n > n || (as->at + 1 < as->nr && n >= span[1].first_n))
		as->at = aspace_find(as, n);
	span = &as->spans[as->at];
	return span->first_n <= n ? span : NULL;
}

/** aspace_at() - which thread ran at event @n; NULL: unknown.  As fast. */
static inline const struct btsrec_side *aspace_at(struct aspace *as, uint64_t n)
{
	const struct aspace_span *span = aspace_span(as, n);

	return span && span->known ? &span->side : NULL;
}

/** aspace_copy() - @to, empty, becomes what @from is; false: out of memory */
bool aspace_copy(struct aspace *to, const struct aspace *from);

/** aspace_fini() - free the spans and leave an empty list. */
void aspace_fini(struct aspace *as);

#endif /* BTSREC_ASPACE_H */
