// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/thread_residency.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/grow.h"

#define MIN_ROOM BOUND(1024, 16)

bool residency_init(struct residencies *residencies, unsigned int nr_cpus)
{
	memset(residencies, 0, sizeof(*residencies));
	residencies->cpus = calloc(nr_cpus ? nr_cpus : 1, sizeof(*residencies->cpus));
	if (!residencies->cpus)
		return false;
	residencies->nr_cpus = nr_cpus;
	return true;
}

void residency_fini(struct residencies *residencies)
{
	free(residencies->list);
	free(residencies->strangers);
	free(residencies->cpus);
	memset(residencies, 0, sizeof(*residencies));
}

/* --- Events ------------------------------------------------------------- */

static bool add(struct residencies *residencies, uint32_t pid, unsigned int cpu, uint64_t tsc)
{
	if (!grow_from(&residencies->list, sizeof(*residencies->list), residencies->nr,
		       &residencies->nr_room, MIN_ROOM))
		return false;
	residencies->list[residencies->nr++] = (struct residency){pid, cpu, tsc};
	return true;
}

static void begin_at(struct residency_cpu *cpu, uint64_t tsc)
{
	cpu->from = tsc;
	cpu->to = tsc;
}

static void reach(struct residency_cpu *cpu, uint64_t tsc)
{
	if (!cpu->from)
		begin_at(cpu, tsc);
	else if (tsc > cpu->to)
		cpu->to = tsc;
}

bool residency_feed(struct residencies *residencies, const struct btsrec_event *event)
{
	struct residency_cpu *cpu;

	if (event->cpu >= residencies->nr_cpus)
		return true;
	cpu = &residencies->cpus[event->cpu];
	cpu->ran = true;
	switch (event->kind) {
	case BTSREC_EVENT_SWITCH:
		reach(cpu, event->sw.tsc);
		cpu->named |= !event->mm_only;
		return event->mm_only ||
		       (add(residencies, event->sw.prev.pid, event->cpu, event->sw.tsc) &&
			add(residencies, event->sw.next.pid, event->cpu, event->sw.tsc));
	case BTSREC_EVENT_ARM:
		begin_at(cpu, event->resume.tsc);
		cpu->named = true;
		return add(residencies, event->resume.now.pid, event->cpu, event->resume.tsc);
	case BTSREC_EVENT_GAP:
		begin_at(cpu, event->gap.has_resume ? event->gap.resume.tsc : 0);
		cpu->named = event->gap.has_resume;
		cpu->since_n = event->n + 1;
		return true;
	case BTSREC_EVENT_FREEZE:
		reach(cpu, event->freeze.tsc);
		return true;
	default:
		return true;
	}
}

void residency_ran(struct residencies *residencies, unsigned int cpu)
{
	if (cpu < residencies->nr_cpus)
		residencies->cpus[cpu].ran = true;
}

bool residency_is_known(const struct residencies *residencies, unsigned int cpu)
{
	return cpu >= residencies->nr_cpus || residencies->cpus[cpu].named;
}

/* At most one for each beginning of a history and each gap. */
bool residency_switched(struct residencies *residencies, unsigned int cpu, uint64_t n)
{
	if (residency_is_known(residencies, cpu))
		return true;
	if (!grow_from(&residencies->strangers, sizeof(*residencies->strangers),
		       residencies->nr_strangers, &residencies->nr_strangers_room, MIN_ROOM))
		return false;
	residencies->strangers[residencies->nr_strangers++] =
		(struct residency_interval){cpu, residencies->cpus[cpu].since_n, n};
	residencies->cpus[cpu].named = true;
	return true;
}

void residency_blind(struct residencies *residencies, unsigned int cpu)
{
	if (cpu < residencies->nr_cpus)
		residencies->cpus[cpu].blind = true;
}

static int compare_intervals(const void *left, const void *right)
{
	const struct residency_interval *a = left, *b = right;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->end_n < b->end_n ? -1 : a->end_n > b->end_n;
}

static int compare(const void *left, const void *right)
{
	const struct residency *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tsc != b->tsc)
		return a->tsc < b->tsc ? -1 : 1;
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

void residency_end(struct residencies *residencies)
{
	if (residencies->nr)
		qsort(residencies->list, residencies->nr, sizeof(*residencies->list), compare);
	if (residencies->nr_strangers)
		qsort(residencies->strangers, residencies->nr_strangers,
		      sizeof(*residencies->strangers), compare_intervals);
}

/* --- Questions ---------------------------------------------------------- */

bool residency_stranger(const struct residencies *residencies, unsigned int cpu, uint64_t n)
{
	size_t low = 0, high = residencies->nr_strangers;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct residency_interval *interval = &residencies->strangers[middle];

		if (interval->cpu < cpu || (interval->cpu == cpu && interval->end_n <= n))
			low = middle + 1;
		else
			high = middle;
	}
	return low < residencies->nr_strangers && residencies->strangers[low].cpu == cpu &&
	       residencies->strangers[low].first_n <= n;
}

/* The first residency of @pid that is later than @tsc. */
static size_t first_after(const struct residencies *residencies, uint32_t pid, uint64_t tsc)
{
	const struct residency key = {pid, ~0U, tsc};
	size_t low = 0, high = residencies->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&residencies->list[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool covers(const struct residency_cpu *cpu, uint64_t from_tsc, uint64_t to_tsc)
{
	if (cpu->blind)
		return false;
	return !cpu->ran || (cpu->from && cpu->from <= from_tsc && cpu->to >= to_tsc);
}

enum residence residency_between(const struct residencies *residencies, uint32_t pid,
				 unsigned int cpu, uint64_t from_tsc, uint64_t to_tsc,
				 unsigned int *ret_cpu)
{
	if (!pid)
		return RESIDENCE_NOWHERE;
	for (size_t i = first_after(residencies, pid, from_tsc); i < residencies->nr; i++) {
		const struct residency *residency = &residencies->list[i];

		if (residency->pid != pid || residency->tsc >= to_tsc)
			break;
		if (residency->cpu == cpu)
			continue;
		*ret_cpu = residency->cpu;
		return RESIDENCE_ELSEWHERE;
	}
	for (unsigned int other = 0; other < residencies->nr_cpus; other++) {
		if (other == cpu || covers(&residencies->cpus[other], from_tsc, to_tsc))
			continue;
		*ret_cpu = other;
		return RESIDENCE_UNKNOWN;
	}
	return RESIDENCE_NOWHERE;
}
