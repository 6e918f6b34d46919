/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of addresses: the front end's resolver, then the kernel's symbol files,
 * then the module map.
 *
 * A table is sorted once and read-only afterwards.  Its names are escaped while
 * they are copied in, so that whoever prints them need not look at each byte.
 */
#ifndef BTSREC_SYMBOL_H
#define BTSREC_SYMBOL_H

#include <btsrec/decoder.h>

/**
 * struct symbol_name - the name of an address, ready to print
 * @name: escaped, @name_bytes long; none if only the module is known.
 * @module: escaped, NUL-terminated; empty: the kernel itself.
 * @offset_bytes: from the start of the symbol, or of the module's text.
 * @buf: where @name and @module live if they are not a table's.
 */
struct symbol_name {
	const char *name;
	size_t name_bytes;
	const char *module;
	uint64_t offset_bytes;
	struct {
		char name[4 * sizeof(((struct btsrec_symbol *)0)->name) + 1];
		char module[4 * BTSREC_MODULE_NAME_BYTES + 1];
	} buf;
};

/**
 * struct symbol_table - the kernel symbols of one file
 * @shift: what KASLR added to the file's addresses.
 * @begin_va, @end_va: _stext and _end as the file has them; nothing outside
 *	resolves.
 * @vas: ascending, each once; @name_at: where in @names its name starts.
 * @granules: for each SYMBOL_GRANULE_BYTES from @begin_va, the last symbol that
 *	starts at or before it; makes a lookup one step and a short walk.
 */
struct symbol_table {
	struct symbol_table *next;
	uint64_t shift;
	uint64_t begin_va;
	uint64_t end_va;
	size_t nr_symbols;
	uint64_t *vas;
	uint32_t *name_at;
	uint32_t *granules;
	char *names;
};

#define SYMBOL_GRANULE_BYTES	256

/** symbols_present() - does @rec have a source of names besides the module map? */
bool symbols_present(const struct btsrec *rec);

/**
 * symbol_find() - name @va
 *
 * Return: true with *@ret filled, valid until the session is freed or *@ret is
 * reused; false if @va has no name.
 */
bool symbol_find(struct btsrec *rec, uint64_t va, struct symbol_name *ret);

/**
 * struct symbol_file - symbols on their way from a file into a table
 * @entries: unsorted; names borrowed from the file's bytes.
 * @nr_room: allocated @entries.
 */
struct symbol_file {
	struct symbol_entry {
		uint64_t va;
		const char *name;
		uint32_t name_bytes;
		uint8_t rank;		/* lower wins at one address */
	} *entries;
	size_t nr_entries;
	size_t nr_room;
};

/**
 * symbol_file_add() - one symbol of a file
 * @letter: its type as nm and System.map write it.
 * @name: borrowed until symbol_file_finish().
 *
 * Undefined, absolute and debugging symbols are left out.
 *
 * Return: BTSREC_OK, BTSREC_ERR_NOMEM.
 */
enum btsrec_status symbol_file_add(struct symbol_file *file, uint64_t va, char letter,
				   const char *name, size_t name_bytes);

/**
 * symbol_file_finish() - turn @file into a table of @rec
 * @path: for messages.
 *
 * Return: BTSREC_OK; BTSREC_ERR_CORRUPT without _stext or _end;
 * BTSREC_ERR_MISMATCH if the root's symbol is missing or not a whole number of
 * KASLR steps away; BTSREC_ERR_NOMEM; BTSREC_ERR_INVAL before btsrec_locate().
 */
enum btsrec_status symbol_file_finish(struct btsrec *rec, struct symbol_file *file,
				      const char *path);

/** symbol_file_fini() - free what symbol_file_add() allocated */
void symbol_file_fini(struct symbol_file *file);

#endif /* BTSREC_SYMBOL_H */
