// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "check_btsrec.h"
#include "failing_alloc.h"
#include "base/addr_counter.h"

#define KERNEL_KVA 0xffffffff81000000ULL
/* More than the largest table takes. */
#define NR_ADDRESSES (ADDR_COUNTER_MAX_ROOM / 2 + 1000)

/* Sums of what was passed on, by the number of the address. */
static uint32_t sums[NR_ADDRESSES][2];
static size_t nr_printed;
static size_t nr_takes;

/* Fails when @nr_takes were passed on. */
static bool take(void *arg, const struct addr_count *addr_count)
{
	uint32_t(*to)[2] = arg;
	uint64_t i = (addr_count->va - KERNEL_KVA) / 4;

	if (nr_printed == nr_takes)
		return false;
	nr_printed++;
	ck_assert_uint_lt(i, NR_ADDRESSES);
	to[i][ADDR_COUNT_BRANCH] += addr_count->nr[ADDR_COUNT_BRANCH];
	to[i][ADDR_COUNT_CALL] += addr_count->nr[ADDR_COUNT_CALL];
	return true;
}

static void begin(struct addr_counter *counter)
{
	memset(sums, 0, sizeof(sums));
	nr_printed = 0;
	nr_takes = SIZE_MAX;
	ck_assert(addr_counter_init(counter, take, sums));
}

static bool add(struct addr_counter *counter, uint64_t i, enum addr_count_kind kind)
{
	return addr_counter_add(counter, 1, 0, KERNEL_KVA + 4 * i, kind);
}

START_TEST(both_kinds_of_an_address)
{
	struct addr_counter counter;

	begin(&counter);
	for (unsigned int i = 0; i < 5; i++)
		ck_assert(add(&counter, 7, ADDR_COUNT_BRANCH));
	ck_assert(add(&counter, 7, ADDR_COUNT_CALL));
	ck_assert(add(&counter, 8, ADDR_COUNT_CALL));
	ck_assert_uint_eq(nr_printed, 0);
	ck_assert(addr_counter_drain(&counter));
	ck_assert_uint_eq(nr_printed, 2);
	ck_assert_uint_eq(sums[7][ADDR_COUNT_BRANCH], 5);
	ck_assert_uint_eq(sums[7][ADDR_COUNT_CALL], 1);
	ck_assert_uint_eq(sums[8][ADDR_COUNT_BRANCH], 0);
	ck_assert_uint_eq(sums[8][ADDR_COUNT_CALL], 1);
	ck_assert(addr_counter_drain(&counter));
	ck_assert_uint_eq(nr_printed, 2);
	addr_counter_fini(&counter);
}
END_TEST

/* What is passed on has all three. */
static bool take_apart(void *arg, const struct addr_count *addr_count)
{
	uint32_t *nr = arg;

	ck_assert_uint_eq(addr_count->va, 0);
	ck_assert_uint_eq(addr_count->nr[ADDR_COUNT_BRANCH],
			  addr_count->group * 10 + addr_count->space / 0x1000);
	ck_assert_uint_eq(addr_count->nr[ADDR_COUNT_CALL], 0);
	(*nr)++;
	return true;
}

/* Address 0 is one as any other. */
START_TEST(groups_and_spaces_apart)
{
	struct addr_counter counter;
	uint32_t nr = 0;

	ck_assert(addr_counter_init(&counter, take_apart, &nr));
	for (uint32_t group = 1; group < 4; group++)
		for (uint64_t space = 0; space < 5; space++)
			for (uint64_t i = 0; i < group * 10 + space; i++)
				ck_assert(addr_counter_add(&counter, group, space * 0x1000, 0,
							   ADDR_COUNT_BRANCH));
	ck_assert(addr_counter_drain(&counter));
	ck_assert_uint_eq(nr, 15);
	addr_counter_fini(&counter);
}
END_TEST

START_TEST(more_addresses_than_room)
{
	struct addr_counter counter;

	begin(&counter);
	for (uint64_t round = 0; round < 2; round++)
		for (uint64_t i = 0; i < NR_ADDRESSES; i++)
			for (uint64_t j = 0; j <= i % 3; j++)
				ck_assert(add(&counter, i, ADDR_COUNT_BRANCH));
	ck_assert_uint_eq(counter.nr_room, ADDR_COUNTER_MAX_ROOM);
	ck_assert_uint_ge(nr_printed, ADDR_COUNTER_MAX_ROOM / 2);
	ck_assert(addr_counter_drain(&counter));
	for (uint64_t i = 0; i < NR_ADDRESSES; i++)
		ck_assert_uint_eq(sums[i][ADDR_COUNT_BRANCH], 2 * (i % 3 + 1));
	addr_counter_fini(&counter);
}
END_TEST

/* A counter is passed on before it wraps; the other one of the address is, too. */
START_TEST(more_than_a_number_holds)
{
	struct addr_counter counter;

	begin(&counter);
	ck_assert(add(&counter, 3, ADDR_COUNT_CALL));
	ck_assert(add(&counter, 3, ADDR_COUNT_BRANCH));
	addr_counter_find(&counter, 1, 0, KERNEL_KVA + 12)->nr[ADDR_COUNT_BRANCH] = UINT32_MAX - 2;
	ck_assert(add(&counter, 3, ADDR_COUNT_BRANCH));
	ck_assert_uint_eq(nr_printed, 0);
	ck_assert(add(&counter, 3, ADDR_COUNT_BRANCH));
	ck_assert_uint_eq(nr_printed, 1);
	ck_assert_uint_eq(sums[3][ADDR_COUNT_BRANCH], UINT32_MAX);
	ck_assert(add(&counter, 3, ADDR_COUNT_CALL));
	ck_assert(addr_counter_drain(&counter));
	ck_assert_uint_eq(sums[3][ADDR_COUNT_BRANCH], UINT32_MAX);
	ck_assert_uint_eq(sums[3][ADDR_COUNT_CALL], 2);
	addr_counter_fini(&counter);
}
END_TEST

/* A table that cannot grow is passed on instead. */
START_TEST(without_memory)
{
	struct addr_counter counter;
	bool done;

	failing_alloc_arm(1);
	done = addr_counter_init(&counter, take, sums);
	ck_assert(failing_alloc_disarm());
	ck_assert(!done);
	addr_counter_fini(&counter);
	begin(&counter);
	failing_alloc_arm(1);
	done = true;
	for (uint64_t i = 0; i < 1000; i++)
		done = add(&counter, i, ADDR_COUNT_BRANCH) && done;
	ck_assert(failing_alloc_disarm());
	ck_assert(done);
	ck_assert_uint_gt(nr_printed, 0);
	ck_assert(addr_counter_drain(&counter));
	for (uint64_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(sums[i][ADDR_COUNT_BRANCH], 1);
	addr_counter_fini(&counter);
}
END_TEST

/* The callback has no memory: when the table is full, a counter is, or at the end. */
START_TEST(nobody_takes_them)
{
	struct addr_counter counter;
	uint64_t i = 0;

	begin(&counter);
	nr_takes = 10;
	while (i < NR_ADDRESSES && add(&counter, i, ADDR_COUNT_BRANCH))
		i++;
	ck_assert_uint_eq(i, ADDR_COUNTER_MAX_ROOM / 2);
	ck_assert_uint_eq(nr_printed, 10);
	ck_assert(add(&counter, 3, ADDR_COUNT_CALL));
	addr_counter_find(&counter, 1, 0, KERNEL_KVA + 12)->nr[ADDR_COUNT_CALL] = UINT32_MAX - 1;
	ck_assert(!add(&counter, 3, ADDR_COUNT_CALL));
	ck_assert(add(&counter, 3, ADDR_COUNT_CALL));
	ck_assert(!addr_counter_drain(&counter));
	addr_counter_fini(&counter);
}
END_TEST

BTSREC_CK_MAIN("addr_counter", both_kinds_of_an_address, groups_and_spaces_apart,
	       more_addresses_than_room, more_than_a_number_holds, without_memory,
	       nobody_takes_them)
