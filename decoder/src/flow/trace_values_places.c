// SPDX-License-Identifier: GPL-2.0-or-later
/* Places in the values, by event and address. */
#include "flow/trace_values_impl.h"

/* Where history is not printed from its beginning, the first range is shorter than here. */
static uint32_t find_in(const struct trace_values *values, const struct trace_values_range *range,
			uint64_t ip)
{
	for (uint32_t i = 0; i < range->nr; i++)
		if (reg_values_ip(values->values, range->place + i) == ip)
			return range->place + i;
	return TRACE_VALUES_NONE;
}

/* How many ranges begin before @key, which is a place or an event's number. */
static size_t nr_before(const struct trace_values *values, uint64_t key, bool is_place)
{
	size_t low = 0, high = values->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct trace_values_range *range = &values->ranges[middle];

		if ((is_place ? range->place : range->n) < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct trace_values_range *trace_values_range(const struct trace_values *values,
						    uint32_t place)
{
	size_t nr = nr_before(values, (uint64_t)place + 1, true);

	return nr ? &values->ranges[nr - 1] : NULL;
}

const struct trace_values_range *trace_values_event(const struct trace_values *values, uint64_t n)
{
	size_t nr = n == UINT64_MAX ? 0 : nr_before(values, n + 1, false);

	return nr && values->ranges[nr - 1].n == n ? &values->ranges[nr - 1] : NULL;
}

const struct btsrec_side *trace_values_side(const struct trace_values *values,
					    const struct trace_values_range *range)
{
	return range && range->side ? &values->sides[range->side - 1] : NULL;
}

uint32_t trace_values_at(const struct trace_values *values, unsigned int cpu, uint64_t n,
			 uint64_t ip)
{
	for (size_t i = values->nr; i--;) {
		const struct trace_values_range *range = &values->ranges[i];
		uint32_t place;

		if (range->cpu != cpu || range->n != n)
			continue;
		place = find_in(values, range, ip);
		if (place != TRACE_VALUES_NONE)
			return place;
	}
	return TRACE_VALUES_NONE;
}

uint32_t trace_values_find(struct trace_values *values, uint64_t n, uint64_t ip)
{
	for (; values->next < values->nr; values->next++) {
		const struct trace_values_range *range = &values->ranges[values->next];
		uint32_t place;

		if (range->n > n)
			break;
		place = range->n == n ? find_in(values, range, ip) : TRACE_VALUES_NONE;
		if (place == TRACE_VALUES_NONE)
			continue;
		values->next++;
		return place;
	}
	return TRACE_VALUES_NONE;
}

/* Behind what is known of an event only in part there is a cut, which is no place of code. */
uint32_t trace_values_leaving(const struct trace_values *values, uint64_t n, uint64_t va)
{
	const struct trace_values_range *range = trace_values_event(values, n);
	uint32_t place = range ? range->place + range->nr : TRACE_VALUES_NONE;

	if (!range ||
	    (place < reg_values_nr(values->values) && reg_values_ip(values->values, place) != va))
		return TRACE_VALUES_NONE;
	return place - 1;
}
