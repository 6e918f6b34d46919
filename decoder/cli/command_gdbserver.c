// SPDX-License-Identifier: GPL-2.0-or-later
/* A connection to gdb: over standard input and output, or one of this user's. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli.h"
#include "temporary.h"

/**
 * struct connection - where bytes come from and go to
 * @read_error, @write_error: errno of what failed; 0: nothing has.
 */
struct connection {
	int in;
	int out;
	int read_error;
	int write_error;
};

static size_t connection_read(void *arg, char *buf, size_t room_bytes)
{
	struct connection *connection = arg;
	ssize_t nr_bytes;

	do {
		nr_bytes = read(connection->in, buf, room_bytes);
	} while (nr_bytes < 0 && errno == EINTR);
	if (nr_bytes < 0)
		connection->read_error = errno;
	return nr_bytes > 0 ? (size_t)nr_bytes : 0;
}

static bool connection_write(void *arg, const char *text, size_t len_bytes)
{
	struct connection *connection = arg;

	while (len_bytes) {
		ssize_t nr_bytes = write(connection->out, text, len_bytes);

		if (nr_bytes < 0 && errno == EINTR)
			continue;
		if (nr_bytes < 0) {
			connection->write_error = errno;
			return false;
		}
		text += nr_bytes;
		len_bytes -= (size_t)nr_bytes;
	}
	return true;
}

/* A socket at @path to which only this user may connect; -1 with errno: failed. */
static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t len_bytes = strlen(path);
	int listener, failed, error;
	mode_t before;

	if (len_bytes >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address.sun_path, path, len_bytes);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0)
		return -1;
	/* The kernel asks for the right to write to it: the dump is for users that may read it. */
	before = umask(0177);
	failed = bind(listener, (struct sockaddr *)&address, sizeof(address));
	umask(before);
	if (!failed && !listen(listener, 1))
		return listener;
	error = errno;
	if (!failed)
		unlink(path);
	close(listener);
	errno = error;
	return -1;
}

/* As listen_at(), and a signal that ends the program leaves no socket. */
static int listen_while_here(const char *path)
{
	sigset_t all, before;
	int listener, error;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	listener = listen_at(path);
	if (listener >= 0 && !temporary_adopt(path)) {
		error = errno;
		unlink(path);
		close(listener);
		errno = error;
		listener = -1;
	}
	error = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return listener;
}

/* Wait for one connection at @path, which nobody can find any more then; -1 with errno: failed. */
static int accept_one(const char *path)
{
	int listener = listen_while_here(path), fd, error;

	if (listener < 0)
		return -1;
	fprintf(stderr, "btsrec: waiting for gdb: target remote %s\n", path);
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	error = errno;
	temporary_finish(false, false);
	close(listener);
	errno = error;
	return fd;
}

/* A gdb that went away is no fault of anybody. */
static bool has_failed(int error, const char *how)
{
	if (!error || error == EPIPE || error == ECONNRESET)
		return false;
	front_error("what gdb asked for could not be %s: %s", how, strerror(error));
	return true;
}

static enum command_exit serve(struct btsrec *rec, const struct command_options *options,
			       struct connection *connection)
{
	struct btsrec_gdb wanted = {
		.size = sizeof(wanted),
		.cpu = options->show.cpus[0],
		.user_only = options->filter.user,
		.likely = options->likely,
	};
	struct btsrec_link link = {
		.read = connection_read,
		.arg = connection,
		.out = {connection_write, connection},
	};
	enum btsrec_status status;

	wanted.has_pid = options->filter.pids;
	if (wanted.has_pid && !command_parse_pid(options->filter.pids, &wanted.pid)) {
		front_error("gdbserver: --pid must name one thread");
		return COMMAND_USAGE;
	}
	status = btsrec_gdbserver(rec, &wanted, &link);
	if (has_failed(connection->read_error, "read") ||
	    has_failed(connection->write_error, "written"))
		return COMMAND_SYSTEM;
	return status ? command_failed(rec, status) : COMMAND_OK;
}

enum command_exit command_gdbserver(struct btsrec *rec, const struct command_options *options)
{
	struct connection connection = {.in = STDIN_FILENO, .out = STDOUT_FILENO};
	enum command_exit status;

	if (!options->show.nr_cpus) {
		front_error("gdbserver: --cpu must name one CPU");
		return COMMAND_USAGE;
	}
	/* That gdb went away is seen by what writing to it says. */
	signal(SIGPIPE, SIG_IGN);
	if (!options->socket)
		return serve(rec, options, &connection);
	connection.in = connection.out = accept_one(options->socket);
	if (connection.in < 0) {
		front_error("%s: %s", options->socket, strerror(errno));
		return COMMAND_SYSTEM;
	}
	status = serve(rec, options, &connection);
	close(connection.in);
	return status;
}
