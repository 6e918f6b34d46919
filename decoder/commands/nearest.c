// SPDX-License-Identifier: GPL-2.0-or-later
#include "nearest.h"

#include <string.h>

/* No name of a command, an option or a value is longer. */
#define MAX_LETTERS 24

static unsigned int min(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static size_t letters_of(const char *word)
{
	return strnlen(word, MAX_LETTERS + 1);
}

/* Edits between the two; the rows are those of the letters of @a before. */
static unsigned int distance_between(const char *a, size_t nr_a, const char *b, size_t nr_b)
{
	unsigned int rows[3][MAX_LETTERS + 1];
	unsigned int *before = rows[0], *last = rows[1], *now = rows[2], *spare;

	for (size_t j = 0; j <= nr_b; j++)
		last[j] = (unsigned int)j;
	for (size_t i = 1; i <= nr_a; i++) {
		now[0] = (unsigned int)i;
		for (size_t j = 1; j <= nr_b; j++) {
			now[j] = min(last[j - 1] + (a[i - 1] != b[j - 1]),
				     min(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = min(now[j], before[j - 2] + 1);
		}
		spare = before;
		before = last;
		last = now;
		now = spare;
	}
	return last[nr_b];
}

struct nearest nearest_to(const char *typed)
{
	size_t nr = letters_of(typed);

	return (struct nearest){.typed = typed, .distance = nr < 3 ? 2 : (unsigned int)nr / 3 + 1};
}

void nearest_offer(struct nearest *nearest, const char *word)
{
	size_t nr_typed = letters_of(nearest->typed), nr_word = letters_of(word);
	unsigned int distance;

	if (!nr_typed || nr_typed > MAX_LETTERS || nr_word > MAX_LETTERS)
		return;
	distance = distance_between(nearest->typed, nr_typed, word, nr_word);
	/* What was not typed to its end is nearer than what was typed wrong. */
	if (nr_typed > 1 && !strncmp(word, nearest->typed, nr_typed))
		distance = 1;
	if (distance >= nearest->distance)
		return;
	nearest->distance = distance;
	nearest->word = word;
}
