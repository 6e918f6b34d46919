// SPDX-License-Identifier: GPL-2.0-or-later
#include "cycles.h"

#include <string.h>

void cycles_init(struct cycles *cycles)
{
	memset(cycles, 0, sizeof(*cycles));
}

static bool same_as_before(const struct cycles *cycles, unsigned int period,
			   const struct cycles_key *key)
{
	return cycles->nr >= period &&
	       !memcmp(&cycles->keys[(cycles->nr - period) % CYCLES_MAX_PERIOD], key,
		       sizeof(*key));
}

static uint32_t sum_of(const struct cycles_key *key)
{
	/* 2^64 divided by the golden ratio. */
	uint64_t sum = key->words[0];

	for (unsigned int i = 1; i < sizeof(key->words) / sizeof(key->words[0]); i++)
		sum = (sum ^ sum >> 29) * 0x9e3779b97f4a7c15ULL + key->words[i];
	return (uint32_t)((sum * 0x9e3779b97f4a7c15ULL) >> 32);
}

static void take(struct cycles *cycles, const struct cycles_key *key, uint32_t sum)
{
	cycles->keys[cycles->nr % CYCLES_MAX_PERIOD] = *key;
	cycles->sums[cycles->nr % CYCLES_MAX_PERIOD] = sum;
	cycles->nr++;
}

/* May @key be one of the newest?  Most are not, and need no comparison with each. */
static bool may_be_known(const struct cycles *cycles, uint32_t sum)
{
	bool known = false;

	for (unsigned int i = 0; i < CYCLES_MAX_PERIOD; i++)
		known |= cycles->sums[i] == sum;
	return known;
}

/* The shortest period of which two rounds are over and a third has begun. */
static unsigned int find_period(const struct cycles *cycles, const struct cycles_key *key)
{
	for (unsigned int period = 1; period <= CYCLES_MAX_PERIOD; period++)
		if (cycles->nr_same[period] >= period && same_as_before(cycles, period, key))
			return period;
	return 0;
}

static void count_none(struct cycles *cycles)
{
	if (cycles->any_same)
		memset(cycles->nr_same, 0, sizeof(cycles->nr_same));
	cycles->any_same = false;
}

static void count_same(struct cycles *cycles, const struct cycles_key *key)
{
	cycles->any_same = true;
	for (unsigned int period = 1; period <= CYCLES_MAX_PERIOD; period++) {
		if (same_as_before(cycles, period, key))
			cycles->nr_same[period]++;
		else
			cycles->nr_same[period] = 0;
	}
}

bool cycles_hold(struct cycles *cycles, const struct cycles_key *key)
{
	uint32_t sum = sum_of(key);
	bool known = may_be_known(cycles, sum);

	if (cycles->period && !same_as_before(cycles, cycles->period, key))
		return false;
	if (!cycles->period && known)
		cycles->period = find_period(cycles, key);
	if (cycles->period)
		cycles->nr_held++;
	else if (known)
		count_same(cycles, key);
	else
		count_none(cycles);
	take(cycles, key, sum);
	return cycles->period;
}

bool cycles_end(struct cycles *cycles, struct cycle *ret)
{
	bool going = cycles->period;

	if (going) {
		ret->period = cycles->period;
		ret->nr_rounds = cycles->nr_held / cycles->period;
		ret->nr_rest = (unsigned int)(cycles->nr_held % cycles->period);
	}
	cycles_init(cycles);
	return going;
}
