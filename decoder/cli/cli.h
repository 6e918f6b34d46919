/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the subcommands of btsrec share.  The command line is a user of libbtsrec's
 * public interface like any other and includes nothing else of it.
 */
#ifndef BTSREC_CLI_H
#define BTSREC_CLI_H

#include <btsrec/decoder.h>

struct stat;

/* Exit status; the manual page btsrec(1) documents each. */
enum cli_exit {
	CLI_OK = 0,
	CLI_FAULTS = 1,		/* check found faults, or a shown history has holes */
	CLI_USAGE = 2,
	CLI_NO_RECORDER = 3,
	CLI_NOT_DUMP = 4,	/* unreadable, or not a dump */
	CLI_BAD_RECORDER = 5,	/* found, but not valid */
	CLI_SYMBOLS = 6,	/* symbol file refused */
	CLI_SYSTEM = 7,		/* output not writable, out of memory */
};

/** enum cli_export - what export writes */
enum cli_export {
	CLI_EXPORT_PERF,
	CLI_EXPORT_CHROME,
	CLI_EXPORT_FOLDED,
	CLI_EXPORT_LCOV,
};

/**
 * struct cli_options - the command line of one subcommand
 * @live: instead of @dumps, the recorder that runs on this machine.
 * @dumps: @nr_dumps files of one dump, borrowed from argv.
 * @second, @system_map, @vmlinux: borrowed from argv; NULL: not given.
 * @sysroot, @debuginfo: as for btsrec_set_files(), @debuginfo also for
 *	btsrec_set_debuginfo(); borrowed from argv.
 * @no_names: leave out the names in the dump.
 * @show: cpus is owned, the rest by value.
 * @takes_root: the command has --root.
 * @nr_threads: for btsrec_set_threads().
 * @has_count: show.max_events was given.
 * @filter: its texts are borrowed from argv.
 * @bytes, @source_folder: as in struct btsrec_insns.
 * @extract: by value.
 * @kind: of a file.
 * @socket: borrowed from argv; NULL: not given.
 * @force: write over files that exist.
 * @max_depth: as in struct btsrec_calls.
 * @by: as in struct btsrec_functions.
 * @at: as in struct btsrec_stack, owned.
 */
struct cli_options {
	const char *const *dumps;
	size_t nr_dumps;
	bool live;
	const char *second;
	const char *system_map;
	const char *vmlinux;
	const char *sysroot;
	const char *debuginfo;
	bool no_names;
	bool takes_root;
	uint64_t root_pa;
	enum btsrec_scan scan;
	unsigned int nr_threads;
	struct btsrec_show show;
	bool has_count;
	struct btsrec_filter filter;
	bool bytes;
	const char *source_folder;
	struct btsrec_extract extract;
	enum cli_export kind;
	const char *socket;
	bool force;
	uint32_t max_depth;
	enum btsrec_by by;
	struct btsrec_span *at;
	size_t nr_at;
};

/* The options of a filter, for cli_command.options. */
#define CLI_FILTER "PGCKUFTSAB"

/**
 * struct cli_command - a subcommand
 * @options: the letters of the options that it takes, as in enum cli_option.  Without that of
 *	--live it has no operand DUMP, as if that were given.
 * @run: returns the exit status.
 * @second: what its second operand is; NULL: it has none.
 */
struct cli_command {
	const char *name;
	const char *summary;
	const char *options;
	enum cli_exit (*run)(struct btsrec *rec, const struct cli_options *options);
	const char *second;
};

#define CLI_MAX_COMMANDS 32

/** cli_commands - fewer than CLI_MAX_COMMANDS; ends with a name of NULL */
extern const struct cli_command cli_commands[];

enum cli_exit cmd_summary(struct btsrec *rec, const struct cli_options *options);
enum cli_exit cmd_info(struct btsrec *rec, const struct cli_options *options);
enum cli_exit cmd_show(struct btsrec *rec, const struct cli_options *options);
enum cli_exit cmd_insns(struct btsrec *rec, const struct cli_options *options);
enum cli_exit cmd_calls(struct btsrec *rec, const struct cli_options *options);
enum cli_exit cmd_functions(struct btsrec *rec, const struct cli_options *options);
enum cli_exit cmd_coverage(struct btsrec *rec, const struct cli_options *options);
enum cli_exit cmd_diff(struct btsrec *rec, const struct cli_options *options);
enum cli_exit cmd_timeline(struct btsrec *rec, const struct cli_options *options);
enum cli_exit cmd_stack(struct btsrec *rec, const struct cli_options *options);
enum cli_exit cmd_export(struct btsrec *rec, const struct cli_options *options);
enum cli_exit cmd_gdbserver(struct btsrec *rec, const struct cli_options *options);
enum cli_exit cmd_prove(struct btsrec *rec, const struct cli_options *options);
enum cli_exit cmd_report(struct btsrec *rec, const struct cli_options *options);
enum cli_exit cmd_extract(struct btsrec *rec, const struct cli_options *options);
enum cli_exit cmd_check(struct btsrec *rec, const struct cli_options *options);

/**
 * cli_parse() - take the command line of @command apart
 * @argv: argv[0] is the command's name.
 * @ret_done: everything has been answered (--help).
 *
 * Return: CLI_OK, or CLI_USAGE after a message.
 */
enum cli_exit cli_parse(const struct cli_command *command, int argc, char **argv,
			struct cli_options *ret, bool *ret_done);

/** cli_options_fini() - free what cli_parse() allocated */
void cli_options_fini(struct cli_options *options);

/** cli_help() - the help text of @command on standard output */
void cli_help(const struct cli_command *command);

/** cli_error() - one line on standard error; control characters are escaped */
void cli_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** cli_parse_pid() - the number of one thread, where --pid is no list */
bool cli_parse_pid(const char *text, uint32_t *ret);

/** cli_failed() - report why the last call on @rec failed; returns the exit status */
enum cli_exit cli_failed(const struct btsrec *rec, enum btsrec_status status);

/**
 * cli_told() - how a command ends whose view ended with @status; a word of what is wrong
 *
 * If a CPU could not be shown, all others were.
 */
enum cli_exit cli_told(const struct btsrec *rec, enum btsrec_status status);

/**
 * cli_open() - open the dump, find the recorder, add the symbol files
 *
 * Return: CLI_OK, or the exit status after a message.
 */
enum cli_exit cli_open(struct btsrec *rec, const struct cli_options *options);

/**
 * cli_refuse_input() - whatever is written must not be what is read
 * @file: what is to be written or replaced, under whatever name: a link, a hard link, a
 *	descriptor.  @name: as the user knows it.
 *
 * The inputs are all parts of the dump, --vmlinux and --system-map.
 *
 * Return: CLI_OK, or CLI_USAGE after a message.
 */
enum cli_exit cli_refuse_input(const struct cli_options *options, const char *name,
			       const struct stat *file);

/** cli_check_stdout() - cli_refuse_input() for the standard output, as in "show DUMP >>DUMP" */
enum cli_exit cli_check_stdout(const struct cli_options *options);

/** cli_stdout - standard output as a sink; see cli_output_failed() */
extern const struct btsrec_sink cli_stdout;

/**
 * cli_output_failed() - why cli_stdout stopped
 *
 * Return: CLI_OK if the reader went away, which is no fault of anybody;
 * CLI_SYSTEM after a message.
 */
enum cli_exit cli_output_failed(void);

#endif /* BTSREC_CLI_H */
