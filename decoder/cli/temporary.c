// SPDX-License-Identifier: GPL-2.0-or-later
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* So often a name is tried that another file may have. */
#define MAX_TRIES 100

/*
 * Names in @folder, which is open while @temporary is not empty.  Static, because a handler may
 * find them at any time, on any thread.
 */
static int folder = -1;
static char name[NAME_MAX + 1];
static char temporary[NAME_MAX + 1];

/* Those that come from elsewhere; SIGPIPE comes if nobody reads what is said meanwhile. */
static const int ending[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF,
};

#define NR_ENDING (sizeof(ending) / sizeof(ending[0]))

/* The default action is back and comes on return: the shell is to see which signal it was. */
static void remove_and_end(int number)
{
	unlinkat(folder, temporary, 0);
	raise(number);
}

/*
 * Those that nobody has asked to be ignored, as nohup(1) does.  A file that becomes larger than its
 * limit makes an error of write(), which says why and removes it.
 */
static void catch_ending(void)
{
	struct sigaction removal = { .sa_handler = remove_and_end, .sa_flags = SA_RESETHAND };
	struct sigaction before;

	signal(SIGXFSZ, SIG_IGN);
	sigfillset(&removal.sa_mask);
	for (size_t i = 0; i < NR_ENDING; i++)
		if (!sigaction(ending[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(ending[i], &removal, NULL);
}

/* A name of its own: @name, a dot, six letters. */
static bool make_name(void)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
	unsigned char random[6];
	size_t len = strlen(name);

	if (len + 1 + sizeof(random) >= sizeof(temporary)) {
		errno = ENAMETOOLONG;
		return false;
	}
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return false;
	memcpy(temporary, name, len);
	temporary[len++] = '.';
	for (size_t i = 0; i < sizeof(random); i++)
		temporary[len++] = letters[random[i] % 32];
	temporary[len] = '\0';
	return true;
}

static int create(void)
{
	int fd = -1;

	for (int i = 0; i < MAX_TRIES && fd < 0; i++) {
		if (!make_name())
			return -1;
		fd = openat(folder, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	return fd;
}

static void forget(void)
{
	int error = errno;

	close(folder);
	folder = -1;
	temporary[0] = '\0';
	errno = error;
}

/* Between its creation and the time that its name is known no handler may come. */
static int create_and_catch(void)
{
	sigset_t all, before;
	int fd, error;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	fd = create();
	error = errno;
	if (fd >= 0)
		catch_ending();
	else
		forget();
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return fd;
}

/*
 * Open the folder at @path, which is whole and has no links, because realpath() has made it: one
 * that is there now was put there in between.  Step by step, because openat2() is refused where
 * systemd restricts the modes of files (RestrictSUIDSGID=).
 */
static bool open_folder(char *path)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), next;
	char *rest;

	for (char *step = strtok_r(path, "/", &rest); step && fd >= 0;
	     step = strtok_r(NULL, "/", &rest)) {
		next = openat(fd, step, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(fd);
		fd = next;
	}
	folder = fd;
	return fd >= 0;
}

/* Take the name off @path, which is left as that of the folder; false with errno: it has none. */
static bool split(char *path)
{
	char *slash = strrchr(path, '/');
	const char *text = slash ? slash + 1 : path;
	size_t len_bytes = strlen(text);

	if (!len_bytes || len_bytes >= sizeof(name)) {
		errno = len_bytes ? ENAMETOOLONG : EISDIR;
		return false;
	}
	memcpy(name, text, len_bytes + 1);
	if (slash)
		slash[slash == path] = '\0';
	else
		memcpy(path, ".", sizeof("."));
	return true;
}

/* Open @folder and know @name of what is, or is going to be, at @path. */
static bool find_place(const char *path)
{
	char *target = realpath(path, NULL), *given = target ? target : strdup(path);
	char *parent = NULL;
	bool found = false;

	if (given && split(given)) {
		parent = realpath(given, NULL);
		found = parent && open_folder(parent);
	}
	free(parent);
	free(given);
	return found;
}

int temporary_create(const char *path)
{
	return find_place(path) ? create_and_catch() : -1;
}

bool temporary_adopt(const char *path)
{
	if (!find_place(path))
		return false;
	memcpy(temporary, name, sizeof(temporary));
	catch_ending();
	return true;
}

/* File systems that know no RENAME_NOREPLACE say EINVAL. */
static bool give_name(bool replace)
{
	if (!renameat2(folder, temporary, folder, name, replace ? 0 : RENAME_NOREPLACE))
		return true;
	if (replace || errno != EINVAL)
		return false;
	if (!faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW)) {
		errno = EEXIST;
		return false;
	}
	return !renameat(folder, temporary, folder, name);
}

bool temporary_finish(bool whole, bool replace)
{
	bool named = whole && give_name(replace);
	int error = errno;

	if (!named)
		unlinkat(folder, temporary, 0);
	forget();
	errno = error;
	return named || !whole;
}
