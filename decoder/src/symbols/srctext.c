// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/srctext.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

/* --- Files -------------------------------------------------------------- */

/*
 * @name without "." and "..".  Each ".." takes away the folder before it; none can lead out of
 *	where the result is looked for.
 */
static char *plain_name(const char *name)
{
	char *plain = malloc(strlen(name) + 2), *end = plain;

	while (plain && *name) {
		size_t nr_bytes = strcspn(name, "/");

		if (nr_bytes == 2 && !strncmp(name, "..", 2)) {
			while (end > plain && *--end != '/')
				;
		} else if (nr_bytes && !(nr_bytes == 1 && *name == '.')) {
			*end++ = '/';
			memcpy(end, name, nr_bytes);
			end += nr_bytes;
		}
		name += nr_bytes + (name[nr_bytes] == '/');
	}
	if (plain)
		*end = '\0';
	return plain;
}

static bool read_all(int fd, struct srctext_file *file, size_t nr_bytes)
{
	file->text = malloc(nr_bytes + 1);
	while (file->text && file->nr_bytes < nr_bytes) {
		ssize_t nr = read(fd, file->text + file->nr_bytes, nr_bytes - file->nr_bytes);

		if (nr <= 0)
			break;
		file->nr_bytes += (size_t)nr;
	}
	return file->text;
}

static bool read_file(const char *path, struct srctext_file *file)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	bool done;

	if (fd < 0)
		return false;
	done = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= (off_t)SRCTEXT_MAX_BYTES &&
	       read_all(fd, file, (size_t)st.st_size);
	close(fd);
	return done;
}

static void find_file(struct srctext *source, struct srctext_file *file)
{
	_cleanup_free_ char *plain = plain_name(file->name);
	const char *rest = plain;
	bool done = false;

	source->nomem |= !plain;
	for (; !done && rest; rest = strchr(rest + 1, '/')) {
		_cleanup_free_ char *path = NULL;

		if (!*rest)
			return;
		errno = 0;
		done = asprintf(&path, "%s%s", source->folder, rest) >= 0 && read_file(path, file);
		source->nomem |= !done && errno == ENOMEM;
	}
}

static void file_fini(struct srctext_file *file)
{
	free(file->name);
	free(file->text);
	memset(file, 0, sizeof(*file));
}

/* The file called @name, read into the place that has not been used for longest. */
static struct srctext_file *file_of(struct srctext *source, const char *name)
{
	struct srctext_file *oldest = source->files;

	for (size_t i = 0; i < SRCTEXT_NR_FILES; i++) {
		struct srctext_file *file = &source->files[i];

		if (file->name && !strcmp(file->name, name))
			return file;
		if (file->last_use < oldest->last_use)
			oldest = file;
	}
	file_fini(oldest);
	oldest->name = strdup(name);
	if (!oldest->name) {
		source->nomem = true;
		return NULL;
	}
	find_file(source, oldest);
	return oldest;
}

void srctext_fini(struct srctext *source)
{
	for (size_t i = 0; i < SRCTEXT_NR_FILES; i++)
		file_fini(&source->files[i]);
}

/* --- Lines -------------------------------------------------------------- */

/* Go to line @line, forward from where the last question left; false: beyond the end. */
static bool go_to(struct srctext_file *file, unsigned int line)
{
	if (!file->at_line || line < file->at_line) {
		file->at_line = 1;
		file->at_bytes = 0;
	}
	while (file->at_line < line) {
		const char *at = file->text + file->at_bytes;
		const char *end = memchr(at, '\n', file->nr_bytes - file->at_bytes);

		if (!end)
			return false;
		file->at_bytes += (size_t)(end - at) + 1;
		file->at_line++;
	}
	return true;
}

size_t srctext_line(struct srctext *source, const char *name, unsigned int line,
		    const char **ret_text)
{
	struct srctext_file *file = source->folder ? file_of(source, name) : NULL;
	const char *text, *end;

	if (!file)
		return 0;
	file->last_use = ++source->nr_uses;
	if (!file->text || !line || !go_to(file, line))
		return 0;
	text = file->text + file->at_bytes;
	end = memchr(text, '\n', file->nr_bytes - file->at_bytes);
	*ret_text = text;
	return end ? (size_t)(end - text) : file->nr_bytes - file->at_bytes;
}
