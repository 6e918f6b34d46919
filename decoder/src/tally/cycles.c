// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/cycles.h"

#include <string.h>

void cycles_init(struct cycles *cycles)
{
	memset(cycles, 0, sizeof(*cycles));
}

static bool same_key(const struct cycles_key *a, const struct cycles_key *b)
{
	uint64_t differ = 0;

	for (unsigned int i = 0; i < sizeof(a->labels) / sizeof(a->labels[0]); i++)
		differ |= a->labels[i] ^ b->labels[i];
	return !differ;
}

/* The key of the element before the next one by @period, which is there. */
static const struct cycles_key *key_before(const struct cycles *cycles, uint64_t period)
{
	return &cycles->keys[(cycles->nr - period) % CYCLES_MAX_PERIOD];
}

/* The next element is the same as the one before by @period: have two rounds been over? */
static bool count_same(struct cycles *cycles, unsigned int period)
{
	if (cycles->same_end[period] != cycles->nr)
		cycles->nr_same[period] = 0;
	if (cycles->nr_same[period] >= period)
		return true;
	cycles->nr_same[period]++;
	cycles->same_end[period] = cycles->nr + 1;
	return false;
}

/*
 * The shortest period with two rounds over and a third that begins with @key.  Only
 * elements with the same sum are looked at; most often there are none.
 */
static unsigned int find_period(struct cycles *cycles, const struct cycles_key *key,
				unsigned int sum)
{
	uint64_t number = cycles->newest[sum];

	while (number && cycles->nr - number < CYCLES_MAX_PERIOD) {
		unsigned int period = (unsigned int)(cycles->nr - number) + 1;

		if (same_key(key_before(cycles, period), key) && count_same(cycles, period))
			return period;
		number = cycles->older[(number - 1) % CYCLES_MAX_PERIOD];
	}
	return 0;
}

bool cycles_add(struct cycles *cycles, const struct cycles_key *key)
{
	unsigned int sum = cycles_sum(key);

	if (!cycles->period)
		cycles->period = find_period(cycles, key, sum);
	else if (!same_key(key_before(cycles, cycles->period), key))
		return false;
	if (cycles->period)
		cycles->nr_kept++;
	cycles_take(cycles, key, sum);
	return cycles->period;
}

bool cycles_end(struct cycles *cycles, struct cycle *ret)
{
	bool going = cycles->period;

	if (going) {
		ret->period = cycles->period;
		ret->nr_rounds = cycles->nr_kept / cycles->period;
		ret->nr_rest = (unsigned int)(cycles->nr_kept % cycles->period);
	}
	if (cycles->nr)
		cycles_init(cycles);
	return going;
}
