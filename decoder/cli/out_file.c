// SPDX-License-Identifier: GPL-2.0-or-later
#include "out_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "temporary.h"
#include "terminal.h"

/**
 * struct out_file - a file being written; "-" is standard output
 * @path: as the user names it; borrowed.
 * @fd: the temporary file, or standard output.
 * @error: errno of the write that failed; 0: none has.
 */
struct out_file {
	const char *path;
	bool is_stdout;
	bool force;
	int fd;
	uint64_t nr_bytes;
	int error;
};

static enum command_exit failed(const char *path, int error)
{
	front_error("%s: %s", path, strerror(error));
	return COMMAND_SYSTEM;
}

/*
 * May what is at @path be replaced?  Its name is going to be given to a new file, which would take
 * that of a device or a pipe away from it.  The kernel follows a link here, so that its rules for
 * links in folders of all users hold.
 */
static enum command_exit check_place(const struct command_options *options, const char *path)
{
	struct stat found;

	if (lstat(path, &found))
		return errno == ENOENT ? COMMAND_OK : failed(path, errno);
	if (stat(path, &found)) {
		if (errno != ENOENT)
			return failed(path, errno);
		front_error("%s is a link to what is not there", path);
		return COMMAND_USAGE;
	}
	if (!S_ISREG(found.st_mode)) {
		front_error("%s is no regular file; - writes to the standard output", path);
		return COMMAND_USAGE;
	}
	if (!options->force) {
		front_error("%s exists; --force writes over it", path);
		return COMMAND_USAGE;
	}
	return cli_refuse_input(options, path, &found);
}

/* Start to write what is going to be at @path. */
static enum command_exit file_begin(const struct command_options *options, const char *path,
				    struct out_file *ret)
{
	struct out_file file = {
		.path = path,
		.is_stdout = !strcmp(path, "-"),
		.force = options->force,
		.fd = STDOUT_FILENO,
	};
	enum command_exit status;

	if (!file.is_stdout) {
		status = check_place(options, file.path);
		if (status)
			return status;
		file.fd = temporary_create(file.path);
		if (file.fd < 0)
			return failed(file.path, errno);
	}
	*ret = file;
	return COMMAND_OK;
}

static bool file_write(void *arg, const char *bytes, size_t nr_bytes)
{
	struct out_file *file = arg;

	while (nr_bytes && !file->error) {
		ssize_t nr_written = write(file->fd, bytes, nr_bytes);

		if (nr_written < 0) {
			file->error = errno == EINTR ? 0 : errno;
			continue;
		}
		bytes += nr_written;
		file->nr_bytes += (uint64_t)nr_written;
		nr_bytes -= (size_t)nr_written;
	}
	return !file->error;
}

/* Give the file its name if it is @whole and could be written, or remove it. */
static enum command_exit file_end(struct out_file *file, bool whole)
{
	if (file->is_stdout)
		return file->error ? failed("standard output", file->error) : COMMAND_OK;
	if (whole && !file->error && fsync(file->fd))
		file->error = errno;
	if (close(file->fd) && !file->error)
		file->error = errno;
	if (!temporary_finish(whole && !file->error, file->force))
		file->error = errno;
	if (file->error)
		return failed(file->path, file->error);
	if (whole)
		terminal_wrote_file(file->path, file->nr_bytes);
	return COMMAND_OK;
}

enum command_exit out_file_run(struct btsrec *rec, const struct command_options *options,
			       out_file_fn fn)
{
	struct out_file file;
	struct btsrec_sink sink = { .write = file_write, .arg = &file };
	enum command_exit exit = file_begin(options, options->second, &file), written;
	enum btsrec_status status;

	if (exit)
		return exit;
	status = fn(rec, options, &sink);
	/* The reader of the standard output is gone, and needs no word. */
	if (file.is_stdout && file.error == EPIPE)
		return COMMAND_OK;
	/* It is whole, also if it says that a CPU is missing. */
	written = file_end(&file, !status || status == BTSREC_ERR_CORRUPT);
	return written ? written : command_ended(rec, status);
}

enum command_exit out_file_put(const struct command_options *options, const char *path,
			       const char *bytes, size_t nr_bytes)
{
	struct out_file file;
	enum command_exit exit = file_begin(options, path, &file);

	if (exit)
		return exit;
	file_write(&file, bytes, nr_bytes);
	return file_end(&file, true);
}
