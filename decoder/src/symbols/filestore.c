// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/filestore.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A build-id is a hash: 8 to 32 bytes. */
#define BUILD_ID_MAX_BYTES	64

static bool is_regular(int fd)
{
	struct stat stat;

	return !fstat(fd, &stat) && S_ISREG(stat.st_mode);
}

/* @fd, which is a place and no open file yet, opened to be read; closes @fd. */
static int reopen(int fd)
{
	char path[40];
	int opened = -1;

	if (fd >= 0 && is_regular(fd)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		opened = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd >= 0)
		close(fd);
	return opened;
}

int filestore_open(const char *sysroot, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int root = open(sysroot, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	if (root < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	close(root);
	return reopen(fd);
}

static bool build_id_path(char *ret, size_t max_bytes, const uint8_t *build_id,
			  size_t build_id_bytes)
{
	size_t at, i;

	if (build_id_bytes < 2 || build_id_bytes > BUILD_ID_MAX_BYTES)
		return false;
	at = (size_t)snprintf(ret, max_bytes, ".build-id/%02x/", build_id[0]);
	for (i = 1; i < build_id_bytes; i++)
		at += (size_t)snprintf(ret + at, max_bytes - at, "%02x", build_id[i]);
	snprintf(ret + at, max_bytes - at, ".debug");
	return true;
}

/* The interface of libdebuginfod.so.1, elfutils 0.178 and later. */
typedef struct debuginfod_client *(*begin_fn)(void);
typedef int (*find_fn)(struct debuginfod_client *client, const unsigned char *build_id,
		       int build_id_bytes, char **path);
typedef void (*end_fn)(struct debuginfod_client *client);

static int ask_servers(void *library, const uint8_t *build_id, size_t build_id_bytes)
{
	begin_fn begin = (begin_fn)dlsym(library, "debuginfod_begin");
	find_fn find = (find_fn)dlsym(library, "debuginfod_find_debuginfo");
	end_fn end = (end_fn)dlsym(library, "debuginfod_end");
	struct debuginfod_client *client = begin && find && end ? begin() : NULL;
	int fd;

	if (!client)
		return -1;
	fd = find(client, build_id, (int)build_id_bytes, NULL);
	end(client);
	return fd < 0 ? -1 : fd;
}

bool filestore_has_servers(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && *urls;
}

static int open_from_servers(const uint8_t *build_id, size_t build_id_bytes)
{
	void *library;
	int fd;

	if (!filestore_has_servers())
		return -1;
	library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	if (!library)
		return -1;
	fd = ask_servers(library, build_id, build_id_bytes);
	dlclose(library);
	return fd;
}

/* In the folder whose name has @name_bytes. */
static int open_in(const char *name, size_t name_bytes, const char *path)
{
	char whole[PATH_MAX];
	int nr_bytes = snprintf(whole, sizeof(whole), "%.*s/%s", (int)name_bytes, name, path);

	if (!name_bytes || nr_bytes < 0 || (size_t)nr_bytes >= sizeof(whole))
		return -1;
	return reopen(open(whole, O_PATH | O_CLOEXEC));
}

int filestore_next_debug(struct filestore_debug *search)
{
	char path[32 + 2 * BUILD_ID_MAX_BYTES];
	int fd = -1;

	if (!build_id_path(path, sizeof(path), search->build_id, search->build_id_bytes))
		return -1;
	while (fd < 0 && *search->folders) {
		size_t name_bytes = strcspn(search->folders, ":");

		fd = open_in(search->folders, name_bytes, path);
		search->folders += name_bytes + (search->folders[name_bytes] == ':');
	}
	if (fd >= 0 || search->asked)
		return fd;
	search->asked = true;
	return open_from_servers(search->build_id, search->build_id_bytes);
}
