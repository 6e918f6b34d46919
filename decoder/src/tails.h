/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lines of branches say behind the addresses: names and kinds, which are the same
 * for the same branch in the same address space.  A history repeats itself, so they are
 * worded once and kept.  A container; who words them is the caller.
 *
 * Behind tails_share() any thread may ask and add, without a lock: a slot of the table is
 * taken once and then stays as it is, and what is found in it is complete.
 */
#ifndef BTSREC_TAILS_H
#define BTSREC_TAILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "helper.h"

/* All that is kept: 20 MiB of texts and a table of 16 MiB.  See tails_full(). */
#define TAILS_MAX_TEXT_BYTES	(20U << 20)
#define TAILS_MAX_SLOTS		(1U << 19)
/* So many may be added to the largest table behind tails_full(): the way to a slot stays short. */
#define TAILS_SPARE_SLOTS	(TAILS_MAX_SLOTS / 4)

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

/** struct tails_slot - of the table; free without a @tail, being filled with tails_taken */
struct tails_slot {
	struct tails_key key;
	const struct tail *tail;
};

/** tails_taken - no tail: a slot that some thread is about to fill has it */
extern const struct tail tails_taken;

/* So many texts a thread adds to a shared table before it counts them for all. */
#define TAILS_COUNT_EACH	64

/**
 * struct tails_texts - where one thread puts its texts; all zero: none
 * @nr_new, @new_bytes: of those that are not counted in struct tails yet.
 */
struct tails_texts {
	struct tails_chunk *chunks;
	size_t nr_new;
	size_t new_bytes;
};

/**
 * struct tails - what is kept; all zero: nothing
 * @slots: @nr_slots of them, a power of two, of which @nr_used are used; owned.
 * @text_bytes: of all texts.
 * @shared: the table stays where it is, until tails_grow().
 *
 * What all threads read all the time is in another line of the cache than what they count.
 */
struct tails {
	struct tails_slot *slots;
	size_t nr_slots;
	bool shared;
	char apart[HELPER_LINE_BYTES];
	size_t nr_used;
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

/** tails_is() - does @slot, which has @tail, have it for @key? */
static inline bool tails_is(const struct tails_slot *slot, const struct tail *tail,
			    const struct tails_key *key)
{
	return tail != &tails_taken && slot->key.from == key->from && slot->key.to == key->to &&
	       slot->key.space == key->space;
}

/** tails_find() - what was added for @key, valid until tails_forget(); NULL: nothing was */
static inline const struct tail *tails_find(const struct tails *tails, uint64_t hash,
					    const struct tails_key *key)
{
	size_t mask = tails->nr_slots - 1, i = hash & mask;
	const struct tail *tail;

	if (!tails->nr_slots)
		return NULL;
	/* Its text and its key were written before it. */
	while ((tail = __atomic_load_n(&tails->slots[i].tail, __ATOMIC_ACQUIRE))) {
		if (tails_is(&tails->slots[i], tail, key))
			return tail;
		i = (i + 1) & mask;
	}
	return NULL;
}

/**
 * tails_full() - is there no room for one more text of @nr_bytes?
 *
 * Then tails_grow(), or forget all.  A table that is not shared grows by itself.  Threads that
 * are at work may still add what tails_share() was told, with their texts; what they have not
 * counted yet is among it.
 */
bool tails_full(const struct tails *tails, size_t nr_bytes);

/**
 * tails_grow() - a larger table, for one that is full; nobody else may be at it
 *
 * Return: false: it is as large as it gets, or the texts are too many, or out of memory.
 */
bool tails_grow(struct tails *tails);

/**
 * tails_add() - keep a copy of @text for @key, if there is none yet
 * @texts: the thread's.
 *
 * Return: what tails_find() finds: the copy, or what another thread has added meanwhile;
 * NULL: out of memory.
 */
const struct tail *tails_add(struct tails *tails, struct tails_texts *texts,
			     const struct tails_key *key, const char *text, size_t nr_bytes,
			     uint32_t cookie);

/**
 * tails_share() - before other threads than the caller's ask and add
 * @nr_spare: so many they may add behind tails_full(); at most TAILS_SPARE_SLOTS.
 *
 * Return: false: out of memory, and nothing has changed.
 */
bool tails_share(struct tails *tails, size_t nr_spare);

/**
 * tails_forget() - keep nothing; nobody else may be at it
 *
 * What is shared stays so.
 */
void tails_forget(struct tails *tails);

/** tails_fini() - tails_forget(), and free the table */
void tails_fini(struct tails *tails);

/** tails_texts_fini() - free the texts, which tails_forget() has been told to forget */
void tails_texts_fini(struct tails_texts *texts);

#endif /* BTSREC_TAILS_H */
