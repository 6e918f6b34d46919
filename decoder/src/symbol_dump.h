/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names from the dump alone: the kernel's kallsyms and those of the modules in
 * the recorder's module map.  Each is read when the first name of it is needed.
 */
#ifndef BTSREC_SYMBOL_DUMP_H
#define BTSREC_SYMBOL_DUMP_H

#include "image.h"
#include "locate.h"
#include "symbol.h"

struct symbol_dump;

/**
 * symbol_dump_new() - nothing is read yet
 * @image, @located: borrowed, must live as long.
 *
 * Return: for symbol_dump_free(); NULL: out of memory.
 */
struct symbol_dump *symbol_dump_new(const struct btsrec_image *image,
				    const struct located *located);

/** symbol_dump_free() - NULL is allowed */
void symbol_dump_free(struct symbol_dump *dump);

/**
 * symbol_dump_kernel() - read the kernel's names, if that has not been tried
 * @ret_why: why there are none; NULL: not asked for.
 *
 * Return: the number of symbols; 0: none.
 */
size_t symbol_dump_kernel(struct symbol_dump *dump, const char **ret_why);

/** symbol_dump_find() - as symbol_find(), by what the dump says */
bool symbol_dump_find(struct symbol_dump *dump, uint64_t va, struct symbol_name *ret);

#endif /* BTSREC_SYMBOL_DUMP_H */
