// SPDX-License-Identifier: GPL-2.0-or-later
#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* More CPUs than the format has room for; keeps a list from filling memory. */
#define MAX_CPU_NUMBER		32767
static_assert(MAX_CPU_NUMBER == BTSREC_MAX_CPU_DIR_PAGES * BTSREC_PAS_PER_PAGE - 1,
	      "what the format has room for");

/* One decodes; what more of them write is soon more than it decodes. */
#define MAX_THREADS		16
#define DEFAULT_MAX_THREADS	4

#define TEXT_OF_(value)	#value
/* A number that a macro stands for, as a text. */
#define TEXT_OF(macro)	TEXT_OF_(macro)

/**
 * struct cli_option - one option of all commands, or what one command makes of it
 * @letter: stands for it in cli_command.options; its short form if @has_short.
 * @only: the one command that has it so; NULL: all that have no such one of their own.
 * @text, @flag: offset in struct cli_options of where the argument goes, or of what it
 *	makes true; 0: @set does more.
 * @set: takes the argument, false: not understood; NULL: handled elsewhere.
 * @takes: what @set understands, for who gave something else.
 */
struct cli_option {
	char letter;
	bool has_short;
	const char *name;
	const char *argument;
	const char *help;
	const char *only;
	const char *takes;
	size_t text;
	size_t flag;
	bool (*set)(struct cli_options *options, const char *argument);
};

#define TEXT(member)	.text = offsetof(struct cli_options, member)
#define FLAG(member)	.flag = offsetof(struct cli_options, member)

static bool parse_number(const char *text, int base, uint64_t *ret)
{
	unsigned long long value;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, base);
	if (errno || *end)
		return false;
	*ret = value;
	return true;
}

/* Once, however often it is named: what is counted of it must not be counted twice. */
static bool cpus_append(struct cli_options *options, unsigned long cpu)
{
	struct btsrec_show *show = &options->show;
	unsigned int *cpus;

	for (size_t i = 0; i < show->nr_cpus; i++)
		if (show->cpus[i] == cpu)
			return true;
	cpus = reallocarray((void *)show->cpus, show->nr_cpus + 1, sizeof(*cpus));
	if (!cpus)
		return false;
	cpus[show->nr_cpus++] = (unsigned int)cpu;
	show->cpus = cpus;
	return true;
}

/* A decimal number at *@at, which moves behind it. */
static bool parse_cpu(const char **at, unsigned long *ret)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	*ret = strtoul(*at, &end, 10);
	*at = end;
	return *ret <= MAX_CPU_NUMBER;
}

static bool set_cpus(struct cli_options *options, const char *at)
{
	unsigned long first, last;

	do {
		if (!parse_cpu(&at, &first))
			return false;
		last = first;
		if (*at == '-' && (at++, !parse_cpu(&at, &last)))
			return false;
		if (last < first)
			return false;
		for (; first <= last; first++)
			if (!cpus_append(options, first))
				return false;
	} while (*at++ == ',');
	return !at[-1];
}

/* The last one that is named. */
static bool set_cpu(struct cli_options *options, const char *at)
{
	unsigned long cpu;

	if (!parse_cpu(&at, &cpu) || *at)
		return false;
	options->show.nr_cpus = 0;
	return cpus_append(options, cpu);
}

bool cli_parse_pid(const char *text, uint32_t *ret)
{
	uint64_t pid;

	if (!parse_number(text, 10, &pid) || pid > UINT32_MAX)
		return false;
	*ret = (uint32_t)pid;
	return true;
}

static bool set_count_or_all(struct cli_options *options, const char *argument)
{
	options->has_count = parse_number(argument, 10, &options->show.max_events);
	return options->has_count;
}

static bool set_count(struct cli_options *options, const char *argument)
{
	return set_count_or_all(options, argument) && options->show.max_events;
}

static bool set_threads(struct cli_options *options, const char *argument)
{
	uint64_t nr_threads;

	if (!parse_number(argument, 10, &nr_threads) || !nr_threads ||
	    nr_threads > MAX_THREADS)
		return false;
	options->nr_threads = (unsigned int)nr_threads;
	return true;
}

static bool at_append(struct cli_options *options, uint64_t first, uint64_t last)
{
	struct btsrec_span *at = reallocarray(options->at, options->nr_at + 1, sizeof(*at));

	if (!at)
		return false;
	at[options->nr_at++] = (struct btsrec_span){ first, last };
	options->at = at;
	return true;
}

/* 3,10-20: ascending. */
static bool set_at(struct cli_options *options, const char *argument)
{
	const char *at = argument;
	uint64_t first, last;
	char *end;

	errno = 0;
	do {
		if (*at < '0' || *at > '9')
			return false;
		first = strtoull(at, &end, 10);
		last = first;
		if (*end == '-' && end[1] >= '0' && end[1] <= '9')
			last = strtoull(end + 1, &end, 10);
		if (errno || last < first ||
		    (options->nr_at && first <= options->at[options->nr_at - 1].last) ||
		    !at_append(options, first, last))
			return false;
		at = end + 1;
	} while (*end == ',');
	return !*end;
}

static bool set_depth(struct cli_options *options, const char *argument)
{
	uint64_t depth;

	if (!parse_number(argument, 10, &depth) || !depth || depth > UINT32_MAX)
		return false;
	options->max_depth = (uint32_t)depth;
	return true;
}

static bool set_source_folder(struct cli_options *options, const char *argument)
{
	options->show.lines = true;
	options->source_folder = argument;
	return true;
}

static bool set_format(struct cli_options *options, const char *argument)
{
	static const char *const names[] = {
		[BTSREC_FORMAT_TEXT] = "text",
		[BTSREC_FORMAT_JSONL] = "jsonl",
		[BTSREC_FORMAT_TSV] = "tsv",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(argument, names[i]))
			continue;
		options->show.format = (enum btsrec_format)i;
		return true;
	}
	return false;
}

static bool set_by(struct cli_options *options, const char *argument)
{
	static const char *const names[] = {
		[BTSREC_BY_FUNCTION] = "function",
		[BTSREC_BY_TASK] = "task",
		[BTSREC_BY_CPU] = "cpu",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(argument, names[i]))
			continue;
		options->by = (enum btsrec_by)i;
		return true;
	}
	return false;
}

static bool set_scan(struct cli_options *options, const char *argument)
{
	static const char *const names[] = {
		[BTSREC_SCAN_DMA] = "dma",
		[BTSREC_SCAN_ALL] = "all",
		[BTSREC_SCAN_NONE] = "none",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(argument, names[i]))
			continue;
		options->scan = (enum btsrec_scan)i;
		return true;
	}
	return false;
}

static bool set_kind(struct cli_options *options, const char *argument)
{
	static const char *const names[] = {
		[CLI_EXPORT_PERF] = "perf",
		[CLI_EXPORT_CHROME] = "chrome",
		[CLI_EXPORT_FOLDED] = "folded",
		[CLI_EXPORT_LCOV] = "lcov",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(argument, names[i]))
			continue;
		options->kind = (enum cli_export)i;
		return true;
	}
	return false;
}

static bool set_root(struct cli_options *options, const char *argument)
{
	return parse_number(argument, 0, &options->root_pa) && options->root_pa &&
	       options->root_pa % BTSREC_PAGE_BYTES == 0;
}

#define TAKES_CPU	"one number from 0 to " TEXT_OF(MAX_CPU_NUMBER)
#define TAKES_COUNT	"a number from 1 on, below 2^64"

/* What one command has otherwise stands before what all others have. */
static const struct cli_option cli_options_all[] = {
	{ 'c', true, "cpu", "CPU", "look at this CPU (default: that of the first fault)",
	  .only = "diff", .takes = TAKES_CPU, .set = set_cpu },
	{ 'c', true, "cpu", "CPU", "the CPU to serve; it must be given",
	  .only = "gdbserver", .takes = TAKES_CPU, .set = set_cpu },
	{ 'c', true, "cpu", "LIST", "only these CPUs: 0,2-5",
	  .takes = "numbers up to " TEXT_OF(MAX_CPU_NUMBER) " and ranges of them, as in 0,2-5",
	  .set = set_cpus },
	{ 'n', true, "count", "COUNT", "only the newest COUNT lines of all CPUs together",
	  .only = "timeline", .takes = TAKES_COUNT, .set = set_count },
	{ 'n', true, "count", "COUNT", "only the newest COUNT events of each CPU; 0: all",
	  .only = "report", .takes = "a number below 2^64, 0 for all", .set = set_count_or_all },
	{ 'n', true, "count", "COUNT", "only the newest COUNT events of each CPU",
	  .takes = TAKES_COUNT, .set = set_count },
	{ 't', true, "types", NULL, "with the kind of each branch", FLAG(show.types) },
	{ 'd', false, "depth", "LEVELS", "only so many levels of calls",
	  .takes = "a number from 1 on, below 2^32", .set = set_depth },
	{ 'y', false, "by", "WHAT", "divide by function (default), task or cpu",
	  .takes = "function, task or cpu", .set = set_by },
	{ 'a', false, "at", "LIST", "behind these events: 7,100-120 (default: the newest)",
	  .takes = "numbers of events and ranges, ascending, as in 7,100-120", .set = set_at },
	{ 'b', true, "bytes", NULL, "with the bytes of each instruction", FLAG(bytes) },
	{ 'r', true, "newest-first", NULL, "newest event first", FLAG(show.newest_first) },
	{ 'g', false, "fold", NULL, "tell loops of branches once", FLAG(show.fold) },
	{ 'j', true, "threads", "COUNT",
	  "use 1 to " TEXT_OF(MAX_THREADS) " processors (default: all, up to "
	  TEXT_OF(DEFAULT_MAX_THREADS) ")",
	  .takes = "1 to " TEXT_OF(MAX_THREADS), .set = set_threads },
	{ 'H', false, "thread", "PID", "only this thread, followed over all CPUs", TEXT(show.thread) },
	{ 'P', false, "pid", "PID", "look at this thread (default: the one that ran there)",
	  .only = "diff", TEXT(filter.pids) },
	{ 'P', false, "pid", "PID", "only this thread", .only = "gdbserver", TEXT(filter.pids) },
	{ 'P', false, "pid", "LIST", "only these threads", TEXT(filter.pids) },
	{ 'G', false, "tgid", "LIST", "only these processes", TEXT(filter.tgids) },
	{ 'C', false, "comm", "GLOB", "only threads with such a name", TEXT(filter.comm) },
	{ 'K', false, "kernel", NULL, "only the kernel", FLAG(filter.kernel) },
	{ 'U', false, "user", NULL, "only user code", FLAG(filter.user) },
	{ 'F', false, "from", "WHEN", "n:EVENT, tsc:CYCLES, SECONDS since boot,", TEXT(filter.from) },
	{ 'T', false, "to", "WHEN", "or -SECONDS before the freeze", TEXT(filter.to) },
	{ 'S', false, "symbol", "LIST", "only branches from or to these functions (globs)",
	  TEXT(filter.symbols) },
	{ 'A', false, "range", "LIST", "only branches from or to FIRST-LAST (addresses)",
	  TEXT(filter.ranges) },
	{ 'B', false, "type", "LIST", "only these kinds of branches: call,ret,...",
	  TEXT(filter.types) },
	{ 'f', true, "format", "FORMAT", "text (default), jsonl or tsv",
	  .takes = "text, jsonl or tsv", .set = set_format },
	{ 'm', false, "system-map", "FILE", "kernel names from this System.map",
	  TEXT(system_map) },
	{ 'v', false, "vmlinux", "FILE", "kernel names from this ELF vmlinux", TEXT(vmlinux) },
	{ 'l', true, "lines", NULL, "with source lines", FLAG(show.lines) },
	{ 'L', false, "source", NULL, "with source lines", FLAG(show.lines) },
	{ 'o', false, "source-dir", "DIR", "as --source, with the text of each line from there",
	  .set = set_source_folder },
	{ 'E', false, "to", "KIND", "perf (default), chrome, folded or lcov",
	  .takes = "perf, chrome, folded or lcov", .set = set_kind },
	{ 'O', false, "socket", "PATH", "wait for gdb there, not on standard input", TEXT(socket) },
	{ 'Y', false, "sysroot", "DIR", "programs and libraries are below DIR (default: /)",
	  TEXT(sysroot) },
	{ 'D', false, "debuginfo", "DIR", "debug files (default: /usr/lib/debug)",
	  TEXT(debuginfo) },
	{ 'N', false, "no-names", NULL, "leave out the names that the dump itself has",
	  FLAG(no_names) },
	{ 'i', false, "live", NULL, "no DUMP: the recorder that runs on this machine",
	  FLAG(live) },
	{ 'R', false, "root", "PA", "physical address of the recorder's root page",
	  .takes = "a multiple of 4096 that is above 0", .set = set_root },
	{ 's', false, "scan", "WHERE", "search memory: dma (default: first 16 MiB), all, none",
	  .takes = "dma, all or none", .set = set_scan },
	{ 'u', false, "no-user", NULL, "leave out the addresses of user space",
	  FLAG(extract.no_user) },
	{ 'p', false, "no-paths", NULL, "leave out the paths of programs",
	  FLAG(extract.no_paths) },
	{ 'w', false, "force", NULL, "write over OUT if it exists", FLAG(force) },
	{ 'h', true, "help", NULL, "show this help", .set = NULL },
};

#define NR_OPTIONS	(sizeof(cli_options_all) / sizeof(cli_options_all[0]))

/* What @letter means to @command; NULL: there is no such option. */
static const struct cli_option *find_option(const struct cli_command *command, int letter)
{
	for (size_t i = 0; i < NR_OPTIONS; i++) {
		const struct cli_option *option = &cli_options_all[i];

		if (option->letter == letter &&
		    (!option->only || !strcmp(option->only, command->name)))
			return option;
	}
	return NULL;
}

static bool takes_option(const struct cli_command *command, const struct cli_option *option)
{
	return (option->letter == 'h' || strchr(command->options, option->letter)) &&
	       find_option(command, option->letter) == option;
}

static bool is_always_live(const struct cli_command *command)
{
	return !strchr(command->options, 'i');
}

static void help_option(const struct cli_option *option)
{
	char names[40];

	snprintf(names, sizeof(names), "--%s%s%s", option->name, option->argument ? " " : "",
		 option->argument ? option->argument : "");
	if (option->has_short)
		printf("  -%c, %-20s %s\n", option->letter, names, option->help);
	else
		printf("      %-20s %s\n", names, option->help);
}

void cli_help(const struct cli_command *command)
{
	size_t i;

	printf("usage: btsrec %s [OPTION]...%s%s%s\n%s\n\n", command->name,
	       is_always_live(command) ? "" : " DUMP...", command->second ? " " : "",
	       command->second ? command->second : "", command->summary);
	for (i = 0; i < NR_OPTIONS; i++)
		if (takes_option(command, &cli_options_all[i]))
			help_option(&cli_options_all[i]);
	printf("\nbtsrec-%s(1) explains the output and the exit status.\n", command->name);
}

/* What getopt_long() wants to know of the options of @command. */
static void make_getopt(const struct cli_command *command, char *letters, struct option *names)
{
	size_t i;

	for (i = 0; i < NR_OPTIONS; i++) {
		const struct cli_option *option = &cli_options_all[i];

		if (!takes_option(command, option))
			continue;
		names->name = option->name;
		names->has_arg = option->argument ? required_argument : no_argument;
		names->flag = NULL;
		names->val = (unsigned char)option->letter;
		names++;
		if (!option->has_short)
			continue;
		*letters++ = option->letter;
		if (option->argument)
			*letters++ = ':';
	}
	*letters = '\0';
	memset(names, 0, sizeof(*names));
}

static enum cli_exit usage(const struct cli_command *command)
{
	fprintf(stderr, "Try 'btsrec %s --help'.\n", command->name);
	return CLI_USAGE;
}

static bool store(const struct cli_option *option, struct cli_options *options,
		  const char *argument)
{
	if (option->text)
		*(const char **)((char *)options + option->text) = argument;
	else if (option->flag)
		*(bool *)((char *)options + option->flag) = true;
	else
		return option->set(options, argument);
	return true;
}

static enum cli_exit set_option(const struct cli_command *command, struct cli_options *options,
				int letter)
{
	const struct cli_option *option = find_option(command, letter);

	if (!option)
		return usage(command);
	if (store(option, options, optarg))
		return CLI_OK;
	cli_error("%s: --%s takes %s, not '%s'", command->name, option->name, option->takes,
		  optarg);
	return usage(command);
}

/* --- Options of other commands ------------------------------------------ */

/* Is it @letter or, if that is 0, what stands at @text: "--NAME" or "--NAME=..."? */
static bool is_named(const struct cli_option *option, const char *text, int letter)
{
	size_t nr_bytes = strlen(option->name);

	if (letter)
		return option->has_short && option->letter == letter;
	return !strncmp(text, "--", 2) && !strncmp(text + 2, option->name, nr_bytes) &&
	       (!text[2 + nr_bytes] || text[2 + nr_bytes] == '=');
}

static bool takes_named(const struct cli_command *command, const char *text, int letter)
{
	for (size_t i = 0; i < NR_OPTIONS; i++)
		if (takes_option(command, &cli_options_all[i]) &&
		    is_named(&cli_options_all[i], text, letter))
			return true;
	return false;
}

/* "show, insns and calls"; false: none. */
static bool list_takers(const char *text, int letter, char *ret, size_t ret_bytes)
{
	const char *names[CLI_MAX_COMMANDS];
	size_t nr = 0, at = 0;

	for (const struct cli_command *taker = cli_commands; taker->name; taker++)
		if (takes_named(taker, text, letter))
			names[nr++] = taker->name;
	for (size_t i = 0; i < nr && at < ret_bytes; i++)
		at += (size_t)snprintf(ret + at, ret_bytes - at, "%s%s",
				       !i ? "" : i + 1 < nr ? ", " : " and ", names[i]);
	if (nr && at < ret_bytes)
		snprintf(ret + at, ret_bytes - at, nr == 1 ? " does" : " do");
	return nr;
}

/* What getopt_long() has refused belongs to other commands: say to which. */
static bool refuse_foreign(const struct cli_command *command, const char *text)
{
	const char short_name[] = { '-', (char)optopt, '\0' };
	const char *name = optopt ? short_name : text;
	char takers[256];

	if (takes_named(command, text, optopt) ||
	    !list_takers(text, optopt, takers, sizeof(takers)))
		return false;
	cli_error("%s takes no %.*s; %s", command->name, (int)strcspn(name, "="), name, takers);
	return true;
}

/* What is wrong in the words of getopt_long(), which has to read everything again. */
static void refuse(const struct cli_command *command, int argc, char **argv, const char *letters,
		   const struct option *names)
{
	int letter;

	if (refuse_foreign(command, argv[optind - 1]))
		return;
	opterr = 1;
	optind = 0;
	do
		letter = getopt_long(argc, argv, letters, names, NULL);
	while (letter != -1 && letter != '?');
}

static enum cli_exit parse_options(const struct cli_command *command, int argc, char **argv,
				   struct cli_options *options, bool *ret_done)
{
	struct option names[NR_OPTIONS + 1];
	char letters[2 * NR_OPTIONS + 1];
	char self[] = "btsrec";
	enum cli_exit status = CLI_OK;
	int letter;

	make_getopt(command, letters, names);
	argv[0] = self;
	opterr = 0;
	while (!status && (letter = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		if (letter == 'h') {
			cli_help(command);
			*ret_done = true;
			break;
		}
		if (letter == '?')
			refuse(command, argc, argv, letters, names);
		status = set_option(command, options, letter);
	}
	argv[0] = NULL;
	return status;
}

static enum cli_exit take_operands(const struct cli_command *command, int argc, char **argv,
				   struct cli_options *ret)
{
	int nr = argc - optind, nr_second = command->second ? 1 : 0;
	int nr_wanted = nr_second + (ret->live ? 0 : 1);

	if (nr == nr_wanted || (nr > nr_wanted && !ret->live)) {
		ret->dumps = (const char *const *)argv + optind;
		ret->nr_dumps = (size_t)(nr - nr_second);
		ret->second = nr_second ? argv[argc - 1] : NULL;
		return CLI_OK;
	}
	if (nr > nr_wanted)
		cli_error("%s: '%s' besides the recorder that runs", command->name, argv[optind]);
	else if (!nr && !ret->live)
		cli_error("%s: which dump?", command->name);
	else
		cli_error("%s: %s is missing", command->name, command->second);
	return usage(command);
}

/* Those on which this process may run. */
static unsigned int default_threads(void)
{
	cpu_set_t allowed;
	int nr = sched_getaffinity(0, sizeof(allowed), &allowed) ? 1 : CPU_COUNT(&allowed);

	return (unsigned int)(nr < DEFAULT_MAX_THREADS ? nr : DEFAULT_MAX_THREADS);
}

enum cli_exit cli_parse(const struct cli_command *command, int argc, char **argv,
			struct cli_options *ret, bool *ret_done)
{
	enum cli_exit status;

	memset(ret, 0, sizeof(*ret));
	ret->live = is_always_live(command);
	ret->takes_root = strchr(command->options, 'R');
	*ret_done = false;
	status = parse_options(command, argc, argv, ret, ret_done);
	if (status || *ret_done)
		return status;
	if (!ret->nr_threads)
		ret->nr_threads = default_threads();
	return take_operands(command, argc, argv, ret);
}

void cli_options_fini(struct cli_options *options)
{
	free((void *)options->show.cpus);
	free(options->at);
}
