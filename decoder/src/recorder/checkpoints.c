// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/checkpoints.h"

#include <stdlib.h>

struct checkpoints *checkpoints_new(uint64_t distance)
{
	struct checkpoints *checkpoints = calloc(1, sizeof(*checkpoints));

	if (checkpoints)
		checkpoints->distance = distance;
	return checkpoints;
}

static const struct history *place_at(const struct checkpoints *checkpoints, size_t nr_back)
{
	return &checkpoints->places[(checkpoints->nr - nr_back) % CHECKPOINTS_MAX];
}

void checkpoints_add(struct checkpoints *checkpoints, const struct history *history)
{
	if (checkpoints->nr &&
	    history->timeline.n - place_at(checkpoints, 1)->timeline.n < checkpoints->distance)
		return;
	checkpoints->places[checkpoints->nr++ % CHECKPOINTS_MAX] = *history;
}

bool checkpoints_restore(const struct checkpoints *checkpoints, uint64_t n, struct history *history)
{
	uint8_t *window = history->fetch.window;

	for (size_t i = 1; i <= checkpoints->nr && i <= CHECKPOINTS_MAX; i++) {
		if (place_at(checkpoints, i)->timeline.n > n)
			continue;
		*history = *place_at(checkpoints, i);
		history->checkpoints = NULL;
		history->fetch.window = window;
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
					   const struct history *history)
{
	void **kept = session_per_cpu(rec, &rec->checkpoints, cpu, free);
	const struct checkpoints *checkpoints = kept ? *kept : NULL;

	if (!checkpoints || !same_ring(&checkpoints->places[0].ring, &history->ring))
		return NULL;
	return checkpoints;
}
