/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subcommands of btsrec and of crash's "bts": one table of commands, one of options.
 * They use the public interface of libbtsrec and nothing else of it.  What differs between
 * the two programs is a front: the command line's main.c, and crash-ext/btsrec_ext.c.
 */
#ifndef BTSREC_COMMAND_H
#define BTSREC_COMMAND_H

#include <btsrec/decoder.h>

/* Exit status; the manual page btsrec(1) documents each. */
enum command_exit {
	COMMAND_OK = 0,
	COMMAND_FAULTS = 1, /* check found faults, or a shown history has holes */
	COMMAND_USAGE = 2,
	COMMAND_NO_RECORDER = 3,
	COMMAND_NOT_DUMP = 4,	  /* unreadable, or not a dump */
	COMMAND_BAD_RECORDER = 5, /* found, but not valid */
	COMMAND_SYMBOLS = 6,	  /* symbol file refused */
	COMMAND_SYSTEM = 7,	  /* output not writable, out of memory */
};

/** enum command_export_kind - what export writes; the order of its values in the option table */
enum command_export_kind {
	COMMAND_EXPORT_PERF,
	COMMAND_EXPORT_CHROME,
	COMMAND_EXPORT_FOLDED,
	COMMAND_EXPORT_LCOV,
	COMMAND_EXPORT_TABLES,
};

/** enum command_color - when output has colours; the order of its values in the option table */
enum command_color {
	COMMAND_COLOR_AUTO, /* on a terminal */
	COMMAND_COLOR_ALWAYS,
	COMMAND_COLOR_NEVER,
};

/** enum command_work - what bench-overhead does; the order of its values in the option table */
enum command_work {
	COMMAND_WORK_ALL, /* each of the others, which bench_works has in this order */
	COMMAND_WORK_BRANCHES,
	COMMAND_WORK_CALLS,
	COMMAND_WORK_SYSCALLS,
	COMMAND_WORK_SWITCHES,
	COMMAND_WORK_FAULTS,
	COMMAND_WORK_COPIES,
};

/* Lines of slow. */
#define COMMAND_DEFAULT_SLOW 20

/* Pairs of runs of bench-overhead. */
#define COMMAND_DEFAULT_PAIRS 7
#define COMMAND_MAX_PAIRS     101

/** enum command_answer - what doctor prints; the order of its values in the option table */
enum command_answer {
	COMMAND_ANSWER_TEXT,
	COMMAND_ANSWER_JSONL,
	COMMAND_ANSWER_PROMETHEUS,
};

/**
 * struct command_options - the command line of one subcommand
 * @live: instead of @dumps, the recorder that runs on this machine.
 * @dumps: @nr_dumps files of one dump, borrowed from argv; none in crash.
 * @second, @third, @system_map, @vmlinux: borrowed from argv; NULL: not given.
 * @sysroot, @debuginfo: as for btsrec_set_files(), @debuginfo also for
 *	btsrec_set_debuginfo(); borrowed from argv.
 * @no_names: leave out the names in the dump.
 * @raw_names: name symbols, as btsrec_set_raw_names() does.
 * @no_log: leave out the kernel's log, as btsrec_set_log() does.
 * @show: cpus is owned, the rest by value.
 * @takes_root: the command has --root.
 * @nr_threads: for btsrec_set_threads().
 * @has_count: show.max_events was given.
 * @filter: its texts are borrowed from argv.
 * @filtered: @filter asks for something.
 * @registers: as in struct btsrec_info.
 * @bytes, @values, @source_folder: as in struct btsrec_insns.
 * @value: as in struct btsrec_why, borrowed from argv.
 * @extract: by value.
 * @kind: of a file.
 * @socket: borrowed from argv; NULL: not given.
 * @likely: as in struct btsrec_gdb.
 * @addresses: on a terminal, with the addresses that have names; a file has them always.
 * @no_pager: print to the terminal itself.
 * @force: write over files that exist.
 * @max_depth: as in struct btsrec_calls.
 * @merge: calls of all CPUs as one tree.
 * @any_thread: as in struct btsrec_search.
 * @by: as in struct btsrec_functions.
 * @at: as in struct btsrec_stack, owned.
 * @answer, @machine_root: of doctor; @machine_root is borrowed from argv; NULL: not given.
 * @work, @nr_pairs: of bench-overhead; @nr_pairs 0: not given.
 * @rest: all operands, as an argv, for a command that takes any; NULL: there are none.
 */
struct command_options {
	const char *const *dumps;
	size_t nr_dumps;
	bool live;
	const char *second;
	const char *third;
	const char *system_map;
	const char *vmlinux;
	const char *sysroot;
	const char *debuginfo;
	bool no_names;
	bool raw_names;
	bool no_log;
	bool takes_root;
	uint64_t root_pa;
	enum btsrec_scan scan;
	unsigned int nr_threads;
	struct btsrec_show show;
	bool has_count;
	struct btsrec_filter filter;
	bool filtered;
	bool registers;
	bool bytes;
	bool values;
	bool args;
	const char *value;
	const char *source_folder;
	struct btsrec_extract extract;
	enum command_export_kind kind;
	const char *socket;
	bool likely;
	bool force;
	bool addresses;
	bool no_pager;
	enum command_color color;
	uint32_t max_depth;
	bool merge;
	bool any_thread;
	enum btsrec_by by;
	struct btsrec_span *at;
	size_t nr_at;
	enum command_answer answer;
	const char *machine_root;
	enum command_work work;
	unsigned int nr_pairs;
	char *const *rest;
};

/** enum command_set - commands as sets of bits, for the commands that take an option */
enum command_set {
	FOR_SUMMARY = 1 << 0,
	FOR_INFO = 1 << 1,
	FOR_SHOW = 1 << 2,
	FOR_INSNS = 1 << 3,
	FOR_CALLS = 1 << 4,
	FOR_FUNCTIONS = 1 << 5,
	FOR_COVERAGE = 1 << 6,
	FOR_DIFF = 1 << 7,
	FOR_TIMELINE = 1 << 8,
	FOR_STACK = 1 << 9,
	FOR_PROVE = 1 << 10,
	FOR_REPORT = 1 << 11,
	FOR_GDBSERVER = 1 << 12,
	FOR_EXPORT = 1 << 13,
	FOR_EXTRACT = 1 << 14,
	FOR_SNAPSHOT = 1 << 15,
	FOR_CHECK = 1 << 16,
	FOR_DOCTOR = 1 << 17,
	FOR_BENCH = 1 << 18,
	FOR_LAST = 1 << 19,
	FOR_PAIRS = 1 << 20,
	FOR_SLOW = 1 << 21,
	FOR_PATH = 1 << 22,
	FOR_AROUND = 1 << 23,
	FOR_WHY = 1 << 24,
	FOR_LOCKS = 1 << 25,
	FOR_VERIFY = 1 << 26,
};

/**
 * struct command - a subcommand
 * @self: its bit of enum command_set.
 * @run: returns the exit status; NULL: this front does not have the command.
 * @second, @third: what its operands besides a dump are; NULL: it has none, or one.
 * @of_machine: it looks at the machine that runs: there is no dump, and no session for @run.
 * @takes_rest: @second are all words from the first operand on, and none is an option.
 */
struct command {
	const char *name;
	const char *summary;
	unsigned int self;
	enum command_exit (*run)(struct btsrec *rec, const struct command_options *options);
	const char *second;
	const char *third;
	bool of_machine;
	bool takes_rest;
};

/** commands - ends with a name of NULL; the first one is meant where none is named */
extern const struct command commands[];

/** command_find() - the command called @name; NULL: there is none */
const struct command *command_find(const char *name);

enum command_exit command_summary(struct btsrec *rec, const struct command_options *options);
enum command_exit command_info(struct btsrec *rec, const struct command_options *options);
enum command_exit command_show(struct btsrec *rec, const struct command_options *options);
enum command_exit command_insns(struct btsrec *rec, const struct command_options *options);
enum command_exit command_calls(struct btsrec *rec, const struct command_options *options);
enum command_exit command_functions(struct btsrec *rec, const struct command_options *options);
enum command_exit command_coverage(struct btsrec *rec, const struct command_options *options);
enum command_exit command_timeline(struct btsrec *rec, const struct command_options *options);
enum command_exit command_stack(struct btsrec *rec, const struct command_options *options);
enum command_exit command_last(struct btsrec *rec, const struct command_options *options);
enum command_exit command_merged(struct btsrec *rec, const struct command_options *options);
enum command_exit command_pairs(struct btsrec *rec, const struct command_options *options);
enum command_exit command_slow(struct btsrec *rec, const struct command_options *options);
enum command_exit command_path(struct btsrec *rec, const struct command_options *options);
enum command_exit command_around(struct btsrec *rec, const struct command_options *options);
enum command_exit command_locks(struct btsrec *rec, const struct command_options *options);
enum command_exit command_why(struct btsrec *rec, const struct command_options *options);
enum command_exit command_prove(struct btsrec *rec, const struct command_options *options);
enum command_exit command_check(struct btsrec *rec, const struct command_options *options);

/* These write a file, read a second dump, serve gdb or ask the machine: in decoder/cli/. */
enum command_exit command_diff(struct btsrec *rec, const struct command_options *options);
enum command_exit command_export(struct btsrec *rec, const struct command_options *options);
enum command_exit command_gdbserver(struct btsrec *rec, const struct command_options *options);
enum command_exit command_report(struct btsrec *rec, const struct command_options *options);
enum command_exit command_extract(struct btsrec *rec, const struct command_options *options);
enum command_exit command_doctor(struct btsrec *rec, const struct command_options *options);
enum command_exit command_bench(struct btsrec *rec, const struct command_options *options);
enum command_exit command_verify(struct btsrec *rec, const struct command_options *options);

/**
 * command_parse() - take the command line of @command apart
 * @argv: argv[0] is the command's name; the order of the rest may change.
 * @ret_done: everything has been answered (--help).
 *
 * Return: COMMAND_OK, or COMMAND_USAGE after a message.
 */
enum command_exit command_parse(const struct command *command, int argc, char **argv,
				struct command_options *ret, bool *ret_done);

/** command_options_fini() - free what command_parse() allocated */
void command_options_fini(struct command_options *options);

/**
 * command_set_names() - the names that @options ask for, besides those that the front has
 *
 * Return: COMMAND_OK, or the exit status after a message.
 */
enum command_exit command_set_names(struct btsrec *rec, const struct command_options *options);

/** command_help() - the help text of @command, printed to front_sink */
void command_help(const struct command *command);

/**
 * command_help_option() - the line of the help text for the option @text: "--format", "-f"
 *
 * A line "one of:" follows, with the words that the option takes, if it takes no others.
 *
 * Return: COMMAND_OK, or COMMAND_USAGE after a message.
 */
enum command_exit command_help_option(const struct command *command, const char *text);

/** command_list() - the name and the summary of each command of this front, a line each */
void command_list(void);

/**
 * command_help_main() - "help", "help COMMAND", "help COMMAND OPTION" and "help marks"
 * @argv: argv[0] is "help".  @overview: prints the help text of the front.
 *
 * Return: COMMAND_OK, or COMMAND_USAGE after a message.
 */
enum command_exit command_help_main(int argc, char **argv, void (*overview)(void));

/** command_unknown() - refuse @name, which is no command; @also: what else it is not, or "" */
enum command_exit command_unknown(const char *name, const char *also);

/** command_not_here() - refuse @command, which this front does not have */
enum command_exit command_not_here(const struct command *command);

/** command_print() - to front_sink; one line or less, 1,023 bytes at most */
void command_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * command_run() - run @command, and say if its filter let nothing through
 *
 * Return: the exit status of @command.
 */
enum command_exit command_run(const struct command *command, struct btsrec *rec,
			      const struct command_options *options);

/** command_parse_pid() - the number of one thread, where --pid is no list */
bool command_parse_pid(const char *text, uint32_t *ret);

/** command_exit_of() - the exit status for a call that ended with @status */
enum command_exit command_exit_of(enum btsrec_status status);

/** command_failed() - report why the last call on @rec failed; returns the exit status */
enum command_exit command_failed(const struct btsrec *rec, enum btsrec_status status);

/**
 * command_ended() - how a command ends whose view ended with @status; a word of what is wrong
 *
 * If a CPU could not be shown, all others were.
 */
enum command_exit command_ended(const struct btsrec *rec, enum btsrec_status status);

/**
 * command_say_holes() - name the first CPU, of those of @show, whose history lacks a part
 *
 * Return: COMMAND_FAULTS if there is one; COMMAND_OK; what command_failed() returns.
 */
enum command_exit command_say_holes(struct btsrec *rec, const struct btsrec_show *show);

/* --- What each front has for itself -------------------------------------- */

/**
 * struct command_front - what the tables leave to the program that uses them
 * @name: as the user calls it.
 * @help_form: for printf(): how to ask for the help text of a command.
 * @has_dump: commands take the operand DUMP.
 * @other_commands: those that are in no table; ends with NULL.
 * @without: names of options that it does not take, each after a blank; NULL: none.
 * @why_without: the reason, for a message.
 */
struct command_front {
	const char *name;
	const char *help_form;
	bool has_dump;
	const char *const *other_commands;
	const char *without;
	const char *why_without;
};

extern const struct command_front front;

/** front_sink - where views go; see front_output_failed() */
extern const struct btsrec_sink front_sink;

/** front_error() - one line for the user; control characters are escaped */
void front_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * front_notice() - one line about an answer that is no part of it
 *
 * What reads the answer from a file or through a pipe must not find it there.  Otherwise as
 * front_error().
 */
void front_notice(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** front_hint() - the line behind front_error(): where help is */
void front_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

enum front_message {
	FRONT_ERROR,
	FRONT_NOTICE,
	FRONT_HINT,
};

/**
 * front_message() - print @text, one line of these three functions
 *
 * The tool and the extension have one each: crash has messages of its own.
 */
void front_message(enum front_message kind, const char *text);

/**
 * front_output_failed() - why front_sink stopped
 *
 * Return: COMMAND_OK if the reader went away, which is no fault of anybody;
 * COMMAND_SYSTEM after a message.
 */
enum command_exit front_output_failed(void);

#endif /* BTSREC_COMMAND_H */
