/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much ran in which function, for one group or several: what a history is
 * counted into, and the list that comes out.  Pure: names come from the caller.
 */
#ifndef BTSREC_PROFILE_H
#define BTSREC_PROFILE_H

#include "base/counter_map.h"

/**
 * struct profile_place - a function, or a reason why none is known
 * @va: an address in it.
 * @cr3: of user code: its address space; of kernel code 0.
 * @start: of the function; 0: none is known.
 * @why: the reason, the caller's number; of a function 0.
 *
 * Places are the same if all but @va are.
 */
struct profile_place {
	uint64_t va;
	uint64_t cr3;
	uint64_t start;
	uint64_t why;
};

/** struct profile_group - all of one @key; @number: in the order of appearance, from 1 */
struct profile_group {
	uint64_t key[COUNTER_MAP_KEY_WORDS];
	uint32_t number;
	uint64_t nr_branches;
	uint64_t nr_calls;
};

/**
 * struct profile_row - one function in one group
 * @name: owned by the profile.
 * @start: of kernel code; 0: the name is all there is.
 */
struct profile_row {
	const struct profile_group *group;
	char *name;
	uint64_t start;
	uint64_t nr_branches;
	uint64_t nr_calls;
};

/**
 * struct profile - all zero is an empty one
 * @groups, @places: what is counted, until profile_end().
 * @sorted, @rows: the result: @nr_sorted groups and @nr_rows rows.
 */
struct profile {
	struct counter_map groups;
	struct counter_map places;
	struct profile_group *sorted;
	size_t nr_sorted;
	struct profile_row *rows;
	size_t nr_rows;
	uint64_t nr_branches;
	uint64_t nr_calls;
};

/**
 * profile_group() - the number of the group @key, as of struct profile_group
 * @key: COUNTER_MAP_KEY_WORDS numbers.
 *
 * A group without counts is in no row.
 *
 * Return: 0: out of memory.
 */
uint32_t profile_group(struct profile *profile, const uint64_t *key);

/**
 * profile_add() - count branches that left @place, and calls that entered it
 * @group: its number.
 *
 * Return: false: out of memory.
 */
bool profile_add(struct profile *profile, uint32_t group, const struct profile_place *place,
		 uint64_t nr_branches, uint64_t nr_calls);

/**
 * profile_merge() - add all that @from has counted
 *
 * Before profile_end() of either.  Groups are the same if their keys are; their numbers are
 * each profile's own.
 *
 * Return: false: out of memory, and a part of it has been added.
 */
bool profile_merge(struct profile *into, const struct profile *from);

/** profile_name_fn - the name of @place, for free(); NULL: out of memory. */
typedef char *(*profile_name_fn)(void *arg, const struct profile_place *place);

/**
 * profile_end() - all is counted: make the list
 *
 * Groups and, in each, rows: most branches first, then most calls, then by key or
 * name.  Places of the same name are one row, but in the kernel only if they start at
 * the same address: different static functions may share a name.
 *
 * Return: false: out of memory; profile_fini() is the caller's in every case.
 */
bool profile_end(struct profile *profile, profile_name_fn name, void *arg);

/** profile_fini() - free; leaves an empty one */
void profile_fini(struct profile *profile);

#endif /* BTSREC_PROFILE_H */
