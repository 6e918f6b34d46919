// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "tally/cycles.h"

static struct cycles cycles;

/* Feed the letters of @text; Return: those that were held back, as a string. */
static const char *held(const char *text)
{
	static char ret[4096];
	size_t nr = 0;

	for (; *text; text++) {
		struct cycles_key key = { { (uint64_t)*text } };

		if (cycles_add(&cycles, &key)) {
			ret[nr++] = *text;
			ck_assert_uint_eq(cycles.nr_kept, nr);
		}
	}
	ret[nr] = '\0';
	return ret;
}

static void ck_end(unsigned int period, uint64_t nr_rounds, unsigned int nr_rest)
{
	struct cycle cycle;

	ck_assert(cycles_end(&cycles, &cycle));
	ck_assert_uint_eq(cycle.period, period);
	ck_assert_uint_eq(cycle.nr_rounds, nr_rounds);
	ck_assert_uint_eq(cycle.nr_rest, nr_rest);
	ck_assert(!cycles_end(&cycles, &cycle));
}

START_TEST(nothing_repeats)
{
	struct cycle cycle;

	cycles_init(&cycles);
	ck_assert_str_eq(held("abcdefg"), "");
	ck_assert_str_eq(held("abcdefg"), "");
	ck_assert(!cycles_end(&cycles, &cycle));
}
END_TEST

/* Two rounds are shown before anything is held back. */
START_TEST(one_letter)
{
	cycles_init(&cycles);
	ck_assert_str_eq(held("xaaaaa"), "aaa");
	ck_end(1, 3, 0);
}
END_TEST

START_TEST(several_letters)
{
	cycles_init(&cycles);
	ck_assert_str_eq(held("xyabcabcabcabcab"), "abcabcab");
	ck_end(3, 2, 2);
}
END_TEST

/* The first element that does not fit is not held, and must be asked for again. */
START_TEST(broken)
{
	cycles_init(&cycles);
	ck_assert_str_eq(held("abababa"), "aba");
	ck_assert_str_eq(held("x"), "");
	ck_assert_uint_eq(cycles.period, 2);
	ck_end(2, 1, 1);
	ck_assert_str_eq(held("xababab"), "ab");
	ck_end(2, 1, 0);
}
END_TEST

START_TEST(inner_cycle)
{
	cycles_init(&cycles);
	ck_assert_str_eq(held("aabaabaab"), "aab");
	ck_end(3, 1, 0);
}
END_TEST

START_TEST(longest_period)
{
	char round[CYCLES_MAX_PERIOD + 2];

	for (size_t i = 0; i <= CYCLES_MAX_PERIOD; i++)
		round[i] = (char)('0' + i);
	round[CYCLES_MAX_PERIOD + 1] = '\0';
	cycles_init(&cycles);
	for (int i = 0; i < 4; i++)
		ck_assert_str_eq(held(round), "");
	round[CYCLES_MAX_PERIOD] = '\0';
	cycles_init(&cycles);
	ck_assert_str_eq(held(round), "");
	ck_assert_str_eq(held(round), "");
	ck_assert_str_eq(held(round), round);
	ck_end(CYCLES_MAX_PERIOD, 1, 0);
}
END_TEST

/* All four words count. */
START_TEST(keys)
{
	for (size_t word = 0; word < 4; word++) {
		struct cycles_key key = { { 1, 2, 3, 4 } };

		cycles_init(&cycles);
		ck_assert(!cycles_add(&cycles, &key));
		ck_assert(!cycles_add(&cycles, &key));
		key.labels[word] ^= 1ULL << 63;
		ck_assert(!cycles_add(&cycles, &key));
	}
}
END_TEST

/* What comes after a parting is compared only with what came after it, too. */
START_TEST(parted)
{
	struct cycle cycle;

	cycles_init(&cycles);
	ck_assert_str_eq(held("abab"), "");
	cycles_part(&cycles);
	ck_assert_str_eq(held("abab"), "");
	ck_assert_str_eq(held("aba"), "aba");
	ck_end(2, 1, 1);
	for (int i = 0; i < 100; i++) {
		cycles_part(&cycles);
		ck_assert(cycles_pass(&cycles, &(struct cycles_key){ { 'a' } }));
	}
	ck_assert(!cycles_end(&cycles, &cycle));
}
END_TEST

/* A key of zeros is no repetition of what was before the first. */
START_TEST(zeros)
{
	struct cycles_key key = { { 0 } };

	cycles_init(&cycles);
	ck_assert(!cycles_add(&cycles, &key));
	ck_assert(!cycles_add(&cycles, &key));
	ck_assert(cycles_add(&cycles, &key));
	ck_end(1, 1, 0);
}
END_TEST

/* What cycles.h promises, in the plainest way: the history of a sequence without a cycle. */
static unsigned int plain_period(const char *text, size_t nr)
{
	for (size_t period = 1; period <= CYCLES_MAX_PERIOD; period++) {
		size_t nr_same = 0;

		while (nr_same <= period && nr_same + period < nr &&
		       text[nr - 1 - nr_same] == text[nr - 1 - nr_same - period])
			nr_same++;
		if (nr_same > period)
			return (unsigned int)period;
	}
	return 0;
}

/* Few letters in no order: many short repetitions; some go round. */
START_TEST(as_the_plain_way)
{
	uint32_t random = 1;
	unsigned int nr_cycles = 0;

	for (int i = 0; i < 20000; i++) {
		char text[4 * CYCLES_MAX_PERIOD];
		size_t nr = 0;

		cycles_init(&cycles);
		while (nr < sizeof(text) && !cycles.period) {
			struct cycles_key key = { { 0 } };

			random = random * 1664525 + 1013904223;
			text[nr++] = (char)(random >> 16 & (i % 2 ? 1 : 3));
			if (nr > 20 && random >> 28)
				text[nr - 1] = text[nr - 1 - 20 + i % 19];
			key.labels[i % 4] = (uint64_t)text[nr - 1];
			(void)cycles_add(&cycles, &key);
			ck_assert_uint_eq(cycles.period, plain_period(text, nr));
		}
		nr_cycles += cycles.period > 0;
	}
	ck_assert_uint_gt(nr_cycles, 1000);
}
END_TEST

BTSREC_CK_MAIN("cycles", nothing_repeats, one_letter, several_letters, broken, inner_cycle,
	       longest_period, keys, parted, zeros, as_the_plain_way)
