/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slots of one ring out of the image, in large runs.  Pages of a ring are
 * scattered and 24 does not divide 4096: a slot may lie in two pages, and is
 * only there if both are.
 */
#ifndef BTSREC_FETCH_H
#define BTSREC_FETCH_H

#include "base/bounds.h"
#include "source/image.h"
#include "recorder/record.h"
#include "recorder/ring.h"

/* 512 slots fill three pages exactly; 16 times that amortises the reads. */
#define FETCH_SLOTS BOUND(8192, 512)
#define FETCH_PAGES (FETCH_SLOTS * BTSREC_RECORD_BYTES / BTSREC_PAGE_BYTES)

/**
 * struct fetch_settle - what makes of a record the branch that the processor took
 * @fn: NULL: a record is that already.
 * @cr3: of the code that the newest ones are of.
 */
struct fetch_settle {
	void (*fn)(void *arg, uint64_t cr3, struct btsrec_record *record);
	void *arg;
	uint64_t cr3;
};

/**
 * struct fetch_ring - where the slots are
 * @image, @page_pa: borrowed; page i of the ring is at page_pa[i], 0: not in the dump.
 * @ring_bytes: multiple of BTSREC_RECORD_BYTES.
 * @va_bits: width of a linear address, for record_classify().
 * @settle: of branches.
 */
struct fetch_ring {
	const struct btsrec_image *image;
	const uint64_t *page_pa;
	uint64_t ring_bytes;
	unsigned int va_bits;
	struct fetch_settle settle;
};

/**
 * struct fetch - a reader of one ring
 * @next_slot, @nr_left: still to be handed out.
 * @window_slot: multiple of 512, first slot in the window; @nr_window: slots in it, 0: none
 *	yet.
 * @all_valid: all pages of the window are there and whole.
 * @valid_bytes: per page of the window, how many leading bytes are valid, unless @all_valid.
 * @window: room for FETCH_SLOTS; owned.
 */
struct fetch {
	struct fetch_ring ring;
	uint64_t next_slot;
	uint64_t nr_left;
	uint64_t window_slot;
	uint64_t nr_window;
	bool all_valid;
	uint32_t valid_bytes[FETCH_PAGES];
	uint8_t *window;
};

/** fetch_init() - BTSREC_OK or BTSREC_ERR_NOMEM; fetch_fini() is allowed after both. */
enum btsrec_status fetch_init(struct fetch *fetch, const struct fetch_ring *ring);

/** fetch_fini() - free the window. */
void fetch_fini(struct fetch *fetch);

/** fetch_seek() - hand out @nr_slots slots from @slot on; all within the ring. */
void fetch_seek(struct fetch *fetch, uint64_t slot, uint64_t nr_slots);

/** fetch_load() - read the window that has @slot; as fetch_next() */
enum btsrec_status fetch_load(struct fetch *fetch, uint64_t slot);

/** fetch_has() - is @slot in the window? */
bool fetch_has(const struct fetch *fetch, uint64_t slot);

/** fetch_forget() - drop the window, after the struct has been restored from a copy. */
void fetch_forget(struct fetch *fetch);

/**
 * fetch_next() - the next run: records, or BTSREC_GAP_NOT_IN_DUMP
 *
 * Records are valid until the next call.  *@ret has nr_slots 0 at the end and on
 * failure.
 *
 * Return: BTSREC_OK, or what the image said other than that a page is missing.
 */
enum btsrec_status fetch_next(struct fetch *fetch, struct ring_run *ret);

/**
 * fetch_one() - a copy of the one slot @slot
 *
 * Return: BTSREC_OK; BTSREC_ERR_NODATA: not in the dump; or what the image said.
 */
enum btsrec_status fetch_one(struct fetch *fetch, uint64_t slot, struct btsrec_record *ret);

#endif /* BTSREC_FETCH_H */
