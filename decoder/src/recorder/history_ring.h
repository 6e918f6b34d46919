/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a history begins and ends in its ring: the first step of a way through it. */
#ifndef BTSREC_HISTORY_RING_H
#define BTSREC_HISTORY_RING_H

#include "recorder/fetch.h"
#include "recorder/session.h"

/**
 * history_ring() - look at the ring of @lc
 * @fetch: of this ring; what it hands out next changes.
 *
 * Return: BTSREC_OK, or what the image said other than that a page is missing.
 */
enum btsrec_status history_ring(struct btsrec *rec, const struct located_cpu *lc,
				struct fetch *fetch, struct session_ring *ret);

#endif /* BTSREC_HISTORY_RING_H */
