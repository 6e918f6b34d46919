// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/symbol_function.h"

#include <stdlib.h>
#include <string.h>

/* --- Names -------------------------------------------------------------- */

#define FRONT_BYTES 6

static bool is_front_name(const char *name, size_t name_bytes)
{
	return name_bytes > FRONT_BYTES && name[0] == '_' && name[1] == '_' &&
	       (!memcmp(name, "__pfx_", FRONT_BYTES) || !memcmp(name, "__cfi_", FRONT_BYTES));
}

/* How long the word @word after a dot is, with its number; 0: it is another word. */
static size_t match_word(const char *text, size_t nr_bytes, const char *word)
{
	size_t at = strlen(word);

	if (nr_bytes < at || memcmp(text, word, at))
		return 0;
	if (at + 1 < nr_bytes && text[at] == '.' && text[at + 1] >= '0' && text[at + 1] <= '9')
		for (at++; at < nr_bytes && text[at] >= '0' && text[at] <= '9';)
			at++;
	return at == nr_bytes || text[at] == '.' ? at : 0;
}

static size_t suffix_bytes(const char *text, size_t nr_bytes)
{
	static const char *const words[] = { "cold", "isra", "constprop", "part", "llvm",
					     "lto_priv", "localalias", "__uniq", "specialized",
					     "argprom", "argelim", "retelim" };
	size_t at = 0;

	for (size_t i = 0; !at && i < sizeof(words) / sizeof(words[0]); i++)
		at = match_word(text, nr_bytes, words[i]);
	return at;
}

/* Is all of @text, which begins with a dot, made by compilers? */
static bool is_made(const char *text, size_t nr_bytes)
{
	while (nr_bytes) {
		size_t at = *text == '.' ? suffix_bytes(text + 1, nr_bytes - 1) : 0;

		if (!at)
			return false;
		text += at + 1;
		nr_bytes -= at + 1;
	}
	return true;
}

/* Without suffixes; a name may have dots of its own (Go), and is never only dots. */
static size_t unsuffixed_bytes(const char *name, size_t name_bytes)
{
	const char *end = name + name_bytes, *dot = name;

	while (dot + 1 < end && (dot = memchr(dot + 1, '.', (size_t)(end - dot - 1))))
		if (is_made(dot, (size_t)(end - dot)))
			return (size_t)(dot - name);
	return name_bytes;
}

const char *symbol_stem(const char *name, size_t name_bytes, size_t *ret_bytes)
{
	if (is_front_name(name, name_bytes)) {
		name += FRONT_BYTES;
		name_bytes -= FRONT_BYTES;
	}
	*ret_bytes = unsuffixed_bytes(name, name_bytes);
	return name;
}

/* Where ".cold" begins, followed by nothing but what compilers make. */
size_t symbol_warm_bytes(const char *name, size_t name_bytes)
{
	size_t stem_bytes = unsuffixed_bytes(name, name_bytes), at;

	for (at = stem_bytes; at < name_bytes; at++)
		if (name[at] == '.' && match_word(name + at + 1, name_bytes - at - 1, "cold"))
			return at;
	return name_bytes;
}

bool symbol_is_split(const char *name, size_t name_bytes)
{
	return symbol_warm_bytes(name, name_bytes) < name_bytes;
}

/* --- Fronts ------------------------------------------------------------- */

static bool is_front(const struct symbol_table *table, size_t i)
{
	size_t nr_bytes;
	const char *name = symbol_table_name(table, i, &nr_bytes);

	return is_front_name(name, nr_bytes);
}

/* What is in front belongs to the next function, whatever that is called first. */
static void link_fronts(struct symbol_table *table)
{
	const struct symbol_start *starts = table->starts;
	size_t function = 0;

	for (size_t i = table->nr_symbols; i--;) {
		table->starts[i].function = (uint32_t)i;
		if (!is_front(table, i))
			function = i;
		else if (function && starts[function].offset_bytes - starts[i].offset_bytes <
					     SYMBOL_FRONT_MAX_BYTES)
			table->starts[i].function = (uint32_t)function;
	}
}

/* --- Parts -------------------------------------------------------------- */

/**
 * struct part - a part that was split off
 * @name: @nr_bytes of the function's name.
 * @nr_functions: how many of that name there are; @function: the last one.
 * @nr_parts: how many parts belong to that name.
 */
struct part {
	const char *name;
	size_t nr_bytes;
	size_t start;
	size_t function;
	unsigned int nr_functions;
	unsigned int nr_parts;
};

/**
 * struct parts - by name, open addressing
 * @nr_room: a power of two, more than twice as many as there are.
 */
struct parts {
	struct part *table;
	size_t nr_room;
};

/* Length, first and last bytes: names that share all of these are few. */
static size_t hash_name(const char *name, size_t nr_bytes)
{
	uint64_t first = 0, last = 0;
	size_t nr = nr_bytes < sizeof(first) ? nr_bytes : sizeof(first);

	memcpy(&first, name, nr);
	memcpy(&last, name + nr_bytes - nr, nr);
	return (size_t)((first ^ last * 0x9e3779b97f4a7c15ULL ^ nr_bytes) *
			0x9e3779b97f4a7c15ULL >> 32);
}

/* The place of @name, which may be empty. */
static struct part *part_place(const struct parts *parts, const char *name, size_t nr_bytes)
{
	size_t at = hash_name(name, nr_bytes);
	struct part *part;

	while ((part = &parts->table[at++ & (parts->nr_room - 1)])->name)
		if (part->nr_bytes == nr_bytes && !memcmp(part->name, name, nr_bytes))
			break;
	return part;
}

/* The length of the function's name if name @i is that of a part; else 0. */
static size_t part_bytes(const struct symbol_table *table, size_t i)
{
	size_t nr_bytes, nr_warm;
	const char *name = symbol_table_name(table, i, &nr_bytes);

	if (!memchr(name, '.', nr_bytes))
		return 0;
	nr_warm = symbol_warm_bytes(name, nr_bytes);
	return nr_warm < nr_bytes ? nr_warm : 0;
}

static size_t count_parts(const struct symbol_table *table)
{
	size_t nr_parts = 0;

	for (size_t i = 0; i < table->nr_symbols; i++)
		nr_parts += part_bytes(table, i) > 0;
	return nr_parts;
}

static bool collect_parts(const struct symbol_table *table, size_t nr_parts, struct parts *parts)
{
	size_t nr_bytes;

	for (parts->nr_room = 4; parts->nr_room <= 2 * nr_parts;)
		parts->nr_room *= 2;
	parts->table = calloc(parts->nr_room, sizeof(*parts->table));
	for (size_t i = 0; parts->table && i < table->nr_symbols; i++) {
		size_t nr_warm = part_bytes(table, i);
		const char *name = symbol_table_name(table, i, &nr_bytes);
		struct part *part = nr_warm ? part_place(parts, name, nr_warm) : NULL;

		if (!part)
			continue;
		part->name = name;
		part->nr_bytes = nr_warm;
		part->start = i;
		part->nr_parts++;
	}
	return parts->table;
}

static void find_functions(const struct symbol_table *table, const struct parts *parts)
{
	for (size_t i = 0; i < table->nr_names; i++) {
		size_t nr_bytes;
		const char *name = symbol_table_name(table, i, &nr_bytes);
		struct part *part = nr_bytes ? part_place(parts, name, nr_bytes) : NULL;

		if (!part || !part->name)
			continue;
		part->function = i;
		part->nr_functions++;
	}
}

/* Of a name at an address that another name is printed for: that one. */
static size_t first_name(const struct symbol_table *table, size_t i)
{
	size_t low = 0, end = table->nr_symbols;

	if (i < table->nr_symbols)
		return i;
	while (end - low > 1) {
		size_t middle = low + (end - low) / 2;

		if (table->starts[middle].offset_bytes <= table->starts[i].offset_bytes)
			low = middle;
		else
			end = middle;
	}
	return low;
}

static void link_parts(struct symbol_table *table, const struct parts *parts)
{
	for (size_t at = 0; at < parts->nr_room; at++) {
		const struct part *part = &parts->table[at];

		if (part->nr_functions == 1 && part->nr_parts == 1)
			table->starts[part->start].function =
				(uint32_t)first_name(table, part->function);
	}
}

bool symbol_functions_link(struct symbol_table *table)
{
	size_t nr_parts = count_parts(table);
	struct parts parts;

	link_fronts(table);
	if (!nr_parts)
		return true;
	if (!collect_parts(table, nr_parts, &parts))
		return false;
	find_functions(table, &parts);
	link_parts(table, &parts);
	free(parts.table);
	return true;
}

/* --- Questions ---------------------------------------------------------- */

bool symbol_table_function(const struct symbol_table *table, uint64_t va, const char **ret_name,
			   size_t *ret_name_bytes, uint64_t *ret_offset_bytes)
{
	size_t i, function;

	if (!symbol_table_at(table, va, &i))
		return false;
	function = table->starts[i].function;
	*ret_name = symbol_table_name(table, function, ret_name_bytes);
	*ret_name = symbol_stem(*ret_name, *ret_name_bytes, ret_name_bytes);
	*ret_offset_bytes = va - symbol_table_va(table, function);
	return true;
}
