/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exact repetition in a sequence: once it has gone round twice, what follows can be
 * held back for as long as it goes on going round.  Pure and of constant size.
 */
#ifndef BTSREC_CYCLES_H
#define BTSREC_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

#define CYCLES_MAX_PERIOD 32

/** struct cycles_key - what makes two elements the same */
struct cycles_key {
	uint64_t labels[4];
};

/**
 * struct cycle - a cycle that has ended
 * @period: elements of a round.
 * @nr_rounds: that were held back, after the two that were not.
 * @nr_rest: elements that were held back and begin a round that was not finished.
 */
struct cycle {
	unsigned int period;
	uint64_t nr_rounds;
	unsigned int nr_rest;
};

/* Enough that most elements share theirs with none of the newest. */
#define CYCLES_NR_SUMS 1024

/**
 * struct cycles - a sequence under way
 * @keys: of the newest elements, by number.
 * @nr: so many elements there were.
 * @newest: by the sum of the key, the number of the newest element that has it, from 1;
 *	0: none.  @older: for each of @keys, that of the one before with the same sum.
 * @nr_same: by period, so many elements up to the @same_end-th are the same as those a
 *	period before them.
 * @period: of the cycle that goes round; 0: none does.
 */
struct cycles {
	struct cycles_key keys[CYCLES_MAX_PERIOD];
	uint64_t nr;
	uint64_t newest[CYCLES_NR_SUMS];
	uint64_t older[CYCLES_MAX_PERIOD];
	uint64_t nr_same[CYCLES_MAX_PERIOD + 1];
	uint64_t same_end[CYCLES_MAX_PERIOD + 1];
	unsigned int period;
	uint64_t nr_kept;
};

/** cycles_init() - an empty sequence */
void cycles_init(struct cycles *cycles);

/** cycles_sum() - Fibonacci hashing, with other odd constants for the other words */
static inline unsigned int cycles_sum(const struct cycles_key *key)
{
	uint64_t sum =
		key->labels[0] * 0x9e3779b97f4a7c15ULL + key->labels[1] * 0xbf58476d1ce4e5b9ULL +
		key->labels[2] * 0x94d049bb133111ebULL + key->labels[3] * 0xd6e8feb86659fd93ULL;

	return (unsigned int)(sum >> 32) % CYCLES_NR_SUMS;
}

/** cycles_take() - the next element is one of the newest */
static inline void cycles_take(struct cycles *cycles, const struct cycles_key *key,
			       unsigned int sum)
{
	uint64_t at = cycles->nr % CYCLES_MAX_PERIOD;

	cycles->keys[at] = *key;
	cycles->older[at] = cycles->newest[sum];
	cycles->newest[sum] = ++cycles->nr;
}

/**
 * cycles_pass() - take the next element, if nothing goes round and it is like none of the newest
 *
 * Most are; so this is all that is done of them.
 *
 * Return: false: cycles_add() must be asked.
 */
static inline bool cycles_pass(struct cycles *cycles, const struct cycles_key *key)
{
	unsigned int sum = cycles_sum(key);

	if (cycles->period || cycles->nr - cycles->newest[sum] < CYCLES_MAX_PERIOD)
		return false;
	cycles_take(cycles, key, sum);
	return true;
}

/** cycles_part() - nothing goes round; and what comes is no repetition of what was */
static inline void cycles_part(struct cycles *cycles)
{
	cycles->nr += CYCLES_MAX_PERIOD;
}

/**
 * cycles_add() - does the next element continue a cycle?
 *
 * Return: true: hold it back; it is number cycles->nr_kept of those held back,
 * counted from 1.  False: it does not, and if it was the end of a cycle, that must be
 * ended with cycles_end() and the element asked for again.
 */
bool cycles_add(struct cycles *cycles, const struct cycles_key *key);

/**
 * cycles_end() - end the cycle that goes round, if one does, and forget everything
 *
 * Return: false if none does.
 */
bool cycles_end(struct cycles *cycles, struct cycle *ret);

#endif /* BTSREC_CYCLES_H */
