/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An image over another that remembers what was read through it, in lines of 64
 * bytes: what a decoder has read is what the next decoder is going to need.
 */
#ifndef BTSREC_TEE_H
#define BTSREC_TEE_H

#include "image.h"
#include "pageset.h"

#define TEE_LINE_BYTES (BTSREC_PAGE_BYTES / 64)

/**
 * struct tee - what was read
 * @below: borrowed.
 * @pages: bit i of a page: something in its line i was read.  The page at 0 is
 *	not remembered; no kernel keeps anything there.
 */
struct tee {
	const struct btsrec_image *below;
	struct pageset pages;
};

/** tee_read_pa() - as read_pa of struct btsrec_image; its arg is a struct tee. */
enum btsrec_status tee_read_pa(void *arg, uint64_t pa, void *buf, size_t len_bytes,
			       size_t *ret_bytes);

/** tee_fini() - forget everything */
void tee_fini(struct tee *tee);

#endif /* BTSREC_TEE_H */
