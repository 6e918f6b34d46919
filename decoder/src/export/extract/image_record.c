// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/extract/image_record.h"

/* The lines [@first, @last] as bits. */
static uint64_t line_bits(unsigned int first, unsigned int last)
{
	return (UINT64_MAX >> (63 - last)) & (UINT64_MAX << first);
}

static enum btsrec_status remember(struct image_record *image_record, uint64_t pa, size_t nr_bytes)
{
	while (nr_bytes) {
		uint64_t offset = pa % BTSREC_PAGE_BYTES, page_pa = pa - offset;
		size_t here_bytes = BTSREC_PAGE_BYTES - offset;

		if (here_bytes > nr_bytes)
			here_bytes = nr_bytes;
		if (page_pa) {
			struct pageset_page *page = pageset_get(&image_record->pages, page_pa);

			if (!page)
				return BTSREC_ERR_NOMEM;
			page->bits |=
				line_bits(offset / IMAGE_RECORD_LINE_BYTES,
					  (offset + here_bytes - 1) / IMAGE_RECORD_LINE_BYTES);
		}
		pa += here_bytes;
		nr_bytes -= here_bytes;
	}
	return BTSREC_OK;
}

/* A window of a ring has fewer. */
#define MAX_TOGETHER	64

/* Whole pages, as of a ring, without waiting for a reader of something else; false: not all. */
static bool read_whole(const struct btsrec_image *image, uint64_t pa, uint8_t *buf,
		       size_t len_bytes)
{
	uint64_t page_pa[MAX_TOGETHER];
	size_t nr = len_bytes / BTSREC_PAGE_BYTES;

	if (!nr || nr > MAX_TOGETHER || len_bytes % BTSREC_PAGE_BYTES)
		return false;
	for (size_t i = 0; i < nr; i++)
		page_pa[i] = pa + i * BTSREC_PAGE_BYTES;
	return image_read_pages(image, page_pa, nr, buf);
}

static enum btsrec_status read_below(const struct btsrec_image *image, uint64_t pa, void *buf,
				     size_t len_bytes, size_t *ret_bytes)
{
	if (!read_whole(image, pa, buf, len_bytes))
		return image_read_some(image, pa, buf, len_bytes, ret_bytes);
	*ret_bytes = len_bytes;
	return BTSREC_OK;
}

enum btsrec_status image_record_read_pa(void *arg, uint64_t pa, void *buf, size_t len_bytes,
					size_t *ret_bytes)
{
	struct image_record *image_record = arg;
	enum btsrec_status status = read_below(image_record->below, pa, buf, len_bytes, ret_bytes);
	enum btsrec_status remembered = remember(image_record, pa, *ret_bytes);

	return remembered ? remembered : status;
}

void image_record_fini(struct image_record *image_record)
{
	pageset_fini(&image_record->pages);
}
