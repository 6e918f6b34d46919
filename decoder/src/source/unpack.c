// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/unpack.h"

#include <string.h>

#ifdef BTSREC_HAVE_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif
#include <zstd.h>
#include <zstd_errors.h>
#ifdef BTSREC_HAVE_LZO
#include <lzo/lzo1x.h>
#endif
#ifdef BTSREC_HAVE_SNAPPY
#include <snappy-c.h>
#endif

#include "source/kdump_format.h"

/* What is packed may be longer than a page. */
#define PACKED_MAX_BYTES	(2 * BTSREC_PAGE_BYTES)

const char *unpack_missing(uint32_t flags)
{
#ifndef BTSREC_HAVE_SNAPPY
	if (flags & KDUMP_PACKED_SNAPPY)
		return "snappy";
#endif
#ifdef BTSREC_HAVE_LZO
	if (flags & KDUMP_PACKED_LZO && lzo_init() != LZO_E_OK)
		return "lzo";
#else
	if (flags & KDUMP_PACKED_LZO)
		return "lzo";
#endif
	return NULL;
}

static enum btsrec_status whole_or_damaged(bool whole)
{
	return whole ? BTSREC_OK : BTSREC_ERR_NODATA;
}

#ifdef BTSREC_HAVE_LIBDEFLATE
/* Without a pointer for its size, a page is a success only if it is whole. */
static enum btsrec_status unpack_zlib(struct unpack *unpack, const uint8_t *packed,
				      size_t nr_bytes, uint8_t *page)
{
	if (!unpack->deflate)
		unpack->deflate = libdeflate_alloc_decompressor();
	if (!unpack->deflate)
		return BTSREC_ERR_NOMEM;
	return whole_or_damaged(libdeflate_zlib_decompress(unpack->deflate, packed, nr_bytes, page,
							   BTSREC_PAGE_BYTES, NULL) ==
				LIBDEFLATE_SUCCESS);
}

static void unpack_zlib_end(struct unpack *unpack)
{
	libdeflate_free_decompressor(unpack->deflate);
}
#else
static enum btsrec_status unpack_zlib(struct unpack *unpack, const uint8_t *packed,
				      size_t nr_bytes, uint8_t *page)
{
	uLongf page_bytes = BTSREC_PAGE_BYTES;
	int result = uncompress(page, &page_bytes, packed, nr_bytes);

	(void)unpack;
	if (result == Z_MEM_ERROR)
		return BTSREC_ERR_NOMEM;
	return whole_or_damaged(result == Z_OK && page_bytes == BTSREC_PAGE_BYTES);
}

static void unpack_zlib_end(struct unpack *unpack)
{
	(void)unpack;
}
#endif

#ifdef BTSREC_HAVE_LZO
static enum btsrec_status unpack_lzo(const uint8_t *packed, size_t nr_bytes, uint8_t *page)
{
	lzo_uint page_bytes = BTSREC_PAGE_BYTES;
	int result = lzo1x_decompress_safe(packed, nr_bytes, page, &page_bytes, NULL);

	return whole_or_damaged(result == LZO_E_OK && page_bytes == BTSREC_PAGE_BYTES);
}
#endif

#ifdef BTSREC_HAVE_SNAPPY
static enum btsrec_status unpack_snappy(const uint8_t *packed, size_t nr_bytes, uint8_t *page)
{
	size_t page_bytes = BTSREC_PAGE_BYTES;
	snappy_status result = snappy_uncompress((const char *)packed, nr_bytes, (char *)page,
						 &page_bytes);

	return whole_or_damaged(result == SNAPPY_OK && page_bytes == BTSREC_PAGE_BYTES);
}
#endif

static enum btsrec_status unpack_zstd(struct unpack *unpack, const uint8_t *packed,
				      size_t nr_bytes, uint8_t *page)
{
	size_t result;

	if (!unpack->zstd)
		unpack->zstd = ZSTD_createDCtx();
	if (!unpack->zstd)
		return BTSREC_ERR_NOMEM;
	result = ZSTD_decompressDCtx(unpack->zstd, page, BTSREC_PAGE_BYTES, packed, nr_bytes);
	if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
		return BTSREC_ERR_NOMEM;
	return whole_or_damaged(result == BTSREC_PAGE_BYTES);
}

static enum btsrec_status unpack_bytes(struct unpack *unpack, uint32_t flags,
				       const uint8_t *packed, size_t nr_bytes, uint8_t *page)
{
	if (flags & KDUMP_PACKED_ZLIB)
		return unpack_zlib(unpack, packed, nr_bytes, page);
#ifdef BTSREC_HAVE_LZO
	if (flags & KDUMP_PACKED_LZO)
		return unpack_lzo(packed, nr_bytes, page);
#endif
#ifdef BTSREC_HAVE_SNAPPY
	if (flags & KDUMP_PACKED_SNAPPY)
		return unpack_snappy(packed, nr_bytes, page);
#endif
	if (flags & KDUMP_PACKED_ZSTD)
		return unpack_zstd(unpack, packed, nr_bytes, page);
	return BTSREC_ERR_NODATA;
}

enum btsrec_status unpack_page(struct unpack *unpack, const struct mkdump_file *file,
			       const struct unpack_page *page, uint8_t *ret)
{
	uint8_t packed[PACKED_MAX_BYTES];
	enum btsrec_status status;

	if (!page->nr_bytes || page->nr_bytes > sizeof(packed))
		return BTSREC_ERR_NODATA;
	status = mkdump_file_read_all(file, page->offset, packed, page->nr_bytes);
	if (status)
		return status;
	if (page->flags || page->nr_bytes != BTSREC_PAGE_BYTES)
		return unpack_bytes(unpack, page->flags, packed, page->nr_bytes, ret);
	memcpy(ret, packed, BTSREC_PAGE_BYTES);
	return BTSREC_OK;
}

void unpack_fini(struct unpack *unpack)
{
	ZSTD_freeDCtx(unpack->zstd);
	unpack_zlib_end(unpack);
	memset(unpack, 0, sizeof(*unpack));
}
