// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/checkpoints.h"

#include <stdlib.h>

struct checkpoints *checkpoints_new(uint64_t distance)
{
	struct checkpoints *marks = calloc(1, sizeof(*marks));

	if (marks)
		marks->distance = distance;
	return marks;
}

static const struct history *place_at(const struct checkpoints *marks, size_t nr_back)
{
	return &marks->places[(marks->nr - nr_back) % HISTORY_NR_MARKS];
}

void checkpoints_add(struct checkpoints *marks, const struct history *history)
{
	if (marks->nr &&
	    history->timeline.n - place_at(marks, 1)->timeline.n < marks->distance)
		return;
	marks->places[marks->nr++ % HISTORY_NR_MARKS] = *history;
}

bool checkpoints_restore(const struct checkpoints *marks, uint64_t n, struct history *history)
{
	uint8_t *window = history->fetch.window;

	for (size_t i = 1; i <= marks->nr && i <= HISTORY_NR_MARKS; i++) {
		if (place_at(marks, i)->timeline.n > n)
			continue;
		*history = *place_at(marks, i);
		history->marks = NULL;
		history->fetch.window = window;
		fetch_forget(&history->fetch);
		return true;
	}
	return false;
}

void checkpoints_keep(struct btsrec *rec, unsigned int cpu, struct checkpoints *marks)
{
	void **kept = session_per_cpu(rec, &rec->marks, cpu, free);

	if (kept) {
		free(*kept);
		*kept = marks;
	} else {
		free(marks);
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
	void **kept = session_per_cpu(rec, &rec->marks, cpu, free);
	const struct checkpoints *marks = kept ? *kept : NULL;

	return marks && same_ring(&marks->places[0].ring, &history->ring) ? marks : NULL;
}
