/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sources of the command line share, besides the commands. */
#ifndef BTSREC_CLI_H
#define BTSREC_CLI_H

#include "command.h"

struct stat;

/**
 * cli_open() - open the dump, find the recorder, add the symbol files
 *
 * Return: COMMAND_OK, or the exit status after a message.
 */
enum command_exit cli_open(struct btsrec *rec, const struct command_options *options);

/**
 * cli_refuse_input() - whatever is written must not be what is read
 * @file: what is to be written or replaced, under whatever name: a link, a hard link, a
 *	descriptor.  @name: as the user knows it.
 *
 * The inputs are all parts of the dump, --vmlinux and --system-map.
 *
 * Return: COMMAND_OK, or COMMAND_USAGE after a message.
 */
enum command_exit cli_refuse_input(const struct command_options *options, const char *name,
				   const struct stat *file);

/** cli_export_tables() - export --to tables: files below a folder, the second operand */
enum command_exit cli_export_tables(struct btsrec *rec, const struct command_options *options);

/** cli_check_stdout() - cli_refuse_input() for the standard output, as in "show DUMP >>DUMP" */
enum command_exit cli_check_stdout(const struct command_options *options);

#endif /* BTSREC_CLI_H */
