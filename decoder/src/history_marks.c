// SPDX-License-Identifier: GPL-2.0-or-later
#include "history_marks.h"

#include <stdlib.h>
#include <string.h>

/** struct kept - marks by CPU, of @nr_cpus; NULL: none */
struct kept {
	unsigned int nr_cpus;
	struct history_marks *marks[];
};

struct history_marks *history_marks_new(uint64_t distance)
{
	struct history_marks *marks = calloc(1, sizeof(*marks));

	if (marks)
		marks->distance = distance;
	return marks;
}

static const struct history *place_at(const struct history_marks *marks, size_t nr_back)
{
	return &marks->places[(marks->nr - nr_back) % HISTORY_NR_MARKS];
}

void history_marks_add(struct history_marks *marks, const struct history *history)
{
	if (marks->nr &&
	    history->timeline.n - place_at(marks, 1)->timeline.n < marks->distance)
		return;
	marks->places[marks->nr++ % HISTORY_NR_MARKS] = *history;
}

bool history_marks_restore(const struct history_marks *marks, uint64_t n,
			   struct history *history)
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

static void free_kept(void *data)
{
	struct kept *kept = data;

	for (unsigned int cpu = 0; cpu < kept->nr_cpus; cpu++)
		free(kept->marks[cpu]);
	free(kept);
}

static struct kept *make_kept(struct btsrec *rec)
{
	unsigned int nr_cpus = btsrec_nr_cpu_ids(rec);
	struct kept *kept = rec->marks.data;

	if (kept)
		return kept;
	kept = calloc(1, sizeof(*kept) + nr_cpus * sizeof(kept->marks[0]));
	if (!kept)
		return NULL;
	kept->nr_cpus = nr_cpus;
	rec->marks = (struct session_part){ .data = kept, .free = free_kept };
	return kept;
}

void history_marks_keep(struct btsrec *rec, unsigned int cpu, struct history_marks *marks)
{
	struct kept *kept = make_kept(rec);

	if (!kept) {
		free(marks);
		return;
	}
	free(kept->marks[cpu]);
	kept->marks[cpu] = marks;
}

/* What is read while a CPU goes on recording may be another ring each time. */
static bool same_ring(const struct session_ring *a, const struct session_ring *b)
{
	return a->index == b->index && a->index_kva == b->index_kva &&
	       a->index_status == b->index_status &&
	       a->layout.head_slot == b->layout.head_slot &&
	       a->layout.nr_pending == b->layout.nr_pending && a->layout.lap == b->layout.lap;
}

const struct history_marks *history_marks_kept(const struct btsrec *rec, unsigned int cpu,
					       const struct history *history)
{
	const struct kept *kept = rec->marks.data;
	const struct history_marks *marks = kept ? kept->marks[cpu] : NULL;

	return marks && same_ring(&marks->places[0].ring, &history->ring) ? marks : NULL;
}
