// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/ahead.h"

#include <stdlib.h>
#include <string.h>

#include "base/populate.h"
#include "base/readat.h"

#define NR_WORDS (AHEAD_MAX_SLOTS / RECORD_GROUP / 64)

bool ahead_init(struct ahead *ahead, unsigned int nr_threads)
{
	size_t nr = (size_t)nr_threads * AHEAD_WINDOWS_EACH;

	memset(ahead, 0, sizeof(*ahead));
	ahead->nr_windows = nr;
	ahead->windows = calloc(nr, sizeof(*ahead->windows));
	ahead->claimed = calloc(nr, sizeof(*ahead->claimed));
	if (!ahead->windows || !ahead->claimed)
		return false;
	for (size_t i = 0; i < nr; i++)
		ahead->windows[i].thread = (unsigned int)(i / AHEAD_WINDOWS_EACH);
	return true;
}

void ahead_fini(struct ahead *ahead)
{
	free(ahead->windows);
	free(ahead->claimed);
}

/* --- The way ------------------------------------------------------------ */

static bool same_ring(const struct fetch_ring *a, const struct fetch_ring *b)
{
	return a->image == b->image && a->page_pa == b->page_pa &&
	       a->ring_bytes == b->ring_bytes && a->va_bits == b->va_bits;
}

/* Of the one that has @slot. */
static uint64_t window_begin(const struct ahead *ahead, uint64_t slot)
{
	return slot / ahead->window_slots * ahead->window_slots;
}

bool ahead_on_way(const struct ahead *ahead, const struct fetch_ring *ring, uint64_t slot,
		  uint64_t end_slot)
{
	const struct ahead_window *oldest = ahead_oldest(ahead);
	uint64_t next_slot = oldest ? oldest->slot : ahead->next_slot;

	return same_ring(&ahead->ring, ring) && ahead->end_slot == end_slot &&
	       next_slot == window_begin(ahead, slot) && next_slot < end_slot;
}

void ahead_stop(struct ahead *ahead)
{
	ahead->next_slot = 0;
	ahead->end_slot = 0;
}

bool ahead_idle(const struct ahead *ahead)
{
	for (size_t i = 0; i < ahead->nr_windows; i++)
		if (ahead->windows[i].state == AHEAD_CLAIMED)
			return false;
	return true;
}

void ahead_begin(struct ahead *ahead, const struct fetch_ring *ring, uint64_t slot,
		 uint64_t end_slot, uint64_t window_slots)
{
	while (ahead_oldest(ahead))
		ahead_give(ahead);
	ahead->window_slots = min_u64(window_slots, AHEAD_MAX_SLOTS);
	ahead->ring = *ring;
	ahead->next_slot = window_begin(ahead, slot);
	ahead->end_slot = end_slot;
}

/* --- Windows ------------------------------------------------------------ */

static struct ahead_window *free_window(struct ahead *ahead, unsigned int thread)
{
	struct ahead_window *windows = &ahead->windows[(size_t)thread * AHEAD_WINDOWS_EACH];

	for (size_t i = 0; i < AHEAD_WINDOWS_EACH; i++)
		if (windows[i].state == AHEAD_FREE)
			return &windows[i];
	return NULL;
}

struct ahead_window *ahead_claim(struct ahead *ahead, unsigned int thread)
{
	uint64_t nr_ring = ahead->ring.ring_bytes / BTSREC_RECORD_BYTES;
	struct ahead_window *window;

	if (ahead->next_slot >= ahead->end_slot)
		return NULL;
	window = free_window(ahead, thread);
	if (!window)
		return NULL;
	window->state = AHEAD_CLAIMED;
	window->nr_users = 1;
	window->ring = ahead->ring;
	window->slot = ahead->next_slot;
	window->nr_slots = min_u64(nr_ring - window->slot, ahead->window_slots);
	ahead->next_slot += ahead->window_slots;
	ahead->claimed[ahead->nr_claimed++ % ahead->nr_windows] = window;
	return window;
}

/* Most windows have nothing else, and to see just that is faster. */
static bool all_are_branches(const struct ahead_window *window)
{
	const struct btsrec_record *records = (const struct btsrec_record *)window->bytes;

	return window->nr_slots % RECORD_GROUP == 0 &&
	       record_nr_branches(records, window->nr_slots, window->ring.va_bits) ==
	       window->nr_slots;
}

static void look_through(struct ahead_window *window)
{
	const struct btsrec_record *records = (const struct btsrec_record *)window->bytes;
	uint64_t nr_groups = window->nr_slots / RECORD_GROUP, group = 0;

	window->all_branches = all_are_branches(window);
	if (window->all_branches)
		return;
	for (size_t i = 0; i < NR_WORDS; i++) {
		uint64_t word = 0;

		for (; group < nr_groups && group < (i + 1) * 64; group++) {
			bool are = record_are_branches(records + group * RECORD_GROUP, RECORD_GROUP,
						       window->ring.va_bits);

			word |= (uint64_t)are << group % 64;
		}
		window->branches[i] = word;
	}
}

enum ahead_state ahead_read(struct ahead_window *window)
{
	if (!window->populated)
		populate(window->bytes, window->nr_slots * BTSREC_RECORD_BYTES);
	window->populated = true;
	if (!fetch_slots(&window->ring, window->slot, window->nr_slots, window->bytes))
		return AHEAD_FAILED;
	look_through(window);
	return AHEAD_READ;
}

void ahead_give(struct ahead *ahead)
{
	struct ahead_window *window = ahead_oldest(ahead);

	if (ahead->given)
		ahead_drop(ahead->given);
	ahead->given = window;
	ahead->nr_given++;
}

void ahead_drop(struct ahead_window *window)
{
	if (!--window->nr_users)
		window->state = AHEAD_FREE;
}
