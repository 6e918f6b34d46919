/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists that grow as events come. */
#ifndef BTSREC_GROW_H
#define BTSREC_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/**
 * grow_from() - make room for one more element
 * @array: address of the pointer to @nr elements, with room for *@nr_room.
 * @nr_first: the first room; from there on it doubles.
 *
 * Return: false: out of memory, or of numbers; and nothing has changed.
 */
static inline bool grow_from(void *array, size_t element_bytes, size_t nr, size_t *nr_room,
			     size_t nr_first)
{
	/* No overflow: an array of *nr_room elements is at most PTRDIFF_MAX bytes. */
	size_t nr_wanted = *nr_room ? 2 * *nr_room : nr_first;
	void *grown;

	if (nr < *nr_room)
		return true;
	grown = reallocarray(*(void **)array, nr_wanted, element_bytes);
	if (!grown)
		return false;
	*(void **)array = grown;
	*nr_room = nr_wanted;
	return true;
}

/** grow() - the same for a list that is expected to become long */
static inline bool grow(void *array, size_t element_bytes, size_t nr, size_t *nr_room)
{
	return grow_from(array, element_bytes, nr, nr_room, 1024);
}

#endif /* BTSREC_GROW_H */
