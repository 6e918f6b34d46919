/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows of a ring that are read before they are asked for, each by the thread that is
 * going to word it: its records then never leave the cache of one processor.  Whoever asks
 * for them, in their order, is told which records are branches and need not look.
 *
 * Not locked: the press calls everything but ahead_read() with its lock held.
 */
#ifndef BTSREC_AHEAD_H
#define BTSREC_AHEAD_H

#include "recorder/fetch.h"

/* Three pages have 512 slots, of which a window has a multiple, at most so many. */
#define AHEAD_STEP_SLOTS 512
#define AHEAD_MAX_SLOTS	BOUND(14 * AHEAD_STEP_SLOTS, AHEAD_STEP_SLOTS)
#define AHEAD_PAGES	(AHEAD_MAX_SLOTS * BTSREC_RECORD_BYTES / BTSREC_PAGE_BYTES)

_Static_assert(AHEAD_MAX_SLOTS <= FETCH_SLOTS, "whoever asks may have to read it");

/* Windows of each thread: some to be worded, some to be asked for. */
#define AHEAD_WINDOWS_EACH 3

enum ahead_state {
	AHEAD_FREE,
	AHEAD_CLAIMED,	/* to be read, by its thread, without the lock */
	AHEAD_READ,
	AHEAD_FAILED,	/* not all of it is there */
};

/**
 * struct ahead_window - @nr_slots slots from @slot on
 * @thread: whose it is.
 * @nr_users: who still needs the records.
 * @all_branches, @branches: as in struct fetch_window.
 * @populated: it has been used.
 */
struct ahead_window {
	unsigned int thread;
	enum ahead_state state;
	unsigned int nr_users;
	struct fetch_ring ring;
	uint64_t slot;
	uint64_t nr_slots;
	bool all_branches;
	bool populated;
	uint64_t branches[AHEAD_MAX_SLOTS / RECORD_GROUP / 64];
	uint8_t bytes[AHEAD_PAGES * BTSREC_PAGE_BYTES];
};

/**
 * struct ahead - the windows of all threads, and a way through a part of a ring
 * @window_slots: of each of the way, but for the last of a ring.
 * @windows: @nr_windows of them, AHEAD_WINDOWS_EACH of each thread; owned.
 * @ring: where the way goes; @next_slot: not claimed yet; @end_slot: behind it.
 * @claimed: in the order of the way; numbers @nr_given up to @nr_claimed have not been given.
 * @given: the newest that was, or NULL; one of its users is who asked for it.
 */
struct ahead {
	uint64_t window_slots;
	size_t nr_windows;
	struct ahead_window *windows;
	struct fetch_ring ring;
	uint64_t next_slot;
	uint64_t end_slot;
	struct ahead_window **claimed;
	uint64_t nr_claimed;
	uint64_t nr_given;
	struct ahead_window *given;
};

/** ahead_init() - no way yet; false: out of memory.  ahead_fini() is allowed in both cases. */
bool ahead_init(struct ahead *ahead, unsigned int nr_threads);

/** ahead_fini() - free everything; no window is being read or used */
void ahead_fini(struct ahead *ahead);

/**
 * ahead_on_way() - is the window of @slot the next one to be given, on a way to @end_slot?
 *
 * If not, ahead_stop() keeps everybody from claiming more, and when ahead_idle() says that
 * nobody is reading, ahead_begin() makes it so, with windows of @window_slots, a multiple of
 * AHEAD_STEP_SLOTS, or AHEAD_MAX_SLOTS if that is less.
 */
bool ahead_on_way(const struct ahead *ahead, const struct fetch_ring *ring, uint64_t slot,
		  uint64_t end_slot);
void ahead_stop(struct ahead *ahead);
bool ahead_idle(const struct ahead *ahead);
void ahead_begin(struct ahead *ahead, const struct fetch_ring *ring, uint64_t slot,
		 uint64_t end_slot, uint64_t window_slots);

/** ahead_claim() - the next window, for @thread to read; NULL: none, or none of its is free */
struct ahead_window *ahead_claim(struct ahead *ahead, unsigned int thread);

/** ahead_read() - read @window and look through it; for the new state */
enum ahead_state ahead_read(struct ahead_window *window);

/** ahead_oldest() - the next one to be given, if anybody has claimed it */
static inline struct ahead_window *ahead_oldest(const struct ahead *ahead)
{
	if (ahead->nr_given == ahead->nr_claimed)
		return NULL;
	return ahead->claimed[ahead->nr_given % ahead->nr_windows];
}

/** ahead_give() - ahead_oldest(), which is AHEAD_READ or AHEAD_FAILED, in place of @given */
void ahead_give(struct ahead *ahead);

/** ahead_drop() - one user less */
void ahead_drop(struct ahead_window *window);

/** ahead_has() - are @records in @window? */
static inline bool ahead_has(const struct ahead_window *window,
			     const struct btsrec_record *records)
{
	return window && (uintptr_t)records - (uintptr_t)window->bytes < sizeof(window->bytes);
}

#endif /* BTSREC_AHEAD_H */
