/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of source lines, from files below a folder that the user named. */
#ifndef BTSREC_SOURCE_H
#define BTSREC_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#define SOURCE_NR_FILES		16
/* Longest file that is read; a generated header of the kernel has some 2 MiB. */
#define SOURCE_MAX_BYTES	(16UL << 20)

/**
 * struct source - the files that were used last
 * @folder: borrowed; NULL: there is no text.
 * @nomem: text was left out for lack of memory.
 */
struct source {
	const char *folder;
	bool nomem;
	struct source_file {
		char *name;
		char *text;		/* NULL: there is no such file */
		size_t nr_bytes;
		size_t last_use;
		size_t at_bytes;	/* start of line @at_line */
		unsigned int at_line;
	} files[SOURCE_NR_FILES];
	size_t nr_uses;
};

/**
 * source_text() - line @line of @name
 * @name: as a compiler noted it.  Leading folders are left out one by one until the
 *	rest is a file below the folder; ".." never leads out of it.
 * @ret_text: not terminated, without newline; valid until the next call.
 *
 * Return: its length; 0 also if there is no such line.
 */
size_t source_text(struct source *source, const char *name, unsigned int line,
		   const char **ret_text);

/** source_fini() - free what source_text() allocated */
void source_fini(struct source *source);

#endif /* BTSREC_SOURCE_H */
