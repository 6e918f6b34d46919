/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a user meant that typed a word that is not there. */
#ifndef BTSREC_NEAREST_H
#define BTSREC_NEAREST_H

/**
 * struct nearest - the nearest word that was offered
 * @typed: borrowed.
 * @word: borrowed; NULL: none is near.
 * @distance: edits from @typed to @word, or the least that is too many.
 */
struct nearest {
	const char *typed;
	const char *word;
	unsigned int distance;
};

/**
 * nearest_to() - begin; of words that are equally near the first one stays
 *
 * Near is what takes one edit for each three letters of @typed, and one at least.  An edit
 * adds, drops or replaces a letter, or swaps two neighbours (Damerau-Levenshtein).  A word
 * that begins with @typed is near, too.
 */
struct nearest nearest_to(const char *typed);

/** nearest_offer() - @word is one of those that could have been meant */
void nearest_offer(struct nearest *nearest, const char *word);

#endif /* BTSREC_NEAREST_H */
