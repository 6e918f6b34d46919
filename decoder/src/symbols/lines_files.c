// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/lines_files.h"

#include <errno.h>
#include <fts.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/**
 * struct search - a look for one file
 * @fault, @path: of the candidate that came nearest; @path is owned.
 */
struct search {
	const struct lines_wanted *wanted;
	enum dwarf_fault fault;
	char *path;
	struct dwarf_file *file;
};

/* Takes over @path; true: this is it, or there is no memory to go on. */
static bool try_path(struct search *search, char *path)
{
	_cleanup_free_ char *owned = path;
	enum dwarf_fault fault = DWARF_NO_MEMORY;

	if (path)
		fault = dwarf_file_open(path, &search->wanted->id, search->wanted->debug_path,
					&search->file);
	if (fault == DWARF_OK || fault == DWARF_NO_MEMORY || fault > search->fault) {
		free(search->path);
		search->path = take_ptr(owned);
		search->fault = fault;
	}
	return fault == DWARF_OK || fault == DWARF_NO_MEMORY;
}

static bool __attribute__((format(printf, 2, 3)))
try_format(struct search *search, const char *fmt, ...)
{
	va_list args;
	char *path;

	va_start(args, fmt);
	if (vasprintf(&path, fmt, args) < 0)
		path = NULL;
	va_end(args);
	return try_path(search, path);
}

/* What comes from a dump must not lead out of the folder that the user named. */
static bool is_file_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

static bool try_kernel(struct search *search, const char *folder, const char *release)
{
	return (is_file_name(release) &&
		(try_format(search, "%s/boot/vmlinux-%s", folder, release) ||
		 try_format(search, "%s/lib/modules/%s/vmlinux", folder, release) ||
		 try_format(search, "%s/vmlinux-%s", folder, release))) ||
	       try_format(search, "%s/vmlinux", folder);
}

/* CONFIG_MODULE_COMPRESS_*, and what separate debug information is called. */
static const char *const module_endings[] = {
	".ko.debug", ".ko", ".ko.xz", ".ko.zst", ".ko.gz",
};
#define NR_MODULE_ENDINGS (sizeof(module_endings) / sizeof(*module_endings))

/* Is @file called as @module is? A dash in a file's name is an underscore in the module's. */
static bool is_module_file(const char *file, const char *module)
{
	for (; *module; file++, module++)
		if (*file != *module && !(*file == '-' && *module == '_'))
			return false;
	for (size_t i = 0; i < NR_MODULE_ENDINGS; i++)
		if (!strcmp(file, module_endings[i]))
			return true;
	return false;
}

static bool no_memory(struct search *search)
{
	search->fault = DWARF_NO_MEMORY;
	return true;
}

/* Takes over @top. */
static bool try_tree(struct search *search, char *top)
{
	char *const tops[] = { top, NULL };
	FTS *tree = top ? fts_open(tops, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
	bool done = !tree && (!top || errno == ENOMEM) && no_memory(search);
	FTSENT *entry;

	while (tree && !done && (entry = fts_read(tree)))
		if (entry->fts_info == FTS_F &&
		    is_module_file(entry->fts_name, search->wanted->module))
			done = try_path(search, strdup(entry->fts_path));
	if (tree)
		fts_close(tree);
	free(top);
	return done;
}

static char *tree_of(const char *folder, const char *where, const char *release)
{
	char *path;

	return asprintf(&path, "%s/%s/%s", folder, where, release) < 0 ? NULL : path;
}

static bool try_module(struct search *search, const char *folder, const char *release)
{
	const char *module = search->wanted->module;

	if (!is_file_name(module))
		return false;
	for (size_t i = 0; i < NR_MODULE_ENDINGS; i++)
		if (try_format(search, "%s/%s%s", folder, module, module_endings[i]))
			return true;
	return is_file_name(release) &&
	       (try_tree(search, tree_of(folder, "lib/modules", release)) ||
		try_tree(search, tree_of(folder, "usr/lib/modules", release)));
}

static bool try_folders(struct search *search)
{
	const struct lines_wanted *wanted = search->wanted;
	_cleanup_free_ char *folders = strdup(wanted->debug_path);
	char *rest = folders, *folder;

	if (!folders)
		return no_memory(search);
	while ((folder = strsep(&rest, ":")))
		if (*folder && (wanted->module ? try_module(search, folder, wanted->release) :
				try_kernel(search, folder, wanted->release)))
			return true;
	return false;
}

enum dwarf_fault lines_file_find(const struct lines_wanted *wanted, char **ret_path,
				 struct dwarf_file **ret)
{
	struct search search = { .wanted = wanted, .fault = DWARF_NO_FILE };
	bool done = false;

	if (wanted->vmlinux && !wanted->module)
		done = try_path(&search, strdup(wanted->vmlinux));
	if (!done)
		done = try_folders(&search);
	if (!done) {
		enum dwarf_fault fault = dwarf_file_find(&wanted->id, wanted->debug_path,
							 &search.file);

		if (fault == DWARF_OK || fault == DWARF_NO_MEMORY)
			search.fault = fault;
	}
	*ret_path = search.path;
	if (search.fault == DWARF_OK)
		*ret = search.file;
	return search.fault;
}
