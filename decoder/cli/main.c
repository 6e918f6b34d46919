// SPDX-License-Identifier: GPL-2.0-or-later
/* btsrec: the branch history that the recorder left in a dump. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "doctor.h"
#include "heap.h"
#include "pager.h"
#include "terminal.h"

const struct command_front front = {
	.name = "btsrec",
	.help_form = "btsrec %s --help",
	.has_dump = true,
	.other_commands =
		(const char *const[]){"help", "version", NULL},
};

/* --- Messages ----------------------------------------------------------- */

void front_message(enum front_message kind, const char *text)
{
	if (kind == FRONT_HINT) {
		fprintf(stderr, "%s\n", text);
		return;
	}
	fputs("btsrec: ", stderr);
	for (const char *at = text; *at; at++) {
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			fprintf(stderr, "\\x%02x", (unsigned char)*at);
		else
			fputc(*at, stderr);
	}
	fputc('\n', stderr);
}

/* --- Output ------------------------------------------------------------- */

/* errno of the write that failed; 0: none has. */
static int output_errno;

static bool stdout_write(void *arg, const char *text, size_t len_bytes)
{
	(void)arg;
	output_errno = terminal_write(text, len_bytes);
	return !output_errno;
}

const struct btsrec_sink front_sink = {.write = stdout_write};

enum command_exit front_output_failed(void)
{
	if (output_errno == EPIPE)
		return COMMAND_OK;
	front_error("standard output: %s", strerror(output_errno));
	return COMMAND_SYSTEM;
}

/*
 * A standard file that is closed would be the first file that is opened, to which messages
 * then go.  What stands in for it refuses what is wanted of it, with EBADF as if it was closed.
 */
static void hold_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/*
 * Some file systems report only now that there was no room.  Output that is closed is not missed.
 */
static int close_output(int status)
{
	bool failed = fflush(stdout) || ferror(stdout);

	if ((close(STDOUT_FILENO) && errno != EBADF) || failed) {
		if (errno == EPIPE || output_errno)
			return status;
		front_error("standard output: %s", strerror(errno));
		return COMMAND_SYSTEM;
	}
	return status;
}

/* --- Commands ----------------------------------------------------------- */

/* What else can be tried where only what is searched by default has been. */
static const char *search_hint(const struct command_options *options, enum btsrec_status status)
{
	if (status != BTSREC_ERR_NO_ROOT || options->root_pa || options->scan != BTSREC_SCAN_DMA)
		return "";
	return options->takes_root ?
	       "; only the first 16 MiB were searched: try --scan all, or --root PA" :
	       "; only the first 16 MiB were searched: try --scan all";
}

enum command_exit cli_open(struct btsrec *rec, const struct command_options *options)
{
	const char *source = options->live ? "--live" : options->dumps[0];
	enum btsrec_status status;

	if (cli_check_stdout(options))
		return COMMAND_USAGE;
	btsrec_set_threads(rec, options->nr_threads);
	status = options->live ? btsrec_open_live(rec) :
				 btsrec_open_split(rec, options->dumps, options->nr_dumps);
	if (status)
		return command_failed(rec, status);
	status = btsrec_locate(rec, options->root_pa, options->scan);
	if (status) {
		front_error("%s: %s%s", source, btsrec_errmsg(rec), search_hint(options, status));
		return command_exit_of(status);
	}
	if (!options->no_names || options->vmlinux || options->system_map)
		heap_expect_names();
	return command_set_names(rec, options);
}

/* The end of a command of @status whose output may not have been written. */
static enum command_exit printed(enum command_exit status)
{
	if (!output_errno)
		output_errno = terminal_end();
	/* Faults and losses that were found have not been said either. */
	if (!output_errno || output_errno == EPIPE || status > COMMAND_FAULTS)
		return status;
	return front_output_failed();
}

static bool is_there(const char *path)
{
	return !access(path, F_OK);
}

/* Where the dump should be is the name of no file, and where it should not, that of one. */
static void hint_at_order(const struct command *command, const struct command_options *options)
{
	const char *last = options->third ? options->third : options->second;

	if (!options->nr_dumps || !last || command->self == FOR_DIFF)
		return;
	if (!is_there(options->dumps[0]) && is_there(last))
		front_hint("The dump comes first: btsrec %s DUMP %s%s%s", command->name,
			   command->second, command->third ? " " : "",
			   command->third ? command->third : "");
}

static enum command_exit run_session(const struct command *command,
				     const struct command_options *options)
{
	struct btsrec *rec = btsrec_new();
	enum command_exit status;

	if (!rec) {
		front_error("out of memory");
		return COMMAND_SYSTEM;
	}
	/* gdb has that terminal, too. */
	if (command->run != command_gdbserver)
		terminal_begin(options);
	status = cli_open(rec, options);
	if (!status)
		status = command_run(command, rec, options);
	else
		hint_at_order(command, options);
	btsrec_free(rec);
	return printed(status);
}

/* The exit status of a wrong command line. */
static enum command_exit wrong_usage(const struct command *command)
{
	return command->run == command_doctor ? (enum command_exit)DOCTOR_USAGE : COMMAND_USAGE;
}

static enum command_exit run_parsed(const struct command *command,
				    const struct command_options *options)
{
	if (command->of_machine)
		return printed(command->run(NULL, options));
	return run_session(command, options);
}

static enum command_exit run_command(const struct command *command, int argc, char **argv)
{
	struct command_options options;
	enum command_exit status;
	bool done;

	if (command_parse(command, argc, argv, &options, &done))
		status = wrong_usage(command);
	else
		status = done ? printed(COMMAND_OK) : run_parsed(command, &options);
	command_options_fini(&options);
	return status;
}

static void help(void)
{
	command_print("usage: btsrec [COMMAND] [OPTION]... DUMP...\n"
		      "       btsrec COMMAND [OPTION]... --live\n"
		      "       btsrec help [COMMAND [OPTION] | marks] | version\n\n");
	command_list();
	command_print("  %-9s %s\n", "help",
		      "What a command is for, or what the marks in its output mean.");
	command_print("  %-9s %s\n", "version", "The version of btsrec.");
	command_print("\n'btsrec help COMMAND' or 'btsrec COMMAND --help' lists the options of a "
		      "command.\n");
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return !strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c);
}

/* @ret_command: what runs; NULL: none of the table. */
static int dispatch(int argc, char **argv, const struct command **ret_command)
{
	const struct command *command;

	*ret_command = NULL;
	if (argc < 2) {
		front_hint("btsrec: which dump? Try 'btsrec help'.");
		return COMMAND_USAGE;
	}
	command = command_find(argv[1]);
	*ret_command = command;
	if (command)
		return run_command(command, argc - 1, argv + 1);
	if (is_one_of(argv[1], "help", "--help", "-h"))
		return printed(command_help_main(argc - 1, argv + 1, help));
	if (is_one_of(argv[1], "version", "--version", "-V")) {
		command_print("btsrec %s\n", btsrec_version());
		return printed(COMMAND_OK);
	}
	if (*argv[1] == '-' || is_there(argv[1]))
		return run_command(&commands[0], argc, argv);
	command_unknown(argv[1], ", and no such file");
	front_hint("Try 'btsrec help'.");
	return COMMAND_USAGE;
}

int main(int argc, char **argv)
{
	const struct command *command;
	int status;

	hold_standard_files();
	status = close_output(dispatch(argc, argv, &command));
	/* Nobody has seen what was found out. */
	if (!pager_end())
		status = COMMAND_SYSTEM;
	/* As that of diff(1): 0 no difference, 1 one, 2 trouble, be it with the output. */
	return command && command->run == command_diff && status > COMMAND_FAULTS ? COMMAND_USAGE :
										    status;
}
