// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
#include <stdio.h>

#include "check_btsrec.h"
#include "failing_alloc.h"
#include "render/label_cache.h"

static struct label_cache label_cache;
static struct label_cache_texts texts;

static struct label_cache_key key_of(uint64_t i)
{
	return (struct label_cache_key){.from = i, .to = i * 7, .space = i % 3};
}

static const struct tail *add(uint64_t i)
{
	struct label_cache_key key = key_of(i);
	char text[32];
	int nr_bytes = snprintf(text, sizeof(text), "text %llu", (unsigned long long)i);

	return label_cache_add(&label_cache, &texts, &key, text, (size_t)nr_bytes, (uint32_t)i);
}

static void forget(void)
{
	label_cache_fini(&label_cache);
	label_cache_texts_fini(&texts);
}

static const struct tail *find(uint64_t i)
{
	struct label_cache_key key = key_of(i);

	return label_cache_find(&label_cache, label_cache_hash(&key), &key);
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
	forget();
	ck_assert_ptr_null(find(0));
}
END_TEST

START_TEST(every_part_of_the_key_counts)
{
	struct label_cache_key key = key_of(5), other;

	add(5);
	other = key, other.from++;
	ck_assert_ptr_null(label_cache_find(&label_cache, label_cache_hash(&key), &other));
	other = key, other.to++;
	ck_assert_ptr_null(label_cache_find(&label_cache, label_cache_hash(&key), &other));
	other = key, other.space++;
	ck_assert_ptr_null(label_cache_find(&label_cache, label_cache_hash(&key), &other));
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
	struct label_cache_key key = key_of(1);
	uint64_t nr = 0;

	for (; !label_cache_full(&label_cache, sizeof(text)); nr++) {
		key.from = nr;
		ck_assert_ptr_nonnull(
			label_cache_add(&label_cache, &texts, &key, text, sizeof(text), 0));
	}
	ck_assert_uint_eq(nr, LABEL_CACHE_MAX_TEXT_BYTES / sizeof(text) - 1);
	forget();
}
END_TEST

START_TEST(the_first_one_stays)
{
	const struct tail *first = add(1);

	ck_assert_ptr_eq(add(1), first);
	ck_assert_uint_eq(label_cache.nr_used, 1);
	/* What was not needed is not lost. */
	ck_assert_ptr_eq((const char *)add(2), (const char *)first + 16);
	forget();
}
END_TEST

#define NR_THREADS	4
#define NR_COMMON	40000

/* All keys, each thread from another one on; as many add a key at the same time as may be. */
static void *add_all(void *arg)
{
	struct label_cache_texts *mine = arg;

	for (uint64_t i = 0; i < NR_COMMON; i++) {
		struct label_cache_key key = key_of(i);
		char text[32];
		int nr_bytes = snprintf(text, sizeof(text), "text %llu", (unsigned long long)i);
		const struct tail *tail =
			label_cache_find(&label_cache, label_cache_hash(&key), &key);

		if (!tail)
			tail = label_cache_add(&label_cache, mine, &key, text, (size_t)nr_bytes,
					       (uint32_t)i);
		if (!tail || tail->cookie != i || tail->nr_bytes != (uint32_t)nr_bytes ||
		    memcmp(tail->text, text, (size_t)nr_bytes))
			return mine;
	}
	return NULL;
}

START_TEST(threads_that_add_the_same)
{
	struct label_cache_texts of_threads[NR_THREADS] = {0};
	pthread_t threads[NR_THREADS];
	size_t nr_added;

	/* Some are there before. */
	for (uint64_t i = 0; i < NR_COMMON; i += 3)
		add(i);
	ck_assert(label_cache_share(&label_cache, LABEL_CACHE_SPARE_SLOTS));
	for (size_t i = 0; i < NR_THREADS; i++)
		ck_assert(!pthread_create(&threads[i], NULL, add_all, &of_threads[i]));
	for (size_t i = 0; i < NR_THREADS; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		ck_assert_ptr_null(failed);
	}
	nr_added = label_cache.nr_used;
	for (size_t i = 0; i < NR_THREADS; i++) {
		ck_assert_uint_lt(of_threads[i].nr_new, LABEL_CACHE_COUNT_EACH);
		nr_added += of_threads[i].nr_new;
	}
	ck_assert_uint_ge(nr_added, NR_COMMON);
	ck_assert_uint_le(nr_added, NR_THREADS * NR_COMMON);
	for (uint64_t i = 0; i < NR_COMMON; i++)
		if (!find(i) || find(i)->cookie != i)
			ck_abort_msg("text %llu is not there", (unsigned long long)i);
	for (size_t i = 0; i < NR_THREADS; i++)
		label_cache_texts_fini(&of_threads[i]);
	forget();
}
END_TEST

START_TEST(what_is_shared_stays_so)
{
	uint64_t i = 0;

	add(1);
	ck_assert(label_cache_share(&label_cache, LABEL_CACHE_SPARE_SLOTS));
	ck_assert(label_cache_share(&label_cache, LABEL_CACHE_SPARE_SLOTS));
	ck_assert_uint_eq(label_cache.nr_slots, LABEL_CACHE_MAX_SLOTS);
	ck_assert(!label_cache_grow(&label_cache));
	ck_assert_ptr_nonnull(find(1));
	while (!label_cache_full(&label_cache, 16))
		ck_assert_ptr_nonnull(add(i++));
	/* Threads that are at work do not know yet. */
	for (size_t nr = 0; nr < LABEL_CACHE_SPARE_SLOTS; nr++)
		ck_assert_ptr_nonnull(add(i++));
	ck_assert_uint_eq(label_cache.nr_slots, LABEL_CACHE_MAX_SLOTS);
	/* Full was what is counted. */
	ck_assert_uint_ge(label_cache.nr_used + texts.nr_new,
			  LABEL_CACHE_MAX_SLOTS / 2 + LABEL_CACHE_SPARE_SLOTS);
	ck_assert_uint_lt(label_cache.nr_used + texts.nr_new, LABEL_CACHE_MAX_SLOTS / 2 +
								      LABEL_CACHE_SPARE_SLOTS +
								      LABEL_CACHE_COUNT_EACH);
	ck_assert_uint_eq(find(i - 1)->cookie, i - 1);
	label_cache_forget(&label_cache);
	label_cache_texts_fini(&texts);
	ck_assert(label_cache.shared);
	ck_assert(!label_cache_full(&label_cache, 16));
	ck_assert_ptr_null(find(1));
	ck_assert_ptr_nonnull(add(1));
	ck_assert_uint_eq(label_cache.nr_slots, LABEL_CACHE_MAX_SLOTS);
	forget();
}
END_TEST

/* Whatever was there: a slot of each that is used and of each that may be added is free. */
START_TEST(what_is_shared_grows_when_it_is_full)
{
	const size_t nr_spare = 1000;
	size_t nr_slots;
	uint64_t i = 0;

	ck_assert(label_cache_share(&label_cache, nr_spare));
	do {
		nr_slots = label_cache.nr_slots;
		ck_assert_uint_le(nr_slots, LABEL_CACHE_MAX_SLOTS);
		while (!label_cache_full(&label_cache, 16))
			ck_assert_ptr_nonnull(add(i++));
		for (size_t nr = 0; nr < nr_spare; nr++)
			ck_assert_ptr_nonnull(add(i++));
		ck_assert_uint_eq(label_cache.nr_slots, nr_slots);
		ck_assert_uint_le(label_cache.nr_used + texts.nr_new,
				  nr_slots / 4 * 3 + LABEL_CACHE_COUNT_EACH);
		for (uint64_t known = 0; known < i; known++)
			if (!find(known) || find(known)->cookie != known)
				ck_abort_msg("text %llu is not there", (unsigned long long)known);
	} while (label_cache_grow(&label_cache));
	ck_assert_uint_eq(nr_slots, LABEL_CACHE_MAX_SLOTS);
	forget();

	/* A larger table does not help where texts are too long. */
	ck_assert(label_cache_share(&label_cache, 1));
	label_cache.text_bytes = LABEL_CACHE_MAX_TEXT_BYTES;
	ck_assert(!label_cache_grow(&label_cache));
	forget();
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
		forget();
	}
	ck_assert_ptr_nonnull(add(1));
	failing_alloc_arm(1);
	ck_assert(!label_cache_share(&label_cache, LABEL_CACHE_SPARE_SLOTS));
	ck_assert(failing_alloc_disarm());
	ck_assert(!label_cache.shared);
	ck_assert_ptr_nonnull(find(1));
	ck_assert(label_cache_share(&label_cache, 1));
	failing_alloc_arm(1);
	ck_assert(!label_cache_grow(&label_cache));
	ck_assert(failing_alloc_disarm());
	ck_assert_ptr_nonnull(find(1));
	forget();
}
END_TEST

BTSREC_CK_MAIN("tails", empty, texts_stay_in_place, every_part_of_the_key_counts,
	       is_full_before_it_is_too_big, long_texts, the_first_one_stays,
	       threads_that_add_the_same, what_is_shared_stays_so,
	       what_is_shared_grows_when_it_is_full, out_of_memory)
