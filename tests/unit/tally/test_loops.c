// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "tally/loops.h"

static struct loops loops;

/* Feed branches named by letters, capitals predicted, from event @n on; those held back. */
static unsigned int held(uint64_t n, const char *text)
{
	unsigned int nr = 0;

	for (; *text; text++, n++) {
		struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .n = n };

		if (*text == '-')
			continue;
		event.branch.from = event.branch.to = (uint64_t)*text | 0x20;
		event.branch.flags = *text & 0x20 ? 0 : BTSREC_FLAG_PREDICTED;
		nr += loops_add(&loops, &event, NULL);
	}
	return nr;
}

static struct loop ck_end(unsigned int period, uint64_t nr_rounds, unsigned int nr_rest)
{
	struct loops_branch rest[CYCLES_MAX_PERIOD];
	struct loop loop;

	ck_assert_uint_eq(loops_end(&loops, &loop, rest), nr_rest);
	ck_assert_uint_eq(loop.period, period);
	ck_assert_uint_eq(loop.nr_rounds, nr_rounds);
	for (unsigned int i = 0; nr_rounds && i < nr_rest; i++)
		ck_assert_uint_eq(rest[i].n, loop.last_n + 1 + i);
	return loop;
}

START_TEST(rounds)
{
	struct loop loop;

	loops_init(&loops);
	ck_assert_uint_eq(held(0, "abcabcabcABcaB"), 8);
	loop = ck_end(3, 2, 2);
	ck_assert_uint_eq(loop.round[0].n, 6);
	ck_assert_uint_eq(loop.round[2].n, 8);
	ck_assert_uint_eq(loop.round[1].record.from, 'b');
	ck_assert_uint_eq(loop.round_events, 3);
	ck_assert_uint_eq(loop.last_n, 11);
	ck_end(0, 0, 0);
}
END_TEST

/* Those of the rest are not the loop's. */
START_TEST(predictions)
{
	struct loop loop;

	loops_init(&loops);
	held(0, "abcabcABcAbcAB");
	loop = ck_end(3, 2, 2);
	ck_assert_uint_eq(loop.nr_predicted[0], 2);
	ck_assert_uint_eq(loop.nr_predicted[1], 1);
	ck_assert_uint_eq(loop.nr_predicted[2], 0);
	ck_assert_uint_eq(loop_nr_predicted(&loop), 3);
	loop_peel(&loop);
	ck_assert_uint_eq(loop.nr_rounds, 1);
	ck_assert_uint_eq(loop.round[0].n, 9);
	ck_assert_uint_eq(loop.last_n, 11);
	ck_assert_uint_eq(loop_nr_predicted(&loop), 1);
	ck_assert_uint_eq(loop.nr_predicted[1], 0);
}
END_TEST

START_TEST(too_short)
{
	loops_init(&loops);
	ck_assert_uint_eq(held(0, "aaaa"), 2);
	ck_end(0, 0, 2);
}
END_TEST

/* What a filter leaves out must be the same in each round, or numbers would be lost. */
START_TEST(distances)
{
	struct loop loop;

	loops_init(&loops);
	ck_assert_uint_eq(held(0, "ab-ab-ab-ab-ab-"), 5);
	loop = ck_end(2, 2, 1);
	ck_assert_uint_eq(loop.round_events, 3);
	ck_assert_uint_eq(loop.last_n, 12);
	loops_init(&loops);
	ck_assert_uint_eq(held(0, "ab-ab--ab---ab----ab-----ab"), 0);
}
END_TEST

/* The same branches of another thread are others. */
START_TEST(threads)
{
	const struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH };
	const struct btsrec_side sides[2] = { { .pid = 1 }, { .pid = 1 } };

	loops_init(&loops);
	ck_assert(!loops_add(&loops, &event, &sides[0]));
	loops_init(&loops);
	for (int i = 0; i < 8; i++)
		ck_assert(!loops_add(&loops, &(struct btsrec_event){ .n = i }, &sides[i / 2 % 2]));
}
END_TEST

BTSREC_CK_MAIN("loops", rounds, predictions, too_short, distances, threads)
