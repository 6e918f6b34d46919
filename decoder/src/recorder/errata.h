/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known to be wrong with the records of the processor that recorded: the
 * recorder knows the processor, the decoder the words.  docs/develop/hardware.md has the sources.
 */
#ifndef BTSREC_ERRATA_H
#define BTSREC_ERRATA_H

#include <stdint.h>

/**
 * struct erratum - one of them
 * @bit: BTSREC_ERRATUM_*.
 * @id: Intel's, in the specification update of one of the processors.
 * @effect: which records may be wrong, as a phrase.
 */
struct erratum {
	uint32_t bit;
	const char *id;
	const char *effect;
};

/**
 * errata_next() - the erratum of the lowest bit
 * @errata: btsrec_root.errata, not 0; that bit is taken out.
 *
 * Return: static; of a bit that a newer recorder has set, one with the id "unknown".
 */
const struct erratum *errata_next(uint32_t *errata);

#endif /* BTSREC_ERRATA_H */
