// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/checkpoints.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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
	struct fetch_ring ring = history->fetch.ring;
	uint8_t *window = history->fetch.window;

	for (size_t i = checkpoints->nr; i; i--) {
		if (checkpoints->places[i - 1].timeline.n > n)
			continue;
		*history = checkpoints->places[i - 1];
		history->checkpoints = NULL;
		history->fetch.ring = ring;
		history->fetch.window = window;
		fetch_forget(&history->fetch);
		return true;
	}
	return false;
}

uint64_t checkpoints_part(const struct checkpoints *checkpoints, unsigned int part,
			  unsigned int nr_parts)
{
	if (part == nr_parts)
		return UINT64_MAX;
	return checkpoints->places[checkpoints->nr * part / nr_parts].timeline.n;
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

struct checkpoints *checkpoints_copy(const struct checkpoints *checkpoints)
{
	size_t nr_bytes = offsetof(struct checkpoints, places[checkpoints->nr]);
	struct checkpoints *copy = malloc(nr_bytes);

	if (copy)
		memcpy(copy, checkpoints, nr_bytes);
	return copy;
}
