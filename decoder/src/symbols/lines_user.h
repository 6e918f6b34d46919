/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Debug files of the programs and libraries that processes had mapped. */
#ifndef BTSREC_LINES_USER_H
#define BTSREC_LINES_USER_H

#include "recorder/session.h"
#include "symbols/lines_object.h"

/**
 * struct lines_user - one of them, in a list
 * @mapped: user_linked.file; @name: user_linked.name, borrowed.
 */
struct lines_user {
	struct lines_user *next;
	const void *mapped;
	const char *name;
	struct lines_object object;
};

/**
 * lines_user_at() - the file that is mapped at the user address @va in the address space @cr3
 * @list: of those that have been asked for, the newest first; NULL: none yet.
 * @debug_path: where separate debug files are, "DIR:DIR"; must live as long.
 * @ret_address: where @va is in its debug file, if it has one.
 *
 * The file must be the one that was mapped, as for its symbols, and a debug file must have its
 * build-id.
 *
 * Return: NULL: it has no line, or no file is known to be mapped there; @list has why.
 */
struct lines_object *lines_user_at(struct btsrec *rec, struct lines_user **list, char *debug_path,
				   uint64_t cr3, uint64_t va, uint64_t *ret_address);

/** lines_user_free() - a list */
void lines_user_free(struct lines_user *list);

#endif /* BTSREC_LINES_USER_H */
