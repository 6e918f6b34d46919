/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages that took long to get, so many of them as fit: walks through page tables and tables of
 * names go back and forth, and rings are gone through more than once.  A container.
 */
#ifndef BTSREC_KEPTPAGES_H
#define BTSREC_KEPTPAGES_H

#include <stdbool.h>

#include "bounds.h"
#include <btsrec/decoder.h>

/* 64 MiB at most, in pieces of the size of a large page. */
#define KEPTPAGES_EACH		BOUND(512, 4)
#define KEPTPAGES_NR_PIECES	BOUND(32, 4)
#define KEPTPAGES_MAX		(KEPTPAGES_EACH * KEPTPAGES_NR_PIECES)

/**
 * struct keptpages - what is kept; all zero: nothing
 * @index: of where pages are; owned.
 * @pieces: of memory, KEPTPAGES_EACH pages each; owned.
 * @is_promised: keptpages_wants() has said so, and keptpages_give() is going to be called.
 * @nr: pages were kept, of which the newest KEPTPAGES_MAX are.
 */
struct keptpages {
	struct keptpages_index *index;
	uint8_t *pieces[KEPTPAGES_NR_PIECES];
	bool is_promised;
	uint64_t nr;
};

/** keptpages_find() - the page of that number, until keptpages_room(); NULL: it is not kept */
const uint8_t *keptpages_find(const struct keptpages *kept, uint64_t number);

/**
 * keptpages_room() - where the next page that is kept will be, for keptpages_add()
 *
 * If all room is taken, it is that of the page that was added first.
 *
 * Return: BTSREC_PAGE_BYTES; NULL: out of memory.
 */
uint8_t *keptpages_room(struct keptpages *kept);

/**
 * keptpages_wants() - is it time for memory for the next pages?  Then the caller must give it
 *
 * Without, keptpages_room() waits for the system: who holds a lock gets it before, without it.
 */
bool keptpages_wants(struct keptpages *kept);

/** keptpages_piece() - memory for keptpages_give(), provided by the system; NULL: there is none */
uint8_t *keptpages_piece(void);

/** keptpages_give() - take @piece, from keptpages_piece() */
void keptpages_give(struct keptpages *kept, uint8_t *piece);

/** keptpages_add() - what is in keptpages_room() now is page @number, which is not kept yet */
void keptpages_add(struct keptpages *kept, uint64_t number);

/** keptpages_fini() - free all and keep nothing */
void keptpages_fini(struct keptpages *kept);

#endif /* BTSREC_KEPTPAGES_H */
