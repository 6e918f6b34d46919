// SPDX-License-Identifier: GPL-2.0-or-later
#include "sightings.h"

#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "grow.h"

#define MIN_ROOM BOUND(1024, 16)

bool sightings_init(struct sightings *sightings, unsigned int nr_cpus)
{
	memset(sightings, 0, sizeof(*sightings));
	sightings->cpus = calloc(nr_cpus ? nr_cpus : 1, sizeof(*sightings->cpus));
	if (!sightings->cpus)
		return false;
	sightings->nr_cpus = nr_cpus;
	return true;
}

void sightings_fini(struct sightings *sightings)
{
	free(sightings->list);
	free(sightings->strangers);
	free(sightings->cpus);
	memset(sightings, 0, sizeof(*sightings));
}

/* --- Events ------------------------------------------------------------- */

static bool add(struct sightings *sightings, uint32_t pid, unsigned int cpu, uint64_t tsc)
{
	if (!grow_from(&sightings->list, sizeof(*sightings->list), sightings->nr,
		       &sightings->nr_room, MIN_ROOM))
		return false;
	sightings->list[sightings->nr++] = (struct sighting){ pid, cpu, tsc };
	return true;
}

static void begin_at(struct sightings_cpu *cpu, uint64_t tsc)
{
	cpu->from = tsc;
	cpu->to = tsc;
}

static void reach(struct sightings_cpu *cpu, uint64_t tsc)
{
	if (!cpu->from)
		begin_at(cpu, tsc);
	else if (tsc > cpu->to)
		cpu->to = tsc;
}

bool sightings_feed(struct sightings *sightings, const struct btsrec_event *event)
{
	struct sightings_cpu *cpu;

	if (event->cpu >= sightings->nr_cpus)
		return true;
	cpu = &sightings->cpus[event->cpu];
	cpu->ran = true;
	switch (event->kind) {
	case BTSREC_EVENT_SWITCH:
		reach(cpu, event->sw.tsc);
		cpu->told |= !event->mm_only;
		return event->mm_only ||
		       (add(sightings, event->sw.prev.pid, event->cpu, event->sw.tsc) &&
			add(sightings, event->sw.next.pid, event->cpu, event->sw.tsc));
	case BTSREC_EVENT_ARM:
		begin_at(cpu, event->resume.tsc);
		cpu->told = true;
		return add(sightings, event->resume.now.pid, event->cpu, event->resume.tsc);
	case BTSREC_EVENT_GAP:
		begin_at(cpu, event->gap.has_resume ? event->gap.resume.tsc : 0);
		cpu->told = event->gap.has_resume;
		cpu->since_n = event->n + 1;
		return true;
	case BTSREC_EVENT_FREEZE:
		reach(cpu, event->freeze.tsc);
		return true;
	default:
		return true;
	}
}

void sightings_ran(struct sightings *sightings, unsigned int cpu)
{
	if (cpu < sightings->nr_cpus)
		sightings->cpus[cpu].ran = true;
}

bool sightings_is_told(const struct sightings *sightings, unsigned int cpu)
{
	return cpu >= sightings->nr_cpus || sightings->cpus[cpu].told;
}

/* At most one for each beginning of a history and each gap. */
bool sightings_switched(struct sightings *sightings, unsigned int cpu, uint64_t n)
{
	if (sightings_is_told(sightings, cpu))
		return true;
	if (!grow_from(&sightings->strangers, sizeof(*sightings->strangers),
		       sightings->nr_strangers, &sightings->nr_strangers_room, MIN_ROOM))
		return false;
	sightings->strangers[sightings->nr_strangers++] =
		(struct sightings_stretch){ cpu, sightings->cpus[cpu].since_n, n };
	sightings->cpus[cpu].told = true;
	return true;
}

void sightings_blind(struct sightings *sightings, unsigned int cpu)
{
	if (cpu < sightings->nr_cpus)
		sightings->cpus[cpu].blind = true;
}

static int compare_stretches(const void *left, const void *right)
{
	const struct sightings_stretch *a = left, *b = right;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->end_n < b->end_n ? -1 : a->end_n > b->end_n;
}

static int compare(const void *left, const void *right)
{
	const struct sighting *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tsc != b->tsc)
		return a->tsc < b->tsc ? -1 : 1;
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

void sightings_end(struct sightings *sightings)
{
	if (sightings->nr)
		qsort(sightings->list, sightings->nr, sizeof(*sightings->list), compare);
	if (sightings->nr_strangers)
		qsort(sightings->strangers, sightings->nr_strangers,
		      sizeof(*sightings->strangers), compare_stretches);
}

/* --- Questions ---------------------------------------------------------- */

bool sightings_stranger(const struct sightings *sightings, unsigned int cpu, uint64_t n)
{
	size_t low = 0, high = sightings->nr_strangers;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct sightings_stretch *stretch = &sightings->strangers[middle];

		if (stretch->cpu < cpu || (stretch->cpu == cpu && stretch->end_n <= n))
			low = middle + 1;
		else
			high = middle;
	}
	return low < sightings->nr_strangers && sightings->strangers[low].cpu == cpu &&
	       sightings->strangers[low].first_n <= n;
}

/* The first sighting of @pid that is later than @tsc. */
static size_t first_after(const struct sightings *sightings, uint32_t pid, uint64_t tsc)
{
	const struct sighting key = { pid, ~0U, tsc };
	size_t low = 0, high = sightings->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&sightings->list[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool covers(const struct sightings_cpu *cpu, uint64_t from_tsc, uint64_t to_tsc)
{
	if (cpu->blind)
		return false;
	return !cpu->ran || (cpu->from && cpu->from <= from_tsc && cpu->to >= to_tsc);
}

enum sighted sightings_between(const struct sightings *sightings, uint32_t pid, unsigned int cpu,
			       uint64_t from_tsc, uint64_t to_tsc, unsigned int *ret_cpu)
{
	if (!pid)
		return SIGHTED_NOWHERE;
	for (size_t i = first_after(sightings, pid, from_tsc); i < sightings->nr; i++) {
		const struct sighting *sighting = &sightings->list[i];

		if (sighting->pid != pid || sighting->tsc >= to_tsc)
			break;
		if (sighting->cpu == cpu)
			continue;
		*ret_cpu = sighting->cpu;
		return SIGHTED_ELSEWHERE;
	}
	for (unsigned int other = 0; other < sightings->nr_cpus; other++) {
		if (other == cpu || covers(&sightings->cpus[other], from_tsc, to_tsc))
			continue;
		*ret_cpu = other;
		return SIGHTED_UNKNOWN;
	}
	return SIGHTED_NOWHERE;
}
