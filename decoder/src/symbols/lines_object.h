/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file with debug information, and where it was in memory. */
#ifndef BTSREC_LINES_OBJECT_H
#define BTSREC_LINES_OBJECT_H

#include "symbols/lines_place.h"

/**
 * struct lines_object - the debug file of the kernel, of one module or of one mapped file
 * @why: a phrase, if there is no @file; @path: what came nearest, owned.
 */
struct lines_object {
	bool tried;
	struct dwarf_file *file;
	const char *why;
	char *path;
	struct lines_place place;
};

/** lines_object_fault() - note why it has no file */
void lines_object_fault(struct lines_object *object, enum dwarf_fault fault);

/** lines_object_fini() - close and free what it has */
void lines_object_fini(struct lines_object *object);

#endif /* BTSREC_LINES_OBJECT_H */
