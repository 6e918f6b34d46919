/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a user at a terminal gets besides the output: a pager, colours, where the legend is,
 * and a line that shows that there is progress.  In a file or pipe nothing of it is there.
 */
#ifndef BTSREC_TERMINAL_H
#define BTSREC_TERMINAL_H

#include "command.h"

/**
 * terminal_begin() - before the work of a command; without it, output is a help text
 * @options: borrowed until terminal_end().
 */
void terminal_begin(const struct command_options *options);

/**
 * terminal_write() - write to the standard output
 *
 * Return: 0, or errno of the write that failed.
 */
int terminal_write(const char *text, size_t len_bytes);

/**
 * terminal_end() - after the last output: wait for the pager
 *
 * Return: 0, or errno as terminal_write().
 */
int terminal_end(void);

/** terminal_wrote_file() - print the path and the size of a file that was written */
void terminal_wrote_file(const char *path, uint64_t nr_bytes);

#endif /* BTSREC_TERMINAL_H */
