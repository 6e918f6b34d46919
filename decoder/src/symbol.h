/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of addresses: the front end's resolver, then the kernel's symbol files,
 * then what the dump itself knows, then the module map.
 */
#ifndef BTSREC_SYMBOL_H
#define BTSREC_SYMBOL_H

#include <btsrec/decoder.h>

#include "symbol_table.h"

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
 * symbols_present() - does @rec have a source of names besides the module map?
 *
 * Reads the kernel's names from the dump if there is no other source.
 */
bool symbols_present(struct btsrec *rec);

/**
 * symbols_missing() - why the kernel's addresses stay without names
 *
 * Return: a phrase, valid until the session is freed; NULL: they do not, or the
 * names in the dump are not wanted.
 */
const char *symbols_missing(struct btsrec *rec);

/**
 * symbol_find() - name @va
 *
 * Return: true with *@ret filled, valid until the session is freed or *@ret is
 * reused; false if @va has no name.
 */
bool symbol_find(struct btsrec *rec, uint64_t va, struct symbol_name *ret);

/**
 * symbol_file_finish() - turn @list, the symbols of a file, into a table of @rec
 * @path: for messages.
 *
 * Return: BTSREC_OK; BTSREC_ERR_CORRUPT without _stext or _end;
 * BTSREC_ERR_MISMATCH if the root's symbol is missing or not a whole number of
 * KASLR steps away; BTSREC_ERR_NOMEM; BTSREC_ERR_INVAL before btsrec_locate().
 */
enum btsrec_status symbol_file_finish(struct btsrec *rec, struct symbol_list *list,
				      const char *path);

#endif /* BTSREC_SYMBOL_H */
