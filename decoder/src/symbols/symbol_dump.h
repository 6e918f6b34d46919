/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names from the dump alone: the kernel's kallsyms, those of the modules in the
 * recorder's module map, and of code that the kernel made.  Each is read when the first
 * name of it is needed.
 */
#ifndef BTSREC_SYMBOL_DUMP_H
#define BTSREC_SYMBOL_DUMP_H

#include "source/image.h"
#include "kernel/kread.h"
#include "kernel/layout.h"
#include "recorder/locate.h"
#include "symbols/symbol.h"

struct symbol_dump;

/**
 * symbol_dump_new() - nothing is read yet
 * @image, @located: borrowed, must live as long.
 * @nr_threads: that may read at once.
 * @nomem: set when names are left out for want of memory; borrowed.
 *
 * Return: for symbol_dump_free(); NULL: out of memory.
 */
struct symbol_dump *symbol_dump_new(const struct btsrec_image *image,
				    const struct located *located, unsigned int nr_threads,
				    bool *nomem);

/**
 * symbol_dump_clone() - one for another thread, with the kernel's names and types of @dump
 * @dump: must outlive it, and serve clones alone until then.  They are read by way of it when the
 *	first clone needs them; others wait for that.
 * @image, @nomem: as of symbol_dump_new(), which returns the same.
 */
struct symbol_dump *symbol_dump_clone(struct symbol_dump *dump, const struct btsrec_image *image,
				      bool *nomem);

/** symbol_dump_free() - NULL is allowed */
void symbol_dump_free(struct symbol_dump *dump);

/**
 * symbol_dump_kernel() - read the kernel's names, if that has not been tried
 * @ret_why: why there are none; NULL: not asked for.
 *
 * Return: the number of symbols; 0: none.
 */
size_t symbol_dump_kernel(struct symbol_dump *dump, const char **ret_why);

/** symbol_dump_nr_tables() - of the kernel, its modules, and what initialises those */
size_t symbol_dump_nr_tables(const struct symbol_dump *dump);

/** symbol_dump_table() - one of them, the kernel's is the first; NULL: it has no names */
const struct symbol_table *symbol_dump_table(struct symbol_dump *dump, size_t i);

/** symbol_dump_module() - the names of @module of the module map, or NULL */
const struct symbol_table *symbol_dump_module(struct symbol_dump *dump,
					      const struct btsrec_module *module);

/**
 * symbol_dump_object() - name the data at @va, if it is a module's
 * @ret: with its own copies; @offset_bytes: from the beginning of the data.
 *
 * All modules are read for it.
 *
 * Return: false: it is in none whose size is known.
 */
bool symbol_dump_object(struct symbol_dump *dump, uint64_t va, struct symbol_name *ret);

/** symbol_dump_place() - its address; 0: not known, or symbol_dump_kernel() was not called */
uint64_t symbol_dump_place(const struct symbol_dump *dump, enum symbol_dump_place place);

/** symbol_dump_btf() - the kernel's types, as long as @dump is there; see symbol_dump_place() */
struct layout_btf *symbol_dump_btf(struct symbol_dump *dump);

/** symbol_dump_kread() - the kernel's memory, as long as @dump is there */
const struct kread *symbol_dump_kread(const struct symbol_dump *dump);

/** symbol_dump_site() - does the kernel switch a static key or a static call at @va? */
bool symbol_dump_site(struct symbol_dump *dump, uint64_t va);

/** symbol_dump_sites_known() - would symbol_dump_site() know if there were one at @va? */
bool symbol_dump_sites_known(const struct symbol_dump *dump, uint64_t va);

/** symbol_dump_image() - is @va in the kernel's image, as far as that is known? */
bool symbol_dump_image(struct symbol_dump *dump, uint64_t va);

/** symbol_dump_init() - is the code at @va that of a module that is being initialised? */
bool symbol_dump_init(struct symbol_dump *dump, uint64_t va);

/** symbol_dump_known() - the kernel's table, if it has been made; else NULL */
const struct symbol_table *symbol_dump_known(const struct symbol_dump *dump);

/** symbol_dump_find() - as symbol_find_as(), by what the dump says */
bool symbol_dump_find(struct symbol_dump *dump, uint64_t va, bool raw, struct symbol_name *ret);

#endif /* BTSREC_SYMBOL_DUMP_H */
