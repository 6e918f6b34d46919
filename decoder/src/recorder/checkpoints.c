// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/checkpoints.h"

#include <stdlib.h>

struct checkpoints *checkpoints_new(void)
{
	struct checkpoints *checkpoints = malloc(sizeof(*checkpoints));

	if (checkpoints) {
		checkpoints->nr = 0;
		checkpoints->distance = CHECKPOINTS_DISTANCE;
		checkpoints->nr_events = 0;
	}
	return checkpoints;
}

/* Room for as many again: every other place goes. */
static void thin_out(struct checkpoints *checkpoints)
{
	for (size_t i = 1; i < CHECKPOINTS_MAX / 2; i++)
		checkpoints->places[i] = checkpoints->places[2 * i];
	checkpoints->nr = CHECKPOINTS_MAX / 2;
	checkpoints->distance *= 2;
}

static bool is_due(const struct checkpoints *checkpoints, uint64_t n)
{
	size_t nr = checkpoints->nr;

	return !nr || n - checkpoints->places[nr - 1].timeline.n >= checkpoints->distance;
}

void checkpoints_add(struct checkpoints *checkpoints, const struct history *history)
{
	if (!is_due(checkpoints, history->timeline.n))
		return;
	if (checkpoints->nr == CHECKPOINTS_MAX)
		thin_out(checkpoints);
	checkpoints->places[checkpoints->nr++] = *history;
}

bool checkpoints_restore(const struct checkpoints *checkpoints, uint64_t n, struct history *history)
{
	for (size_t i = checkpoints->nr; i; i--) {
		if (checkpoints->places[i - 1].timeline.n > n)
			continue;
		history_go_on(history, &checkpoints->places[i - 1]);
		fetch_forget(&history->fetch);
		return true;
	}
	return false;
}

void checkpoints_keep(struct btsrec *rec, unsigned int cpu, struct checkpoints *checkpoints)
{
	void **kept = session_per_cpu(rec, &rec->checkpoints, cpu, free);

	if (kept) {
		free(*kept);
		*kept = checkpoints;
	} else {
		free(checkpoints);
	}
}

/* What is read while a CPU goes on recording may be another ring each time. */
static bool same_ring(const struct session_ring *a, const struct session_ring *b)
{
	return a->index == b->index && a->index_kva == b->index_kva &&
	       a->index_status == b->index_status &&
	       a->layout.head_slot == b->layout.head_slot &&
	       a->layout.nr_pending == b->layout.nr_pending && a->layout.lap == b->layout.lap;
}

const struct checkpoints *checkpoints_kept(struct btsrec *rec, unsigned int cpu,
					   const struct session_ring *ring)
{
	void **kept = session_per_cpu(rec, &rec->checkpoints, cpu, free);
	const struct checkpoints *checkpoints = kept ? *kept : NULL;

	if (!checkpoints || !same_ring(&checkpoints->places[0].ring, ring))
		return NULL;
	return checkpoints;
}
