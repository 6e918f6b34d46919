// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/symbol_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/grow.h"
#include "base/symbol_function.h"

/* --- The list ----------------------------------------------------------- */

/*
 * Several symbols share many addresses.  Global functions win over local ones
 * and both over data, so that the answer does not depend on the file's order.
 * UINT8_MAX: no symbol of the image at all.
 */
static uint8_t symbol_rank(char letter)
{
	if (!letter)
		return UINT8_MAX;
	if (strchr("TWtw", letter))
		return letter == 'T' || letter == 'W' ? 0 : 1;
	if (strchr("DRBVdrbv", letter))
		return letter < 'a' ? 2 : 3;
	return UINT8_MAX;
}

static bool list_grow(struct symbol_list *list)
{
	return grow(&list->entries, sizeof(*list->entries), list->nr_entries, &list->nr_room);
}

bool symbol_list_add(struct symbol_list *list, uint64_t va, char letter, const char *name,
		     size_t name_bytes)
{
	return symbol_list_add_sized(list, va, 0, 0, letter, name, name_bytes);
}

bool symbol_list_add_sized(struct symbol_list *list, uint64_t va, uint64_t nr_bytes,
			   uint64_t room_bytes, char letter, const char *name, size_t name_bytes)
{
	uint8_t rank = symbol_rank(letter);
	struct symbol_entry *entry;

	if (rank == UINT8_MAX || !name_bytes)
		return true;
	if (!list_grow(list))
		return false;
	entry = &list->entries[list->nr_entries++];
	entry->va = va;
	entry->nr_bytes = nr_bytes;
	entry->room_bytes = room_bytes;
	entry->name = name;
	if (name_bytes > SYMBOL_NAME_MAX_BYTES)
		name_bytes = SYMBOL_NAME_MAX_BYTES;
	entry->name_bytes = (uint32_t)name_bytes;
	entry->rank = rank;
	return true;
}

void symbol_list_fini(struct symbol_list *list)
{
	free(list->entries);
	memset(list, 0, sizeof(*list));
}

static unsigned int nr_underscores(const struct symbol_entry *entry)
{
	unsigned int nr = 0;

	while (nr < entry->name_bytes && entry->name[nr] == '_')
		nr++;
	return nr;
}

static int entry_name_compare(const struct symbol_entry *a, const struct symbol_entry *b)
{
	uint32_t nr_common = a->name_bytes < b->name_bytes ? a->name_bytes : b->name_bytes;
	int order = memcmp(a->name, b->name, nr_common);

	if (order)
		return order;
	return (a->name_bytes > b->name_bytes) - (a->name_bytes < b->name_bytes);
}

/* By address; at one address the name to print first. */
static int entry_compare(const void *left, const void *right)
{
	const struct symbol_entry *a = left, *b = right;
	unsigned int nr_a, nr_b;

	if (a->va != b->va)
		return a->va < b->va ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	nr_a = nr_underscores(a);
	nr_b = nr_underscores(b);
	if (nr_a != nr_b)
		return nr_a < nr_b ? -1 : 1;
	return entry_name_compare(a, b);
}

static bool is_called(const struct symbol_entry *entry, const char *name)
{
	return entry->name_bytes == strlen(name) && !memcmp(entry->name, name, entry->name_bytes);
}

/* Few names have the length, and the first and the last byte, of one that is looked for. */
#define NR_LOOKS	1024

static unsigned int looks_of(const char *name, size_t name_bytes)
{
	return (unsigned int)(name_bytes + 31U * (unsigned char)name[0] +
			      113U * (unsigned char)name[name_bytes - 1]) % NR_LOOKS;
}

void symbol_list_by_names(const struct symbol_list *list, const char *const *names,
			  size_t nr_names, const struct symbol_entry **ret)
{
	bool looks[NR_LOOKS] = { false };

	/* Nothing is called "", which a damaged root may ask for. */
	for (size_t i = 0; i < nr_names; i++) {
		if (*names[i])
			looks[looks_of(names[i], strlen(names[i]))] = true;
		ret[i] = NULL;
	}
	for (size_t at = 0; at < list->nr_entries; at++) {
		const struct symbol_entry *entry = &list->entries[at];

		if (!entry->name_bytes || !looks[looks_of(entry->name, entry->name_bytes)])
			continue;
		for (size_t i = 0; i < nr_names; i++)
			if (!ret[i] && is_called(entry, names[i]))
				ret[i] = entry;
	}
}

const struct symbol_entry *symbol_list_by_name(const struct symbol_list *list, const char *name)
{
	const struct symbol_entry *entry;

	symbol_list_by_names(list, &name, 1, &entry);
	return entry;
}

/*
 * Kernels have their symbols in order, but for the names of one address: then each is put
 * into its place with a few steps.  False: it takes too many, the order is any.
 */
static bool sort_by_steps(struct symbol_entry *entries, size_t nr_entries)
{
	size_t nr_left = 2 * nr_entries, i, at;

	for (i = 1; i < nr_entries; i++) {
		struct symbol_entry entry = entries[i];

		for (at = i; at && nr_left && entry_compare(&entries[at - 1], &entry) > 0; at--) {
			entries[at] = entries[at - 1];
			nr_left--;
		}
		entries[at] = entry;
	}
	return nr_left;
}

static void list_sort(struct symbol_list *list)
{
	if (list->nr_entries && !sort_by_steps(list->entries, list->nr_entries))
		qsort(list->entries, list->nr_entries, sizeof(*list->entries), entry_compare);
}

/* Nothing is known from @va on, unless a symbol is there. */
static bool add_end(struct symbol_list *list, uint64_t va)
{
	if (!list_grow(list))
		return false;
	list->entries[list->nr_entries++] = (struct symbol_entry){
		.va = va, .name = "", .rank = UINT8_MAX,
	};
	return true;
}

/* Labels of where a section ends, which begin nothing. */
static void drop_ends(struct symbol_list *list)
{
	size_t i, nr_kept = 0;

	for (i = 0; i < list->nr_entries; i++)
		if (list->entries[i].nr_bytes || list->entries[i].room_bytes)
			list->entries[nr_kept++] = list->entries[i];
	list->nr_entries = nr_kept;
}

/* How much the symbols from @first to before @end, all of one address, stand for. */
static uint64_t size_of(const struct symbol_entry *first, const struct symbol_entry *end)
{
	uint64_t nr_bytes = 0, room_bytes = 0;

	for (; first < end; first++) {
		if (nr_bytes < first->nr_bytes)
			nr_bytes = first->nr_bytes;
		if (room_bytes < first->room_bytes)
			room_bytes = first->room_bytes;
	}
	return nr_bytes ? nr_bytes : room_bytes;
}

bool symbol_list_end(struct symbol_list *list)
{
	size_t nr_symbols, i, next;
	uint64_t nr_bytes, va;

	drop_ends(list);
	list_sort(list);
	nr_symbols = list->nr_entries;
	for (i = 0; i < nr_symbols; i = next) {
		va = list->entries[i].va;
		for (next = i; next < nr_symbols && list->entries[next].va == va;)
			next++;
		nr_bytes = size_of(list->entries + i, list->entries + next);
		if (va + nr_bytes < va ||
		    (next < nr_symbols && list->entries[next].va <= va + nr_bytes))
			continue;
		if (!add_end(list, va + nr_bytes))
			return false;
	}
	return true;
}

/* Drop what is outside; sorted afterwards. */
static void list_reduce(struct symbol_list *list, uint64_t begin_va, uint64_t end_va)
{
	size_t i, nr_kept = 0;

	for (i = 0; i < list->nr_entries; i++)
		if (list->entries[i].va >= begin_va && list->entries[i].va < end_va)
			list->entries[nr_kept++] = list->entries[i];
	list->nr_entries = nr_kept;
	list_sort(list);
}

/* Of a sorted list: not the name to print first at its address. */
static bool is_alias(const struct symbol_list *list, size_t i)
{
	return i && list->entries[i - 1].va == list->entries[i].va;
}

/* --- The table ---------------------------------------------------------- */

static bool table_alloc(struct symbol_table *table, const struct symbol_list *list)
{
	uint64_t nr_granules = (table->end_va - table->begin_va) / SYMBOL_GRANULE_BYTES + 1;
	size_t names_bytes = 1, i;

	for (i = 0; i < list->nr_entries; i++)
		names_bytes += 4 * (size_t)list->entries[i].name_bytes + 1;
	if (names_bytes > UINT32_MAX || table->end_va - table->begin_va > UINT32_MAX)
		return false;
	table->starts = calloc(list->nr_entries + 1, sizeof(*table->starts));
	table->granules = calloc(nr_granules, sizeof(*table->granules));
	table->names = malloc(names_bytes);
	return table->starts && table->granules && table->names;
}

static void table_add(struct symbol_table *table, const struct symbol_entry *entry)
{
	struct symbol_start *start = &table->starts[table->nr_names++];

	start->offset_bytes = (uint32_t)(entry->va - table->begin_va);
	start[1].name_at = start->name_at + (uint32_t)escaped_copy(table->names + start->name_at,
								   entry->name, entry->name_bytes);
}

static void table_fill(struct symbol_table *table, const struct symbol_list *list)
{
	uint64_t nr_granules = (table->end_va - table->begin_va) / SYMBOL_GRANULE_BYTES + 1;
	uint64_t granule;
	size_t i;

	for (i = 0; i < list->nr_entries; i++)
		if (!is_alias(list, i))
			table_add(table, &list->entries[i]);
	table->nr_symbols = table->nr_names;
	for (i = 0; i < list->nr_entries; i++)
		if (is_alias(list, i) && list->entries[i].name_bytes)
			table_add(table, &list->entries[i]);

	for (i = 0, granule = 0; granule < nr_granules; granule++) {
		uint64_t offset_bytes = granule * SYMBOL_GRANULE_BYTES;

		while (i + 1 < table->nr_symbols &&
		       table->starts[i + 1].offset_bytes <= offset_bytes)
			i++;
		table->granules[granule] = (uint32_t)i;
	}
}

/* There was room for names that are all escapes; what is left is of use to others. */
static void give_back(struct symbol_table *table)
{
	char *names = realloc(table->names, table->starts[table->nr_names].name_at + (size_t)1);

	if (names)
		table->names = names;
}

void symbol_table_free(struct symbol_table *table)
{
	if (!table)
		return;
	free(table->starts);
	free(table->granules);
	free(table->names);
	free(table);
}

struct symbol_table *symbol_table_new(struct symbol_list *list, uint64_t begin_va,
				      uint64_t end_va)
{
	struct symbol_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->begin_va = begin_va;
	table->end_va = end_va;
	list_reduce(list, begin_va, end_va);
	if (!table_alloc(table, list)) {
		symbol_table_free(table);
		return NULL;
	}
	table_fill(table, list);
	give_back(table);
	if (symbol_functions_link(table))
		return table;
	symbol_table_free(table);
	return NULL;
}

bool symbol_table_at(const struct symbol_table *table, uint64_t va, size_t *ret)
{
	uint64_t at_bytes = va - table->shift - table->begin_va;
	const struct symbol_start *starts = table->starts;
	size_t i;

	if (at_bytes >= table->end_va - table->begin_va || !table->nr_symbols)
		return false;
	i = table->granules[at_bytes / SYMBOL_GRANULE_BYTES];
	while (i + 1 < table->nr_symbols && starts[i + 1].offset_bytes <= at_bytes)
		i++;
	if (starts[i].offset_bytes > at_bytes || starts[i + 1].name_at == starts[i].name_at)
		return false;
	*ret = i;
	return true;
}

bool symbol_table_find(const struct symbol_table *table, uint64_t va, const char **ret_name,
		       size_t *ret_name_bytes, uint64_t *ret_offset_bytes)
{
	size_t i;

	if (!symbol_table_at(table, va, &i))
		return false;
	*ret_name = symbol_table_name(table, i, ret_name_bytes);
	*ret_offset_bytes = va - symbol_table_va(table, i);
	return true;
}

static bool is_wanted(const struct symbol_table *table, size_t i,
		      bool (*wanted)(const char *name, size_t name_bytes))
{
	size_t nr_bytes;
	const char *name = symbol_table_name(table, i, &nr_bytes);

	return wanted(name, nr_bytes);
}

bool symbol_table_part(const struct symbol_table *table,
		       bool (*wanted)(const char *name, size_t name_bytes), uint64_t *ret_va,
		       uint64_t *ret_end_va)
{
	size_t first = 0, end = table->nr_symbols;

	while (first < end && !is_wanted(table, first, wanted))
		first++;
	while (end > first && !is_wanted(table, end - 1, wanted))
		end--;
	if (first == end)
		return false;
	*ret_va = symbol_table_va(table, first);
	*ret_end_va = end < table->nr_symbols ? symbol_table_va(table, end) :
						table->end_va + table->shift;
	return true;
}

bool symbol_table_by_name(const struct symbol_table *table, const char *name, size_t *at,
			  uint64_t *ret_va)
{
	size_t nr_bytes = strlen(name), i;

	for (i = *at; i < table->nr_names; i++) {
		size_t its_bytes;
		const char *its_name = symbol_table_name(table, i, &its_bytes);

		if (its_bytes == nr_bytes && !memcmp(its_name, name, nr_bytes))
			break;
	}
	*at = i + 1;
	if (i >= table->nr_names)
		return false;
	*ret_va = symbol_table_va(table, i);
	return true;
}
