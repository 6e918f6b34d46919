// SPDX-License-Identifier: GPL-2.0-or-later
#include "pager.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

/* What a shell says of a command that is not there, and before it of one that it may not run. */
#define NOT_RUN	  126
#define NOT_FOUND 127

static pid_t pager;

static const char *chosen(void)
{
	const char *command = getenv("BTSREC_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "command -v less >/dev/null && exec less || exec cat";
	return *command && strcmp(command, "cat") ? command : NULL;
}

static void become(const char *command, int in)
{
	dup2(in, STDIN_FILENO);
	close(in);
	/* Quit if it fits, colours as they are, and leave the text on the screen. */
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(NOT_FOUND);
}

static int wait_for_pager(void)
{
	int status = 0;

	close(STDOUT_FILENO);
	/* Nothing interrupts it but a signal that is handled: then once more. */
	while (waitpid(pager, &status, 0) < 0 && kill(pager, 0) == 0)
		;
	pager = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

/* The pager has the terminal, and its user leaves it when it is time. */
static void on_signal(int sig)
{
	wait_for_pager();
	signal(sig, SIG_DFL);
	raise(sig);
}

void pager_begin(void)
{
	const char *command = chosen();
	int ends[2];

	if (!command || pipe2(ends, O_CLOEXEC))
		return;
	pager = fork();
	if (!pager)
		become(command, ends[0]);
	if (pager > 0) {
		dup2(ends[1], STDOUT_FILENO);
		signal(SIGINT, on_signal);
		signal(SIGTERM, on_signal);
		/* A user that leaves the pager has read enough. */
		signal(SIGPIPE, SIG_IGN);
	}
	close(ends[0]);
	close(ends[1]);
}

bool pager_end(void)
{
	int status = pager > 0 ? wait_for_pager() : 0;

	if (status != NOT_FOUND && status != NOT_RUN)
		return true;
	front_error("%s pager '%s': nothing was shown; --no-pager prints without one",
		    status == NOT_FOUND ? "there is no" : "could not run the", chosen());
	return false;
}
