/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lines of branches say behind the addresses: names and kinds, which are the same
 * for the same branch in the same address space.  A history repeats itself, so they are
 * worded once and kept.  A container; who words them is the caller.
 *
 * Behind label_cache_share() any thread may ask and add, without a lock: a slot of the table is
 * taken once and then stays as it is, and what is found in it is complete.
 */
#ifndef BTSREC_LABEL_CACHE_H
#define BTSREC_LABEL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/helper.h"

/* All that is kept: 20 MiB of texts and a table of 16 MiB.  See label_cache_full(). */
#define LABEL_CACHE_MAX_TEXT_BYTES (20U << 20)
#define LABEL_CACHE_MAX_SLOTS	   (1U << 19)
/* So many may be added to the largest table behind label_cache_full(): the way to a slot stays short. */
#define LABEL_CACHE_SPARE_SLOTS (LABEL_CACHE_MAX_SLOTS / 4)

/* Of memory behind each text that may be read, so that copies may be of constant size. */
#define LABEL_CACHE_SPARE_BYTES 64

/** struct tail - a text; @cookie is the caller's */
struct tail {
	uint32_t nr_bytes;
	uint32_t cookie;
	char text[];
};

/** struct label_cache_key - a branch; @space tells address spaces apart, 0 where none matters */
struct label_cache_key {
	uint64_t from;
	uint64_t to;
	uint64_t space;
};

/** struct label_cache_slot - of the table; free without a @tail, being filled with label_cache_taken */
struct label_cache_slot {
	struct label_cache_key key;
	const struct tail *tail;
};

/** label_cache_taken - no tail: a slot that some thread is about to fill has it */
extern const struct tail label_cache_taken;

/* So many texts a thread adds to a shared table before it counts them for all. */
#define LABEL_CACHE_COUNT_EACH 64

/**
 * struct label_cache_texts - where one thread puts its texts; all zero: none
 * @nr_new, @new_bytes: of those that are not counted in struct tails yet.
 */
struct label_cache_texts {
	struct label_cache_chunk *chunks;
	size_t nr_new;
	size_t new_bytes;
};

/**
 * struct tails - what is kept; all zero: nothing
 * @slots: @nr_slots of them, a power of two, of which @nr_used are used; owned.
 * @text_bytes: of all texts.
 * @shared: the table stays where it is, until label_cache_grow().
 *
 * What all threads read all the time is in another line of the cache than what they count.
 */
struct label_cache {
	struct label_cache_slot *slots;
	size_t nr_slots;
	bool shared;
	char apart[HELPER_LINE_BYTES];
	size_t nr_used;
	size_t text_bytes;
};

/** label_cache_hash() - for label_cache_prefetch() and label_cache_find() */
static inline uint64_t label_cache_hash(const struct label_cache_key *key)
{
	/* Fibonacci hashing: the multiplier is 2^64 divided by the golden ratio. */
	uint64_t hash = (key->from ^ key->to << 24 ^ key->to >> 40 ^ key->space << 8) *
			0x9e3779b97f4a7c15ULL;

	return hash ^ hash >> 32;
}

/** label_cache_prefetch() - this will be asked for soon */
static inline void label_cache_prefetch(const struct label_cache *label_cache, uint64_t hash)
{
	if (label_cache->nr_slots)
		__builtin_prefetch(&label_cache->slots[hash & (label_cache->nr_slots - 1)]);
}

/** label_cache_expect() - the text of @tail is needed soon, of most one or two lines of the cache */
static inline void label_cache_expect(const struct tail *tail)
{
	__builtin_prefetch(tail);
	__builtin_prefetch(tail->text + LABEL_CACHE_SPARE_BYTES - 1);
}

/** label_cache_is() - does @slot, which has @tail, have it for @key? */
static inline bool label_cache_is(const struct label_cache_slot *slot, const struct tail *tail,
				  const struct label_cache_key *key)
{
	return tail != &label_cache_taken && slot->key.from == key->from &&
	       slot->key.to == key->to && slot->key.space == key->space;
}

/** label_cache_find() - what was added for @key, valid until label_cache_forget(); NULL: nothing was */
static inline const struct tail *label_cache_find(const struct label_cache *label_cache,
						  uint64_t hash, const struct label_cache_key *key)
{
	size_t mask = label_cache->nr_slots - 1, i = hash & mask;
	const struct tail *tail;

	if (!label_cache->nr_slots)
		return NULL;
	/* Its text and its key were written before it. */
	while ((tail = __atomic_load_n(&label_cache->slots[i].tail, __ATOMIC_ACQUIRE))) {
		if (label_cache_is(&label_cache->slots[i], tail, key))
			return tail;
		i = (i + 1) & mask;
	}
	return NULL;
}

/**
 * label_cache_full() - is there no room for one more text of @nr_bytes?
 *
 * Then label_cache_grow(), or forget all.  A table that is not shared grows by itself.  Threads that
 * are at work may still add what label_cache_share() was told, with their texts; what they have not
 * counted yet is among it.
 */
bool label_cache_full(const struct label_cache *label_cache, size_t nr_bytes);

/**
 * label_cache_grow() - a larger table, for one that is full; nobody else may be at it
 *
 * Return: false: it is as large as it gets, or the texts are too many, or out of memory.
 */
bool label_cache_grow(struct label_cache *label_cache);

/**
 * label_cache_add() - keep a copy of @text for @key, if there is none yet
 * @texts: the thread's.
 *
 * Return: what label_cache_find() finds: the copy, or what another thread has added meanwhile;
 * NULL: out of memory.
 */
const struct tail *label_cache_add(struct label_cache *label_cache, struct label_cache_texts *texts,
				   const struct label_cache_key *key, const char *text,
				   size_t nr_bytes, uint32_t cookie);

/**
 * label_cache_share() - before other threads than the caller's ask and add
 * @nr_spare: so many they may add behind label_cache_full(); at most LABEL_CACHE_SPARE_SLOTS.
 *
 * Return: false: out of memory, and nothing has changed.
 */
bool label_cache_share(struct label_cache *label_cache, size_t nr_spare);

/**
 * label_cache_forget() - keep nothing; nobody else may be at it
 *
 * What is shared stays so.
 */
void label_cache_forget(struct label_cache *label_cache);

/** label_cache_fini() - label_cache_forget(), and free the table */
void label_cache_fini(struct label_cache *label_cache);

/** label_cache_texts_fini() - free the texts, which label_cache_forget() has been told to forget */
void label_cache_texts_fini(struct label_cache_texts *texts);

#endif /* BTSREC_LABEL_CACHE_H */
