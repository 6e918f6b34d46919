// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/report/share.h"

#include "base/readat.h"

bool share_fits(const uint64_t *nr, size_t nr_shares, uint64_t max_each, uint64_t max)
{
	for (size_t i = 0; i < nr_shares; i++) {
		uint64_t nr_each = min_u64(nr[i], max_each);

		if (nr_each > max)
			return false;
		max -= nr_each;
	}
	return true;
}

uint64_t share_evenly(const uint64_t *nr, size_t nr_shares, uint64_t max)
{
	uint64_t fitting = 1, beyond = UINT64_MAX;

	if (share_fits(nr, nr_shares, beyond, max))
		return beyond;
	while (beyond - fitting > 1) {
		uint64_t middle = fitting + (beyond - fitting) / 2;

		if (share_fits(nr, nr_shares, middle, max))
			fitting = middle;
		else
			beyond = middle;
	}
	return fitting;
}
