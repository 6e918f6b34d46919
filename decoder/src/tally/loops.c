// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/loops.h"

#include <string.h>

void loops_init(struct loops *loops)
{
	memset(loops, 0, sizeof(*loops));
	cycles_init(&loops->cycles);
}

static bool is_predicted(const struct loops_branch *branch)
{
	return branch->record.flags & BTSREC_FLAG_PREDICTED;
}

static void keep(struct loops *loops, const struct btsrec_event *event)
{
	const struct loops_branch branch = { event->n, event->branch };
	uint64_t i = loops->cycles.nr_kept - 1;
	unsigned int period = loops->cycles.period;

	if (!i) {
		memset(loops->nr_predicted, 0, sizeof(loops->nr_predicted));
		loops->before_n = loops->next_n;
		loops->place = 0;
	}
	if (i < period)
		loops->first[i] = branch;
	loops->newest[i % CYCLES_MAX_PERIOD] = branch;
	loops->nr_predicted[loops->place] += is_predicted(&branch);
	loops->place = loops->place + 1 < period ? loops->place + 1 : 0;
}

bool loops_add(struct loops *loops, const struct btsrec_event *branch,
	       const struct btsrec_side *side)
{
	const struct cycles_key key = { { branch->branch.from, branch->branch.to,
					  branch->n - loops->next_n, (uintptr_t)side } };

	if (!cycles_add(&loops->cycles, &key)) {
		if (!loops->cycles.period)
			loops->next_n = branch->n + 1;
		return false;
	}
	keep(loops, branch);
	loops->next_n = branch->n + 1;
	return true;
}

void loops_pass(struct loops *loops, const struct btsrec_event *event)
{
	loops->next_n = event->n + 1;
}

unsigned int loops_end(struct loops *loops, struct loop *ret, struct loops_branch *ret_rest)
{
	uint64_t nr_kept = loops->cycles.nr_kept, nr_folded;
	struct cycle cycle = { 0 };

	memset(ret, 0, sizeof(*ret));
	if (!cycles_end(&loops->cycles, &cycle))
		return 0;
	nr_folded = nr_kept - cycle.nr_rest;
	if (nr_folded < LOOPS_MIN_FOLDED)
		nr_folded = 0;
	for (uint64_t i = nr_folded; i < nr_kept; i++) {
		ret_rest[i - nr_folded] = loops->newest[i % CYCLES_MAX_PERIOD];
		loops->nr_predicted[i % cycle.period] -=
			is_predicted(&ret_rest[i - nr_folded]);
	}
	if (!nr_folded)
		return (unsigned int)nr_kept;
	ret->period = cycle.period;
	ret->nr_rounds = cycle.nr_rounds;
	memcpy(ret->round, loops->first, sizeof(ret->round));
	memcpy(ret->nr_predicted, loops->nr_predicted, sizeof(ret->nr_predicted));
	ret->round_events = ret->round[cycle.period - 1].n + 1 - loops->before_n;
	ret->last_n = ret->round[cycle.period - 1].n + (cycle.nr_rounds - 1) * ret->round_events;
	return cycle.nr_rest;
}

void loop_peel(struct loop *loop)
{
	for (unsigned int i = 0; i < loop->period; i++) {
		loop->nr_predicted[i] -= is_predicted(&loop->round[i]);
		loop->round[i].n += loop->round_events;
	}
	loop->nr_rounds--;
}

uint64_t loop_nr_predicted(const struct loop *loop)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < loop->period; i++)
		sum += loop->nr_predicted[i];
	return sum;
}
