// SPDX-License-Identifier: GPL-2.0-or-later
#include "fuzz_image.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#ifdef __AFL_COMPILER
#define MAX_AFL_BYTES	(1 << 20)
#endif

/*
 * Memory that was freed is kept from use for some executions rather than for thousands: it
 * was always fresh from the kernel, which has to clear it.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=4:malloc_context_size=4:clear_shadow_mmap_threshold=16777216:"
	       "allocator_release_to_os_interval_ms=-1";
}

static const uint8_t *find_page(const struct fuzz_memory *memory, uint64_t page_pa)
{
	for (size_t at = 0; at + FUZZ_PAGE_BYTES <= memory->nr_bytes; at += FUZZ_PAGE_BYTES) {
		uint64_t pa;

		memcpy(&pa, memory->bytes + at, sizeof(pa));
		if (pa == page_pa)
			return memory->bytes + at + sizeof(pa);
	}
	return NULL;
}

static uint64_t max_pa(const struct fuzz_memory *memory)
{
	uint64_t pa, highest_pa = 0;

	for (size_t at = 0; at + FUZZ_PAGE_BYTES <= memory->nr_bytes; at += FUZZ_PAGE_BYTES) {
		memcpy(&pa, memory->bytes + at, sizeof(pa));
		if (pa > highest_pa && pa < FUZZ_MAX_PA)
			highest_pa = pa;
	}
	return highest_pa + BTSREC_PAGE_BYTES;
}

static enum btsrec_status memory_read(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				      size_t *ret_bytes)
{
	const struct fuzz_memory *memory = arg;

	*ret_bytes = 0;
	while (*ret_bytes < len_bytes) {
		uint64_t at_pa = pa + *ret_bytes, page_pa = at_pa & ~(BTSREC_PAGE_BYTES - 1ULL);
		size_t nr_bytes = BTSREC_PAGE_BYTES - (at_pa - page_pa);
		const uint8_t *page = find_page(memory, page_pa);

		if (!page)
			return BTSREC_ERR_NODATA;
		if (nr_bytes > len_bytes - *ret_bytes)
			nr_bytes = len_bytes - *ret_bytes;
		memcpy((uint8_t *)buf + *ret_bytes, page + (at_pa - page_pa), nr_bytes);
		*ret_bytes += nr_bytes;
	}
	return BTSREC_OK;
}

bool fuzz_read_pages(void *arg, const uint64_t *page_pa, size_t nr, void *buf)
{
	uint8_t *at = buf;
	size_t nr_bytes;

	for (size_t i = 0; i < nr; i++, at += BTSREC_PAGE_BYTES)
		if (memory_read(arg, page_pa[i], at, BTSREC_PAGE_BYTES, &nr_bytes))
			return false;
	return true;
}

/* Right the checksum at @crc_at of the structure at @page, as the recorder would. */
static void fix_checksum(uint8_t *page, size_t crc_at, size_t nr_bytes)
{
	uint32_t sum;

	memset(page + crc_at, 0, sizeof(sum));
	sum = (uint32_t)crc32(0, page, (uInt)nr_bytes);
	memcpy(page + crc_at, &sum, sizeof(sum));
}

static void fix_page(uint8_t *page)
{
	uint64_t magic;

	memcpy(&magic, page, sizeof(magic));
	if (magic == BTSREC_ROOT_MAGIC)
		fix_checksum(page, offsetof(struct btsrec_root, crc32), BTSREC_ROOT_LIVE_OFFSET);
	else if (magic == BTSREC_CPU_MAGIC)
		fix_checksum(page, offsetof(struct btsrec_cpu, crc32), BTSREC_CPU_LIVE_OFFSET);
}

void fuzz_fix_pages(uint8_t *bytes, size_t nr_bytes)
{
	for (size_t at = 0; at + FUZZ_PAGE_BYTES <= nr_bytes; at += FUZZ_PAGE_BYTES)
		fix_page(bytes + at + sizeof(uint64_t));
}

struct btsrec_image fuzz_plain_image(struct fuzz_memory *memory)
{
	static char note[BTSREC_PAGE_BYTES + 1];
	const uint8_t *page;

#ifdef __AFL_COMPILER
	/* AFL++ does not ask the mutator in fuzz_mutate.c. */
	static uint8_t righted[MAX_AFL_BYTES];

	if (memory->nr_bytes <= sizeof(righted)) {
		memcpy(righted, memory->bytes, memory->nr_bytes);
		fuzz_fix_pages(righted, memory->nr_bytes);
		memory->bytes = righted;
	}
#endif
	page = find_page(memory, FUZZ_NOTE_PA);
	if (page)
		memcpy(note, page, BTSREC_PAGE_BYTES);
	return (struct btsrec_image){
		.size = sizeof(struct btsrec_image),
		.read_pa = memory_read,
		.vmcoreinfo = page ? note : NULL,
		.max_pa = max_pa(memory),
		.arg = memory,
	};
}

struct btsrec *fuzz_session(struct fuzz_memory *memory)
{
	struct btsrec_image image = fuzz_plain_image(memory);
	struct btsrec *rec = btsrec_new();

	if (rec && btsrec_open_image(rec, &image) == BTSREC_OK &&
	    btsrec_locate(rec, 0, BTSREC_SCAN_ALL) == BTSREC_OK)
		return rec;
	btsrec_free(rec);
	return NULL;
}

static bool forget(void *arg, const char *text, size_t len_bytes)
{
	static char room[4096];

	(void)arg;
	/* That all of it may be read is checked by the sanitizer's memcpy(). */
	for (size_t at = 0; at < len_bytes; at += sizeof(room))
		memcpy(room, text + at, len_bytes - at < sizeof(room) ? len_bytes - at :
		       sizeof(room));
	return true;
}

const struct btsrec_sink fuzz_sink = { .write = forget };

/* Was a large part of an execution when each byte was checked to be allowed to be read. */
__attribute__((no_sanitize("address", "undefined")))
static bool is_text(const char *text, size_t len_bytes)
{
	bool other = false;

	for (size_t i = 0; i < len_bytes; i++)
		other |= (text[i] < ' ' || text[i] > '~') & (text[i] != '\n') & (text[i] != '\t');
	return !other;
}

/* Printable ASCII, tabs and ends of lines: nothing that a terminal obeys or that is no text. */
static bool check_text(void *arg, const char *text, size_t len_bytes)
{
	(void)forget(arg, text, len_bytes);
	if (!is_text(text, len_bytes))
		abort();
	return true;
}

const struct btsrec_sink fuzz_text = { .write = check_text };
