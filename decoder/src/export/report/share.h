/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many of each, so that all together are not too many.  Pure. */
#ifndef BTSREC_SHARE_H
#define BTSREC_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** share_fits() - are there no more than @max, if of each of @nr at most @max_each count? */
bool share_fits(const uint64_t *nr, size_t nr_shares, uint64_t max_each, uint64_t max);

/**
 * share_evenly() - the most of each of @nr with which all together are no more than @max
 *
 * A CPU with fewer leaves the rest to the others.
 *
 * Return: at least 1, also if all together are then more; UINT64_MAX: all of all.
 */
uint64_t share_evenly(const uint64_t *nr, size_t nr_shares, uint64_t max);

#endif /* BTSREC_SHARE_H */
