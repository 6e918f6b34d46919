// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/errata.h"

#include <stddef.h>

#include <btsrec/abi.h>

static const struct erratum known[] = {
	{ BTSREC_ERRATUM_AAJ122, "AAJ122",
	  "sources may be wrong after a change of frequency, a T-state, C1E or throttling" },
	{ BTSREC_ERRATUM_BU10, "BU10", "the first branches after an SMI are wrong" },
	{ BTSREC_ERRATUM_AR62, "AR62",
	  "in this mode, sources of branches between user and kernel may be wrong" },
};

static const struct erratum unknown = {
	.id = "unknown",
	.effect = "the recorder is newer than this decoder",
};

const struct erratum *errata_next(uint32_t *errata)
{
	uint32_t bit = *errata & -*errata;

	*errata &= ~bit;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].bit == bit)
			return &known[i];
	return &unknown;
}
