/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of "show" that fit a terminal: an address that has a name is left out. */
#ifndef BTSREC_SHORTEN_H
#define BTSREC_SHORTEN_H

#include <stddef.h>

/**
 * shorten_branch() - the line of a branch without the addresses that have names
 * @line: any line without its end, of fewer than @ret_bytes bytes.  The result is not longer.
 * @ret: changed only if @line is that of a branch with names.
 *
 * What the CPU predicted and the kind of the branch stand after the names then.
 *
 * Return: @ret or @line.
 */
const char *shorten_branch(const char *line, char *ret, size_t ret_bytes);

#endif /* BTSREC_SHORTEN_H */
