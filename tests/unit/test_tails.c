// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "check_btsrec.h"
#include "failing_alloc.h"
#include "tails.h"

static struct tails tails;

static struct tails_key key_of(uint64_t i)
{
	return (struct tails_key){ .from = i, .to = i * 7, .space = i % 3 };
}

static const struct tail *add(uint64_t i)
{
	struct tails_key key = key_of(i);
	char text[32];
	int nr_bytes = snprintf(text, sizeof(text), "text %llu", (unsigned long long)i);

	return tails_add(&tails, &key, text, (size_t)nr_bytes, (uint32_t)i);
}

static const struct tail *find(uint64_t i)
{
	struct tails_key key = key_of(i);

	return tails_find(&tails, tails_hash(&key), &key);
}

START_TEST(empty)
{
	ck_assert_ptr_null(find(1));
	ck_assert(!tails_full(&tails, TAILS_MAX_TEXT_BYTES));
	tails_forget(&tails);
}
END_TEST

START_TEST(texts_stay_in_place)
{
	enum { NR = 30000 };
	static const struct tail *added[NR];

	for (uint64_t i = 0; i < NR; i++)
		added[i] = add(i);
	for (uint64_t i = 0; i < NR; i++) {
		char text[32];
		int nr_bytes = snprintf(text, sizeof(text), "text %llu", (unsigned long long)i);

		if (find(i) != added[i] || added[i]->cookie != i ||
		    added[i]->nr_bytes != (uint32_t)nr_bytes ||
		    memcmp(added[i]->text, text, (size_t)nr_bytes))
			ck_abort_msg("text %llu differs", (unsigned long long)i);
	}
	ck_assert_ptr_null(find(NR));
	tails_forget(&tails);
	ck_assert_ptr_null(find(0));
}
END_TEST

START_TEST(every_part_of_the_key_counts)
{
	struct tails_key key = key_of(5), other;

	add(5);
	other = key, other.from++;
	ck_assert_ptr_null(tails_find(&tails, tails_hash(&key), &other));
	other = key, other.to++;
	ck_assert_ptr_null(tails_find(&tails, tails_hash(&key), &other));
	other = key, other.space++;
	ck_assert_ptr_null(tails_find(&tails, tails_hash(&key), &other));
	tails_forget(&tails);
}
END_TEST

START_TEST(is_full_before_it_is_too_big)
{
	uint64_t i = 0;

	while (!tails_full(&tails, 16))
		ck_assert_ptr_nonnull(add(i++));
	ck_assert_uint_eq(tails.nr_used, TAILS_MAX_SLOTS / 2);
	ck_assert_uint_eq(tails.nr_slots, TAILS_MAX_SLOTS);
	tails_forget(&tails);
	ck_assert(!tails_full(&tails, 16));
}
END_TEST

START_TEST(long_texts)
{
	static char text[1 << 20];
	struct tails_key key = key_of(1);
	uint64_t nr = 0;

	for (; !tails_full(&tails, sizeof(text)); nr++) {
		key.from = nr;
		ck_assert_ptr_nonnull(tails_add(&tails, &key, text, sizeof(text), 0));
	}
	ck_assert_uint_eq(nr, TAILS_MAX_TEXT_BYTES / sizeof(text) - 1);
	tails_forget(&tails);
}
END_TEST

START_TEST(out_of_memory)
{
	/* The table, and where texts are. */
	for (unsigned int nth = 1; nth <= 2; nth++) {
		const struct tail *tail;

		failing_alloc_arm(nth);
		tail = add(1);
		ck_assert(failing_alloc_disarm());
		ck_assert_ptr_null(tail);
		ck_assert_ptr_null(find(1));
		tails_forget(&tails);
	}
	ck_assert_ptr_nonnull(add(1));
	tails_forget(&tails);
}
END_TEST

BTSREC_CK_MAIN("tails", empty, texts_stay_in_place, every_part_of_the_key_counts,
	       is_full_before_it_is_too_big, long_texts, out_of_memory)
