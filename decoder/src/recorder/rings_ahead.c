// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/rings_ahead.h"

#include "base/helper.h"
#include "source/image.h"
#include "base/readat.h"
#include "recorder/session.h"

/* At once: who wants to go on waits for no more. */
#define NR_TOGETHER	16

/* How many pages is reading ahead of the session? */
static size_t nr_ahead(const struct btsrec *rec)
{
	const struct rings_ahead *rings = &rec->rings_ahead;
	size_t nr = rings->page;

	for (unsigned int i = rings->first_cpu; i < rings->cpu; i++) {
		const struct located_cpu *cpu = session_cpu(rec, i);

		nr += cpu ? cpu->page.nr_ring_pages : 0;
	}
	return nr;
}

static void next_ring(struct rings_ahead *rings)
{
	rings->cpu++;
	rings->page = 0;
}

/* The next pages of @cpu's ring that are there, up to @nr_max; 0: there are no more. */
static size_t next_pages(struct rings_ahead *rings, const struct located_cpu *cpu, size_t nr_max,
			 uint64_t *page_pa)
{
	size_t nr = 0;

	while (cpu && nr < nr_max && rings->page < cpu->page.nr_ring_pages) {
		page_pa[nr] = cpu->ring_pa[rings->page++];
		nr += page_pa[nr] != 0;
	}
	return nr;
}

static bool is_far_enough(const struct btsrec *rec)
{
	return rec->rings_ahead.cpu >= rec->rings_ahead.end_cpu ||
	       nr_ahead(rec) >= RINGS_AHEAD_MAX_PAGES;
}

/* What cannot be read is told to who wants it. */
static void *work(void *arg)
{
	struct btsrec *rec = arg;
	struct rings_ahead *rings = &rec->rings_ahead;
	uint8_t pages[NR_TOGETHER * BTSREC_PAGE_BYTES];
	uint64_t page_pa[NR_TOGETHER];
	size_t nr;

	while (!is_far_enough(rec) && !__atomic_load_n(&rings->ended, __ATOMIC_RELAXED)) {
		nr = next_pages(rings, session_cpu(rec, rings->cpu),
				min_u64(RINGS_AHEAD_MAX_PAGES - nr_ahead(rec), NR_TOGETHER),
				page_pa);
		if (nr) {
			__atomic_store_n(&rings->at_pa, *page_pa, __ATOMIC_RELAXED);
			(void)image_read_pages(&rec->given, page_pa, nr, pages);
		}
		if (!nr || __atomic_load_n(&rings->met_pa, __ATOMIC_RELAXED) == *page_pa)
			next_ring(rings);
	}
	__atomic_store_n(&rings->at_pa, 0, __ATOMIC_RELAXED);
	return NULL;
}

/* The pages would be unpacked twice; those of the next ring will be wanted, too. */
void rings_ahead_meet(struct btsrec *rec, const uint64_t *page_pa, size_t nr)
{
	struct rings_ahead *rings = &rec->rings_ahead;
	uint64_t at_pa = __atomic_load_n(&rings->at_pa, __ATOMIC_RELAXED);

	for (size_t i = 0; at_pa && i < nr; i++)
		if (page_pa[i] == at_pa)
			__atomic_store_n(&rings->met_pa, at_pa, __ATOMIC_RELAXED);
}

void rings_ahead_want(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus)
{
	struct rings_ahead *rings = &rec->rings_ahead;

	rings_ahead_end(rec);
	rings->first_cpu = cpus && nr_cpus ? *cpus : 0;
	rings->end_cpu = cpus ? rings->first_cpu + 1 : btsrec_nr_cpu_ids(rec);
	rings->cpu = rings->first_cpu;
	rings->page = 0;
}

/* A source that expects pages is packed, and reads whole pages only to keep them. */
void rings_ahead_begin(struct btsrec *rec)
{
	struct rings_ahead *rings = &rec->rings_ahead;

	if (rings->running || rec->nr_threads < 2 || !rec->image.expect ||
	    !rec->image.read_pages || is_far_enough(rec))
		return;
	rings->ended = false;
	rings->met_pa = 0;
	rings->running = helper_start(&rings->thread, work, rec);
}

/* There must be room for that ring, too, which is going to be read again. */
void rings_ahead_behind(struct btsrec *rec, unsigned int cpu)
{
	struct rings_ahead *rings = &rec->rings_ahead;

	if (rings->running || session_cpu(rec, cpu)->page.nr_ring_pages > RINGS_AHEAD_MAX_PAGES)
		return;
	rings->first_cpu = cpu + 1;
	if (rings->cpu <= cpu) {
		rings->cpu = cpu + 1;
		rings->page = 0;
	}
	rings_ahead_begin(rec);
}

void rings_ahead_end(struct btsrec *rec)
{
	struct rings_ahead *rings = &rec->rings_ahead;

	if (!rings->running)
		return;
	__atomic_store_n(&rings->ended, true, __ATOMIC_RELAXED);
	pthread_join(rings->thread, NULL);
	rings->running = false;
}

void rings_ahead_forget(struct btsrec *rec)
{
	rings_ahead_end(rec);
	rec->rings_ahead.cpu = rec->rings_ahead.end_cpu = 0;
}
