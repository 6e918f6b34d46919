// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How images change: a blind change of the whole shifts every page after it, and a
 * checksum keeps what is left in front of the door.  So most changes stay in a
 * page.  Or they carry a word or a record of the image, such as an address, to
 * another place in it.  Most get right checksums afterwards.
 */
#include <string.h>

#include "fuzz_image.h"

#define WORD_BYTES	8

static size_t pick(unsigned int *seed, size_t nr)
{
	*seed = *seed * 1103515245u + 12345u;
	return nr ? (*seed >> 8) % nr : 0;
}

/* A page, with its address one time in eight. */
static void change_page(uint8_t *page, unsigned int *seed)
{
	size_t skipped = pick(seed, 8) ? sizeof(uint64_t) : 0, nr_bytes = FUZZ_PAGE_BYTES - skipped;
	uint8_t buf[FUZZ_PAGE_BYTES];

	memcpy(buf, page + skipped, nr_bytes);
	memcpy(page + skipped, buf, LLVMFuzzerMutate(buf, nr_bytes, nr_bytes));
}

static uint8_t *pick_unit(uint8_t *bytes, size_t nr_pages, size_t unit_bytes, unsigned int *seed)
{
	return bytes + pick(seed, nr_pages) * FUZZ_PAGE_BYTES + sizeof(uint64_t) +
	       pick(seed, BTSREC_PAGE_BYTES / unit_bytes) * unit_bytes;
}

/* Copy @unit_bytes, aligned to such, from anywhere to anywhere in the pages. */
static void carry(uint8_t *bytes, size_t nr_pages, size_t unit_bytes, unsigned int *seed)
{
	const uint8_t *from = pick_unit(bytes, nr_pages, unit_bytes, seed);

	memmove(pick_unit(bytes, nr_pages, unit_bytes, seed), from, unit_bytes);
}

/* A page less, as of a dump that left it out. */
static size_t drop_page(uint8_t *bytes, size_t nr_bytes, size_t nr_pages, unsigned int *seed)
{
	size_t at = pick(seed, nr_pages) * FUZZ_PAGE_BYTES;

	memmove(bytes + at, bytes + at + FUZZ_PAGE_BYTES, nr_bytes - at - FUZZ_PAGE_BYTES);
	return nr_bytes - FUZZ_PAGE_BYTES;
}

/* A change of one word by a little, as of a count, an index or an address. */
static void nudge(uint8_t *word, unsigned int *seed)
{
	uint64_t value;

	memcpy(&value, word, sizeof(value));
	value += (1ULL << pick(seed, 64)) * (pick(seed, 2) ? 1 : -1ULL);
	memcpy(word, &value, sizeof(value));
}

static size_t change_text(uint8_t *bytes, size_t nr_bytes, size_t max_bytes, unsigned int *seed)
{
	size_t at = fuzz_text_at(nr_bytes), room_bytes = max_bytes - at;

	if (at == nr_bytes) {
		change_page(bytes + pick(seed, at / FUZZ_PAGE_BYTES) * FUZZ_PAGE_BYTES, seed);
		return nr_bytes;
	}
	if (room_bytes >= FUZZ_PAGE_BYTES)
		room_bytes = FUZZ_PAGE_BYTES - 1;
	return at + LLVMFuzzerMutate(bytes + at, nr_bytes - at, room_bytes);
}

static size_t change_image(uint8_t *bytes, size_t nr_bytes, size_t max_bytes, unsigned int *seed)
{
	size_t nr_pages = nr_bytes / FUZZ_PAGE_BYTES;

	switch (nr_pages ? pick(seed, 9) : 0) {
	case 0:
		return LLVMFuzzerMutate(bytes, nr_bytes, max_bytes);
	case 1:
	case 2:
		change_page(bytes + pick(seed, nr_pages) * FUZZ_PAGE_BYTES, seed);
		return nr_bytes;
	case 3:
		carry(bytes, nr_pages, WORD_BYTES, seed);
		return nr_bytes;
	case 4:
		carry(bytes, nr_pages, BTSREC_RECORD_BYTES, seed);
		return nr_bytes;
	case 5:
		nudge(pick_unit(bytes, nr_pages, WORD_BYTES, seed), seed);
		return nr_bytes;
	case 6:
		return drop_page(bytes, nr_bytes, nr_pages, seed);
	default:
		return change_text(bytes, nr_bytes, max_bytes, seed);
	}
}

/* One of eight mutations keeps its wrong checksums: they are input, too. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t nr_bytes, size_t max_bytes,
			       unsigned int seed)
{
	bool keep_sums = pick(&seed, 8) == 0;

	nr_bytes = change_image(bytes, nr_bytes, max_bytes, &seed);
	if (!keep_sums)
		fuzz_fix_pages(bytes, nr_bytes);
	return nr_bytes;
}
