// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "cli.h"

#define DEVICE	"/dev/btsrec"

const char *bench_command = "bench-overhead";

static int device_fd = -1;
static char found[BENCH_STATE_BYTES];
static bool was_armed;

static bool has_line(const char *state, const char *line)
{
	const char *at = strstr(state, line);

	return at && (at == state || at[-1] == '\n');
}

/* Whole, for a great many CPUs, too: the device gives a page or more at a time. */
static bool read_state(char state[BENCH_STATE_BYTES])
{
	size_t nr_bytes = 0;
	ssize_t got = 0;

	if (lseek(device_fd, 0, SEEK_SET) == 0)
		while (nr_bytes < BENCH_STATE_BYTES - 1 &&
		       (got = read(device_fd, state + nr_bytes,
				   BENCH_STATE_BYTES - 1 - nr_bytes)) > 0)
			nr_bytes += (size_t)got;
	state[nr_bytes] = '\0';
	if (nr_bytes && got >= 0)
		return true;
	front_error("%s: " DEVICE ": %s", bench_command, strerror(errno));
	return false;
}

int bench_device_open(const char *command)
{
	bench_command = command;
	device_fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (device_fd < 0 && errno == ENOENT)
		front_error("%s: no " DEVICE ": the recorder is not loaded on this machine; load "
			    "it, on one that has Branch Trace Store ('btsrec doctor' says)",
			    command);
	else if (device_fd < 0)
		front_error("%s: " DEVICE ": %s%s", command, strerror(errno),
			    errno == EACCES || errno == EPERM ? "; be root" : "");
	if (device_fd < 0 || !read_state(found))
		return COMMAND_NO_RECORDER;
	if (has_line(found, "state: frozen\n"))
		front_error("%s: the recorder keeps the history of a fault; have it read "
			    "('btsrec snapshot'), then write \"arm\" to " DEVICE,
			    command);
	else if (has_line(found, "held: 1\n"))
		front_error("%s: somebody is copying the rings just now; try again", command);
	else
		return was_armed = has_line(found, "state: armed\n"), COMMAND_OK;
	return COMMAND_NO_RECORDER;
}

const char *bench_device_state(void)
{
	return found;
}

static bool request(const char *text)
{
	if (write(device_fd, text, strlen(text)) >= 0)
		return true;
	front_error("%s: " DEVICE ", %s: %s; the kernel log (dmesg) says why", bench_command, text,
		    strerror(errno));
	return false;
}

bool bench_device_arm(bool armed)
{
	return request(armed ? "arm" : "disarm");
}

bool bench_device_mark(const char *text)
{
	char command[128];

	snprintf(command, sizeof(command), "mark %s", text);
	return request(command);
}

bool bench_device_freeze(void)
{
	return request("freeze");
}

uint64_t bench_device_ring_bytes(void)
{
	static const char key[] = " ring_bytes=";
	const char *at = strstr(found, "\nring_bytes: ");
	uint64_t least = at ? strtoull(at + strlen("\nring_bytes: "), NULL, 10) : 0;

	/* Of each CPU that has one. */
	for (at = strstr(found, key); at; at = strstr(at, key)) {
		uint64_t bytes;

		at += strlen(key);
		bytes = strtoull(at, NULL, 10);
		least = bytes < least ? bytes : least;
	}
	return least;
}

bool bench_device_has(const char *line)
{
	char state[BENCH_STATE_BYTES];

	return read_state(state) && has_line(state, line);
}

bool bench_device_records(void)
{
	char state[BENCH_STATE_BYTES];

	if (!read_state(state))
		return false;
	/* A CPU that stopped for perf says "stopped", one that is offline, too. */
	if (has_line(state, "state: armed\n") && !strstr(state, ": stopped ") &&
	    !strstr(state, ": frozen "))
		return true;
	front_error("%s: not every CPU recorded until the end of a run; is one offline, or does "
		    "perf record branches? See " DEVICE,
		    bench_command);
	return false;
}

bool bench_device_close(void)
{
	bool done = bench_device_arm(was_armed);

	close(device_fd);
	return done;
}
