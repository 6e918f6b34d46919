// SPDX-License-Identifier: GPL-2.0-or-later
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Empty: there is none.  Static, because a handler may find it at any time, on any thread. */
static char temporary[PATH_MAX];

static const int ending[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

#define NR_ENDING (sizeof(ending) / sizeof(ending[0]))

/* The default action is back and comes on return: the shell is to see which signal it was. */
static void remove_and_end(int number)
{
	unlink(temporary);
	raise(number);
}

/* Those that nobody has asked to be ignored, as nohup(1) does. */
static void catch_ending(void)
{
	struct sigaction removal = { .sa_handler = remove_and_end, .sa_flags = SA_RESETHAND };
	struct sigaction before;

	sigfillset(&removal.sa_mask);
	for (size_t i = 0; i < NR_ENDING; i++)
		if (!sigaction(ending[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(ending[i], &removal, NULL);
}

/* Between its creation and the time that its name is known no handler may come. */
static int create_and_catch(void)
{
	sigset_t all, before;
	int fd, error;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	fd = mkostemp(temporary, O_CLOEXEC);
	error = errno;
	if (fd >= 0)
		catch_ending();
	else
		temporary[0] = '\0';
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return fd;
}

int temporary_create(const char *place)
{
	int len = snprintf(temporary, sizeof(temporary), "%s.XXXXXX", place);

	if (len >= 0 && (size_t)len < sizeof(temporary))
		return create_and_catch();
	temporary[0] = '\0';
	errno = ENAMETOOLONG;
	return -1;
}

bool temporary_finish(const char *place, bool whole)
{
	bool named = whole && !rename(temporary, place);
	int error = errno;

	if (!named)
		unlink(temporary);
	temporary[0] = '\0';
	errno = error;
	return named || !whole;
}
