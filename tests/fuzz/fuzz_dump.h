/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dumps of the pages of an input, as other programs write them. */
#ifndef BTSREC_FUZZ_DUMP_H
#define BTSREC_FUZZ_DUMP_H

#include "fuzz_image.h"

/* Pages from there on are not in the dump, whose bitmaps so have a block each. */
#define FUZZ_DUMP_MAX_PFN	(8 * BTSREC_PAGE_BYTES)

enum fuzz_dump_format { FUZZ_ELF, FUZZ_KDUMP, FUZZ_KDUMP_PART, FUZZ_NR_FORMATS };

/** struct fuzz_dump - a file in memory; @bytes is kept for the next one */
struct fuzz_dump {
	uint8_t *bytes;
	size_t nr_bytes;
	size_t nr_room;
};

/** fuzz_dump_make() - @memory as a dump; even pages of a compressed one are packed with zlib */
void fuzz_dump_make(struct fuzz_dump *dump, const struct fuzz_memory *memory,
		    enum fuzz_dump_format format);

/** fuzz_dump_flatten() - @dump in the flattened format, in pieces that are out of order */
void fuzz_dump_flatten(struct fuzz_dump *flat, const struct fuzz_dump *dump);

/** fuzz_dump_add() - append @bytes to @dump; NULL: zeroes */
void fuzz_dump_add(struct fuzz_dump *dump, const void *bytes, size_t nr_bytes);

#endif
