// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/time_axis.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sorted.h"

#define PS_PER_MS	1000000000
#define PS_PER_NS	1000

/* 53 days: what a hostile time stamp comes to at most. */
#define MAX_PS		(1ULL << 62)

bool time_axis_feed(struct time_axis *time_axis, const struct btsrec_event *event)
{
	uint64_t tsc, begin_tsc, least_tsc = 0;

	if (!clock_event(event, &tsc))
		return true;
	if (!grow(&time_axis->all, sizeof(*time_axis->all), time_axis->nr, &time_axis->nr_room))
		return false;
	begin_tsc = clock_event_begin(event, tsc);
	if (time_axis->nr)
		least_tsc = time_axis->all[time_axis->nr - 1].tsc;
	if (begin_tsc < least_tsc)
		begin_tsc = least_tsc;
	if (tsc < begin_tsc)
		tsc = begin_tsc;
	time_axis->all[time_axis->nr++] = (struct time_point){event->n, begin_tsc, tsc};
	return true;
}

/* How many of the annotations are at or before event @n. */
static size_t nr_before(const struct time_axis *time_axis, uint64_t n)
{
	return sorted_up_to(time_axis->all, time_axis->nr, n, n);
}

/* The same, fast for questions in their order. */
static size_t nr_before_near(struct time_axis *time_axis, uint64_t n)
{
	size_t at = time_axis->at;

	if ((at && time_axis->all[at - 1].n > n) ||
	    (at + 1 < time_axis->nr && time_axis->all[at + 1].n <= n))
		at = nr_before(time_axis, n);
	else if (at < time_axis->nr && time_axis->all[at].n <= n)
		at++;
	time_axis->at = at;
	return at;
}

static uint64_t axis_ps(const struct time_axis_scale *axis, uint64_t tsc)
{
	unsigned __int128 ps = tsc > axis->tsc ? tsc - axis->tsc : 0;

	ps = axis->tsc_khz ? ps * PS_PER_MS / axis->tsc_khz : ps * PS_PER_NS;
	return axis->ps + (ps < MAX_PS ? (uint64_t)ps : MAX_PS);
}

/* @part of @nr_parts of the way, which is evenly spread over @nr_events events. */
static uint64_t share_ps(uint64_t whole_ps, uint64_t event, uint64_t nr_events, unsigned int part,
			 unsigned int nr_parts)
{
	unsigned __int128 done = (unsigned __int128)event * nr_parts + part;

	return (uint64_t)(done * whole_ps / ((unsigned __int128)nr_events * nr_parts));
}

uint64_t time_axis_ps(struct time_axis *time_axis, const struct time_axis_scale *axis, uint64_t n,
		      unsigned int part, unsigned int nr_parts)
{
	size_t at = nr_before_near(time_axis, n);
	const struct time_point *before = at ? &time_axis->all[at - 1] : NULL;
	const struct time_point *after = at < time_axis->nr ? &time_axis->all[at] : NULL;
	uint64_t step_ps = (uint64_t)TIME_AXIS_STEP_PS * part / nr_parts, ps;

	if (before && before->n == n && !part)
		return axis_ps(axis, before->begin_tsc);
	if (!before && !after)
		return axis->ps + n * TIME_AXIS_STEP_PS + step_ps;
	if (!before) {
		uint64_t to_ps = (after->n - n) * TIME_AXIS_STEP_PS - step_ps;

		ps = axis_ps(axis, after->begin_tsc);
		return ps > to_ps ? ps - to_ps : 0;
	}
	ps = axis_ps(axis, before->tsc);
	if (!after)
		return ps + (n - before->n) * TIME_AXIS_STEP_PS + step_ps;
	return ps + share_ps(axis_ps(axis, after->begin_tsc) - ps, n - before->n,
			     after->n - before->n, part, nr_parts);
}

uint64_t time_axis_end_ps(struct time_axis *time_axis, const struct time_axis_scale *axis,
			  uint64_t n)
{
	size_t at = nr_before_near(time_axis, n);

	if (at && time_axis->all[at - 1].n == n)
		return axis_ps(axis, time_axis->all[at - 1].tsc);
	return time_axis_ps(time_axis, axis, n, 0, 1);
}

bool time_axis_has(const struct time_axis *time_axis, uint64_t n)
{
	return time_axis->nr && n >= time_axis->all[0].n &&
	       n <= time_axis->all[time_axis->nr - 1].n;
}

bool time_axis_bounds(const struct time_axis *time_axis, uint64_t first_n, uint64_t last_n,
		      uint64_t *ret_min, uint64_t *ret_max)
{
	size_t begin = nr_before(time_axis, first_n), end = nr_before(time_axis, last_n);
	const struct time_point *all = time_axis->all;
	bool ends_here = end && all[end - 1].n == last_n;

	if (!begin || (end == time_axis->nr && !ends_here))
		return false;
	*ret_max = (ends_here ? all[end - 1].tsc : all[end].begin_tsc) - all[begin - 1].begin_tsc;
	*ret_min = 0;
	if (end > begin && all[end - 1].begin_tsc > all[begin].tsc)
		*ret_min = all[end - 1].begin_tsc - all[begin].tsc;
	return true;
}

void time_axis_when(const struct time_axis *time_axis, uint64_t n, uint64_t *ret_min,
		    uint64_t *ret_max)
{
	size_t at = nr_before(time_axis, n);

	*ret_min = at ? time_axis->all[at - 1].tsc : 0;
	*ret_max = at < time_axis->nr ? time_axis->all[at].begin_tsc : UINT64_MAX;
	if (at && time_axis->all[at - 1].n == n)
		*ret_max = time_axis->all[at - 1].tsc;
}

void time_axis_hole(const struct time_axis *time_axis, uint64_t n, uint64_t *ret_from,
		    uint64_t *ret_to)
{
	size_t at = nr_before(time_axis, n);

	time_axis_when(time_axis, n, ret_from, ret_to);
	if (at && time_axis->all[at - 1].n == n)
		*ret_from = time_axis->all[at - 1].begin_tsc;
}

void time_axis_fini(struct time_axis *time_axis)
{
	free(time_axis->all);
	memset(time_axis, 0, sizeof(*time_axis));
}
