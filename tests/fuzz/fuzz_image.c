// SPDX-License-Identifier: GPL-2.0-or-later
#include "fuzz_image.h"

#include <string.h>

#include <zlib.h>

static bool page_is_there(const struct fuzz_memory *memory, uint64_t pa)
{
	size_t i;

	for (i = 0; i < BTSREC_PAGE_BYTES; i++)
		if (memory->bytes[pa + i] != 0xff)
			return true;
	return false;
}

static enum btsrec_status memory_read(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				      size_t *ret_bytes)
{
	const struct fuzz_memory *memory = arg;

	*ret_bytes = 0;
	while (*ret_bytes < len_bytes) {
		uint64_t at_pa = pa + *ret_bytes, page_pa = at_pa & ~(BTSREC_PAGE_BYTES - 1ULL);
		size_t nr_bytes = BTSREC_PAGE_BYTES - (at_pa - page_pa);

		if (page_pa > memory->nr_bytes || memory->nr_bytes - page_pa < BTSREC_PAGE_BYTES ||
		    !page_is_there(memory, page_pa))
			return BTSREC_ERR_NODATA;
		if (nr_bytes > len_bytes - *ret_bytes)
			nr_bytes = len_bytes - *ret_bytes;
		memcpy((uint8_t *)buf + *ret_bytes, memory->bytes + at_pa, nr_bytes);
		*ret_bytes += nr_bytes;
	}
	return BTSREC_OK;
}

struct btsrec *fuzz_session(struct fuzz_memory *memory)
{
	struct btsrec_image image = {
		.read_pa = memory_read,
		.max_pa = memory->nr_bytes,
		.arg = memory,
	};
	struct btsrec *rec = btsrec_new();

	if (rec && btsrec_open_image(rec, &image) == BTSREC_OK &&
	    btsrec_locate(rec, 0, BTSREC_SCAN_ALL) == BTSREC_OK)
		return rec;
	btsrec_free(rec);
	return NULL;
}

static bool forget(void *arg, const char *text, size_t len_bytes)
{
	volatile char byte;

	(void)arg;
	while (len_bytes)
		byte = text[--len_bytes];
	(void)byte;
	return true;
}

const struct btsrec_sink fuzz_sink = { .write = forget };

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

/* Every other mutation gets right checksums, else the fuzzer stays in front of them. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t nr_bytes, size_t max_bytes,
			       unsigned int seed)
{
	size_t page;

	nr_bytes = LLVMFuzzerMutate(bytes, nr_bytes, max_bytes);
	for (page = 0; seed % 2 && page + BTSREC_PAGE_BYTES <= nr_bytes; page += BTSREC_PAGE_BYTES)
		fix_page(bytes + page);
	return nr_bytes;
}
