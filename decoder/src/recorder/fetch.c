// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/fetch.h"

#include <stdlib.h>
#include <string.h>

#include "base/readat.h"

enum btsrec_status fetch_init(struct fetch *fetch, const struct fetch_ring *ring)
{
	memset(fetch, 0, sizeof(*fetch));
	fetch->ring = *ring;
	fetch->window = malloc(FETCH_SLOTS * BTSREC_RECORD_BYTES);
	return fetch->window ? BTSREC_OK : BTSREC_ERR_NOMEM;
}

void fetch_fini(struct fetch *fetch)
{
	free(fetch->window);
	fetch->window = NULL;
}

void fetch_seek(struct fetch *fetch, uint64_t slot, uint64_t nr_slots)
{
	fetch->next_slot = slot;
	fetch->nr_left = nr_slots;
}

void fetch_forget(struct fetch *fetch)
{
	fetch->nr_window = 0;
}

/* How many pages from @page on, up to @nr, follow each other in physical memory too. */
static size_t nr_contiguous(const uint64_t *page_pa, size_t nr)
{
	size_t i = 1;

	while (i < nr && page_pa[i] && page_pa[i] == page_pa[0] + i * BTSREC_PAGE_BYTES)
		i++;
	return i;
}

/* Where the pages from @slot on are. */
static const uint64_t *pages_at(const struct fetch_ring *ring, uint64_t slot)
{
	return ring->page_pa + slot * BTSREC_RECORD_BYTES / BTSREC_PAGE_BYTES;
}

/* All slots of the window at once; false: not all of them are there. */
static bool read_window(struct fetch *fetch, uint64_t nr_slots)
{
	uint64_t nr_bytes = nr_slots * BTSREC_RECORD_BYTES;
	size_t nr_pages = (nr_bytes + BTSREC_PAGE_BYTES - 1) / BTSREC_PAGE_BYTES;

	return image_read_pages(fetch->ring.image, pages_at(&fetch->ring, fetch->window_slot),
				nr_pages, fetch->window);
}

/* Read @nr_bytes from page @page of the window on; mark what is there as valid. */
static enum btsrec_status read_pages(struct fetch *fetch, size_t page, uint64_t nr_bytes,
				     size_t *ret_nr_pages)
{
	const uint64_t *page_pa = pages_at(&fetch->ring, fetch->window_slot) + page;
	size_t nr = (nr_bytes + BTSREC_PAGE_BYTES - 1) / BTSREC_PAGE_BYTES;
	enum btsrec_status status;
	size_t valid_bytes;

	*ret_nr_pages = 1;
	fetch->valid_bytes[page] = 0;
	if (!page_pa[0])
		return BTSREC_OK;
	nr = nr_contiguous(page_pa, nr);
	nr_bytes = min_u64(nr_bytes, nr * BTSREC_PAGE_BYTES);
	status = image_read_some(fetch->ring.image, page_pa[0],
				 fetch->window + page * BTSREC_PAGE_BYTES, nr_bytes, &valid_bytes);
	if (status != BTSREC_OK && status != BTSREC_ERR_NODATA)
		return status;
	/* Of the pages that were asked for together, go on after the first bad one. */
	*ret_nr_pages = status == BTSREC_OK ? nr : valid_bytes / BTSREC_PAGE_BYTES + 1;
	for (size_t i = 0; i < *ret_nr_pages; i++) {
		fetch->valid_bytes[page + i] = min_u64(valid_bytes, BTSREC_PAGE_BYTES);
		valid_bytes -= fetch->valid_bytes[page + i];
	}
	return BTSREC_OK;
}

/* Are all of the first @nr_bytes bytes of the window valid? */
static bool all_valid(const struct fetch *fetch, uint64_t nr_bytes)
{
	for (size_t page = 0; page * BTSREC_PAGE_BYTES < nr_bytes; page++)
		if (fetch->valid_bytes[page] <
		    min_u64(nr_bytes - page * BTSREC_PAGE_BYTES, BTSREC_PAGE_BYTES))
			return false;
	return true;
}

/* What there is of the first @nr_bytes of the window. */
static enum btsrec_status read_parts(struct fetch *fetch, uint64_t nr_bytes)
{
	enum btsrec_status status;
	uint64_t done_bytes;
	size_t nr_pages;

	for (size_t page = 0; page * BTSREC_PAGE_BYTES < nr_bytes; page += nr_pages) {
		done_bytes = page * BTSREC_PAGE_BYTES;
		status = read_pages(fetch, page, nr_bytes - done_bytes, &nr_pages);
		if (status != BTSREC_OK)
			return status;
	}
	fetch->all_valid = all_valid(fetch, nr_bytes);
	return BTSREC_OK;
}

/* Are all bytes of slot @i of the window valid? */
static bool slot_valid(const struct fetch *fetch, uint64_t i)
{
	uint64_t begin = i * BTSREC_RECORD_BYTES;
	uint64_t end = begin + BTSREC_RECORD_BYTES;
	uint64_t page = begin / BTSREC_PAGE_BYTES;
	uint64_t page_end = (page + 1) * BTSREC_PAGE_BYTES;

	if (fetch->valid_bytes[page] < min_u64(end, page_end) - page * BTSREC_PAGE_BYTES)
		return false;
	return end <= page_end || fetch->valid_bytes[page + 1] >= end - page_end;
}

static struct btsrec_record *slot_address(const struct fetch *fetch, uint64_t i)
{
	return (struct btsrec_record *)(fetch->window + i * BTSREC_RECORD_BYTES);
}

static void settle_window(struct fetch *fetch)
{
	const struct fetch_settle *settle = &fetch->ring.settle;

	for (uint64_t i = 0; settle->fn && i < fetch->nr_window; i++) {
		struct btsrec_record *record = slot_address(fetch, i);

		if ((fetch->all_valid || slot_valid(fetch, i)) &&
		    record_is_branch(record, fetch->ring.va_bits))
			settle->fn(settle->arg, settle->cr3, record);
	}
}

enum btsrec_status fetch_load(struct fetch *fetch, uint64_t slot)
{
	uint64_t nr_ring = fetch->ring.ring_bytes / BTSREC_RECORD_BYTES;
	uint64_t first = slot / FETCH_SLOTS * FETCH_SLOTS;
	uint64_t nr_slots = min_u64(FETCH_SLOTS, nr_ring - first);
	enum btsrec_status status = BTSREC_OK;

	fetch->nr_window = 0;
	fetch->window_slot = first;
	fetch->all_valid = read_window(fetch, nr_slots);
	if (!fetch->all_valid)
		status = read_parts(fetch, nr_slots * BTSREC_RECORD_BYTES);
	if (status)
		return status;
	fetch->nr_window = nr_slots;
	settle_window(fetch);
	return BTSREC_OK;
}

bool fetch_has(const struct fetch *fetch, uint64_t slot)
{
	/* A slot below the window makes the difference huge. */
	return slot - fetch->window_slot < fetch->nr_window;
}

enum btsrec_status fetch_next(struct fetch *fetch, struct ring_run *ret)
{
	enum btsrec_status status = BTSREC_OK;
	uint64_t i, nr, nr_max;
	bool valid;

	memset(ret, 0, sizeof(*ret));
	if (!fetch->nr_left)
		return BTSREC_OK;
	if (!fetch_has(fetch, fetch->next_slot))
		status = fetch_load(fetch, fetch->next_slot);
	if (status != BTSREC_OK)
		return status;
	i = fetch->next_slot - fetch->window_slot;
	nr_max = min_u64(fetch->nr_left, fetch->nr_window - i);
	valid = fetch->all_valid || slot_valid(fetch, i);
	nr = fetch->all_valid ? nr_max : 1;
	while (nr < nr_max && slot_valid(fetch, i + nr) == valid)
		nr++;
	ret->records = valid ? slot_address(fetch, i) : NULL;
	ret->gap = BTSREC_GAP_NOT_IN_DUMP;
	ret->slot = fetch->next_slot;
	ret->nr_slots = nr;
	fetch->next_slot += nr;
	fetch->nr_left -= nr;
	return BTSREC_OK;
}

enum btsrec_status fetch_one(struct fetch *fetch, uint64_t slot, struct btsrec_record *ret)
{
	enum btsrec_status status;
	struct ring_run run;

	fetch_seek(fetch, slot, 1);
	status = fetch_next(fetch, &run);
	if (status != BTSREC_OK)
		return status;
	if (!run.records)
		return BTSREC_ERR_NODATA;
	*ret = *run.records;
	return BTSREC_OK;
}
