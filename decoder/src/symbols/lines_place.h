/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the sections of a file with debug information were when it ran, by symbols with both
 * addresses known.
 */
#ifndef BTSREC_LINES_PLACE_H
#define BTSREC_LINES_PLACE_H

#include "symbols/dwarf_file.h"
#include "base/symbol_table.h"

/* Sections with code that one module may have. */
#define LINES_MAX_PARTS	32

/**
 * struct lines_part - a range of addresses of the file
 * @shift: what has been added to them, modulo 2^64.
 * @refuted: symbols contradict each other: nothing is known.
 */
struct lines_part {
	size_t section;
	uint64_t begin;
	uint64_t end;
	uint64_t shift;
	bool refuted;
};

/** struct lines_place - @nr_parts ranges */
struct lines_place {
	struct lines_part parts[LINES_MAX_PARTS];
	size_t nr_parts;
};

/**
 * lines_place_kernel() - everything is moved by one distance
 * @name, @kva: a symbol and where it was.
 *
 * Return: false: no such symbol, or the distance is not a whole number of steps of
 * KASLR (2 MiB on x86-64): another kernel.
 */
bool lines_place_kernel(struct lines_place *place, struct dwarf_file *file, const char *name,
			uint64_t kva);

/**
 * lines_place_module() - by all symbols with a unique name in @table
 *
 * Return: false: no section could be placed, or out of memory, then with ENOMEM in
 * errno.
 */
bool lines_place_module(struct lines_place *place, struct dwarf_file *file,
			const struct symbol_table *table);

/**
 * lines_place_linked() - for addresses as the file was linked for, wherever it was mapped
 * @bias: what those of the file are above them.
 */
void lines_place_linked(struct lines_place *place, uint64_t bias);

/** lines_place_find() - the address in the file that ran at @va; false: none did. */
bool lines_place_find(const struct lines_place *place, uint64_t va, uint64_t *ret_address);

#endif /* BTSREC_LINES_PLACE_H */
