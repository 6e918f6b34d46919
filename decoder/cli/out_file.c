// SPDX-License-Identifier: GPL-2.0-or-later
#include "out_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "temporary.h"

/**
 * struct out_file - a file being written; "-" is standard output
 * @path: as the user names it; borrowed.
 * @place: where it will be, for which a link of that name was followed; owned; NULL: "-".
 * @error: errno of the write that failed; 0: none has.
 */
struct out_file {
	const char *path;
	char *place;
	int fd;
	int error;
};

static enum cli_exit failed(const char *path, int error)
{
	cli_error("%s: %s", path, strerror(error));
	return CLI_SYSTEM;
}

/*
 * Where @path leads.  Its name is going to be given to a new file, which would take that of a
 * device, a pipe or a link away from it: of a link that of its target is taken, others have none.
 */
static enum cli_exit find_place(const char *path, bool force, char **ret)
{
	struct stat found;
	bool is_there = !lstat(path, &found);
	char *place;

	if (is_there && stat(path, &found))
		return failed(path, errno);
	if (is_there && !S_ISREG(found.st_mode)) {
		cli_error("%s is no regular file; - writes to the standard output", path);
		return CLI_USAGE;
	}
	if (is_there && !force) {
		cli_error("%s exists; --force writes over it", path);
		return CLI_USAGE;
	}
	place = is_there ? realpath(path, NULL) : strdup(path);
	if (!place)
		return failed(path, errno);
	*ret = place;
	return CLI_OK;
}

/* Start to write what is going to be @path; @force: if that exists, replace it. */
static enum cli_exit file_begin(const char *path, bool force, struct out_file *ret)
{
	struct out_file file = { .path = path, .fd = STDOUT_FILENO };
	enum cli_exit status;

	if (strcmp(path, "-")) {
		status = find_place(path, force, &file.place);
		if (status)
			return status;
		/* Readable for its owner only: it holds what the dump holds. */
		file.fd = temporary_create(file.place);
		if (file.fd < 0) {
			status = failed(path, errno);
			free(file.place);
			return status;
		}
	}
	*ret = file;
	return CLI_OK;
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
		nr_bytes -= (size_t)nr_written;
	}
	return !file->error;
}

/* Give the file its name if it is @whole and could be written, or remove it. */
static enum cli_exit file_end(struct out_file *file, bool whole)
{
	if (!file->place)
		return file->error ? failed("standard output", file->error) : CLI_OK;
	if (whole && !file->error && fsync(file->fd))
		file->error = errno;
	if (close(file->fd) && !file->error)
		file->error = errno;
	if (!temporary_finish(file->place, whole && !file->error))
		file->error = errno;
	free(file->place);
	return file->error ? failed(file->path, file->error) : CLI_OK;
}

enum cli_exit out_file_run(struct btsrec *rec, const struct cli_options *options, out_file_fn fn)
{
	struct out_file file;
	struct btsrec_sink sink = { .write = file_write, .arg = &file };
	enum cli_exit exit = file_begin(options->second, options->force, &file), written;
	enum btsrec_status status;

	if (exit)
		return exit;
	status = fn(rec, options, &sink);
	/* Whoever read the standard output is gone, and needs no word. */
	if (!file.place && file.error == EPIPE)
		return CLI_OK;
	/* It is whole, also if it tells that a CPU is missing. */
	written = file_end(&file, !status || status == BTSREC_ERR_CORRUPT);
	return written ? written : cli_told(rec, status);
}
