// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The crash command "bts": options, help and crash's customs around the views of
 * libbtsrec.  It decodes nothing and words nothing that the views word.
 *
 * crash ends a command by longjmp() from its signal handler or from an error.
 * Between btsrec_new() and btsrec_free() neither may happen: interrupts only set
 * a flag, a closed pager is a short write (crash ignores SIGPIPE), and no call
 * that can jump is made.  Usage errors and crash's own lookups come before.
 */
#include <btsrec/decoder.h>

#include "command.h"
#include "help.h"
#include "image_crash.h"
#include "symbol_crash.h"

#include <crash/defs.h>

/* --- Interrupts --------------------------------------------------------- */

static volatile sig_atomic_t interrupt_seen;

static void on_interrupt(int sig)
{
	(void)sig;
	interrupt_seen = 1;
}

static bool interrupted(void)
{
	return interrupt_seen;
}

/*
 * Keep crash's handler from jumping out of the decoder.  Without SA_RESTART, so
 * that a write to a pager that does not read comes back.
 */
static void hold_interrupts(struct sigaction *ret_old)
{
	struct sigaction act = { .sa_handler = on_interrupt };

	interrupt_seen = 0;
	sigemptyset(&act.sa_mask);
	sigaction(SIGINT, NULL, ret_old);
	if (ret_old->sa_handler != SIG_IGN)
		sigaction(SIGINT, &act, NULL);
}

/* Give SIGINT back, and pass on one that came: crash then does what it always does. */
static void release_interrupts(const struct sigaction *old)
{
	sigaction(SIGINT, old, NULL);
	if (interrupt_seen)
		raise(SIGINT);
}

/* --- Running ------------------------------------------------------------ */

/* errno of the write that failed; 0: none has. */
static int output_errno;

static void keep_output_errno(void)
{
	if (!output_errno)
		output_errno = errno;
	clearerr(fp);
}

static bool sink_write(void *arg, const char *text, size_t len_bytes)
{
	(void)arg;
	if (interrupted())
		return false;
	if (fwrite(text, 1, len_bytes, fp) == len_bytes)
		return true;
	keep_output_errno();
	return false;
}

const struct btsrec_sink front_sink = {.write = sink_write};

/* Its user stopped it, or report_output() says why. */
enum command_exit front_output_failed(void)
{
	return COMMAND_OK;
}

/* error() prints on the terminal, and also to the file or pipe that the output goes to. */
void front_message(enum front_message kind, const char *text)
{
	char clean[4096];

	if (kind == FRONT_HINT) {
		fprintf(fp, "%s\n", text);
		return;
	}
	if (interrupted())
		return;
	snprintf(clean, sizeof(clean), "%s", text);
	for (char *at = clean; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			*at = '?';
	if (kind == FRONT_NOTICE && fp != stdout && fp != pc->stdpipe)
		fprintf(stderr, "bts: %s\n", clean);
	else
		error(INFO, "%s\n", clean);
}

const struct command_front front = {
	.name = "bts",
	.help_form = "bts help %s",
	.other_commands = (const char *const[]){"help", "version", NULL},
	.without = " system-map vmlinux live root scan threads color no-pager",
	.why_without = "crash has opened the dump, and has the kernel's names and a pager",
};

/* The kernel file that crash uses for its own lines. */
static const char *debug_kernel(void)
{
	return pc->namelist_debug ? pc->namelist_debug : pc->namelist;
}

static enum command_exit open_dump(struct btsrec *rec, const struct image_crash *crash,
				   const struct command_options *options)
{
	enum btsrec_status status = btsrec_open_image(rec, &crash->image);
	enum command_exit exit;

	if (!status)
		status = btsrec_locate(rec, 0, BTSREC_SCAN_DMA);
	if (status)
		return command_failed(rec, status);
	exit = command_set_names(rec, options);
	if (exit)
		return exit;
	if (!options->no_names)
		btsrec_set_resolver(rec, &symbol_crash_resolver);
	if (options->show.lines)
		status = btsrec_set_debuginfo(rec, debug_kernel(), options->debuginfo);
	return status ? command_failed(rec, status) : COMMAND_OK;
}

static void run(const struct command *command, const struct command_options *options)
{
	struct image_crash crash;
	struct btsrec *rec = btsrec_new();

	if (!rec) {
		front_error("out of memory");
		return;
	}
	image_crash_init(&crash, interrupted);
	if (!open_dump(rec, &crash, options))
		command_run(command, rec, options);
	btsrec_free(rec);
}

static void run_command(const struct command *command, int argc, char **argv)
{
	struct command_options options;
	bool done;

	if (!command->run) {
		command_not_here(command);
		return;
	}
	if (!command_parse(command, argc, argv, &options, &done) && !done) {
		if (ACTIVE())
			front_error("the recorder of a running system cannot be read by crash");
		else
			run(command, &options);
	}
	command_options_fini(&options);
}

static void overview(void)
{
	command_print("usage: bts [COMMAND] [OPTION]...\n"
		      "       bts help [COMMAND [OPTION] | marks] | version\n\n");
	command_list();
	command_print("\n'bts help COMMAND' lists the options of a command.\n");
}

static void dispatch(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2 || *argv[1] == '-')
		run_command(&commands[0], argc, argv);
	else if (!strcmp(argv[1], "help"))
		command_help_main(argc - 1, argv + 1, overview);
	else if (!strcmp(argv[1], "version"))
		command_print("btsrec %s\n", btsrec_version());
	else if ((command = command_find(argv[1])))
		run_command(command, argc - 1, argv + 1);
	else if (command_unknown(argv[1], ""))
		front_hint("Try 'bts help'.");
}

/*
 * Some of the output is known to be lost only when all of it is flushed.  A user that left the
 * pager or interrupted knows.  The message goes to the terminal: error() would write it after the
 * output.
 */
static void report_output(void)
{
	if (fflush(fp))
		keep_output_errno();
	if (output_errno && output_errno != EPIPE && !interrupted())
		fprintf(stderr, "bts: the output is incomplete: %s\n", strerror(output_errno));
}

/* The order of crash's own list of arguments must not change. */
static void cmd_bts(void)
{
	struct sigaction old;
	char *argv[MAXARGS + 1];

	memcpy(argv, args, (size_t)argcnt * sizeof(*argv));
	argv[argcnt] = NULL;
	output_errno = 0;
	hold_interrupts(&old);
	dispatch(argcnt, argv);
	report_output();
	release_interrupts(&old);
}

/* --- Command table ------------------------------------------------------ */

static struct command_table_entry command_table[] = {
	{ "bts", cmd_bts, bts_help, MINIMAL },
	{ .name = NULL },
};

static void __attribute__((constructor)) btsrec_ext_init(void)
{
	help_init();
	register_extension(command_table);
}
