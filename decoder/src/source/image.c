// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/image.h"

enum btsrec_status image_read_some(const struct btsrec_image *image, uint64_t pa, void *buf,
				   size_t len_bytes, size_t *ret_bytes)
{
	enum btsrec_status status;

	*ret_bytes = 0;
	if (pa >= IMAGE_MAX_PA || len_bytes > IMAGE_MAX_PA - pa)
		return BTSREC_ERR_NODATA;
	status = image->read_pa(image->arg, pa, buf, len_bytes, ret_bytes);
	if (*ret_bytes > len_bytes) {
		*ret_bytes = 0;
		return BTSREC_ERR_IO;
	}
	if (status == BTSREC_OK && *ret_bytes < len_bytes)
		return BTSREC_ERR_NODATA;
	if (status == BTSREC_ERR_NODATA && *ret_bytes == len_bytes)
		return BTSREC_OK;
	return status;
}

enum btsrec_status image_read(const struct btsrec_image *image, uint64_t pa, void *buf,
			      size_t len_bytes)
{
	size_t valid_bytes;

	return image_read_some(image, pa, buf, len_bytes, &valid_bytes);
}

bool image_read_pages(const struct btsrec_image *image, const uint64_t *page_pa, size_t nr,
		      void *buf)
{
	if (!image->read_pages)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (!image_pa_ok(page_pa[i]))
			return false;
	return image->read_pages(image->arg, page_pa, nr, buf);
}

uint64_t image_next_pa(const struct btsrec_image *image, uint64_t pa)
{
	uint64_t next_pa = image->next_pa ? image->next_pa(image->arg, pa) : pa;

	return next_pa < pa ? pa : next_pa;
}
