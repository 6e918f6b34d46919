/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pages of the dump that already serve a purpose.  A page that is claimed
 * twice proves that one of the claims is wrong.
 */
#ifndef BTSREC_PAGESET_H
#define BTSREC_PAGESET_H

#include <btsrec/decoder.h>

/**
 * struct pageset - a set of page addresses; all zero: empty
 * @slots: owned; @nr_slots of them, a power of two; 0: free.
 */
struct pageset {
	uint64_t *slots;
	size_t nr_slots;
	size_t nr;
};

/** pageset_fini() - free it and leave an empty one. */
void pageset_fini(struct pageset *set);

/**
 * pageset_claim() - add the page at @pa (not 0)
 *
 * Return: BTSREC_OK; BTSREC_ERR_CORRUPT: it is there already; BTSREC_ERR_NOMEM.
 */
enum btsrec_status pageset_claim(struct pageset *set, uint64_t pa);

#endif /* BTSREC_PAGESET_H */
