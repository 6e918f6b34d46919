// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* A device is the same under any name.  What is written to a terminal or /dev/null harms nobody. */
static bool is_same(const struct stat *a, const struct stat *b)
{
	if (S_ISBLK(a->st_mode) && S_ISBLK(b->st_mode))
		return a->st_rdev == b->st_rdev;
	return S_ISREG(a->st_mode) && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_path_of(const char *path, const struct stat *file)
{
	struct stat found;

	return path && !stat(path, &found) && is_same(&found, file);
}

/* As btsrec_open() takes @path. */
static bool is_dump_of(const char *path, const struct stat *file)
{
	struct stat found;

	if (strcmp(path, "-"))
		return is_path_of(path, file);
	return !fstat(STDIN_FILENO, &found) && is_same(&found, file);
}

static bool is_input(const struct command_options *options, const struct stat *file)
{
	for (size_t i = 0; i < options->nr_dumps; i++)
		if (is_dump_of(options->dumps[i], file))
			return true;
	return is_path_of(options->vmlinux, file) || is_path_of(options->system_map, file);
}

enum command_exit cli_refuse_input(const struct command_options *options, const char *name,
				   const struct stat *file)
{
	if (!is_input(options, file))
		return COMMAND_OK;
	front_error("%s is a file that is read here; what is in it would be lost", name);
	return COMMAND_USAGE;
}

enum command_exit cli_check_stdout(const struct command_options *options)
{
	struct stat file;

	if (fstat(STDOUT_FILENO, &file))
		return COMMAND_OK;
	return cli_refuse_input(options, "the standard output", &file);
}
