/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of compressed dumps, by the libraries that this build has. */
#ifndef BTSREC_UNPACK_H
#define BTSREC_UNPACK_H

#include "source/mkdump_file.h"

/**
 * struct unpack - what the libraries want to keep between pages, of one thread; all zero:
 * nothing yet
 */
struct unpack {
	void *zstd;
	void *deflate;
};

/**
 * struct unpack_page - where a page is
 * @offset, @nr_bytes: in the file, packed.
 * @flags: by what, see kdump_format.h; 0: not at all.
 */
struct unpack_page {
	uint64_t offset;
	uint32_t nr_bytes;
	uint32_t flags;
};

/** unpack_missing() - which of the packers in @flags this build cannot undo; NULL: none */
const char *unpack_missing(uint32_t flags);

/**
 * unpack_page() - read it from @file to @ret, BTSREC_PAGE_BYTES
 *
 * Return: BTSREC_OK; BTSREC_ERR_NODATA: it is not there, or damaged; BTSREC_ERR_IO: the medium
 * failed; BTSREC_ERR_NOMEM.
 */
enum btsrec_status unpack_page(struct unpack *unpack, const struct mkdump_file *file,
			       const struct unpack_page *page, uint8_t *ret);

/** unpack_fini() - free what is kept */
void unpack_fini(struct unpack *unpack);

#endif /* BTSREC_UNPACK_H */
