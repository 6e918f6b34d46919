// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* What struct count counts of a place. */
enum {
	BRANCHES,
	CALLS,
	ADDRESS,	/* one that is in it */
};

/* And of a group: its number, from 1. */
#define NUMBER 0

/* The words of the key of a place. */
enum {
	GROUP,
	CR3,
	START,
	WHY,
};

uint32_t profile_group(struct profile *profile, const uint64_t *key)
{
	struct count *count = counter_map_get(&profile->groups, key);

	if (!count)
		return 0;
	if (!count->nr[NUMBER])
		count->nr[NUMBER] = profile->groups.nr;
	return (uint32_t)count->nr[NUMBER];
}

static bool add(struct profile *profile, const uint64_t *key, uint64_t va, uint64_t nr_branches,
		uint64_t nr_calls)
{
	struct count *count = counter_map_get(&profile->places, key);

	if (!count)
		return false;
	count->nr[BRANCHES] += nr_branches;
	count->nr[CALLS] += nr_calls;
	count->nr[ADDRESS] = va;
	profile->nr_branches += nr_branches;
	profile->nr_calls += nr_calls;
	return true;
}

bool profile_add(struct profile *profile, uint32_t group, const struct profile_place *place,
		 uint64_t nr_branches, uint64_t nr_calls)
{
	const uint64_t key[COUNTER_MAP_KEY_WORDS] = {
		[GROUP] = group,
		[CR3] = place->cr3,
		[START] = place->start,
		[WHY] = place->why,
	};

	return add(profile, key, place->va, nr_branches, nr_calls);
}

/* --- Merging ------------------------------------------------------------ */

/* By the numbers of @from, those of the same groups in @into; NULL: out of memory. */
static uint32_t *map_groups(struct profile *into, const struct profile *from)
{
	_cleanup_free_ uint32_t *map = calloc(from->groups.nr + 1, sizeof(*map));

	for (size_t i = 0; map && i < from->groups.nr_room; i++) {
		const struct count *group = &from->groups.table[i];
		uint32_t number;

		if (!group->used)
			continue;
		number = profile_group(into, group->key);
		if (!number)
			return NULL;
		map[group->nr[NUMBER]] = number;
	}
	return take_ptr(map);
}

bool profile_merge(struct profile *into, const struct profile *from)
{
	_cleanup_free_ uint32_t *map = map_groups(into, from);

	if (!map)
		return false;
	for (size_t i = 0; i < from->places.nr_room; i++) {
		const struct count *place = &from->places.table[i];
		uint64_t key[COUNTER_MAP_KEY_WORDS];

		if (!place->used)
			continue;
		memcpy(key, place->key, sizeof(key));
		key[GROUP] = map[key[GROUP]];
		if (!add(into, key, place->nr[ADDRESS], place->nr[BRANCHES], place->nr[CALLS]))
			return false;
	}
	return true;
}

/* --- Order -------------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int most_first(uint64_t branches_a, uint64_t calls_a, uint64_t branches_b, uint64_t calls_b)
{
	int order = compare_numbers(branches_b, branches_a);

	return order ? order : compare_numbers(calls_b, calls_a);
}

static int compare_groups(const void *left, const void *right)
{
	const struct profile_group *a = left, *b = right;
	int order = most_first(a->nr_branches, a->nr_calls, b->nr_branches, b->nr_calls);

	for (unsigned int i = 0; !order && i < COUNTER_MAP_KEY_WORDS; i++)
		order = compare_numbers(a->key[i], b->key[i]);
	return order;
}

/* Equal only for what is one row. */
static int compare_identity(const void *left, const void *right)
{
	const struct profile_row *a = left, *b = right;
	int order = (a->group > b->group) - (a->group < b->group);

	if (!order)
		order = strcmp(a->name, b->name);
	return order ? order : compare_numbers(a->start, b->start);
}

static int compare_rows(const void *left, const void *right)
{
	const struct profile_row *a = left, *b = right;
	int order = (a->group > b->group) - (a->group < b->group);

	if (!order)
		order = most_first(a->nr_branches, a->nr_calls, b->nr_branches, b->nr_calls);
	return order ? order : compare_identity(left, right);
}

/* --- The list ----------------------------------------------------------- */

/* Each at the place of its number, which is from 1. */
static void list_groups(struct profile *profile)
{
	for (size_t i = 0; i < profile->groups.nr_room; i++) {
		const struct count *count = &profile->groups.table[i];
		struct profile_group *group;

		if (!count->used)
			continue;
		group = &profile->sorted[count->nr[NUMBER] - 1];
		memcpy(group->key, count->key, sizeof(group->key));
		group->number = (uint32_t)count->nr[NUMBER];
	}
}

static void sum_groups(struct profile *profile)
{
	for (size_t i = 0; i < profile->places.nr; i++) {
		const struct count *count = &profile->places.table[i];
		struct profile_group *group = &profile->sorted[count->key[GROUP] - 1];

		group->nr_branches += count->nr[BRANCHES];
		group->nr_calls += count->nr[CALLS];
	}
}

static bool sort_groups(struct profile *profile)
{
	profile->sorted = calloc(profile->groups.nr + 1, sizeof(*profile->sorted));
	if (!profile->sorted)
		return false;
	profile->nr_sorted = profile->groups.nr;
	list_groups(profile);
	sum_groups(profile);
	qsort(profile->sorted, profile->nr_sorted, sizeof(*profile->sorted), compare_groups);
	return true;
}

/* The groups by their numbers, from 1; the caller frees it. */
static const struct profile_group **number_groups(const struct profile *profile)
{
	const struct profile_group **numbered = calloc(profile->nr_sorted + 1, sizeof(*numbered));

	for (size_t i = 0; numbered && i < profile->nr_sorted; i++)
		numbered[profile->sorted[i].number] = &profile->sorted[i];
	return numbered;
}

static bool make_row(struct profile *profile, const struct count *count,
		     const struct profile_group *group, profile_name_fn name, void *arg)
{
	struct profile_place place = {
		.va = count->nr[ADDRESS],
		.cr3 = count->key[CR3],
		.start = count->key[START],
		.why = count->key[WHY],
	};
	struct profile_row *row = &profile->rows[profile->nr_rows];

	row->group = group;
	row->start = place.cr3 ? 0 : place.start;
	row->nr_branches = count->nr[BRANCHES];
	row->nr_calls = count->nr[CALLS];
	row->name = name(arg, &place);
	profile->nr_rows += row->name != NULL;
	return row->name;
}

static bool make_rows(struct profile *profile, profile_name_fn name, void *arg)
{
	_cleanup_free_ const struct profile_group **groups = number_groups(profile);
	const struct counter_map *places = &profile->places;

	profile->rows = calloc(places->nr + 1, sizeof(*profile->rows));
	if (!groups || !profile->rows)
		return false;
	for (size_t i = 0; i < places->nr; i++)
		if (!make_row(profile, &places->table[i], groups[places->table[i].key[GROUP]],
			      name, arg))
			return false;
	return true;
}

/* Rows of one identity are neighbours; the first takes the others in. */
static void merge_rows(struct profile *profile)
{
	struct profile_row *rows = profile->rows;
	size_t nr = 0;

	for (size_t i = 0; i < profile->nr_rows; i++) {
		if (!nr || compare_identity(&rows[nr - 1], &rows[i])) {
			rows[nr++] = rows[i];
			continue;
		}
		rows[nr - 1].nr_branches += rows[i].nr_branches;
		rows[nr - 1].nr_calls += rows[i].nr_calls;
		free(rows[i].name);
	}
	profile->nr_rows = nr;
}

bool profile_end(struct profile *profile, profile_name_fn name, void *arg)
{
	counter_map_sort(&profile->places);
	if (!sort_groups(profile) || !make_rows(profile, name, arg))
		return false;
	qsort(profile->rows, profile->nr_rows, sizeof(*profile->rows), compare_identity);
	merge_rows(profile);
	qsort(profile->rows, profile->nr_rows, sizeof(*profile->rows), compare_rows);
	return true;
}

void profile_fini(struct profile *profile)
{
	for (size_t i = 0; i < profile->nr_rows; i++)
		free(profile->rows[i].name);
	free(profile->rows);
	free(profile->sorted);
	counter_map_fini(&profile->groups);
	counter_map_fini(&profile->places);
	memset(profile, 0, sizeof(*profile));
}
