/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines of addresses, from files with debug information.
 *
 * A view with lines asks line_find() for each address, as symbol_find() for names.
 * At the end of its output it prints with lines_missing() what had none and why.
 * Nothing is opened before the first question; a file is looked for once, and
 * answers are cached, so that asking again costs little.  The user chose the files
 * with btsrec_set_debuginfo() and btsrec_add_vmlinux(); views know nothing of it.
 */
#ifndef BTSREC_LINES_H
#define BTSREC_LINES_H

#include "recorder/session.h"

/** lines_clone() - what the user chose for @rec is for @clone, too; false: out of memory */
bool lines_clone(struct btsrec *clone, const struct btsrec *rec);

/**
 * struct line - a place in a source file
 * @file: as the compiler noted it; hostile text, only for out_escaped() and
 *	out_json_string(); valid until the session is freed.  The same pointer for all
 *	lines of one file of one unit.
 * @number: from 1.
 */
struct line {
	const char *file;
	unsigned int number;
};

/** The longest file name that is printed; what is longer is cut. */
#define LINE_FILE_BYTES	4096

/**
 * line_find() - the source line that the code at @va was made from
 * @cr3: of the address space, if @va is not the kernel's; 0: unknown.
 *
 * Where code was inlined it is the line where it is written.
 *
 * Return: true with *@ret filled; false if there is none, see lines_missing().
 */
bool line_find(struct btsrec *rec, uint64_t cr3, uint64_t va, struct line *ret);

/**
 * struct line_inlined - a call that the compiler replaced by the code of @function
 * @function: hostile text, as @from.file; @from: where the call is written.
 */
struct line_inlined {
	const char *function;
	struct line from;
};

/** More calls within each other are not listed. */
#define LINE_MAX_INLINED	16

/**
 * line_inlined() - the functions that the code at @va was inlined from
 * @ret: LINE_MAX_INLINED of them, the innermost first, where line_find() is.
 *
 * Return: how many; 0: none, or it is not known.
 */
size_t line_inlined(struct btsrec *rec, uint64_t cr3, uint64_t va, struct line_inlined *ret);

/**
 * struct line_missing - the kernel, a module or a mapped file without a debug file
 * @mapped: NULL: no mapped file; else what was mapped, escaped, as symbol_name.module.
 * @module: hostile text; empty: the kernel itself, or a mapped file.
 * @path: the file that came nearest, or empty; @why: a phrase.
 */
struct line_missing {
	const char *mapped;
	const char *module;
	const char *path;
	const char *why;
};

/**
 * lines_missing() - what line_find() has been asked for in vain so far
 * @i: from 0.
 *
 * Return: true with *@ret filled, valid until the session is freed; false: that was all.
 */
bool lines_missing(struct btsrec *rec, size_t i, struct line_missing *ret);

#endif /* BTSREC_LINES_H */
