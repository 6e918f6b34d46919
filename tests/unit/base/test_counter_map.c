// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_btsrec.h"
#include "base/counter_map.h"
#include "failing_alloc.h"

#define NR_KEYS 5000

static struct count *get(struct counter_map *map, uint64_t a, uint64_t d)
{
	const uint64_t key[COUNTER_MAP_KEY_WORDS] = {a, 0, 0, d};

	return counter_map_get(map, key);
}

START_TEST(every_key_has_its_counters)
{
	struct counter_map map = {0};

	for (uint64_t round = 0; round < 3; round++)
		for (uint64_t i = 0; i < NR_KEYS; i++)
			get(&map, i % 7, i)->nr[2] += i;
	ck_assert_uint_eq(map.nr, NR_KEYS);
	for (uint64_t i = 0; i < NR_KEYS; i++) {
		ck_assert_uint_eq(get(&map, i % 7, i)->nr[2], 3 * i);
		ck_assert_uint_eq(get(&map, i % 7, i)->nr[0], 0);
	}
	counter_map_fini(&map);
}
END_TEST

START_TEST(sorted_by_all_of_the_key)
{
	struct counter_map map = {0};

	for (uint64_t i = NR_KEYS; i--;)
		get(&map, i % 7, i);
	counter_map_sort(&map);
	ck_assert_uint_eq(map.nr, NR_KEYS);
	for (size_t i = 1; i < map.nr; i++) {
		const struct count *a = &map.table[i - 1], *b = &map.table[i];

		ck_assert(a->key[0] < b->key[0] || (a->key[0] == b->key[0] &&
						    a->key[3] < b->key[3]));
	}
	counter_map_fini(&map);
}
END_TEST

START_TEST(found_or_not)
{
	const uint64_t there[COUNTER_MAP_KEY_WORDS] = {1, 0, 0, 2};
	const uint64_t other[COUNTER_MAP_KEY_WORDS] = {1, 0, 0, 3};
	struct counter_map map = {0};

	ck_assert_ptr_null(counter_map_find(&map, there));
	get(&map, 1, 2)->nr[1] = 4;
	ck_assert_uint_eq(counter_map_find(&map, there)->nr[1], 4);
	ck_assert_ptr_null(counter_map_find(&map, other));
	ck_assert_uint_eq(map.nr, 1);
	counter_map_fini(&map);
}
END_TEST

START_TEST(an_empty_one)
{
	struct counter_map map = {0};

	counter_map_sort(&map);
	ck_assert_uint_eq(map.nr, 0);
	counter_map_fini(&map);
}
END_TEST

START_TEST(without_memory)
{
	struct counter_map map = {0};

	failing_alloc_arm(1);
	ck_assert_ptr_null(get(&map, 1, 1));
	ck_assert(failing_alloc_disarm());
	ck_assert_ptr_nonnull(get(&map, 1, 1));
	counter_map_fini(&map);
}
END_TEST

BTSREC_CK_MAIN("counts", every_key_has_its_counters, sorted_by_all_of_the_key, found_or_not,
	       an_empty_one, without_memory)
