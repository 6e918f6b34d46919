// SPDX-License-Identifier: GPL-2.0-or-later
/* btsrec: the branch history that the recorder left in a dump. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "cli.h"
#include "doctor.h"
#include "heap.h"

/* The first one is meant where none is named. */
const struct cli_command cli_commands[] = {
	{ "summary", "How the machine came to its end, on one screen.", "fmvYDNiRsj", cmd_summary,
	  NULL },
	{ "info", "What the recorder left: kernel, root, one line per CPU.", "fmvYDNiRsj", cmd_info,
	  NULL },
	{ "show", "The branch histories, event by event.", "cHnrtlg" CLI_FILTER "fmvYDNiRsj", cmd_show,
	  NULL },
	{ "insns", "The instructions that were executed, one by one.", "cHnbLo" CLI_FILTER "fmvYDNiRsj",
	  cmd_insns, NULL },
	{ "calls", "The functions that were called, as a tree.", "cHndl" CLI_FILTER "fmvYDNiRsj",
	  cmd_calls, NULL },
	{ "functions", "The functions by how many branches they took.", "cy" CLI_FILTER "fmvYDNiRsj",
	  cmd_functions, NULL },
	{ "coverage", "The instructions of a function: how often each was executed.",
	  "cL" CLI_FILTER "fmvYDNiRsj", cmd_coverage, "FUNCTION" },
	{ "diff", "Where two histories part: the calls up to the fault, compared from there.",
	  "cPfmvNisj", cmd_diff, "OTHER" },
	{ "timeline", "Switches, execs, marks, gaps and freezes of all CPUs by time.",
	  "cnPGCFTfmvYDNiRsj", cmd_timeline, NULL },
	{ "stack", "The call stack, rebuilt from calls and returns.", "cHafmvYDNiRsj", cmd_stack, NULL },
	{ "prove", "Whether each history fits the code in the dump; if not, exit status 1.",
	  "fmvYDNiRsj", cmd_prove, NULL },
	{ "report", "All histories as one page for a browser.", "nwmvYDNiRsj", cmd_report, "OUT" },
	{ "gdbserver", "A remote target for gdb: history, registers and memory of one CPU.",
	  "cPUOYDNiRsj", cmd_gdbserver, NULL },
	{ "export", "The histories as a file for other tools: perf, viewers of traces, lcov.",
	  "EcPGCKUSABwmvYDNiRsj", cmd_export, "OUT" },
	{ "extract", "Keep what decoding needs of a dump in a small file.", "upwiRsj", cmd_extract,
	  "OUT" },
	{ "snapshot", "As extract, of the recorder that runs on this machine.", "upwRsj", cmd_extract,
	  "OUT" },
	{ "check", "Validate all that can be validated; faults make the exit status 1.", "iRsj",
	  cmd_check, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

#define NR_COMMANDS	(sizeof(cli_commands) / sizeof(cli_commands[0]) - 1)

static_assert(NR_COMMANDS < CLI_MAX_COMMANDS, "no room in lists of commands");

/* --- Messages ----------------------------------------------------------- */

void cli_error(const char *fmt, ...)
{
	char text[4096];
	const char *at;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fputs("btsrec: ", stderr);
	for (at = text; *at; at++) {
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			fprintf(stderr, "\\x%02x", (unsigned char)*at);
		else
			fputc(*at, stderr);
	}
	fputc('\n', stderr);
}

static enum cli_exit exit_of(enum btsrec_status status)
{
	switch (status) {
	case BTSREC_OK:
		return CLI_OK;
	case BTSREC_ERR_INVAL:
	case BTSREC_ERR_NO_CPU:
		return CLI_USAGE;
	case BTSREC_ERR_NO_ROOT:
		return CLI_NO_RECORDER;
	case BTSREC_ERR_IO:
	case BTSREC_ERR_NOT_DUMP:
		return CLI_NOT_DUMP;
	case BTSREC_ERR_NODATA:
	case BTSREC_ERR_BAD_ROOT:
	case BTSREC_ERR_VERSION:
	case BTSREC_ERR_CORRUPT:
		return CLI_BAD_RECORDER;
	case BTSREC_ERR_NO_SYMBOL:
	case BTSREC_ERR_MISMATCH:
		return CLI_SYMBOLS;
	case BTSREC_ERR_NOMEM:
	case BTSREC_ERR_STOPPED:
		return CLI_SYSTEM;
	}
	return CLI_SYSTEM;
}

enum cli_exit cli_failed(const struct btsrec *rec, enum btsrec_status status)
{
	const char *message = btsrec_errmsg(rec);

	if (status == BTSREC_ERR_STOPPED)
		return cli_output_failed();
	cli_error("%s", *message ? message : btsrec_status_str(status));
	return exit_of(status);
}

enum cli_exit cli_told(const struct btsrec *rec, enum btsrec_status status)
{
	enum cli_exit exit = status ? cli_failed(rec, status) : CLI_OK;

	return status == BTSREC_ERR_CORRUPT ? CLI_FAULTS : exit;
}

/* --- Output ------------------------------------------------------------- */

/* errno of the write that failed; 0: none has. */
static int output_errno;

static bool stdout_write(void *arg, const char *text, size_t len_bytes)
{
	(void)arg;
	while (len_bytes) {
		ssize_t nr_bytes = write(STDOUT_FILENO, text, len_bytes);

		if (nr_bytes < 0 && errno == EINTR)
			continue;
		if (nr_bytes < 0) {
			output_errno = errno;
			return false;
		}
		text += nr_bytes;
		len_bytes -= (size_t)nr_bytes;
	}
	return true;
}

const struct btsrec_sink cli_stdout = { .write = stdout_write };

enum cli_exit cli_output_failed(void)
{
	if (output_errno == EPIPE)
		return CLI_OK;
	cli_error("standard output: %s", strerror(output_errno));
	return CLI_SYSTEM;
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
 * Some file systems tell only now that there was no room.  Output that is closed is missed by
 * nobody who has none.
 */
static int close_output(int status)
{
	bool failed = fflush(stdout) || ferror(stdout);

	if ((close(STDOUT_FILENO) && errno != EBADF) || failed) {
		if (errno == EPIPE || output_errno)
			return status;
		cli_error("standard output: %s", strerror(errno));
		return CLI_SYSTEM;
	}
	return status;
}

/* --- Commands ----------------------------------------------------------- */

/* What else can be tried where only what is searched by default has been. */
static const char *search_hint(const struct cli_options *options, enum btsrec_status status)
{
	if (status != BTSREC_ERR_NO_ROOT || options->root_pa || options->scan != BTSREC_SCAN_DMA)
		return "";
	return options->takes_root ?
	       "; only the first 16 MiB were searched: try --scan all, or --root PA" :
	       "; only the first 16 MiB were searched: try --scan all";
}

enum cli_exit cli_open(struct btsrec *rec, const struct cli_options *options)
{
	const char *source = options->live ? "--live" : options->dumps[0];
	enum btsrec_status status;

	if (cli_check_stdout(options))
		return CLI_USAGE;
	btsrec_set_threads(rec, options->nr_threads);
	status = options->live ? btsrec_open_live(rec) :
				 btsrec_open_split(rec, options->dumps, options->nr_dumps);
	if (status)
		return cli_failed(rec, status);
	status = btsrec_locate(rec, options->root_pa, options->scan);
	if (status) {
		cli_error("%s: %s%s", source, btsrec_errmsg(rec), search_hint(options, status));
		return exit_of(status);
	}
	if (!options->no_names || options->vmlinux || options->system_map)
		heap_expect_names();
	btsrec_set_dump_names(rec, !options->no_names);
	status = btsrec_set_files(rec, options->sysroot, options->debuginfo);
	if (!status && options->vmlinux)
		status = btsrec_add_vmlinux(rec, options->vmlinux);
	if (!status && (options->vmlinux || options->debuginfo))
		status = btsrec_set_debuginfo(rec, options->vmlinux, options->debuginfo);
	if (!status && options->system_map)
		status = btsrec_add_system_map(rec, options->system_map);
	if (!status)
		return CLI_OK;
	cli_failed(rec, status);
	return status == BTSREC_ERR_NOMEM ? CLI_SYSTEM : CLI_SYMBOLS;
}

static enum cli_exit run_session(const struct cli_command *command,
				 const struct cli_options *options)
{
	struct btsrec *rec = btsrec_new();
	enum cli_exit status;

	if (!rec) {
		cli_error("out of memory");
		return CLI_SYSTEM;
	}
	status = cli_open(rec, options);
	if (!status)
		status = command->run(rec, options);
	btsrec_free(rec);
	return status;
}

static enum cli_exit run_command(const struct cli_command *command, int argc, char **argv)
{
	struct cli_options options;
	enum cli_exit status;
	bool done;

	status = cli_parse(command, argc, argv, &options, &done);
	if (!status && !done)
		status = run_session(command, &options);
	cli_options_fini(&options);
	/* As that of diff(1): 0 no difference, 1 one, 2 trouble. */
	return command->run == cmd_diff && status > CLI_FAULTS ? CLI_USAGE : status;
}

static void help(FILE *to)
{
	size_t i;

	fprintf(to, "usage: btsrec [COMMAND] [OPTION]... DUMP...\n"
		    "       btsrec COMMAND [OPTION]... --live\n"
		    "       btsrec --help | --version\n\n");
	for (i = 0; i < NR_COMMANDS; i++)
		fprintf(to, "  %-9s %s\n", cli_commands[i].name, cli_commands[i].summary);
	fprintf(to, "  %-9s %s\n", "doctor", "Whether this machine will give a history after a crash.");
	fprintf(to, "  %-9s %s\n", "bench-overhead", "What recording costs on this machine.");
	fprintf(to, "\n'btsrec COMMAND --help' lists the options of a command.\n");
}

static int dispatch(int argc, char **argv)
{
	size_t i;

	if (argc < 2) {
		help(stderr);
		return CLI_USAGE;
	}
	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(argv[1], cli_commands[i].name))
			return run_command(&cli_commands[i], argc - 1, argv + 1);
	/* They ask the machine, not a dump. */
	if (!strcmp(argv[1], "doctor"))
		return doctor_main(argc - 1, argv + 1);
	if (!strcmp(argv[1], "bench-overhead"))
		return bench_main(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		help(stdout);
		return CLI_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("btsrec %s\n", btsrec_version());
		return CLI_OK;
	}
	if (*argv[1] == '-' || !access(argv[1], F_OK))
		return run_command(&cli_commands[0], argc, argv);
	cli_error("there is no command '%s', and no such file", argv[1]);
	fprintf(stderr, "Try 'btsrec --help'.\n");
	return CLI_USAGE;
}

int main(int argc, char **argv)
{
	hold_standard_files();
	return close_output(dispatch(argc, argv));
}
