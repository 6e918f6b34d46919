// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/lines_place.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "symbols/symbol.h"

/* --- The kernel --------------------------------------------------------- */

struct anchor {
	const char *name;
	bool found;
	uint64_t address;
};

static bool find_anchor(void *arg, const char *name, uint64_t address, size_t section,
			uint64_t begin, uint64_t end)
{
	struct anchor *anchor = arg;

	(void)section;
	(void)begin;
	(void)end;
	anchor->found = !strcmp(name, anchor->name);
	anchor->address = address;
	return !anchor->found;
}

bool lines_place_kernel(struct lines_place *place, struct dwarf_file *file, const char *name,
			uint64_t kva)
{
	struct anchor anchor = { .name = name };

	dwarf_file_symbols(file, find_anchor, &anchor);
	if (!anchor.found || (kva - anchor.address) % SYMBOL_KASLR_STEP_BYTES)
		return false;
	place->parts[0] = (struct lines_part){ .end = UINT64_MAX, .shift = kva - anchor.address };
	place->nr_parts = 1;
	return true;
}

void lines_place_linked(struct lines_place *place, uint64_t bias)
{
	place->parts[0] = (struct lines_part){ .end = UINT64_MAX, .shift = -bias };
	place->nr_parts = 1;
}

/* --- Modules ------------------------------------------------------------ */

/** struct known - a symbol of the table; @name has no zero at its end */
struct known {
	const char *name;
	size_t name_bytes;
	uint64_t va;
};

/** struct votes - the table by name while the file's symbols pass by */
struct votes {
	struct lines_place *place;
	struct known *known;
	size_t nr_known;
};

static int known_compare(const void *left, const void *right)
{
	const struct known *a = left, *b = right;
	size_t nr_bytes = a->name_bytes < b->name_bytes ? a->name_bytes : b->name_bytes;
	int order = memcmp(a->name, b->name, nr_bytes);

	if (order)
		return order;
	return (a->name_bytes > b->name_bytes) - (a->name_bytes < b->name_bytes);
}

static struct known *known_new(const struct symbol_table *table)
{
	struct known *known = calloc(table->nr_symbols + 1, sizeof(*known));

	for (size_t i = 0; known && i < table->nr_symbols; i++) {
		known[i].name = symbol_table_name(table, i, &known[i].name_bytes);
		known[i].va = symbol_table_va(table, i);
	}
	if (known)
		qsort(known, table->nr_symbols, sizeof(*known), known_compare);
	return known;
}

/* The symbol called @name if there is only one. */
static const struct known *known_find(const struct votes *votes, const char *name)
{
	struct known key = { .name = name, .name_bytes = strlen(name) }, *at;
	const struct known *end = votes->known + votes->nr_known;

	at = bsearch(&key, votes->known, votes->nr_known, sizeof(key), known_compare);
	if (!at || (at > votes->known && !known_compare(at - 1, &key)) ||
	    (at + 1 < end && !known_compare(at + 1, &key)))
		return NULL;
	return at;
}

static struct lines_part *part_of(struct lines_place *place, size_t section)
{
	size_t i = 0;

	while (i < place->nr_parts && place->parts[i].section != section)
		i++;
	return i < LINES_MAX_PARTS ? &place->parts[i] : NULL;
}

static bool vote(void *arg, const char *name, uint64_t address, size_t section, uint64_t begin,
		 uint64_t end)
{
	struct votes *votes = arg;
	struct lines_place *place = votes->place;
	const struct known *known = known_find(votes, name);
	struct lines_part *part = known ? part_of(place, section) : NULL;

	if (!part)
		return true;
	if (part == &place->parts[place->nr_parts]) {
		*part = (struct lines_part){ section, begin, end, known->va - address, false };
		place->nr_parts++;
	} else if (part->shift != known->va - address) {
		part->refuted = true;
	}
	return true;
}

bool lines_place_module(struct lines_place *place, struct dwarf_file *file,
			const struct symbol_table *table)
{
	_cleanup_free_ struct known *known = known_new(table);
	struct votes votes = { place, known, table->nr_symbols };
	bool any = false;

	place->nr_parts = 0;
	if (known)
		dwarf_file_symbols(file, vote, &votes);
	for (size_t i = 0; i < place->nr_parts; i++)
		any |= !place->parts[i].refuted;
	return any;
}

/* --- Lookup ------------------------------------------------------------- */

bool lines_place_find(const struct lines_place *place, uint64_t va, uint64_t *ret_address)
{
	for (size_t i = 0; i < place->nr_parts; i++) {
		const struct lines_part *part = &place->parts[i];
		uint64_t address = va - part->shift;

		if (part->refuted || address < part->begin || address >= part->end)
			continue;
		*ret_address = address;
		return true;
	}
	return false;
}
