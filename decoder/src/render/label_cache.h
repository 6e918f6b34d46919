/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Labels: what lines of branches have after the addresses, names and kinds.  They are the same
 * for the same branch in the same address space.  A history repeats itself, so each label is made
 * once and kept.  A container of one thread; the caller makes the labels.
 */
#ifndef BTSREC_LABEL_CACHE_H
#define BTSREC_LABEL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All that is kept: 20 MiB of labels and a table of 16 MiB.  See label_cache_full(). */
#define LABEL_CACHE_MAX_TEXT_BYTES (20U << 20)
#define LABEL_CACHE_MAX_SLOTS	   (1U << 19)

/* Of memory after each label that may be read, so that copies may be of constant size. */
#define LABEL_CACHE_SPARE_BYTES 64

/** struct label - a text; @cookie is the caller's */
struct label {
	uint32_t nr_bytes;
	uint32_t cookie;
	char text[];
};

/** struct label_key - a branch; @space: number of the address space, 0 where none matters */
struct label_key {
	uint64_t from;
	uint64_t to;
	uint64_t space;
};

/** struct label_slot - of the table; free without a @label */
struct label_slot {
	struct label_key key;
	const struct label *label;
};

/**
 * struct label_cache - what is kept; all zero: nothing
 * @slots: @nr_slots of them, a power of two, @nr_used of them used; owned.
 * @chunks: where the labels are; owned.  @text_bytes: of all labels.
 */
struct label_cache {
	struct label_slot *slots;
	size_t nr_slots;
	size_t nr_used;
	struct label_chunk *chunks;
	size_t text_bytes;
};

/** label_hash() - for label_cache_prefetch() and label_cache_find() */
static inline uint64_t label_hash(const struct label_key *key)
{
	/* Fibonacci hashing: the multiplier is 2^64 divided by the golden ratio. */
	uint64_t hash = (key->from ^ key->to << 24 ^ key->to >> 40 ^ key->space << 8) *
			0x9e3779b97f4a7c15ULL;

	return hash ^ hash >> 32;
}

/** label_cache_prefetch() - this will be asked for soon */
static inline void label_cache_prefetch(const struct label_cache *cache, uint64_t hash)
{
	if (cache->nr_slots)
		__builtin_prefetch(&cache->slots[hash & (cache->nr_slots - 1)]);
}

/** label_prefetch() - the text of @label is needed soon, of most one or two cache lines */
static inline void label_prefetch(const struct label *label)
{
	__builtin_prefetch(label);
	__builtin_prefetch(label->text + LABEL_CACHE_SPARE_BYTES - 1);
}

/** label_cache_find() - what was added for @key, valid until label_cache_fini(); NULL: nothing */
static inline const struct label *label_cache_find(const struct label_cache *cache, uint64_t hash,
						   const struct label_key *key)
{
	size_t mask = cache->nr_slots - 1, i = hash & mask;

	if (!cache->nr_slots)
		return NULL;
	for (; cache->slots[i].label; i = (i + 1) & mask) {
		const struct label_key *found = &cache->slots[i].key;

		if (found->from == key->from && found->to == key->to && found->space == key->space)
			return cache->slots[i].label;
	}
	return NULL;
}

/**
 * label_cache_full() - is there no room for one more label of @nr_bytes?
 *
 * Then label_cache_fini() makes room.  Until half of LABEL_CACHE_MAX_SLOTS more were added, the
 * way to a slot stays short all the same.
 */
bool label_cache_full(const struct label_cache *cache, size_t nr_bytes);

/**
 * label_cache_add() - keep a copy of @text for @key, which label_cache_find() does not find
 *
 * Return: the copy; NULL: out of memory.
 */
const struct label *label_cache_add(struct label_cache *cache, const struct label_key *key,
				    const char *text, size_t nr_bytes, uint32_t cookie);

/** label_cache_fini() - free all and keep nothing */
void label_cache_fini(struct label_cache *cache);

#endif /* BTSREC_LABEL_CACHE_H */
