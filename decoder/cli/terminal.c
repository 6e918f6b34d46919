// SPDX-License-Identifier: GPL-2.0-or-later
#include "terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pager.h"
#include "progress.h"
#include "shorten.h"

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define RED   "\033[31m"
#define PLAIN "\033[0m"

/* A longer line is printed without colours. */
#define MAX_LINE_BYTES 1024
/* "0x" and the digits of an address. */
#define ADDRESS_BYTES  18

/**
 * struct terminal - the standard output
 * @options: NULL: help texts.
 * @shorten: lines of branches have one name or address a side.
 * @line: the beginning of a line, of @line_bytes; used with @colors or @shorten.
 * @too_long: the rest of the line follows as it is.
 */
static struct terminal {
	const struct command_options *options;
	bool begun;
	bool colors;
	bool shorten;
	bool too_long;
	size_t line_bytes;
	char line[MAX_LINE_BYTES];
} terminal;

static int write_all(const char *text, size_t len_bytes)
{
	while (len_bytes) {
		ssize_t nr_bytes = write(STDOUT_FILENO, text, len_bytes);

		if (nr_bytes < 0 && errno == EINTR)
			continue;
		if (nr_bytes < 0)
			return errno;
		text += nr_bytes;
		len_bytes -= (size_t)nr_bytes;
	}
	return 0;
}

static int write_text(const char *text)
{
	return write_all(text, strlen(text));
}

/* --- Colours ------------------------------------------------------------ */

/* no-color.org: any text but an empty one. */
static bool is_wanted(enum command_color color, bool is_tty)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (color != COMMAND_COLOR_AUTO)
		return color == COMMAND_COLOR_ALWAYS;
	return is_tty && !(no_color && *no_color) && term && strcmp(term, "dumb");
}

/* Does a line of "CPU N KIND ..." say that something is missing, or went wrong? */
static bool is_loss(const char *line)
{
	static const char *const kinds[] = {"gap", "break", "fault", "lost", "astray"};
	char kind[8];

	if (sscanf(line, " %*u %*u %7s", kind) != 1)
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kind, kinds[i]))
			return true;
	return false;
}

static size_t address_bytes(const char *at)
{
	size_t nr_bytes = strncmp(at, "0x", 2) ? 0 : 2 + strspn(at + 2, "0123456789abcdef");

	return nr_bytes == ADDRESS_BYTES ? nr_bytes : 0;
}

/* Addresses step back, so that names stand out. */
static int write_addresses_dim(const char *line)
{
	const char *at = line;
	int error = 0;

	while (!error && (at = strstr(at, "0x"))) {
		size_t nr_bytes = address_bytes(at);

		if (!nr_bytes) {
			at += 2;
			continue;
		}
		error = write_all(line, (size_t)(at - line));
		if (!error)
			error = write_text(DIM);
		if (!error)
			error = write_all(at, nr_bytes);
		if (!error)
			error = write_text(PLAIN);
		line = at += nr_bytes;
	}
	return error ? error : write_text(line);
}

static int write_in(const char *color, const char *line)
{
	int error = write_text(color);

	if (!error)
		error = write_text(line);
	return error ? error : write_text(PLAIN);
}

/* What was kept of a line, without its end. */
static int flush_line(void)
{
	char shorter[MAX_LINE_BYTES];
	const char *line = terminal.line;

	terminal.line[terminal.line_bytes] = '\0';
	terminal.line_bytes = 0;
	if (terminal.shorten)
		line = shorten_branch(line, shorter, sizeof(shorter));
	if (!terminal.colors)
		return write_text(line);
	if (*line == '#')
		return write_in(BOLD, line);
	return is_loss(line) ? write_in(RED, line) : write_addresses_dim(line);
}

/* The part of a line up to its end, or all of @text; @nr_bytes of it. */
static int write_part(const char *text, size_t nr_bytes)
{
	int error;

	if (!terminal.too_long && terminal.line_bytes + nr_bytes < MAX_LINE_BYTES) {
		memcpy(terminal.line + terminal.line_bytes, text, nr_bytes);
		terminal.line_bytes += nr_bytes;
		return 0;
	}
	error = terminal.too_long ? 0 : write_all(terminal.line, terminal.line_bytes);
	terminal.line_bytes = 0;
	terminal.too_long = true;
	return error ? error : write_all(text, nr_bytes);
}

static int write_lines(const char *text, size_t len_bytes)
{
	int error = 0;

	while (len_bytes && !error) {
		const char *end = memchr(text, '\n', len_bytes);
		size_t nr_bytes = end ? (size_t)(end - text) : len_bytes;

		error = write_part(text, nr_bytes);
		if (end && !error) {
			error = terminal.too_long ? 0 : flush_line();
			terminal.too_long = false;
			if (!error)
				error = write_text("\n");
			nr_bytes++;
		}
		text += nr_bytes;
		len_bytes -= nr_bytes;
	}
	return error;
}

/* --- Output ------------------------------------------------------------- */

void terminal_begin(const struct command_options *options)
{
	terminal.options = options;
	progress_begin();
}

/* Before the first output, when it is known that there is some. */
static int begin_output(void)
{
	static const char legend[] = "# Every mark is explained by: btsrec help marks\n";
	const struct command_options *options = terminal.options;
	bool is_tty = isatty(STDOUT_FILENO), is_view = options;

	terminal.begun = true;
	if (is_view && options->show.format != BTSREC_FORMAT_TEXT)
		is_view = false;
	terminal.colors = is_view && is_wanted(options->color, is_tty);
	if (!is_tty)
		return 0;
	terminal.shorten = is_view && !options->addresses;
	progress_end();
	if (!options || !options->no_pager)
		pager_begin();
	return is_view ? terminal_write(legend, sizeof(legend) - 1) : 0;
}

int terminal_write(const char *text, size_t len_bytes)
{
	int error = terminal.begun ? 0 : begin_output();

	if (error)
		return error;
	progress_wrote(len_bytes);
	return terminal.colors || terminal.shorten ? write_lines(text, len_bytes) :
						     write_all(text, len_bytes);
}

int terminal_end(void)
{
	int error = terminal.line_bytes ? flush_line() : 0;

	progress_end();
	return error;
}

void terminal_wrote_file(const char *path, uint64_t nr_bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	double size = (double)nr_bytes;
	unsigned int i = 0;

	if (!isatty(STDERR_FILENO))
		return;
	for (; size >= 1024 && i < sizeof(units) / sizeof(units[0]) - 1; i++)
		size /= 1024;
	progress_end();
	fprintf(stderr, "btsrec: %s: %.*f %s\n", path, i ? 1 : 0, size, units[i]);
}
