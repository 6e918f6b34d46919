/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder's ring of programs that were started.  It shows whether an address
 * space is still the one that it was.  Exec gives a process a new one, and the page
 * of the old page table may well come back with the exec after that.  The ring
 * holds the newest 128; an older exec is not known of.
 */
#ifndef BTSREC_EXECS_H
#define BTSREC_EXECS_H

#include "source/image.h"

#define EXECS_MAX	(sizeof(((struct btsrec_root *)0)->exec_pa) / sizeof(uint64_t) * \
			 BTSREC_EXECS_PER_PAGE)

/** struct execs - what the ring holds, in any order */
struct execs {
	struct execs_one {
		uint64_t tsc;
		uint64_t cr3;
		uint32_t tgid;
	} list[EXECS_MAX];
	size_t nr;
};

/** execs_read() - as far as the pages are in the dump */
void execs_read(const struct btsrec_image *image, const struct btsrec_root *root,
		struct execs *ret);

/** execs_replaced() - did @tgid, after @tsc, go on in another space than @cr3? */
bool execs_replaced(const struct execs *execs, uint32_t tgid, uint64_t cr3, uint64_t tsc);

#endif /* BTSREC_EXECS_H */
