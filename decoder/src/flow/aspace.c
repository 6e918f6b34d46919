// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/aspace.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sorted.h"
#include "recorder/record.h"

/* @tsc: from when on @side runs; if that is not known, 0. */
static void add_span(struct aspace *as, uint64_t first_n, uint64_t tsc,
		     const struct btsrec_side *side)
{
	struct aspace_span *span;

	if (!grow_from(&as->spans, sizeof(*span), as->nr, &as->nr_room, 64)) {
		as->nomem = true;
		return;
	}
	span = &as->spans[as->nr++];
	memset(span, 0, sizeof(*span));
	span->first_n = first_n;
	span->known = side;
	span->end_tsc = tsc;
	if (side)
		span->side = *side;
}

/* The thread of the span under way still ran at @tsc. */
static void runs_at(struct aspace *as, uint64_t tsc)
{
	struct aspace_span *last = &as->spans[as->nr - 1];

	if (last->end_tsc < tsc)
		last->end_tsc = tsc;
}

/* Since a stop the process may have gone on elsewhere; 0: when is not known. */
static void resume(struct aspace *as, uint64_t first_n, const struct btsrec_resume *resume)
{
	if (resume->stop_tsc <= resume->tsc)
		runs_at(as, resume->stop_tsc);
	add_span(as, first_n, resume->tsc, &resume->now);
}

/* Which thread ran up to here is known now. */
static void name_last(struct aspace *as, const struct btsrec_side *side)
{
	struct aspace_span *last = as->nr ? &as->spans[as->nr - 1] : NULL;

	if (!last || last->known || !side)
		return;
	last->side = *side;
	last->known = true;
}

/*
 * No thread is switched to within an NMI.  The recorder's other pauses of its own end in front of
 * the annotation of the next switch.  An exec may be in one, so the page table is not known.
 */
static void name_before_pause(struct aspace *as, const struct btsrec_gap *gap)
{
	struct btsrec_side side = gap->resume.now;

	if (!record_is_own_pause(gap))
		return;
	if (gap->resume.reason != BTSREC_REASON_NMI)
		side.cr3 = 0;
	name_last(as, &side);
}

static void feed_gap(struct aspace *as, const struct btsrec_event *event)
{
	const struct btsrec_gap *gap = &event->gap;

	if (gap->has_resume) {
		name_before_pause(as, gap);
		resume(as, event->n + 1, &gap->resume);
	} else if (gap->kind != BTSREC_GAP_OVERWRITTEN) {
		add_span(as, event->n + 1, 0, NULL);
	}
}

void aspace_begin(struct aspace *as, uint64_t first_n)
{
	add_span(as, first_n, 0, NULL);
}

void aspace_feed(struct aspace *as, const struct btsrec_event *event)
{
	if (!as->nr)
		aspace_begin(as, event->n);
	if (as->nomem)
		return;
	switch (event->kind) {
	case BTSREC_EVENT_SWITCH:
	case BTSREC_EVENT_EXEC:
		name_last(as, &event->sw.prev);
		runs_at(as, event->sw.tsc);
		add_span(as, event->n + 1, event->sw.tsc, &event->sw.next);
		break;
	case BTSREC_EVENT_ARM:
		resume(as, event->n + 1, &event->resume);
		break;
	case BTSREC_EVENT_FREEZE:
		runs_at(as, event->freeze.tsc);
		break;
	case BTSREC_EVENT_GAP:
		feed_gap(as, event);
		break;
	default:
		break;
	}
}

enum btsrec_status aspace_end(struct aspace *as, const struct btsrec_side *now, uint64_t tsc)
{
	name_last(as, now);
	if (as->nr)
		runs_at(as, tsc);
	return as->nomem ? BTSREC_ERR_NOMEM : BTSREC_OK;
}

size_t aspace_find(const struct aspace *as, uint64_t n)
{
	size_t nr = sorted_up_to(as->spans, as->nr, first_n, n);

	return nr ? nr - 1 : 0;
}

bool aspace_copy(struct aspace *to, const struct aspace *from)
{
	*to = *from;
	to->nr_room = from->nr;
	to->spans = malloc((from->nr ? from->nr : 1) * sizeof(*to->spans));
	if (!to->spans) {
		memset(to, 0, sizeof(*to));
		return false;
	}
	if (from->nr)
		memcpy(to->spans, from->spans, from->nr * sizeof(*to->spans));
	return true;
}

void aspace_fini(struct aspace *as)
{
	free(as->spans);
	memset(as, 0, sizeof(*as));
}
