// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/reg_values_words.h"

#include <stdbool.h>
#include <string.h>

#define WORD_BYTES	8

/* What is farther from its root is not followed, so that no sum of distances overflows. */
#define MAX_DISTANCE	(INT64_C(1) << 40)

/* So many places below the stack pointer are looked through, in bytes. */
#define MAX_TRIM_BYTES	4096

void words_forget(struct words *words)
{
	memset(words->roots, 0, sizeof(words->roots));
	memset(words->orders, 0, sizeof(words->orders));
}

/* --- One root ----------------------------------------------------------- */

static struct word_root *find_root(const struct words *words, uint32_t root)
{
	for (unsigned int i = 0; i < WORDS_NR_ROOTS; i++)
		if (words->roots[i].generation && words->roots[i].root == root)
			return (struct word_root *)&words->roots[i];
	return NULL;
}

/* In place of the oldest. */
static struct word_root *make_root(struct words *words, struct number at, struct known known)
{
	struct word_root *root = &words->roots[words->next_root++ % WORDS_NR_ROOTS];

	*root = (struct word_root){ .root = at.root, .generation = ++words->generation,
				    .known = known, .low = (int64_t)at.offset,
				    .end = (int64_t)at.offset };
	return root;
}

static struct word *place_of(const struct words *words, const struct word_root *root,
			     uint64_t offset)
{
	size_t at = ((offset + root->generation * 8ULL) * 0x9e3779b97f4a7c15ULL >> 20) %
		    WORDS_NR_PLACES;

	while (words->list[at].generation &&
	       (words->list[at].generation != root->generation ||
		words->list[at].offset != offset))
		at = (at + 1) % WORDS_NR_PLACES;
	return (struct word *)&words->list[at];
}

uint32_t words_get(const struct words *words, struct number at)
{
	const struct word_root *root = find_root(words, at.root);
	const struct word *word = root ? place_of(words, root, at.offset) : NULL;

	return word && word->generation ? word->version : 0;
}

/* All words of a root are as many bytes from multiples of 8. */
static uint64_t phase_of(const struct word_root *root, uint64_t offset)
{
	return (offset - (uint64_t)root->end) % WORD_BYTES;
}

/* A word that begins up to 7 bytes before is changed, too. */
static void overwrite(struct words *words, const struct word_root *root, uint64_t offset,
		      uint64_t nr_bytes)
{
	uint64_t end = phase_of(root, offset) + nr_bytes;

	offset -= phase_of(root, offset);
	for (uint64_t at = 0; at < end; at += WORD_BYTES) {
		struct word *word = place_of(words, root, offset + at);

		if (word->generation)
			word->version = 0;
	}
}

/* --- Bounds ------------------------------------------------------------- */

/* Addresses of the kernel are negative here: no bound is between the largest and the smallest. */
static bool bounds_of(uint32_t root, struct known known, int64_t *ret_min, int64_t *ret_max)
{
	*ret_min = *ret_max = 0;
	if (!root)
		return true;
	*ret_min = (int64_t)known.value;
	*ret_max = (int64_t)(known.value | ~known.mask);
	return known.mask >> 40 == UINT64_MAX >> 40 && *ret_min > INT64_MIN / 2 &&
	       *ret_max < INT64_MAX / 2;
}

/* Root 0 may be anywhere. */
static bool is_near(uint32_t root, uint64_t offset)
{
	int64_t distance = (int64_t)offset;

	return !root ? distance < -MAX_DISTANCE / 2 || distance > MAX_DISTANCE / 2 :
		       distance > -MAX_DISTANCE && distance < MAX_DISTANCE;
}

static bool is_apart(const struct word_root *root, struct number at, struct known known,
		     unsigned int nr_bytes)
{
	int64_t min, max, store_min, store_max;

	if (!bounds_of(root->root, root->known, &min, &max) ||
	    !bounds_of(at.root, known, &store_min, &store_max) || !is_near(at.root, at.offset))
		return false;
	return store_max + (int64_t)at.offset + nr_bytes <= min + root->low ||
	       store_min + (int64_t)at.offset >= max + root->end;
}

/* By way of the roots that it is below of. */
static bool is_below(const struct words *words, const struct word_root *root, struct number at,
		     unsigned int nr_bytes)
{
	int64_t end = (int64_t)at.offset + nr_bytes;
	uint32_t from = at.root;

	if (!is_near(1, at.offset))
		return false;
	for (unsigned int step = 0; step < WORDS_NR_ORDERS; step++) {
		const struct word_order *order = NULL;

		for (unsigned int i = 0; i < WORDS_NR_ORDERS && !order; i++)
			if (from && words->orders[i].root == from)
				order = &words->orders[i];
		if (!order)
			return false;
		from = order->than.root;
		end += (int64_t)order->than.offset;
		if (from == root->root)
			return end <= root->low;
	}
	return false;
}

/* --- Words -------------------------------------------------------------- */

void words_store(struct words *words, struct number at, struct known known, unsigned int nr_bytes)
{
	for (unsigned int i = 0; i < WORDS_NR_ROOTS; i++) {
		struct word_root *root = &words->roots[i];

		if (!root->generation)
			continue;
		if (root->root == at.root)
			overwrite(words, root, at.offset, nr_bytes);
		else if (!is_apart(root, at, known, nr_bytes) &&
			 !is_below(words, root, at, nr_bytes))
			root->generation = 0;
	}
}

/* Words of roots that are gone take room until all are. */
static void clean(struct words *words)
{
	if (words->nr < WORDS_MAX)
		return;
	memset(words->list, 0, sizeof(words->list));
	words->nr = 0;
	words_forget(words);
}

void words_set(struct words *words, struct number at, struct known known, uint32_t version)
{
	struct word_root *root;
	struct word *word;

	if (!is_near(at.root, at.offset))
		return;
	clean(words);
	root = find_root(words, at.root);
	if (root && phase_of(root, at.offset)) {
		root->generation = 0;
		root = NULL;
	}
	if (!root)
		root = make_root(words, at, known);
	if ((int64_t)at.offset < root->low)
		root->low = (int64_t)at.offset;
	if ((int64_t)at.offset + WORD_BYTES > root->end)
		root->end = (int64_t)at.offset + WORD_BYTES;
	word = place_of(words, root, at.offset);
	words->nr += !word->generation;
	*word = (struct word){ at.offset, version, root->generation };
}

/* Forget the words below @offset: they are above the stack pointer of nobody. */
static void trim(struct words *words, struct word_root *root, int64_t offset)
{
	if (offset - root->low > MAX_TRIM_BYTES) {
		root->generation = 0;
		return;
	}
	if (offset <= root->low)
		return;
	overwrite(words, root, (uint64_t)root->low, (uint64_t)(offset - root->low));
	root->low = offset;
}

void words_below(struct words *words, uint32_t root, struct number than, uint64_t rsp)
{
	struct word_root *above = find_root(words, than.root);

	if (!is_near(than.root, than.offset) || !is_near(than.root, rsp) || !above)
		return;
	trim(words, above, (int64_t)rsp);
	words->orders[words->next_order++ % WORDS_NR_ORDERS] = (struct word_order){ root, than };
}

void words_end_at(struct words *words, struct number rsp)
{
	for (unsigned int i = 0; i < WORDS_NR_ROOTS; i++) {
		struct word_root *root = &words->roots[i];

		if (!root->generation)
			continue;
		if (root->root == rsp.root && is_near(rsp.root, rsp.offset))
			trim(words, root, (int64_t)rsp.offset);
		else if (!is_below(words, root, rsp, 0))
			root->generation = 0;
	}
}

void words_above(struct words *words, uint64_t va)
{
	int64_t end = (int64_t)va;

	for (unsigned int i = 0; i < WORDS_NR_ROOTS; i++) {
		struct word_root *root = &words->roots[i];

		if (!root->generation || (!root->root && root->end <= end))
			continue;
		if (root->root || root->low >= end || root->end - end > MAX_TRIM_BYTES) {
			root->generation = 0;
			continue;
		}
		overwrite(words, root, va, (uint64_t)(root->end - end));
		root->end = end;
	}
}
