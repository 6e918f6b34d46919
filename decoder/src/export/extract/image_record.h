/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An image over another that remembers what was read through it, in lines of 64
 * bytes: what a decoder has read is what the next decoder is going to need.
 */
#ifndef BTSREC_IMAGE_RECORD_H
#define BTSREC_IMAGE_RECORD_H

#include "source/image.h"
#include "base/pageset.h"

#define IMAGE_RECORD_LINE_BYTES (BTSREC_PAGE_BYTES / 64)

/**
 * struct image_record - what was read
 * @below: borrowed.
 * @pages: bit i of a page: something in its line i was read.  The page at 0 is
 *	not remembered; no kernel keeps anything there.
 */
struct image_record {
	const struct btsrec_image *below;
	struct pageset pages;
};

/** image_record_read_pa() - as read_pa of struct btsrec_image; its arg is a struct image_record. */
enum btsrec_status image_record_read_pa(void *arg, uint64_t pa, void *buf, size_t len_bytes,
					size_t *ret_bytes);

/** image_record_fini() - forget everything */
void image_record_fini(struct image_record *image_record);

#endif /* BTSREC_IMAGE_RECORD_H */
