/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often branches left an address and calls entered it, before its function is looked up.  A
 * history repeats itself, and an address is found faster than its name.
 *
 * Pure: the table is bounded, and what is in it is passed to the caller when it is full.
 */
#ifndef BTSREC_ADDR_COUNTER_H
#define BTSREC_ADDR_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bounds.h"

/* 16 MiB; half of the places are in use at most. */
#define ADDR_COUNTER_MAX_ROOM BOUND(1U << 19, 1U << 6)

/** enum addr_count_kind - what is counted */
enum addr_count_kind {
	ADDR_COUNT_BRANCH, /* that left the address */
	ADDR_COUNT_CALL,   /* that entered it */
};

/**
 * struct addr_count - what was counted for one address
 * @space: the caller's number of the address space.
 * @group: the caller's; 0: this place of the table is free.
 * @nr: by enum addr_count_kind.
 */
struct addr_count {
	_Alignas(32) uint64_t va;
	uint64_t space;
	uint32_t group;
	uint32_t nr[2];
};

/** addr_counter_fn - takes over what was counted for one address; false: out of memory */
typedef bool (*addr_counter_fn)(void *arg, const struct addr_count *addr_count);

/**
 * struct addr_counter - each address in the first free place from that of its hash on
 * @table: owned, of @nr_room places, a power of two, 2^(64 - @shift); @nr are in use.
 * @fn, @arg: of addr_counter_init().
 */
struct addr_counter {
	struct addr_count *table;
	size_t nr;
	size_t nr_room;
	unsigned int shift;
	addr_counter_fn fn;
	void *arg;
};

/**
 * addr_counter_init() - nothing counted yet
 * @fn: is called with @arg, in any order, and for one address maybe more than once.
 *
 * Return: false: out of memory; addr_counter_fini() is allowed.
 */
bool addr_counter_init(struct addr_counter *counter, addr_counter_fn fn, void *arg);

/** addr_counter_drain() - pass on what was counted, and forget it; false: @fn said so */
bool addr_counter_drain(struct addr_counter *counter);

/** addr_counter_fini() - free; what has not been passed on is lost.  All zero is allowed. */
void addr_counter_fini(struct addr_counter *counter);

/** addr_counter_place() - the place of the hash of an address, as code_place() */
static inline struct addr_count *addr_counter_place(const struct addr_counter *counter,
						    uint32_t group, uint64_t space, uint64_t va)
{
	uint64_t key = va ^ space << 8 ^ (uint64_t)group << 44;

	return &counter->table[(key * 0x9e3779b97f4a7c15ULL) >> counter->shift];
}

/* The place of an address, or the free one where it belongs. */
static inline struct addr_count *addr_counter_find(const struct addr_counter *counter,
						   uint32_t group, uint64_t space, uint64_t va)
{
	struct addr_count *addr_count = addr_counter_place(counter, group, space, va);

	while (addr_count->group &&
	       (addr_count->va != va || addr_count->group != group || addr_count->space != space))
		if (++addr_count == counter->table + counter->nr_room)
			addr_count = counter->table;
	return addr_count;
}

/* The free place @free, or another, becomes that of an address; NULL: as of addr_counter_add(). */
struct addr_count *addr_counter_take(struct addr_counter *counter, struct addr_count *free,
				     uint32_t group, uint64_t space, uint64_t va);

/**
 * addr_counter_add() - count one hit of @va
 * @group: not 0.
 *
 * Return: false: addr_counter_drain() was necessary, and its @fn is out of memory.
 */
static inline bool addr_counter_add(struct addr_counter *counter, uint32_t group, uint64_t space,
				    uint64_t va, enum addr_count_kind kind)
{
	struct addr_count *addr_count = addr_counter_find(counter, group, space, va);

	if (!addr_count->group)
		addr_count = addr_counter_take(counter, addr_count, group, space, va);
	if (!addr_count)
		return false;
	return ++addr_count->nr[kind] < UINT32_MAX || addr_counter_drain(counter);
}

#endif /* BTSREC_ADDR_COUNTER_H */
