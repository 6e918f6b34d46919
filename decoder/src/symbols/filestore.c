// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/filestore.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"

/* A build-id is a hash: 8 to 32 bytes. */
#define BUILD_ID_MAX_BYTES	64

/* Not in every <linux/magic.h>: statfs(2) and the file systems' own sources have the numbers. */
#ifndef EROFS_SUPER_MAGIC_V1
#define EROFS_SUPER_MAGIC_V1	0xE0F5E1E2
#endif
#define BCACHEFS_MAGIC		0xca451a4e
#define ZFS_MAGIC		0x2fc12fc1

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

/* --- Below a folder ----------------------------------------------------- */

/*
 * Step by step and not by openat2(): systemd 252 answers ENOSYS to that for a unit with
 * RestrictSUIDSGID=, because it cannot look into its argument.
 */

/* Of each of these the kernel's own limit is below, or the same: path_resolution(7). */
#define MAX_DEPTH	256
#define MAX_LINKS	40

/**
 * struct descent - the way to a file
 * @dirs: open places from the root, dirs[0], down to dirs[@depth].
 * @rest: what is not resolved yet.
 */
struct descent {
	int dirs[MAX_DEPTH];
	size_t depth;
	dev_t root_dev;
	unsigned int nr_links;
	char rest[PATH_MAX];
};

static void climb_to(struct descent *descent, size_t depth)
{
	while (descent->depth > depth)
		close(descent->dirs[descent->depth--]);
}

/*
 * File systems of a disk, or of an image on one.  Another may wait for a machine or a process
 * that is gone, or do something when it is read.
 */
static bool is_of_disk(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	switch ((unsigned long)fs.f_type) {
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
	case EROFS_SUPER_MAGIC_V1:
	case SQUASHFS_MAGIC:
	case BCACHEFS_MAGIC:
	case ZFS_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
	case TMPFS_MAGIC:
		return true;
	default:
		return false;
	}
}

/* The next name of @descent->rest into @ret; false: there is none, or it is too long. */
static bool next_name(struct descent *descent, char ret[NAME_MAX + 1])
{
	char *name = descent->rest + strspn(descent->rest, "/");
	size_t nr_bytes = strcspn(name, "/");

	if (!nr_bytes || nr_bytes > NAME_MAX)
		return false;
	memcpy(ret, name, nr_bytes);
	ret[nr_bytes] = '\0';
	memmove(descent->rest, name + nr_bytes, strlen(name + nr_bytes) + 1);
	return true;
}

/* What the link @fd says comes in front of the rest; an absolute one begins at the root. */
static bool follow_link(struct descent *descent, int fd)
{
	char text[PATH_MAX];
	ssize_t nr_bytes = readlinkat(fd, "", text, sizeof(text));
	size_t rest_bytes = strlen(descent->rest) + 1;

	if (nr_bytes <= 0 || (size_t)nr_bytes + rest_bytes > sizeof(descent->rest) ||
	    ++descent->nr_links > MAX_LINKS)
		return false;
	memmove(descent->rest + nr_bytes, descent->rest, rest_bytes);
	memcpy(descent->rest, text, (size_t)nr_bytes);
	if (text[0] == '/')
		climb_to(descent, 0);
	return true;
}

/* One more name.  Return: false: the way ends here, at *@ret, if that is no longer -1. */
static bool step(struct descent *descent, const char *name, int *ret)
{
	struct stat stat;
	bool goes_on = false;
	int fd = openat(descent->dirs[descent->depth], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (fstat(fd, &stat) || (stat.st_dev != descent->root_dev && !is_of_disk(fd))) {
		close(fd);
		return false;
	}
	if (S_ISDIR(stat.st_mode) && descent->depth + 1 < MAX_DEPTH) {
		descent->dirs[++descent->depth] = fd;
		return true;
	}
	if (S_ISLNK(stat.st_mode))
		goes_on = follow_link(descent, fd);
	else if (!*descent->rest)
		*ret = fd;
	if (*ret < 0)
		close(fd);
	return goes_on;
}

static int descend(struct descent *descent)
{
	char name[NAME_MAX + 1];
	int fd = -1;

	while (next_name(descent, name)) {
		if (!strcmp(name, "."))
			continue;
		if (!strcmp(name, ".."))
			climb_to(descent, descent->depth ? descent->depth - 1 : 0);
		else if (!step(descent, name, &fd))
			break;
	}
	return fd;
}

int filestore_open(const char *sysroot, const char *path)
{
	int root = open(sysroot, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	struct descent descent = { .dirs = { root } };
	size_t path_bytes = strlen(path) + 1;
	struct stat stat;

	if (root < 0)
		return -1;
	if (!fstat(root, &stat) && path_bytes <= sizeof(descent.rest)) {
		descent.root_dev = stat.st_dev;
		memcpy(descent.rest, path, path_bytes);
		fd = descend(&descent);
		climb_to(&descent, 0);
	}
	close(root);
	return reopen(fd);
}

/* --- By build-id -------------------------------------------------------- */

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

/* In the folder with a name of @name_bytes. */
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

/* --- What the user names ------------------------------------------------ */

/* Refuse @folders, which @separators part, if one of them cannot be opened. */
static enum btsrec_status check_folders(struct msg *msg, const char *folders,
					const char *separators)
{
	size_t nr_bytes;

	for (const char *at = folders; at && *at; at += nr_bytes + (at[nr_bytes] != '\0')) {
		_cleanup_free_ char *folder = NULL;
		int fd;

		nr_bytes = strcspn(at, separators);
		folder = strndup(at, nr_bytes);
		if (!folder)
			return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
		fd = nr_bytes ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
		if (nr_bytes && fd < 0)
			return msg_set(msg, BTSREC_ERR_IO, "%s: %s", folder, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	return BTSREC_OK;
}

enum btsrec_status filestore_check_folders(struct msg *msg, const char *sysroot,
					   const char *debuginfo)
{
	enum btsrec_status status = check_folders(msg, sysroot, "");

	return status ? status : check_folders(msg, debuginfo, ":");
}
