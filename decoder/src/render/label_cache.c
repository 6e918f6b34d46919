// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/label_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/large.h"

#define MIN_SLOTS	BOUND(1U << 12, 1U << 4)
#define CHUNK_BYTES	BOUND(256U << 10, 4U << 10)

/** struct label_chunk - @used_bytes of @room_bytes of @bytes are labels; they stay in place */
struct label_chunk {
	struct label_chunk *next;
	size_t used_bytes;
	size_t room_bytes;
	_Alignas(struct label) char bytes[];
};

/* Up to the next label. */
static size_t size_of(size_t nr_bytes)
{
	size_t align = _Alignof(struct label);

	return (sizeof(struct label) + nr_bytes + align - 1) / align * align;
}

bool label_cache_full(const struct label_cache *cache, size_t nr_bytes)
{
	return cache->nr_used >= LABEL_CACHE_MAX_SLOTS / 2 ||
	       (cache->nr_used &&
		cache->text_bytes + size_of(nr_bytes) > LABEL_CACHE_MAX_TEXT_BYTES);
}

static struct label_slot *free_slot(struct label_slot *slots, size_t nr_slots,
				    const struct label_key *key)
{
	size_t i = label_hash(key) & (nr_slots - 1);

	while (slots[i].label)
		i = (i + 1) & (nr_slots - 1);
	return &slots[i];
}

/* Fourfold, because to move each slot costs a cache miss. */
static size_t more_slots(size_t nr_slots)
{
	nr_slots = nr_slots ? 4 * nr_slots : MIN_SLOTS;
	return nr_slots < LABEL_CACHE_MAX_SLOTS ? nr_slots : LABEL_CACHE_MAX_SLOTS;
}

/* At least half of the slots stay free, so that the way to one is short. */
static bool make_slots(struct label_cache *cache)
{
	size_t nr_slots = more_slots(cache->nr_slots);
	struct label_slot *slots;

	if (cache->nr_used < cache->nr_slots / 2 || cache->nr_slots == LABEL_CACHE_MAX_SLOTS)
		return true;
	slots = large_table(nr_slots * sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < cache->nr_slots; i++)
		if (cache->slots[i].label)
			*free_slot(slots, nr_slots, &cache->slots[i].key) = cache->slots[i];
	free(cache->slots);
	cache->slots = slots;
	cache->nr_slots = nr_slots;
	return true;
}

static bool make_chunk(struct label_cache *cache, size_t nr_bytes)
{
	size_t room_bytes = nr_bytes > CHUNK_BYTES ? nr_bytes : CHUNK_BYTES;
	struct label_chunk *chunk = malloc(sizeof(*chunk) + room_bytes + LABEL_CACHE_SPARE_BYTES);

	if (!chunk)
		return false;
	memset(chunk->bytes + room_bytes, 0, LABEL_CACHE_SPARE_BYTES);
	chunk->next = cache->chunks;
	chunk->used_bytes = 0;
	chunk->room_bytes = room_bytes;
	cache->chunks = chunk;
	return true;
}

static struct label *make_room(struct label_cache *cache, size_t nr_bytes)
{
	struct label_chunk *chunk = cache->chunks;

	if ((!chunk || chunk->room_bytes - chunk->used_bytes < nr_bytes) &&
	    !make_chunk(cache, nr_bytes))
		return NULL;
	chunk = cache->chunks;
	chunk->used_bytes += nr_bytes;
	cache->text_bytes += nr_bytes;
	return (struct label *)(chunk->bytes + chunk->used_bytes - nr_bytes);
}

const struct label *label_cache_add(struct label_cache *cache, const struct label_key *key,
				    const char *text, size_t nr_bytes, uint32_t cookie)
{
	struct label *label = make_slots(cache) ? make_room(cache, size_of(nr_bytes)) : NULL;

	if (!label)
		return NULL;
	label->nr_bytes = (uint32_t)nr_bytes;
	label->cookie = cookie;
	memcpy(label->text, text, nr_bytes);
	*free_slot(cache->slots, cache->nr_slots, key) = (struct label_slot){ *key, label };
	cache->nr_used++;
	return label;
}

void label_cache_fini(struct label_cache *cache)
{
	struct label_chunk *chunk, *next;

	for (chunk = cache->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(cache->slots);
	memset(cache, 0, sizeof(*cache));
}
