// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/clock.h"

#define NS_PER_MS 1000000U

struct clock clock_of(const struct btsrec_root *root, const struct btsrec_cpu *first)
{
	bool stopped = first && first->frozen;

	return (struct clock){
		.tsc_khz = root->tsc_khz,
		.anchor_tsc = root->anchor_tsc,
		.anchor_boottime_ns = root->anchor_boottime_ns,
		.has_end = root->freeze_reason != BTSREC_REASON_NONE,
		.end_tsc = stopped ? first->freeze.tsc : root->freeze_tsc,
	};
}

/* @value * @factor / @divisor */
static uint64_t scale(uint64_t value, uint64_t factor, uint64_t divisor)
{
	unsigned __int128 scaled;

	if (!divisor)
		return UINT64_MAX;
	scaled = (unsigned __int128)value * factor / divisor;
	return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

uint64_t clock_ns(const struct clock *clock, uint64_t nr_cycles)
{
	return scale(nr_cycles, NS_PER_MS, clock->tsc_khz);
}

uint64_t clock_cycles(const struct clock *clock, uint64_t ns)
{
	return scale(ns, clock->tsc_khz, NS_PER_MS);
}

static uint64_t before(uint64_t time, uint64_t distance)
{
	return distance < time ? time - distance : 0;
}

/*
 * @from and @to are the same moment on two axes: where @time of the first one is on the second.
 * @scaled makes distances of the first one such of the second.
 */
static uint64_t across(const struct clock *clock, uint64_t time, uint64_t from, uint64_t to,
		       uint64_t (*scaled)(const struct clock *clock, uint64_t distance))
{
	uint64_t distance;

	if (time < from)
		return before(to, scaled(clock, from - time));
	distance = scaled(clock, time - from);
	return distance > UINT64_MAX - to ? UINT64_MAX : to + distance;
}

uint64_t clock_at_boottime(const struct clock *clock, uint64_t ns)
{
	return across(clock, ns, clock->anchor_boottime_ns, clock->anchor_tsc, clock_cycles);
}

uint64_t clock_boottime(const struct clock *clock, uint64_t tsc)
{
	return across(clock, tsc, clock->anchor_tsc, clock->anchor_boottime_ns, clock_ns);
}

uint64_t clock_before_end(const struct clock *clock, uint64_t ns)
{
	return before(clock->end_tsc, clock_cycles(clock, ns));
}

bool clock_from_end(const struct clock *clock, uint64_t tsc, bool *ret_before, uint64_t *ret_ns)
{
	if (!clock->tsc_khz || !clock->has_end)
		return false;
	*ret_before = tsc < clock->end_tsc;
	*ret_ns = clock_ns(clock, *ret_before ? clock->end_tsc - tsc : tsc - clock->end_tsc);
	return true;
}

bool clock_event(const struct btsrec_event *event, uint64_t *ret_tsc)
{
	switch (event->kind) {
	case BTSREC_EVENT_BRANCH:
		return false;
	case BTSREC_EVENT_FREEZE:
		*ret_tsc = event->freeze.tsc;
		return true;
	case BTSREC_EVENT_GAP:
		if (event->gap.has_resume)
			*ret_tsc = event->gap.resume.tsc;
		return event->gap.has_resume;
	default:
		/* Every payload begins with it. */
		*ret_tsc = event->sw.tsc;
		return true;
	}
}

uint64_t clock_event_begin(const struct btsrec_event *event, uint64_t tsc)
{
	uint64_t stop_tsc = 0;

	if (event->kind == BTSREC_EVENT_ARM)
		stop_tsc = event->resume.stop_tsc;
	else if (event->kind == BTSREC_EVENT_GAP && event->gap.has_resume)
		stop_tsc = event->gap.resume.stop_tsc;
	return stop_tsc && stop_tsc < tsc ? stop_tsc : tsc;
}
