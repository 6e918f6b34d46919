/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that has its name only when all of it is there.  So no reader takes half a file for a
 * whole one, whatever happens while it is written; see temporary.h.
 */
#ifndef BTSREC_OUT_FILE_H
#define BTSREC_OUT_FILE_H

#include "cli.h"

/** out_file_fn - have the library write to @sink what the command is for */
typedef enum btsrec_status (*out_file_fn)(struct btsrec *rec, const struct command_options *options,
					  const struct btsrec_sink *sink);

/**
 * out_file_run() - a command that writes one file, its second operand
 *
 * Return: the exit status, after a message if it is not COMMAND_OK.
 */
enum command_exit out_file_run(struct btsrec *rec, const struct command_options *options,
			       out_file_fn fn);

/**
 * out_file_put() - a file at @path of @nr_bytes bytes; the options say whether it may exist
 *
 * Return: as out_file_run().
 */
enum command_exit out_file_put(const struct command_options *options, const char *path,
			       const char *bytes, size_t nr_bytes);

#endif /* BTSREC_OUT_FILE_H */
