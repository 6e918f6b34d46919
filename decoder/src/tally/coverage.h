/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often each byte of one function was executed, out of ranges of code.  Pure. */
#ifndef BTSREC_COVERAGE_H
#define BTSREC_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct coverage - [@start, @start + @nr_bytes)
 * @nr: @nr_bytes + 1 of them, owned: by how much each byte was executed more often than
 *	the one before it; after coverage_end() how often.
 */
struct coverage {
	uint64_t start;
	size_t nr_bytes;
	uint64_t *nr;
};

/** coverage_init() - nothing executed yet; false: out of memory. */
bool coverage_init(struct coverage *coverage, uint64_t start, size_t nr_bytes);

/** coverage_add() - [@start, @stop) was executed once; what lies outside is passed over */
void coverage_add(struct coverage *coverage, uint64_t start, uint64_t stop);

/** coverage_add_times() - the same, @nr times */
void coverage_add_times(struct coverage *coverage, uint64_t start, uint64_t stop, uint64_t nr);

/** coverage_end() - all is added */
void coverage_end(struct coverage *coverage);

/** coverage_has() - is @va in it? */
static inline bool coverage_has(const struct coverage *coverage, uint64_t va)
{
	return va - coverage->start < coverage->nr_bytes;
}

/** coverage_nr() - how often the byte at @va, in it, was executed; after coverage_end() */
static inline uint64_t coverage_nr(const struct coverage *coverage, uint64_t va)
{
	return coverage->nr[va - coverage->start];
}

/** coverage_fini() - free; leaves an empty one */
void coverage_fini(struct coverage *coverage);

#endif /* BTSREC_COVERAGE_H */
