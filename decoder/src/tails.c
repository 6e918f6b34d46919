// SPDX-License-Identifier: GPL-2.0-or-later
#include "tails.h"

#include <stdlib.h>
#include <string.h>

#include "bounds.h"

#define MIN_SLOTS	BOUND(1U << 12, 1U << 4)
#define CHUNK_BYTES	BOUND(256U << 10, 4U << 10)
#define CACHE_LINE_BYTES 64

/** struct tails_chunk - @used_bytes of @room_bytes behind it are texts; they stay in place */
struct tails_chunk {
	struct tails_chunk *next;
	size_t used_bytes;
	size_t room_bytes;
	_Alignas(struct tail) char bytes[];
};

/* Up to the next tail. */
static size_t size_of(size_t nr_bytes)
{
	size_t align = _Alignof(struct tail);

	return (sizeof(struct tail) + nr_bytes + align - 1) / align * align;
}

bool tails_full(const struct tails *tails, size_t nr_bytes)
{
	return tails->nr_used >= TAILS_MAX_SLOTS / 2 ||
	       (tails->nr_used && tails->text_bytes + size_of(nr_bytes) > TAILS_MAX_TEXT_BYTES);
}

static struct tails_slot *place_of(struct tails_slot *slots, size_t nr_slots,
				   const struct tails_key *key)
{
	size_t i = tails_hash(key) & (nr_slots - 1);

	while (slots[i].tail)
		i = (i + 1) & (nr_slots - 1);
	return &slots[i];
}

/* Fourfold, because to move each slot costs a cache miss. */
static size_t more_slots(size_t nr_slots)
{
	nr_slots = nr_slots ? 4 * nr_slots : MIN_SLOTS;
	return nr_slots < TAILS_MAX_SLOTS ? nr_slots : TAILS_MAX_SLOTS;
}

/* At least half of the slots stay free, so that the way to one is short. */
static bool make_slots(struct tails *tails)
{
	size_t nr_slots = more_slots(tails->nr_slots);
	struct tails_slot *slots;

	if (tails->nr_used < tails->nr_slots / 2)
		return true;
	/* No slot lies in two lines of the cache. */
	slots = aligned_alloc(CACHE_LINE_BYTES, nr_slots * sizeof(*slots));
	if (!slots)
		return false;
	memset(slots, 0, nr_slots * sizeof(*slots));
	for (size_t i = 0; i < tails->nr_slots; i++)
		if (tails->slots[i].tail)
			*place_of(slots, nr_slots, &tails->slots[i].key) = tails->slots[i];
	free(tails->slots);
	tails->slots = slots;
	tails->nr_slots = nr_slots;
	return true;
}

static void *make_room(struct tails *tails, size_t nr_bytes)
{
	struct tails_chunk *chunk = tails->chunks;

	if (!chunk || chunk->room_bytes - chunk->used_bytes < nr_bytes) {
		size_t room_bytes = nr_bytes > CHUNK_BYTES ? nr_bytes : CHUNK_BYTES;

		chunk = malloc(sizeof(*chunk) + room_bytes + TAILS_SPARE_BYTES);
		if (!chunk)
			return NULL;
		memset(chunk->bytes + room_bytes, 0, TAILS_SPARE_BYTES);
		chunk->next = tails->chunks;
		chunk->used_bytes = 0;
		chunk->room_bytes = room_bytes;
		tails->chunks = chunk;
	}
	chunk->used_bytes += nr_bytes;
	tails->text_bytes += nr_bytes;
	return chunk->bytes + chunk->used_bytes - nr_bytes;
}

const struct tail *tails_add(struct tails *tails, const struct tails_key *key, const char *text,
			     size_t nr_bytes, uint32_t cookie)
{
	struct tail *tail = make_slots(tails) ? make_room(tails, size_of(nr_bytes)) : NULL;

	if (!tail)
		return NULL;
	tail->nr_bytes = (uint32_t)nr_bytes;
	tail->cookie = cookie;
	memcpy(tail->text, text, nr_bytes);
	*place_of(tails->slots, tails->nr_slots, key) = (struct tails_slot){ *key, tail };
	tails->nr_used++;
	return tail;
}

void tails_forget(struct tails *tails)
{
	struct tails_chunk *chunk, *next;

	for (chunk = tails->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(tails->slots);
	memset(tails, 0, sizeof(*tails));
}
