// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/retpoline.h"

#include <string.h>

#include "symbols/symbol.h"

/* 16 registers, RETPOLINE_THUNK_SIZE each (asm/nospec-branch.h). */
#define THUNK_ARRAY_BYTES	(16 * 32)

/* Where modules can be, and thunks that are made for them or for the kernel (x86_64/mm.rst). */
#define MODULES_KVA		0xffffffffa0000000ULL

/* --- Names -------------------------------------------------------------- */

static bool name_begins(const char *name, size_t name_bytes, const char *prefix)
{
	size_t nr_bytes = strlen(prefix);

	return name_bytes >= nr_bytes && !memcmp(name, prefix, nr_bytes);
}

static bool is_return_thunk(const char *name, size_t name_bytes)
{
	static const char *const names[] = { "__x86_return_thunk", "srso_return_thunk",
					     "srso_alias_return_thunk", "retbleed_return_thunk",
					     "its_return_thunk" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (name_begins(name, name_bytes, names[i]))
			return true;
	return false;
}

/*
 * The names of arch/x86/lib/retpoline.S.  The first of the array shares its address with
 * others, which may be printed instead.  The same code has another name for what starts
 * the kernel (SYM_PIC_ALIAS, asm/linkage.h).
 */
static enum code_thunk thunk_by_name(const char *name, size_t name_bytes)
{
	static const char pic[] = "__pi_";

	if (name_begins(name, name_bytes, pic)) {
		name += sizeof(pic) - 1;
		name_bytes -= sizeof(pic) - 1;
	}
	if (name_begins(name, name_bytes, "__x86_indirect_"))
		return CODE_THUNK_INDIRECT;
	return is_return_thunk(name, name_bytes) ? CODE_THUNK_RETURN : CODE_NO_THUNK;
}

/* Most names are none by their first letter, and all of a table are gone through. */
static bool is_thunk(const char *name, size_t name_bytes)
{
	if (!name_bytes || (*name != '_' && *name != 'r' && *name != 's' && *name != 'i'))
		return false;
	return thunk_by_name(name, name_bytes) != CODE_NO_THUNK;
}

/* --- Addresses ---------------------------------------------------------- */

static enum code_thunk thunk_of(const struct symbol_name *name, uint64_t array_kva, uint64_t va)
{
	enum code_thunk thunk = thunk_by_name(name->name, name->name_bytes);

	if (thunk || !array_kva || va - array_kva >= THUNK_ARRAY_BYTES)
		return thunk;
	return CODE_THUNK_INDIRECT;
}

/* Of what is neither in the kernel's image nor in a module, as far as it has names. */
static enum code_thunk thunk_without_name(uint64_t va)
{
	return va >= MODULES_KVA ? CODE_THUNK_UNNAMED : CODE_NO_THUNK;
}

enum code_thunk retpoline_at(void *arg, uint64_t va)
{
	struct symbol_name name;

	if (!symbol_find_as(arg, va, false, &name))
		return thunk_without_name(va);
	return thunk_of(&name, symbols_place(arg, SYMBOL_DUMP_THUNK_ARRAY), va);
}

/* --- Where none are ----------------------------------------------------- */

static void add_part(struct code_thunks *thunks, uint64_t begin_kva, uint64_t end_kva)
{
	uint64_t old_end_kva = thunks->begin_kva + thunks->nr_bytes;

	if (thunks->nr_bytes && thunks->begin_kva < begin_kva)
		begin_kva = thunks->begin_kva;
	if (thunks->nr_bytes && old_end_kva > end_kva)
		end_kva = old_end_kva;
	thunks->begin_kva = begin_kva;
	thunks->nr_bytes = end_kva - begin_kva;
}

static void add_table(struct code_thunks *thunks, const struct symbol_table *table)
{
	uint64_t begin_kva, end_kva;

	if (!thunks->image_bytes) {
		thunks->image_kva = table->begin_va + table->shift;
		thunks->image_bytes = table->end_va - table->begin_va;
	}
	if (symbol_table_part(table, is_thunk, &begin_kva, &end_kva))
		add_part(thunks, begin_kva, end_kva);
}

void retpoline_where(struct btsrec *rec, struct code_thunks *ret)
{
	uint64_t array_kva = symbols_place(rec, SYMBOL_DUMP_THUNK_ARRAY);
	const struct symbol_table *table;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; (table = symbols_table(rec, i)) != NULL; i++)
		add_table(ret, table);
	if (array_kva)
		add_part(ret, array_kva, array_kva + THUNK_ARRAY_BYTES);
}
