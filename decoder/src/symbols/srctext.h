/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of source lines, from files below a folder that the user named. */
#ifndef BTSREC_SRCTEXT_H
#define BTSREC_SRCTEXT_H

#include <stdbool.h>
#include <stddef.h>

#define SRCTEXT_NR_FILES 16
/* Longest file that is read; a generated header of the kernel has some 2 MiB. */
#define SRCTEXT_MAX_BYTES (16UL << 20)

/**
 * struct srctext - the files that were used last
 * @folder: borrowed; NULL: there is no text.
 * @nomem: text was left out for lack of memory.
 */
struct srctext {
	const char *folder;
	bool nomem;
	struct srctext_file {
		char *name;
		char *text;		/* NULL: there is no such file */
		size_t nr_bytes;
		size_t last_use;
		size_t at_bytes;	/* start of line @at_line */
		unsigned int at_line;
	} files[SRCTEXT_NR_FILES];
	size_t nr_uses;
};

/**
 * srctext_line() - line @line of @name
 * @name: as a compiler noted it.  Leading folders are left out one by one until the
 *	rest is a file below the folder; ".." never leads out of it.
 * @ret_text: not terminated, without newline; valid until the next call.
 *
 * Return: its length; 0 also if there is no such line.
 */
size_t srctext_line(struct srctext *source, const char *name, unsigned int line,
		    const char **ret_text);

/** srctext_fini() - free what srctext_line() allocated */
void srctext_fini(struct srctext *source);

#endif /* BTSREC_SRCTEXT_H */
