// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/coverage.h"

#include <stdlib.h>
#include <string.h>

bool coverage_init(struct coverage *coverage, uint64_t start, size_t nr_bytes)
{
	*coverage = (struct coverage){ .start = start, .nr_bytes = nr_bytes };
	coverage->nr = calloc(nr_bytes + 1, sizeof(*coverage->nr));
	return coverage->nr;
}

void coverage_add(struct coverage *coverage, uint64_t start, uint64_t stop)
{
	coverage_add_times(coverage, start, stop, 1);
}

void coverage_add_times(struct coverage *coverage, uint64_t start, uint64_t stop, uint64_t nr)
{
	uint64_t end = coverage->start + coverage->nr_bytes;

	if (start < coverage->start)
		start = coverage->start;
	if (stop > end)
		stop = end;
	if (start >= stop)
		return;
	coverage->nr[start - coverage->start] += nr;
	coverage->nr[stop - coverage->start] -= nr;
}

void coverage_end(struct coverage *coverage)
{
	for (size_t i = 1; i <= coverage->nr_bytes; i++)
		coverage->nr[i] += coverage->nr[i - 1];
}

void coverage_fini(struct coverage *coverage)
{
	free(coverage->nr);
	memset(coverage, 0, sizeof(*coverage));
}
