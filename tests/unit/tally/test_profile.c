// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_btsrec.h"
#include "failing_alloc.h"
#include "tally/profile.h"

#define KERNEL_KVA 0xffffffff81000000ULL

/* The name is the letter of the page. */
static char *name(void *arg, const struct profile_place *place)
{
	char *text = malloc(2);

	(void)arg;
	if (text)
		snprintf(text, 2, "%c", 'a' + (char)(place->va >> 12 & 7));
	return text;
}

static bool add(struct profile *profile, uint64_t group, uint64_t cr3, uint64_t va,
		uint64_t nr_branches, uint64_t nr_calls)
{
	const uint64_t key[COUNTER_MAP_KEY_WORDS] = {group};
	const struct profile_place place = { .va = va, .cr3 = cr3, .start = va & ~0xfffULL };
	uint32_t number = profile_group(profile, key);

	return number && profile_add(profile, number, &place, nr_branches, nr_calls);
}

static void check_row(const struct profile *profile, size_t i, uint64_t group, const char *text,
		      uint64_t nr_branches, uint64_t nr_calls)
{
	const struct profile_row *row = &profile->rows[i];

	ck_assert_uint_lt(i, profile->nr_rows);
	ck_assert_uint_eq(row->group->key[0], group);
	ck_assert_str_eq(row->name, text);
	ck_assert_uint_eq(row->nr_branches, nr_branches);
	ck_assert_uint_eq(row->nr_calls, nr_calls);
}

START_TEST(most_branches_first_then_name)
{
	struct profile profile = { 0 };

	for (unsigned int i = 0; i < 5; i++)
		ck_assert(add(&profile, 0, 0, KERNEL_KVA + 0x3000 + i, 1, 0));
	ck_assert(add(&profile, 0, 0, KERNEL_KVA + 0x2000, 3, 1));
	ck_assert(add(&profile, 0, 0, KERNEL_KVA + 0x1000, 3, 1));
	ck_assert(add(&profile, 0, 0, KERNEL_KVA, 3, 2));
	ck_assert(add(&profile, 0, 0, KERNEL_KVA + 0x4000, 0, 9));
	ck_assert(profile_end(&profile, name, NULL));
	ck_assert_uint_eq(profile.nr_rows, 5);
	check_row(&profile, 0, 0, "d", 5, 0);
	check_row(&profile, 1, 0, "a", 3, 2);
	check_row(&profile, 2, 0, "b", 3, 1);
	check_row(&profile, 3, 0, "c", 3, 1);
	check_row(&profile, 4, 0, "e", 0, 9);
	ck_assert_uint_eq(profile.nr_branches, 14);
	ck_assert_uint_eq(profile.nr_calls, 13);
	profile_fini(&profile);
}
END_TEST

START_TEST(groups_by_their_sums)
{
	struct profile profile = { 0 };

	ck_assert(add(&profile, 7, 0, KERNEL_KVA, 4, 0));
	ck_assert(add(&profile, 9, 0, KERNEL_KVA, 3, 0));
	ck_assert(add(&profile, 9, 0, KERNEL_KVA + 0x1000, 3, 0));
	ck_assert(add(&profile, 5, 0, KERNEL_KVA + 0x2000, 4, 0));
	ck_assert(profile_end(&profile, name, NULL));
	ck_assert_uint_eq(profile.nr_rows, 4);
	check_row(&profile, 0, 9, "a", 3, 0);
	check_row(&profile, 1, 9, "b", 3, 0);
	check_row(&profile, 2, 5, "c", 4, 0);
	check_row(&profile, 3, 7, "a", 4, 0);
	ck_assert_uint_eq(profile.rows[0].group->nr_branches, 6);
	profile_fini(&profile);
}
END_TEST

/* One program in two processes is one; two functions of the kernel are two. */
START_TEST(equal_names)
{
	struct profile profile = { 0 };

	ck_assert(add(&profile, 0, 0x1000, 0x400000, 1, 1));
	ck_assert(add(&profile, 0, 0x2000, 0x500000, 2, 1));
	ck_assert(add(&profile, 0, 0, KERNEL_KVA, 1, 1));
	ck_assert(add(&profile, 0, 0, KERNEL_KVA + 0x8000, 1, 1));
	ck_assert(profile_end(&profile, name, NULL));
	ck_assert_uint_eq(profile.nr_rows, 3);
	check_row(&profile, 0, 0, "a", 3, 2);
	ck_assert_uint_eq(profile.rows[0].start, 0);
	ck_assert_uint_eq(profile.rows[1].start, KERNEL_KVA);
	ck_assert_uint_eq(profile.rows[2].start, KERNEL_KVA + 0x8000);
	profile_fini(&profile);
}
END_TEST

START_TEST(nothing_counted)
{
	struct profile profile = { 0 };

	ck_assert(profile_end(&profile, name, NULL));
	ck_assert_uint_eq(profile.nr_rows, 0);
	profile_fini(&profile);
}
END_TEST

/* Numbers are by order of appearance. */
START_TEST(a_group_is_the_same_by_its_key)
{
	const uint64_t first[COUNTER_MAP_KEY_WORDS] = {5, 0, 0, 1};
	const uint64_t second[COUNTER_MAP_KEY_WORDS] = {5, 0, 0, 2};
	struct profile profile = { 0 };

	ck_assert_uint_eq(profile_group(&profile, first), 1);
	ck_assert_uint_eq(profile_group(&profile, second), 2);
	ck_assert_uint_eq(profile_group(&profile, first), 1);
	ck_assert(profile_end(&profile, name, NULL));
	ck_assert_uint_eq(profile.nr_rows, 0);
	profile_fini(&profile);
}
END_TEST

/* Group 9 is the second of one profile and the first of the other. */
START_TEST(merged_by_the_keys_of_groups)
{
	struct profile into = { 0 }, from = { 0 };

	ck_assert(add(&into, 7, 0, KERNEL_KVA, 1, 1));
	ck_assert(add(&into, 9, 0, KERNEL_KVA, 2, 1));
	ck_assert(add(&from, 9, 0, KERNEL_KVA + 8, 4, 3));
	ck_assert(add(&from, 9, 0x1000, 0x401000, 8, 2));
	ck_assert(add(&from, 5, 0, KERNEL_KVA, 3, 0));
	ck_assert(profile_merge(&into, &from));
	profile_fini(&from);
	ck_assert_uint_eq(into.nr_branches, 18);
	ck_assert_uint_eq(into.nr_calls, 7);
	ck_assert(profile_end(&into, name, NULL));
	ck_assert_uint_eq(into.nr_rows, 4);
	check_row(&into, 0, 9, "b", 8, 2);
	check_row(&into, 1, 9, "a", 6, 4);
	check_row(&into, 2, 5, "a", 3, 0);
	check_row(&into, 3, 7, "a", 1, 1);
	ck_assert_uint_eq(into.rows[0].group->nr_branches, 14);
	ck_assert_uint_eq(into.rows[0].group->nr_calls, 6);
	profile_fini(&into);
}
END_TEST

START_TEST(an_empty_one_merged)
{
	struct profile into = { 0 }, from = { 0 };

	ck_assert(profile_merge(&into, &from));
	ck_assert(add(&from, 7, 0, KERNEL_KVA, 1, 1));
	ck_assert(profile_merge(&into, &from));
	profile_fini(&from);
	ck_assert(profile_merge(&into, &from));
	ck_assert(profile_end(&into, name, NULL));
	ck_assert_uint_eq(into.nr_rows, 1);
	check_row(&into, 0, 7, "a", 1, 1);
	profile_fini(&into);
}
END_TEST

/* The map of the groups, the groups and the places. */
START_TEST(merged_without_memory)
{
	for (unsigned int nth = 1;; nth++) {
		struct profile into = { 0 }, from = { 0 };
		bool done;

		ck_assert(add(&from, 1, 0, KERNEL_KVA, 1, 1));
		failing_alloc_arm(nth);
		done = profile_merge(&into, &from);
		ck_assert(done == !failing_alloc_disarm());
		profile_fini(&into);
		profile_fini(&from);
		if (done) {
			ck_assert_uint_eq(nth, 4);
			break;
		}
	}
}
END_TEST

START_TEST(without_memory)
{
	for (unsigned int nth = 1;; nth++) {
		struct profile profile = { 0 };
		bool done;

		failing_alloc_arm(nth);
		done = add(&profile, 0, 0, KERNEL_KVA, 1, 1) &&
		       add(&profile, 1, 0, KERNEL_KVA, 1, 1) && profile_end(&profile, name, NULL);
		ck_assert(done == !failing_alloc_disarm());
		profile_fini(&profile);
		if (done) {
			ck_assert_uint_gt(nth, 5);
			break;
		}
	}
}
END_TEST

BTSREC_CK_MAIN("profile", most_branches_first_then_name, groups_by_their_sums, equal_names,
	       nothing_counted, a_group_is_the_same_by_its_key, merged_by_the_keys_of_groups,
	       an_empty_one_merged, merged_without_memory, without_memory)
