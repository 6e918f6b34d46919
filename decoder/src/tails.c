// SPDX-License-Identifier: GPL-2.0-or-later
#include "tails.h"

#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "large.h"
#include "populate.h"

#define MIN_SLOTS	BOUND(1U << 12, 1U << 4)
#define CHUNK_BYTES	BOUND(256U << 10, 4U << 10)

/** struct tails_chunk - @used_bytes of @room_bytes behind it are texts; they stay in place */
struct tails_chunk {
	struct tails_chunk *next;
	size_t used_bytes;
	size_t room_bytes;
	_Alignas(struct tail) char bytes[];
};

const struct tail tails_taken;

/* Up to the next tail. */
static size_t size_of(size_t nr_bytes)
{
	size_t align = _Alignof(struct tail);

	return (sizeof(struct tail) + nr_bytes + align - 1) / align * align;
}

static bool texts_full(const struct tails *tails, size_t nr_bytes)
{
	return __atomic_load_n(&tails->text_bytes, __ATOMIC_RELAXED) + size_of(nr_bytes) >
	       TAILS_MAX_TEXT_BYTES;
}

bool tails_full(const struct tails *tails, size_t nr_bytes)
{
	size_t nr_used = __atomic_load_n(&tails->nr_used, __ATOMIC_RELAXED);
	size_t nr_slots = tails->shared ? tails->nr_slots : TAILS_MAX_SLOTS;

	return nr_used >= nr_slots / 2 || (nr_used && texts_full(tails, nr_bytes));
}

/* --- The table ---------------------------------------------------------- */

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

static bool grow_to(struct tails *tails, size_t nr_slots)
{
	/* No slot lies in two lines of the cache. */
	struct tails_slot *slots = large_table(nr_slots * sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < tails->nr_slots; i++)
		if (tails->slots[i].tail)
			*place_of(slots, nr_slots, &tails->slots[i].key) = tails->slots[i];
	free(tails->slots);
	tails->slots = slots;
	tails->nr_slots = nr_slots;
	return true;
}

/* At least half of the slots stay free, so that the way to one is short. */
static bool make_slots(struct tails *tails)
{
	if (tails->shared || tails->nr_used < tails->nr_slots / 2 ||
	    tails->nr_slots == TAILS_MAX_SLOTS)
		return true;
	return grow_to(tails, more_slots(tails->nr_slots));
}

bool tails_grow(struct tails *tails)
{
	if (tails->nr_slots == TAILS_MAX_SLOTS || texts_full(tails, 0))
		return false;
	return grow_to(tails, more_slots(tails->nr_slots));
}

/* Whenever it is not full, three quarters of the table are enough for all. */
bool tails_share(struct tails *tails, size_t nr_spare)
{
	size_t nr_slots = tails->nr_slots ? tails->nr_slots : MIN_SLOTS;

	while (nr_slots < 4 * nr_spare)
		nr_slots = more_slots(nr_slots);
	if (!tails->shared)
		tails->shared = nr_slots == tails->nr_slots || grow_to(tails, nr_slots);
	return tails->shared;
}

/* --- Texts -------------------------------------------------------------- */

static struct tail *make_room(struct tails_texts *texts, size_t nr_bytes)
{
	struct tails_chunk *chunk = texts->chunks;

	if (!chunk || chunk->room_bytes - chunk->used_bytes < nr_bytes) {
		size_t room_bytes = nr_bytes > CHUNK_BYTES ? nr_bytes : CHUNK_BYTES;

		chunk = malloc(sizeof(*chunk) + room_bytes + TAILS_SPARE_BYTES);
		if (!chunk)
			return NULL;
		memset(chunk->bytes + room_bytes, 0, TAILS_SPARE_BYTES);
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
static const struct tail *publish(struct tails *tails, const struct tails_key *key,
				  const struct tail *tail)
{
	size_t mask = tails->nr_slots - 1, i = tails_hash(key) & mask;
	struct tails_slot *slot = &tails->slots[i];
	const struct tail *there = NULL;

	/* While another thread fills a slot, its key is not known: there may be two of the same. */
	while (!__atomic_compare_exchange_n(&slot->tail, &there, &tails_taken, false,
					    __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		if (tails_is(slot, there, key))
			return there;
		i = (i + 1) & mask;
		slot = &tails->slots[i];
		there = NULL;
	}
	slot->key = *key;
	__atomic_store_n(&slot->tail, tail, __ATOMIC_RELEASE);
	return tail;
}

/* Each time, it goes from the cache of one processor to that of another. */
static void count_new(struct tails *tails, struct tails_texts *texts)
{
	__atomic_fetch_add(&tails->nr_used, texts->nr_new, __ATOMIC_RELAXED);
	__atomic_fetch_add(&tails->text_bytes, texts->new_bytes, __ATOMIC_RELAXED);
	texts->nr_new = 0;
	texts->new_bytes = 0;
}

const struct tail *tails_add(struct tails *tails, struct tails_texts *texts,
			     const struct tails_key *key, const char *text, size_t nr_bytes,
			     uint32_t cookie)
{
	struct tail *tail = make_slots(tails) ? make_room(texts, size_of(nr_bytes)) : NULL;
	const struct tail *there;

	if (!tail)
		return NULL;
	tail->nr_bytes = (uint32_t)nr_bytes;
	tail->cookie = cookie;
	memcpy(tail->text, text, nr_bytes);
	there = publish(tails, key, tail);
	if (there != tail) {
		texts->chunks->used_bytes -= size_of(nr_bytes);
		return there;
	}
	texts->nr_new++;
	texts->new_bytes += size_of(nr_bytes);
	if (!tails->shared || texts->nr_new == TAILS_COUNT_EACH)
		count_new(tails, texts);
	return tail;
}

/* --- The end ------------------------------------------------------------ */

void tails_texts_fini(struct tails_texts *texts)
{
	struct tails_chunk *chunk, *next;

	for (chunk = texts->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	memset(texts, 0, sizeof(*texts));
}

void tails_forget(struct tails *tails)
{
	if (!tails->shared) {
		tails_fini(tails);
		return;
	}
	memset(tails->slots, 0, tails->nr_slots * sizeof(*tails->slots));
	tails->nr_used = 0;
	tails->text_bytes = 0;
}

void tails_fini(struct tails *tails)
{
	free(tails->slots);
	memset(tails, 0, sizeof(*tails));
}
