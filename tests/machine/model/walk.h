/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86-64 page-table walk as a supervisor store would see it. */
#ifndef BTSREC_TESTS_MODEL_WALK_H
#define BTSREC_TESTS_MODEL_WALK_H

#include <stdbool.h>
#include <stdint.h>

#define WALK_PAGE_BYTES	4096

/* Reads eight bytes of physical memory; false where there is none. */
typedef bool (*walk_read_fn)(void *arg, uint64_t pa, uint64_t *value_ret);

struct walk_space {
	uint64_t cr3;
	bool la57;		/* CR4.LA57 */
	walk_read_fn read;
	void *arg;
};

/* Uses of a cached translation before its last-level entry is read again. */
#define WALK_MAX_TRUST	16

/* What a walk found: a TLB of one entry. */
struct walk_cache {
	bool valid;
	unsigned int trust;	/* uses left before the next look at the page tables */
	uint64_t page;		/* linear address of the 4 KiB page */
	uint64_t leaf_pa;	/* where the last entry is */
	uint64_t leaf;		/* its value then */
	uint64_t pa;		/* physical address of the page */
};

bool walk_canonical(uint64_t addr, bool la57);
bool walk_store(const struct walk_space *space, uint64_t addr, struct walk_cache *cache,
		uint64_t *pa_ret);

#endif
