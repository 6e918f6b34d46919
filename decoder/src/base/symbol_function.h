/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which function the code of a symbol belongs to.  Compilers, objtool and the linker make
 * more than one symbol of a function; for people it is one.
 *
 * In front of it, where calls may enter: __pfx_F of objtool (tools/objtool/elf.c, since
 * v6.2), __cfi_F of clang's -fsanitize=kcfi.  Behind the name: parts and clones of GCC
 * (gcc/ipa-*.cc, cgraphclones.cc) and LLVM, such as F.isra.0, F.cold, F.llvm.123.
 */
#ifndef BTSREC_SYMBOL_FUNCTION_H
#define BTSREC_SYMBOL_FUNCTION_H

#include "base/symbol_table.h"

/* FUNCTION_ALIGNMENT of arch/Kconfig is 64 bytes at most, and padding is less. */
#define SYMBOL_FRONT_MAX_BYTES	64

/** symbol_stem() - the name in the source of a symbol, within @name */
const char *symbol_stem(const char *name, size_t name_bytes, size_t *ret_bytes);

/** symbol_warm_bytes() - how long the name of the function is that F.cold was split off */
size_t symbol_warm_bytes(const char *name, size_t name_bytes);

/** symbol_is_split() - is it a part that was split off a function: "F.cold"? */
bool symbol_is_split(const char *name, size_t name_bytes);

/**
 * symbol_is_front() - is an offset that of the start of a function?
 * @offset_bytes: negative, as two's complement, in what lies in front of it.
 */
static inline bool symbol_is_front(uint64_t offset_bytes)
{
	return -offset_bytes < SYMBOL_FRONT_MAX_BYTES;
}

/**
 * symbol_functions_link() - fill struct symbol_start.function of @table
 *
 * A part belongs to the function of its name if there is exactly one, else to itself.
 *
 * Return: false: out of memory.
 */
bool symbol_functions_link(struct symbol_table *table);

/**
 * symbol_table_function() - as symbol_table_find(), but the function that @va is in
 * @ret_offset_bytes: from the start of the function; negative, as two's complement, in
 *	front of it and in parts that lie before it.
 */
bool symbol_table_function(const struct symbol_table *table, uint64_t va, const char **ret_name,
			   size_t *ret_name_bytes, uint64_t *ret_offset_bytes);

#endif /* BTSREC_SYMBOL_FUNCTION_H */
