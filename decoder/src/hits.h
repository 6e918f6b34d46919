/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often branches left an address and calls entered it, before anybody asks which function
 * that is in: a history repeats itself, and an address is found faster than its name.
 *
 * Pure: the table is bounded, and what is in it is told to the caller when it is full.
 */
#ifndef BTSREC_HITS_H
#define BTSREC_HITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bounds.h"

/* 16 MiB; half of the places are in use at most. */
#define HITS_MAX_ROOM	BOUND(1U << 19, 1U << 6)

/** enum hit_kind - what is counted */
enum hit_kind {
	HIT_BRANCH,	/* that left the address */
	HIT_CALL,	/* that entered it */
};

/**
 * struct hit - what was counted for one address
 * @space: the caller's, tells address spaces apart.
 * @group: the caller's; 0: this place of the table is free.
 * @nr: by enum hit_kind.
 */
struct hit {
	_Alignas(32) uint64_t va;
	uint64_t space;
	uint32_t group;
	uint32_t nr[2];
};

/** hits_fn - takes over what was counted for one address; false: out of memory */
typedef bool (*hits_fn)(void *arg, const struct hit *hit);

/**
 * struct hits - each address in the first free place from that of its hash on
 * @table: owned, of @nr_room places, a power of two, 2^(64 - @shift); @nr are in use.
 * @fn, @arg: of hits_init().
 */
struct hits {
	struct hit *table;
	size_t nr;
	size_t nr_room;
	unsigned int shift;
	hits_fn fn;
	void *arg;
};

/**
 * hits_init() - nothing counted yet
 * @fn: is told with @arg, in any order, and for one address maybe more than once.
 *
 * Return: false: out of memory; hits_fini() is allowed.
 */
bool hits_init(struct hits *hits, hits_fn fn, void *arg);

/** hits_drain() - tell what was counted, and forget it; false: @fn said so */
bool hits_drain(struct hits *hits);

/** hits_fini() - free; what has not been told is lost.  All zero is allowed. */
void hits_fini(struct hits *hits);

/** hits_place() - the place of the hash of an address, for who adds one soon; as code_place() */
static inline struct hit *hits_place(const struct hits *hits, uint32_t group, uint64_t space,
				     uint64_t va)
{
	uint64_t key = va ^ space << 8 ^ (uint64_t)group << 44;

	return &hits->table[(key * 0x9e3779b97f4a7c15ULL) >> hits->shift];
}

/* The place of an address, or the free one where it belongs. */
static inline struct hit *hits_find(const struct hits *hits, uint32_t group, uint64_t space,
				    uint64_t va)
{
	struct hit *hit = hits_place(hits, group, space, va);

	while (hit->group && (hit->va != va || hit->group != group || hit->space != space))
		if (++hit == hits->table + hits->nr_room)
			hit = hits->table;
	return hit;
}

/* The free place @free, or another, becomes that of an address; NULL: as of hits_add(). */
struct hit *hits_take(struct hits *hits, struct hit *free, uint32_t group, uint64_t space,
		      uint64_t va);

/**
 * hits_add() - count one hit of @va
 * @group: not 0.
 *
 * Return: false: hits_drain() was necessary, and its @fn is out of memory.
 */
static inline bool hits_add(struct hits *hits, uint32_t group, uint64_t space, uint64_t va,
			    enum hit_kind kind)
{
	struct hit *hit = hits_find(hits, group, space, va);

	if (!hit->group)
		hit = hits_take(hits, hit, group, space, va);
	if (!hit)
		return false;
	return ++hit->nr[kind] < UINT32_MAX || hits_drain(hits);
}

#endif /* BTSREC_HITS_H */
