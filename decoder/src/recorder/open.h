/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One dump file, of whatever kind, as a source. */
#ifndef BTSREC_OPEN_H
#define BTSREC_OPEN_H

#include "source/mkdump.h"

struct dump;

/**
 * dump_open_path() - the file at @path
 * @rec: for messages, and for what its user must know of the file.
 *
 * Return: as btsrec_open_dump().
 */
enum btsrec_status dump_open_path(struct btsrec *rec, const char *path, struct dump **ret);

/** dump_image() - the source as the session sees it; its @arg is @dump */
void dump_image(struct dump *dump, struct btsrec_image *ret);

/** dump_part() - which pages the file has; false: it is none of a split dump */
bool dump_part(const struct dump *dump, struct mkdump_part *ret);

/** dump_same() - can both, for which dump_part() is true, be files of one split dump? */
bool dump_same(const struct dump *a, const struct dump *b);

/** dump_free() - close a struct dump; NULL is allowed */
void dump_free(void *dump);

#endif /* BTSREC_OPEN_H */
