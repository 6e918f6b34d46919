// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/label_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/large.h"
#include "base/populate.h"

#define MIN_SLOTS	BOUND(1U << 12, 1U << 4)
#define CHUNK_BYTES	BOUND(256U << 10, 4U << 10)

/** struct label_cache_chunk - @used_bytes of @room_bytes behind it are texts; they stay in place */
struct label_cache_chunk {
	struct label_cache_chunk *next;
	size_t used_bytes;
	size_t room_bytes;
	_Alignas(struct tail) char bytes[];
};

const struct tail label_cache_taken;

/* Up to the next tail. */
static size_t size_of(size_t nr_bytes)
{
	size_t align = _Alignof(struct tail);

	return (sizeof(struct tail) + nr_bytes + align - 1) / align * align;
}

static bool texts_full(const struct label_cache *label_cache, size_t nr_bytes)
{
	return __atomic_load_n(&label_cache->text_bytes, __ATOMIC_RELAXED) + size_of(nr_bytes) >
	       LABEL_CACHE_MAX_TEXT_BYTES;
}

bool label_cache_full(const struct label_cache *label_cache, size_t nr_bytes)
{
	size_t nr_used = __atomic_load_n(&label_cache->nr_used, __ATOMIC_RELAXED);
	size_t nr_slots = label_cache->shared ? label_cache->nr_slots : LABEL_CACHE_MAX_SLOTS;

	return nr_used >= nr_slots / 2 || (nr_used && texts_full(label_cache, nr_bytes));
}

/* --- The table ---------------------------------------------------------- */

static struct label_cache_slot *place_of(struct label_cache_slot *slots, size_t nr_slots,
					 const struct label_cache_key *key)
{
	size_t i = label_cache_hash(key) & (nr_slots - 1);

	while (slots[i].tail)
		i = (i + 1) & (nr_slots - 1);
	return &slots[i];
}

/* Fourfold, because to move each slot costs a cache miss. */
static size_t more_slots(size_t nr_slots)
{
	nr_slots = nr_slots ? 4 * nr_slots : MIN_SLOTS;
	return nr_slots < LABEL_CACHE_MAX_SLOTS ? nr_slots : LABEL_CACHE_MAX_SLOTS;
}

static bool grow_to(struct label_cache *label_cache, size_t nr_slots)
{
	/* No slot lies in two lines of the cache. */
	struct label_cache_slot *slots = large_table(nr_slots * sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < label_cache->nr_slots; i++)
		if (label_cache->slots[i].tail)
			*place_of(slots, nr_slots, &label_cache->slots[i].key) = label_cache->slots[i];
	free(label_cache->slots);
	label_cache->slots = slots;
	label_cache->nr_slots = nr_slots;
	return true;
}

/* At least half of the slots stay free, so that the way to one is short. */
static bool make_slots(struct label_cache *label_cache)
{
	if (label_cache->shared || label_cache->nr_used < label_cache->nr_slots / 2 ||
	    label_cache->nr_slots == LABEL_CACHE_MAX_SLOTS)
		return true;
	return grow_to(label_cache, more_slots(label_cache->nr_slots));
}

bool label_cache_grow(struct label_cache *label_cache)
{
	if (label_cache->nr_slots == LABEL_CACHE_MAX_SLOTS || texts_full(label_cache, 0))
		return false;
	return grow_to(label_cache, more_slots(label_cache->nr_slots));
}

/* Whenever it is not full, three quarters of the table are enough for all. */
bool label_cache_share(struct label_cache *label_cache, size_t nr_spare)
{
	size_t nr_slots = label_cache->nr_slots ? label_cache->nr_slots : MIN_SLOTS;

	while (nr_slots < 4 * nr_spare)
		nr_slots = more_slots(nr_slots);
	if (!label_cache->shared)
		label_cache->shared =
			nr_slots == label_cache->nr_slots || grow_to(label_cache, nr_slots);
	return label_cache->shared;
}

/* --- Texts -------------------------------------------------------------- */

static struct tail *make_room(struct label_cache_texts *texts, size_t nr_bytes)
{
	struct label_cache_chunk *chunk = texts->chunks;

	if (!chunk || chunk->room_bytes - chunk->used_bytes < nr_bytes) {
		size_t room_bytes = nr_bytes > CHUNK_BYTES ? nr_bytes : CHUNK_BYTES;

		chunk = malloc(sizeof(*chunk) + room_bytes + LABEL_CACHE_SPARE_BYTES);
		if (!chunk)
			return NULL;
		memset(chunk->bytes + room_bytes, 0, LABEL_CACHE_SPARE_BYTES);
		/* Where one was not enough. */
		if (texts->chunks)
			populate(chunk, sizeof(*chunk) + room_bytes);
		chunk->next = texts->chunks;
		chunk->used_bytes = 0;
		chunk->room_bytes = room_bytes;
		texts->chunks = chunk;
	}
	chunk->used_bytes += nr_bytes;
	return (struct tail *)(chunk->bytes + chunk->used_bytes - nr_bytes);
}

/* Into the first free slot, unless somebody was faster; returns who is there for @key. */
static const struct tail *publish(struct label_cache *label_cache,
				  const struct label_cache_key *key, const struct tail *tail)
{
	size_t mask = label_cache->nr_slots - 1, i = label_cache_hash(key) & mask;
	struct label_cache_slot *slot = &label_cache->slots[i];
	const struct tail *there = NULL;

	/* While another thread fills a slot, its key is not known: there may be two of the same. */
	while (!__atomic_compare_exchange_n(&slot->tail, &there, &label_cache_taken, false,
					    __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		if (label_cache_is(slot, there, key))
			return there;
		i = (i + 1) & mask;
		slot = &label_cache->slots[i];
		there = NULL;
	}
	slot->key = *key;
	__atomic_store_n(&slot->tail, tail, __ATOMIC_RELEASE);
	return tail;
}

/* Each time, it goes from the cache of one processor to that of another. */
static void count_new(struct label_cache *label_cache, struct label_cache_texts *texts)
{
	__atomic_fetch_add(&label_cache->nr_used, texts->nr_new, __ATOMIC_RELAXED);
	__atomic_fetch_add(&label_cache->text_bytes, texts->new_bytes, __ATOMIC_RELAXED);
	texts->nr_new = 0;
	texts->new_bytes = 0;
}

const struct tail *label_cache_add(struct label_cache *label_cache, struct label_cache_texts *texts,
				   const struct label_cache_key *key, const char *text,
				   size_t nr_bytes, uint32_t cookie)
{
	struct tail *tail = make_slots(label_cache) ? make_room(texts, size_of(nr_bytes)) : NULL;
	const struct tail *there;

	if (!tail)
		return NULL;
	tail->nr_bytes = (uint32_t)nr_bytes;
	tail->cookie = cookie;
	memcpy(tail->text, text, nr_bytes);
	there = publish(label_cache, key, tail);
	if (there != tail) {
		texts->chunks->used_bytes -= size_of(nr_bytes);
		return there;
	}
	texts->nr_new++;
	texts->new_bytes += size_of(nr_bytes);
	if (!label_cache->shared || texts->nr_new == LABEL_CACHE_COUNT_EACH)
		count_new(label_cache, texts);
	return tail;
}

/* --- The end ------------------------------------------------------------ */

void label_cache_texts_fini(struct label_cache_texts *texts)
{
	struct label_cache_chunk *chunk, *next;

	for (chunk = texts->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	memset(texts, 0, sizeof(*texts));
}

void label_cache_forget(struct label_cache *label_cache)
{
	if (!label_cache->shared) {
		label_cache_fini(label_cache);
		return;
	}
	memset(label_cache->slots, 0, label_cache->nr_slots * sizeof(*label_cache->slots));
	label_cache->nr_used = 0;
	label_cache->text_bytes = 0;
}

void label_cache_fini(struct label_cache *label_cache)
{
	free(label_cache->slots);
	memset(label_cache, 0, sizeof(*label_cache));
}
