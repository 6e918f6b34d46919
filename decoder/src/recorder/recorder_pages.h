/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All pages that are the recorder's own: without them there is no history.
 */
#ifndef BTSREC_RECORDER_PAGES_H
#define BTSREC_RECORDER_PAGES_H

#include "base/pageset.h"
#include "recorder/locate.h"

/**
 * enum recorder_page - what bits of a page in the set say
 * @RECORDER_PAGE_STRUCTURE: of the root, of a CPU, a list, or a map, by which others are found.
 * @RECORDER_PAGE_RING: records.
 */
enum recorder_page {
	RECORDER_PAGE_STRUCTURE,
	RECORDER_PAGE_RING,
};

/**
 * recorder_pages() - the pages of the recorder at @located, by what is known without reading
 * @ret: empty; for pageset_fini() in every case.
 *
 * Pages of a CPU that is not usable are not in the set.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NOMEM.
 */
enum btsrec_status recorder_pages(const struct located *located, struct pageset *ret);

#endif /* BTSREC_RECORDER_PAGES_H */
