// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/reg_values_memory.h"

#include <stdlib.h>

#include "base/bounds.h"

#define WORD_BYTES	8
#define FIRST_ROOM	BOUND(1U << 12, 1U << 4)
/* 64 MiB. */
#define MAX_ROOM	BOUND(1U << 21, 1U << 8)

void memory_forget(struct memory *memory)
{
	memory->generation++;
	memory->nr = 0;
}

void memory_fini(struct memory *memory)
{
	free(memory->words);
	*memory = (struct memory){ 0 };
}

static struct memory_word *place_of(const struct memory *memory, uint64_t address)
{
	size_t at = (address * 0x9e3779b97f4a7c15ULL >> 20) & (memory->nr_room - 1);

	while (memory->words[at].generation == memory->generation &&
	       memory->words[at].address != address)
		at = (at + 1) & (memory->nr_room - 1);
	return &memory->words[at];
}

/* False: see @nomem and @full. */
static bool grow_table(struct memory *memory)
{
	size_t nr_room = memory->nr_room ? 2 * memory->nr_room : FIRST_ROOM;
	struct memory larger = { .nr = memory->nr, .nr_room = nr_room, .generation = 1,
				 .nomem = memory->nomem };

	if (nr_room > MAX_ROOM) {
		memory->full = true;
		return false;
	}
	larger.words = calloc(nr_room, sizeof(larger.words[0]));
	if (!larger.words) {
		memory->nomem = true;
		return false;
	}
	for (size_t i = 0; i < memory->nr_room; i++) {
		struct memory_word word = memory->words[i];

		if (word.generation != memory->generation)
			continue;
		word.generation = larger.generation;
		*place_of(&larger, word.address) = word;
	}
	free(memory->words);
	*memory = larger;
	return true;
}

/* NULL: nothing has been said of it. */
static struct memory_word *find(const struct memory *memory, uint64_t address)
{
	struct memory_word *word;

	if (!memory->nr)
		return NULL;
	word = place_of(memory, address);
	return word->generation == memory->generation ? word : NULL;
}

/* NULL: there is no room. */
static struct memory_word *make(struct memory *memory, uint64_t address)
{
	struct memory_word *word = find(memory, address);

	if (word)
		return word;
	if (2 * memory->nr >= memory->nr_room && !grow_table(memory))
		return NULL;
	word = place_of(memory, address);
	*word = (struct memory_word){ .address = address, .generation = memory->generation };
	memory->nr++;
	return word;
}

/**
 * struct piece - what of @nr_bytes at an address is in one word
 * @shift: of the first bit in the word, of @nr bits; @done: as many came before.
 */
struct piece {
	uint64_t word;
	unsigned int shift;
	unsigned int nr;
	unsigned int done;
};

static bool next_piece(struct piece *piece, uint64_t address, unsigned int nr_bytes)
{
	unsigned int nr_left;

	piece->done += piece->nr;
	nr_left = nr_bytes * 8 - piece->done;
	address += piece->done / 8;
	piece->word = address & ~(uint64_t)(WORD_BYTES - 1);
	piece->shift = (unsigned int)(address % WORD_BYTES) * 8;
	piece->nr = 64 - piece->shift < nr_left ? 64 - piece->shift : nr_left;
	return nr_left;
}

bool memory_has(struct memory *memory, uint64_t address, unsigned int nr_bytes)
{
	struct piece piece = { 0 };

	while (next_piece(&piece, address, nr_bytes))
		if (!find(memory, piece.word))
			return false;
	return true;
}

struct known memory_get(struct memory *memory, uint64_t address, unsigned int nr_bytes)
{
	struct known ret = { 0, ~known_bits(nr_bytes * 8) };
	struct piece piece = { 0 };

	while (next_piece(&piece, address, nr_bytes)) {
		const struct memory_word *word = find(memory, piece.word);

		if (!word)
			continue;
		ret.value |= (word->known.value >> piece.shift & known_bits(piece.nr))
			     << piece.done;
		ret.mask |= (word->known.mask >> piece.shift & known_bits(piece.nr)) << piece.done;
	}
	return ret;
}

void memory_set(struct memory *memory, uint64_t address, unsigned int nr_bytes,
		struct known known)
{
	struct piece piece = { 0 };

	while (next_piece(&piece, address, nr_bytes)) {
		struct memory_word *word = make(memory, piece.word);
		uint64_t bits = known_bits(piece.nr) << piece.shift;

		if (!word)
			return;
		word->known = known_only(word->known, ~bits);
		word->known.mask |= (known.mask >> piece.done) << piece.shift & bits;
		word->known.value |= ((known.mask & known.value) >> piece.done) << piece.shift &
				     bits;
	}
}
