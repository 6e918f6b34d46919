// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "check_btsrec.h"
#include "failing_alloc.h"
#include "render/label_cache.h"

static struct label_cache label_cache;

static struct label_key key_of(uint64_t i)
{
	return (struct label_key){.from = i, .to = i * 7, .space = i % 3};
}

static const struct label *add(uint64_t i)
{
	struct label_key key = key_of(i);
	char text[32];
	int nr_bytes = snprintf(text, sizeof(text), "text %llu", (unsigned long long)i);

	return label_cache_add(&label_cache, &key, text, (size_t)nr_bytes, (uint32_t)i);
}

static void forget(void)
{
	label_cache_fini(&label_cache);
}

static const struct label *find(uint64_t i)
{
	struct label_key key = key_of(i);

	return label_cache_find(&label_cache, label_hash(&key), &key);
}

START_TEST(empty)
{
	ck_assert_ptr_null(find(1));
	ck_assert(!label_cache_full(&label_cache, LABEL_CACHE_MAX_TEXT_BYTES));
	forget();
}
END_TEST

START_TEST(texts_stay_in_place)
{
	enum { NR = 30000 };
	static const struct label *added[NR];

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
	forget();
	ck_assert_ptr_null(find(0));
}
END_TEST

START_TEST(every_part_of_the_key_counts)
{
	struct label_key key = key_of(5), other;

	add(5);
	other = key, other.from++;
	ck_assert_ptr_null(label_cache_find(&label_cache, label_hash(&key), &other));
	other = key, other.to++;
	ck_assert_ptr_null(label_cache_find(&label_cache, label_hash(&key), &other));
	other = key, other.space++;
	ck_assert_ptr_null(label_cache_find(&label_cache, label_hash(&key), &other));
	forget();
}
END_TEST

START_TEST(is_full_before_it_is_too_big)
{
	uint64_t i = 0;

	while (!label_cache_full(&label_cache, 16))
		ck_assert_ptr_nonnull(add(i++));
	ck_assert_uint_eq(label_cache.nr_used, LABEL_CACHE_MAX_SLOTS / 2);
	ck_assert_uint_eq(label_cache.nr_slots, LABEL_CACHE_MAX_SLOTS);
	forget();
	ck_assert(!label_cache_full(&label_cache, 16));
}
END_TEST

START_TEST(long_texts)
{
	static char text[1 << 20];
	struct label_key key = key_of(1);
	uint64_t nr = 0;

	for (; !label_cache_full(&label_cache, sizeof(text)); nr++) {
		key.from = nr;
		ck_assert_ptr_nonnull(
			label_cache_add(&label_cache, &key, text, sizeof(text), 0));
	}
	ck_assert_uint_eq(nr, LABEL_CACHE_MAX_TEXT_BYTES / sizeof(text) - 1);
	forget();
}
END_TEST

START_TEST(out_of_memory)
{
	/* The table, and where texts are. */
	for (unsigned int nth = 1; nth <= 2; nth++) {
		const struct label *label;

		failing_alloc_arm(nth);
		label = add(1);
		ck_assert(failing_alloc_disarm());
		ck_assert_ptr_null(label);
		ck_assert_ptr_null(find(1));
		forget();
	}
}
END_TEST

BTSREC_CK_MAIN("label_cache", empty, texts_stay_in_place, every_part_of_the_key_counts,
	       is_full_before_it_is_too_big, long_texts, out_of_memory)
