/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols in any order in, a table that names an address out.  Knows neither
 * where symbols come from nor sessions.
 *
 * A table is sorted once and read-only afterwards.  Its names are escaped while they are copied in,
 * so that no printer looks at each byte.
 */
#ifndef BTSREC_SYMBOL_TABLE_H
#define BTSREC_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest name kept; the kernel's own KSYM_NAME_LEN is 512. */
#define SYMBOL_NAME_MAX_BYTES	511

/**
 * struct symbol_list - symbols on their way into a table
 * @entries: unsorted; names borrowed.  @nr_bytes: of what the symbol stands for; 0:
 *	unknown.  @room_bytes: more than that it cannot be.  No name: nothing is known from
 *	here on.
 * @nr_room: allocated @entries.
 */
struct symbol_list {
	struct symbol_entry {
		uint64_t va;
		uint64_t nr_bytes;
		uint64_t room_bytes;
		const char *name;
		uint32_t name_bytes;
		uint8_t rank;		/* lower wins at one address */
	} *entries;
	size_t nr_entries;
	size_t nr_room;
};

/**
 * symbol_list_add() - one more symbol
 * @letter: its type as nm, System.map and kallsyms write it.
 * @name: borrowed until the table has been made.
 *
 * Undefined, absolute and debugging symbols are left out.
 *
 * Return: false: out of memory.
 */
bool symbol_list_add(struct symbol_list *list, uint64_t va, char letter, const char *name,
		     size_t name_bytes);

/**
 * symbol_list_add_sized() - as symbol_list_add(), with the size of what it stands for
 * @nr_bytes: 0: unknown.
 * @room_bytes: up to the end of its section.
 */
bool symbol_list_add_sized(struct symbol_list *list, uint64_t va, uint64_t nr_bytes,
			   uint64_t room_bytes, char letter, const char *name, size_t name_bytes);

/**
 * symbol_list_end() - let symbols end where they end, not where the next one begins
 *
 * All must be of symbol_list_add_sized().  One of unknown size ends with its section at the
 * latest: after _init, which has none, come stubs of the PLT without symbols.
 *
 * The kernel's own lookup does not do that; where a file has but a few of its symbols,
 * what lies between them would get names of its neighbours.
 *
 * Return: false: out of memory.
 */
bool symbol_list_end(struct symbol_list *list);

/** symbol_list_by_name() - the first entry called @name, or NULL; none is called "" */
const struct symbol_entry *symbol_list_by_name(const struct symbol_list *list, const char *name);

/**
 * symbol_list_by_names() - the first entry called as each of @nr_names, or NULL
 * @names: "" is nobody's.
 */
void symbol_list_by_names(const struct symbol_list *list, const char *const *names,
			  size_t nr_names, const struct symbol_entry **ret);

/** symbol_list_fini() - free what symbol_list_add() allocated */
void symbol_list_fini(struct symbol_list *list);

/**
 * struct symbol_table - symbols of one file, kernel or module
 * @next: for the owner.
 * @shift: what KASLR added to the addresses in the table.
 * @begin_va, @end_va: nothing outside resolves; without @shift.
 * @starts: @nr_symbols ascending, each once, then those of the other names of some;
 *	@nr_names in all, and one more for where the last name ends.  One array, because a lookup
 *	wants all of it.
 * @granules: for each SYMBOL_GRANULE_BYTES from @begin_va, the last symbol that
 *	starts at or before it; makes a lookup one step and a short walk.
 */
struct symbol_table {
	struct symbol_table *next;
	uint64_t shift;
	uint64_t begin_va;
	uint64_t end_va;
	size_t nr_symbols;
	size_t nr_names;
	struct symbol_start {
		uint32_t offset_bytes;	/* from @begin_va */
		uint32_t name_at;	/* in @names */
		uint32_t function;	/* of @starts: see symbol_function.h */
	} *starts;
	uint32_t *granules;
	char *names;
};

#define SYMBOL_GRANULE_BYTES	256

/**
 * symbol_table_new() - a table of what @list has in [@begin_va, @end_va)
 *
 * Sorts and shortens @list.  The range must be below 4 GiB, and of a size that may be
 * allocated 64 times smaller.
 *
 * Return: the table, for symbol_table_free(); NULL: out of memory.
 */
struct symbol_table *symbol_table_new(struct symbol_list *list, uint64_t begin_va,
				      uint64_t end_va);

/** symbol_table_va() - where name @i starts, below @nr_names */
static inline uint64_t symbol_table_va(const struct symbol_table *table, size_t i)
{
	return table->begin_va + table->starts[i].offset_bytes + table->shift;
}

/** symbol_table_name() - name @i, below @nr_names: escaped, not terminated; the table's */
static inline const char *symbol_table_name(const struct symbol_table *table, size_t i,
					    size_t *ret_bytes)
{
	*ret_bytes = table->starts[i + 1].name_at - table->starts[i].name_at;
	return table->names + table->starts[i].name_at;
}

/** symbol_table_fetch() - have the cache fetch what symbol_table_find() needs soon */
static inline void symbol_table_fetch(const struct symbol_table *table, uint64_t va)
{
	uint64_t at_bytes = va - table->shift - table->begin_va;

	if (at_bytes < table->end_va - table->begin_va)
		__builtin_prefetch(&table->starts[table->granules[at_bytes /
								  SYMBOL_GRANULE_BYTES]]);
}

/** symbol_table_free() - NULL is allowed */
void symbol_table_free(struct symbol_table *table);

/** symbol_table_at() - the number of the symbol that symbol_table_find() finds */
bool symbol_table_at(const struct symbol_table *table, uint64_t va, size_t *ret);

/**
 * symbol_table_find() - the symbol that @va is in
 * @ret_name: escaped, not terminated; the table's.
 *
 * Return: false if @va is outside, before the first symbol, or where none is.
 */
bool symbol_table_find(const struct symbol_table *table, uint64_t va, const char **ret_name,
		       size_t *ret_name_bytes, uint64_t *ret_offset_bytes);

/**
 * symbol_table_part() - from the first to the last symbol with @wanted as its printed name
 * @ret_va, @ret_end_va: what they are in, and what lies between; with the shift.
 *
 * Return: false: there is none.
 */
bool symbol_table_part(const struct symbol_table *table,
		       bool (*wanted)(const char *name, size_t name_bytes), uint64_t *ret_va,
		       uint64_t *ret_end_va);

/**
 * symbol_table_by_name() - where a symbol with this name is, be it the one that is printed
 *	or another of its address
 * @at: number of the name to begin with, after the call the one after that found; from 0.
 *
 * Return: false: there is none from there on.
 */
bool symbol_table_by_name(const struct symbol_table *table, const char *name, size_t *at,
			  uint64_t *ret_va);

#endif /* BTSREC_SYMBOL_TABLE_H */
