/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounded reads of physical memory over the front end's callback.  Nothing
 * behind this header sees the callback, and nothing the callback answers is
 * believed beyond what was asked.
 */
#ifndef BTSREC_IMAGE_H
#define BTSREC_IMAGE_H

#include <btsrec/decoder.h>

#include "base/bounds.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the in-memory format is read in place: the decoder needs a little-endian host"
#endif

/* SDM vol. 3A, "Enumeration of Paging Features by CPUID": MAXPHYADDR is at most 52. */
#define IMAGE_MAX_PA (1ULL << 52)

/* A reader that asks for so much at once keeps it itself; more than a window of a ring. */
#define IMAGE_MUCH_BYTES BOUND((size_t)256 << 10, (size_t)4 * BTSREC_PAGE_BYTES)

/** image_pa_ok() - can a page of memory be at @pa: page-aligned, not 0, addressable. */
static inline bool image_pa_ok(uint64_t pa)
{
	return pa && pa % BTSREC_PAGE_BYTES == 0 && pa < IMAGE_MAX_PA;
}

/**
 * image_read_some() - as many of the @len_bytes bytes at @pa as there are
 *
 * @ret_bytes: how many leading bytes of @buf are valid; set in every case.
 *
 * Return: BTSREC_OK when all are valid; BTSREC_ERR_NODATA when fewer; else what the
 * callback said (BTSREC_ERR_IO, BTSREC_ERR_NOMEM, BTSREC_ERR_STOPPED).
 */
enum btsrec_status image_read_some(const struct btsrec_image *image, uint64_t pa, void *buf,
				   size_t len_bytes, size_t *ret_bytes);

/**
 * image_read() - all @len_bytes bytes at @pa, or a failure
 *
 * Return: as image_read_some(); the content of @buf is undefined on failure.
 */
enum btsrec_status image_read(const struct btsrec_image *image, uint64_t pa, void *buf,
			      size_t len_bytes);

/**
 * image_read_pages() - the @nr pages at @page_pa, one after the other, in as few reads as the
 *	source can
 *
 * Return: false: one of them is 0, or image_read_some() has to say what is there.
 */
bool image_read_pages(const struct btsrec_image *image, const uint64_t *page_pa, size_t nr,
		      void *buf);

/** image_over() - an image that says what @below does; only @read_pa has its bytes */
static inline struct btsrec_image image_over(const struct btsrec_image *below,
					     enum btsrec_status (*read_pa)(void *arg, uint64_t pa,
									   void *buf,
									   size_t len_bytes,
									   size_t *ret_bytes),
					     void *arg)
{
	struct btsrec_image over = *below;

	over.read_pa = read_pa;
	over.read_pages = NULL;
	over.next_pa = NULL;
	over.arg = arg;
	return over;
}

/** image_next_pa() - the first address from @pa on that may be there, not zero; UINT64_MAX: none */
uint64_t image_next_pa(const struct btsrec_image *image, uint64_t pa);

#endif /* BTSREC_IMAGE_H */
