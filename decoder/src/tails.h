/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lines of branches say behind the addresses: names and kinds, which are the same
 * for the same branch in the same address space.  A history repeats itself, so they are
 * worded once and kept.  A container; who words them is the caller.
 */
#ifndef BTSREC_TAILS_H
#define BTSREC_TAILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All that is kept: 20 MiB of texts and a table of 16 MiB. */
#define TAILS_MAX_TEXT_BYTES	(20U << 20)
#define TAILS_MAX_SLOTS		(1U << 19)

/* Of memory behind each text that may be read, so that copies may be of constant size. */
#define TAILS_SPARE_BYTES	64

/** struct tail - a text; @cookie is the caller's */
struct tail {
	uint32_t nr_bytes;
	uint32_t cookie;
	char text[];
};

/** struct tails_key - a branch; @space tells address spaces apart, 0 where none matters */
struct tails_key {
	uint64_t from;
	uint64_t to;
	uint64_t space;
};

/** struct tails_slot - of the table; free without a @tail */
struct tails_slot {
	struct tails_key key;
	const struct tail *tail;
};

/**
 * struct tails - what is kept; all zero: nothing
 * @slots: @nr_slots of them, a power of two, of which @nr_used are used; owned.
 * @chunks: where the texts are; owned.
 */
struct tails {
	struct tails_slot *slots;
	size_t nr_slots;
	size_t nr_used;
	struct tails_chunk *chunks;
	size_t text_bytes;
};

/** tails_hash() - for tails_prefetch() and tails_find() */
static inline uint64_t tails_hash(const struct tails_key *key)
{
	/* Fibonacci hashing: the multiplier is 2^64 divided by the golden ratio. */
	uint64_t hash = (key->from ^ key->to << 24 ^ key->to >> 40 ^ key->space << 8) *
			0x9e3779b97f4a7c15ULL;

	return hash ^ hash >> 32;
}

/** tails_prefetch() - this will be asked for soon */
static inline void tails_prefetch(const struct tails *tails, uint64_t hash)
{
	if (tails->nr_slots)
		__builtin_prefetch(&tails->slots[hash & (tails->nr_slots - 1)]);
}

/** tails_expect() - the text of @tail is needed soon, of most one or two lines of the cache */
static inline void tails_expect(const struct tail *tail)
{
	__builtin_prefetch(tail);
	__builtin_prefetch(tail->text + TAILS_SPARE_BYTES - 1);
}

/** tails_find() - what was added for @key, valid until tails_forget(); NULL: nothing was */
static inline const struct tail *tails_find(const struct tails *tails, uint64_t hash,
					    const struct tails_key *key)
{
	size_t mask = tails->nr_slots - 1, i = hash & mask;

	if (!tails->nr_slots)
		return NULL;
	for (; tails->slots[i].tail; i = (i + 1) & mask)
		if (tails->slots[i].key.from == key->from && tails->slots[i].key.to == key->to &&
		    tails->slots[i].key.space == key->space)
			return tails->slots[i].tail;
	return NULL;
}

/** tails_full() - is there no room for one more text of @nr_bytes?  Then forget all. */
bool tails_full(const struct tails *tails, size_t nr_bytes);

/**
 * tails_add() - keep a copy of @text for @key, which has none yet; not if tails_full()
 *
 * Return: the copy, as tails_find(); NULL: out of memory.
 */
const struct tail *tails_add(struct tails *tails, const struct tails_key *key, const char *text,
			     size_t nr_bytes, uint32_t cookie);

/** tails_forget() - free all and keep nothing */
void tails_forget(struct tails *tails);

#endif /* BTSREC_TAILS_H */
