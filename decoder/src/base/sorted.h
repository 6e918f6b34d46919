/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists that are sorted by one of their members. */
#ifndef BTSREC_SORTED_H
#define BTSREC_SORTED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** sorted_search() - what sorted_up_to() is made of; @at_bytes: where the member is */
static inline size_t sorted_search(const void *list, size_t nr, size_t element_bytes,
				   size_t at_bytes, uint64_t key)
{
	size_t first = 0, behind = nr;

	while (first < behind) {
		size_t middle = first + (behind - first) / 2;
		uint64_t value;

		/* Here, because of no list not even an offset of 0 may be taken. */
		memcpy(&value, (const char *)list + middle * element_bytes + at_bytes,
		       sizeof(value));
		if (value <= key)
			first = middle + 1;
		else
			behind = middle;
	}
	return first;
}

/**
 * sorted_up_to() - how many elements have a @member of at most @key
 * @list: the first of @nr elements, ascending in @member, of 64 bits; any pointer if @nr is 0.
 */
#define sorted_up_to(list, nr, member, key)						\
	sorted_search(list, nr, sizeof(*(list)), offsetof(__typeof__(*(list)), member),	\
		      key)

#endif /* BTSREC_SORTED_H */
