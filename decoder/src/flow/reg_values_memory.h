/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of memory at one moment: words of 8 bytes, by address.  Pure. */
#ifndef BTSREC_REG_VALUES_MEMORY_H
#define BTSREC_REG_VALUES_MEMORY_H

#include <stddef.h>

#include "code/known.h"

/** struct memory_word - the aligned word at @address; @generation: not the memory's: free */
struct memory_word {
	uint64_t address;
	struct known known;
	uint32_t generation;
};

/**
 * struct memory - words in the first free place from that of their hash on
 * @words: owned; @nr_room of them, a power of two; @nr are in use.
 * @nomem, @full: it could not grow, or must not, and lacks something.
 */
struct memory {
	struct memory_word *words;
	size_t nr, nr_room;
	uint32_t generation;
	bool nomem;
	bool full;
};

/** memory_forget() - nothing is known; the first call comes before all others */
void memory_forget(struct memory *memory);
void memory_fini(struct memory *memory);

/** memory_has() - has memory_set() been called for all of the @nr_bytes, 8 at most? */
bool memory_has(struct memory *memory, uint64_t address, unsigned int nr_bytes);

/** memory_get() - the @nr_bytes, 8 at most, at @address, zeros above them */
struct known memory_get(struct memory *memory, uint64_t address, unsigned int nr_bytes);

/** memory_set() - from now on they are @known, and not known where that is not */
void memory_set(struct memory *memory, uint64_t address, unsigned int nr_bytes,
		struct known known);

#endif /* BTSREC_REG_VALUES_MEMORY_H */
