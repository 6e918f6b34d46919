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

static void take(struct cycles *cycles, const struct cycles_key *key)
{
	cycles->keys[cycles->nr++ % CYCLES_MAX_PERIOD] = *key;
}

/* The shortest period of which two rounds are over and a third has begun. */
static unsigned int find_period(const struct cycles *cycles, const struct cycles_key *key)
{
	for (unsigned int period = 1; period <= CYCLES_MAX_PERIOD; period++)
		if (cycles->nr_same[period] >= period && same_as_before(cycles, period, key))
			return period;
	return 0;
}

static void count_same(struct cycles *cycles, const struct cycles_key *key)
{
	for (unsigned int period = 1; period <= CYCLES_MAX_PERIOD; period++) {
		if (same_as_before(cycles, period, key))
			cycles->nr_same[period]++;
		else
			cycles->nr_same[period] = 0;
	}
}

bool cycles_hold(struct cycles *cycles, const struct cycles_key *key)
{
	if (cycles->period && !same_as_before(cycles, cycles->period, key))
		return false;
	if (!cycles->period)
		cycles->period = find_period(cycles, key);
	if (cycles->period)
		cycles->nr_held++;
	else
		count_same(cycles, key);
	take(cycles, key);
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
