/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session for files with names: with a root that says which kernel ran, and nothing else. */
#ifndef BTSREC_FUZZ_LOCATED_H
#define BTSREC_FUZZ_LOCATED_H

#include <stdlib.h>
#include <string.h>

#include "../../decoder/src/recorder/session.h"

#define FUZZ_SYMBOL_KVA	0xffffffff81000000ULL

/** fuzz_located() - a session for btsrec_free(); _stext is at FUZZ_SYMBOL_KVA, no build-id */
static inline struct btsrec *fuzz_located(void)
{
	struct btsrec *rec = btsrec_new();
	struct located *located = calloc(1, sizeof(*located));

	if (!rec || !located)
		abort();
	located->root.symbol_kva = FUZZ_SYMBOL_KVA;
	memcpy(located->root.symbol_name, "_stext", sizeof("_stext"));
	rec->located = located;
	btsrec_set_raw_names(rec, true);
	btsrec_set_dump_names(rec, false);
	return rec;
}

#endif
