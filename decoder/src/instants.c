// SPDX-License-Identifier: GPL-2.0-or-later
#include "instants.h"

#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "sorted.h"

#define PS_PER_MS	1000000000
#define PS_PER_NS	1000

/* 53 days: what a hostile time stamp comes to at most. */
#define MAX_PS		(1ULL << 62)

bool instants_feed(struct instants *instants, const struct btsrec_event *event)
{
	uint64_t tsc, begin_tsc, least_tsc = 0;

	if (!clock_event(event, &tsc))
		return true;
	if (!grow(&instants->all, sizeof(*instants->all), instants->nr, &instants->nr_room))
		return false;
	begin_tsc = clock_event_begin(event, tsc);
	if (instants->nr)
		least_tsc = instants->all[instants->nr - 1].tsc;
	if (begin_tsc < least_tsc)
		begin_tsc = least_tsc;
	if (tsc < begin_tsc)
		tsc = begin_tsc;
	instants->all[instants->nr++] = (struct instant){ event->n, begin_tsc, tsc };
	return true;
}

/* How many of the instants are at or before event @n. */
static size_t nr_before(const struct instants *instants, uint64_t n)
{
	return sorted_up_to(instants->all, instants->nr, n, n);
}

/* The same, fast for questions in their order. */
static size_t nr_before_near(struct instants *instants, uint64_t n)
{
	size_t at = instants->at;

	if ((at && instants->all[at - 1].n > n) ||
	    (at + 1 < instants->nr && instants->all[at + 1].n <= n))
		at = nr_before(instants, n);
	else if (at < instants->nr && instants->all[at].n <= n)
		at++;
	instants->at = at;
	return at;
}

static uint64_t axis_ps(const struct instants_axis *axis, uint64_t tsc)
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

uint64_t instants_ps(struct instants *instants, const struct instants_axis *axis, uint64_t n,
		     unsigned int part, unsigned int nr_parts)
{
	size_t at = nr_before_near(instants, n);
	const struct instant *before = at ? &instants->all[at - 1] : NULL;
	const struct instant *after = at < instants->nr ? &instants->all[at] : NULL;
	uint64_t step_ps = (uint64_t)INSTANTS_STEP_PS * part / nr_parts, ps;

	if (before && before->n == n && !part)
		return axis_ps(axis, before->begin_tsc);
	if (!before && !after)
		return axis->ps + n * INSTANTS_STEP_PS + step_ps;
	if (!before) {
		uint64_t to_ps = (after->n - n) * INSTANTS_STEP_PS - step_ps;

		ps = axis_ps(axis, after->begin_tsc);
		return ps > to_ps ? ps - to_ps : 0;
	}
	ps = axis_ps(axis, before->tsc);
	if (!after)
		return ps + (n - before->n) * INSTANTS_STEP_PS + step_ps;
	return ps + share_ps(axis_ps(axis, after->begin_tsc) - ps, n - before->n,
			     after->n - before->n, part, nr_parts);
}

uint64_t instants_end_ps(struct instants *instants, const struct instants_axis *axis, uint64_t n)
{
	size_t at = nr_before_near(instants, n);

	if (at && instants->all[at - 1].n == n)
		return axis_ps(axis, instants->all[at - 1].tsc);
	return instants_ps(instants, axis, n, 0, 1);
}

bool instants_has(const struct instants *instants, uint64_t n)
{
	return instants->nr && n >= instants->all[0].n && n <= instants->all[instants->nr - 1].n;
}

bool instants_bounds(const struct instants *instants, uint64_t first_n, uint64_t last_n,
		     uint64_t *ret_min, uint64_t *ret_max)
{
	size_t begin = nr_before(instants, first_n), end = nr_before(instants, last_n);
	const struct instant *all = instants->all;
	bool ends_here = end && all[end - 1].n == last_n;

	if (!begin || (end == instants->nr && !ends_here))
		return false;
	*ret_max = (ends_here ? all[end - 1].tsc : all[end].begin_tsc) - all[begin - 1].begin_tsc;
	*ret_min = 0;
	if (end > begin && all[end - 1].begin_tsc > all[begin].tsc)
		*ret_min = all[end - 1].begin_tsc - all[begin].tsc;
	return true;
}

void instants_fini(struct instants *instants)
{
	free(instants->all);
	memset(instants, 0, sizeof(*instants));
}
