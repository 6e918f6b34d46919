// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define ERASE "\r\033[K"

static bool running;
static volatile sig_atomic_t nr_seconds;
static atomic_ullong nr_written;

/* snprintf() is not for signal handlers. */
static char *put_number(char *at, unsigned long long value)
{
	char digits[24];
	size_t nr = 0;

	do {
		digits[nr++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (nr)
		*at++ = digits[--nr];
	return at;
}

static char *put_text(char *at, const char *text)
{
	return (char *)memcpy(at, text, strlen(text)) + strlen(text);
}

static void write_line(const char *line, const char *end)
{
	ssize_t nr_bytes = write(STDERR_FILENO, line, (size_t)(end - line));

	(void)nr_bytes;
}

static void on_second(int sig)
{
	char line[128], *at = put_text(line, ERASE "btsrec: ");
	int error = errno;

	(void)sig;
	nr_seconds++;
	at = put_text(put_number(at, (unsigned long long)nr_seconds), " s, ");
	at = put_text(put_number(at, nr_written >> 10), " KiB of output ");
	write_line(line, at);
	errno = error;
}

static void set_timer(time_t seconds)
{
	const struct itimerval every = {{.tv_sec = seconds}, {.tv_sec = seconds}};

	setitimer(ITIMER_REAL, &every, NULL);
}

void progress_begin(void)
{
	const struct sigaction action = {.sa_handler = on_second, .sa_flags = SA_RESTART};

	if (!isatty(STDERR_FILENO) || sigaction(SIGALRM, &action, NULL))
		return;
	running = true;
	set_timer(1);
}

void progress_wrote(uint64_t nr_bytes)
{
	nr_written += nr_bytes;
}

void progress_end(void)
{
	const char *erase = ERASE;

	if (!running)
		return;
	running = false;
	set_timer(0);
	if (nr_seconds)
		write_line(erase, erase + strlen(erase));
}
