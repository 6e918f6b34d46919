// SPDX-License-Identifier: GPL-2.0-or-later
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

/* More CPUs than the format has room for; keeps a list from filling memory. */
#define MAX_CPU_NUMBER 32767
static_assert(MAX_CPU_NUMBER == BTSREC_MAX_CPU_DIR_PAGES * BTSREC_PAS_PER_PAGE - 1,
	      "what the format has room for");

#define TEXT_OF_(value) #value
/* A number that a macro stands for, as a text. */
#define TEXT_OF(macro) TEXT_OF_(macro)

#define TEXT(member) .text = offsetof(struct command_options, member)
#define FLAG(member) .flag = offsetof(struct command_options, member)
#define WORDS(member, ...)                                                                 \
	.value = offsetof(struct command_options, member), .values = (const char *const[]) \
	{                                                                                  \
		__VA_ARGS__, NULL                                                          \
	}

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
static bool cpus_append(struct command_options *options, unsigned long cpu)
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

/* A decimal number at *@at, which moves to its end. */
static bool parse_cpu(const char **at, unsigned long *ret)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	*ret = strtoul(*at, &end, 10);
	*at = end;
	return *ret <= MAX_CPU_NUMBER;
}

static bool set_cpus(struct command_options *options, const char *at)
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
static bool set_cpu(struct command_options *options, const char *at)
{
	unsigned long cpu;

	if (!parse_cpu(&at, &cpu) || *at)
		return false;
	options->show.nr_cpus = 0;
	return cpus_append(options, cpu);
}

bool command_parse_pid(const char *text, uint32_t *ret)
{
	uint64_t pid;

	if (!parse_number(text, 10, &pid) || pid > UINT32_MAX)
		return false;
	*ret = (uint32_t)pid;
	return true;
}

static bool set_count_or_all(struct command_options *options, const char *argument)
{
	options->has_count = parse_number(argument, 10, &options->show.max_events);
	return options->has_count;
}

static bool set_count(struct command_options *options, const char *argument)
{
	return set_count_or_all(options, argument) && options->show.max_events;
}

static bool set_threads(struct command_options *options, const char *argument)
{
	uint64_t nr_threads;

	if (!parse_number(argument, 10, &nr_threads) || !nr_threads || nr_threads > MAX_THREADS)
		return false;
	options->nr_threads = (unsigned int)nr_threads;
	return true;
}

static bool at_append(struct command_options *options, uint64_t first, uint64_t last)
{
	struct btsrec_span *at = reallocarray(options->at, options->nr_at + 1, sizeof(*at));

	if (!at)
		return false;
	at[options->nr_at++] = (struct btsrec_span){first, last};
	options->at = at;
	return true;
}

/* 3,10-20: ascending. */
static bool set_at(struct command_options *options, const char *argument)
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

static bool set_event(struct command_options *options, const char *argument)
{
	uint64_t n;

	options->nr_at = 0;
	return parse_number(argument, 10, &n) && at_append(options, n, n);
}

static bool set_depth(struct command_options *options, const char *argument)
{
	uint64_t depth;

	if (!parse_number(argument, 10, &depth) || !depth || depth > UINT32_MAX)
		return false;
	options->max_depth = (uint32_t)depth;
	return true;
}

static bool set_source_folder(struct command_options *options, const char *argument)
{
	options->show.lines = true;
	options->source_folder = argument;
	return true;
}

static bool set_root(struct command_options *options, const char *argument)
{
	return parse_number(argument, 0, &options->root_pa) && options->root_pa &&
	       options->root_pa % BTSREC_PAGE_BYTES == 0;
}

static bool set_pairs(struct command_options *options, const char *argument)
{
	uint64_t nr_pairs;

	if (!parse_number(argument, 10, &nr_pairs) || !nr_pairs || nr_pairs > COMMAND_MAX_PAIRS)
		return false;
	options->nr_pairs = (unsigned int)nr_pairs;
	return true;
}

#define TAKES_CPU   "one number from 0 to " TEXT_OF(MAX_CPU_NUMBER)
#define TAKES_CPUS  \
	"numbers up to " TEXT_OF(MAX_CPU_NUMBER) " and ranges of them, as in 0,2-5"
#define TAKES_COUNT "a number from 1 on, below 2^64"

/* Commands that take the same options. */
#define FOR_BRANCHES (FOR_SHOW | FOR_INSNS | FOR_CALLS | FOR_FUNCTIONS | FOR_COVERAGE)
#define FOR_SEARCH   (FOR_LAST | FOR_PAIRS | FOR_SLOW | FOR_PATH | FOR_AROUND | FOR_LOCKS)
#define FOR_VIEWS                                                                            \
	(FOR_SUMMARY | FOR_INFO | FOR_BRANCHES | FOR_TIMELINE | FOR_STACK | FOR_WHY |        \
	 FOR_PROVE | FOR_SEARCH)
#define FOR_CODE     (FOR_VIEWS | FOR_REPORT | FOR_GDBSERVER | FOR_EXPORT)
#define FOR_TABLES   (FOR_INFO | FOR_SHOW | FOR_FUNCTIONS)
#define FOR_SMALL    (FOR_EXTRACT | FOR_SNAPSHOT)
#define FOR_PRINTED  (FOR_VIEWS | FOR_DIFF | FOR_CHECK)
#define FOR_ALL	     (FOR_CODE | FOR_DIFF | FOR_SMALL | FOR_CHECK)

const struct option_entry options_all[] = {
	{FOR_DIFF | FOR_WHY, 'c', "cpu", "CPU", "look at this CPU (default: that of the first fault)",
	 .takes = TAKES_CPU, .set = set_cpu},
	{FOR_GDBSERVER, 'c', "cpu", "CPU", "the CPU to serve; it must be given", .takes = TAKES_CPU,
	 .set = set_cpu},
	{FOR_BRANCHES | FOR_SEARCH | FOR_TIMELINE | FOR_STACK | FOR_EXPORT, 'c', "cpu", "LIST",
	 "only these CPUs: 0,2-5",
	 .takes = TAKES_CPUS, .set = set_cpus},
	{FOR_SUMMARY, 'c', "cpu", "LIST", "these CPUs in full, whatever others did: 0,2-5",
	 .takes = TAKES_CPUS, .set = set_cpus},
	{FOR_TIMELINE, 'n', "count", "COUNT", "only the newest COUNT lines of all CPUs together",
	 .takes = TAKES_COUNT, .set = set_count},
	{FOR_LAST, 'n', "count", "COUNT", "only the newest COUNT calls, or threads",
	 .takes = TAKES_COUNT, .set = set_count},
	{FOR_PAIRS, 'n', "count", "COUNT", "only the newest COUNT calls", .takes = TAKES_COUNT,
	 .set = set_count},
	{FOR_PAIRS, 0, "any-thread", NULL, "pair calls of different threads, too",
	 FLAG(any_thread)},
	{FOR_SLOW, 'n', "count", "COUNT",
	 "only the COUNT longest (default: " TEXT_OF(COMMAND_DEFAULT_SLOW) ")",
	 .takes = TAKES_COUNT, .set = set_count},
	{FOR_PATH, 'n', "count", "COUNT", "only the COUNT shortest paths", .takes = TAKES_COUNT,
	 .set = set_count},
	{FOR_AROUND, 'n', "count", "COUNT", "only the first COUNT lines", .takes = TAKES_COUNT,
	 .set = set_count},
	{FOR_LOCKS, 'n', "count", "COUNT", "only the newest COUNT locks", .takes = TAKES_COUNT,
	 .set = set_count},
	{FOR_REPORT, 'n', "count", "COUNT", "only the newest COUNT events of each CPU; 0: all",
	 .takes = "a number below 2^64, 0 for all", .set = set_count_or_all},
	{FOR_SHOW | FOR_INSNS | FOR_CALLS, 'n', "count", "COUNT",
	 "only the newest COUNT events of each CPU", .takes = TAKES_COUNT, .set = set_count},
	{FOR_WHY, 'n', "count", "COUNT", "look at the newest COUNT events only",
	 .takes = TAKES_COUNT, .set = set_count},
	{FOR_SHOW, 't', "types", NULL, "with the kind of each branch", FLAG(show.types)},
	{FOR_SHOW, 0, "addresses", NULL, "on a terminal, too, addresses that have names",
	 FLAG(addresses)},
	{FOR_CALLS, 0, "depth", "LEVELS", "only so many levels of calls",
	 .takes = "a number from 1 on, below 2^32", .set = set_depth},
	{FOR_AROUND, 0, "depth", "LEVELS", "of other CPUs so many levels of calls (default: none)",
	 .takes = "a number from 1 on, below 2^32", .set = set_depth},
	{FOR_CALLS, 0, "merge", NULL, "all CPUs by time, only calls of wanted functions",
	 FLAG(merge)},
	{FOR_FUNCTIONS, 0, "by", "WHAT", "divide by function (default), task or cpu",
	 WORDS(by, "function", "task", "cpu")},
	{FOR_LAST, 0, "by", "WHAT", "one line for each call (default) or task",
	 WORDS(by, "call", "task")},
	{FOR_STACK, 0, "at", "LIST", "after these events: 7,100-120 (default: the newest)",
	 .takes = "numbers of events and ranges, ascending, as in 7,100-120", .set = set_at},
	{FOR_WHY, 0, "at", "EVENT", "at the end of this event (default: the fault)",
	 .takes = "the number of one event", .set = set_event},
	{FOR_WHY, 0, "value", "WHAT", "a register or an address (default: what made the fault)",
	 TEXT(value)},
	{FOR_INFO, 0, "registers", NULL, "with all registers of each CPU at its freeze",
	 FLAG(registers)},
	{FOR_INSNS, 'b', "bytes", NULL, "with the bytes of each instruction", FLAG(bytes)},
	{FOR_CALLS | FOR_STACK, 0, "args", NULL, "with the arguments of functions, certain or likely",
	 FLAG(args)},
	{FOR_INSNS, 0, "values", NULL, "with what registers held, certain or likely",
	 FLAG(values)},
	{FOR_SHOW, 'r', "newest-first", NULL, "newest event first", FLAG(show.newest_first)},
	{FOR_SHOW, 0, "fold", NULL, "print loops of branches once", FLAG(show.fold)},
	{FOR_ALL, 'j', "threads", "COUNT",
	 "use 1 to " TEXT_OF(MAX_THREADS) " processors (default: all, up to " TEXT_OF(
		 DEFAULT_MAX_THREADS) ")",
	 .takes = "1 to " TEXT_OF(MAX_THREADS), .set = set_threads},
	{FOR_SHOW | FOR_INSNS | FOR_CALLS | FOR_STACK, 0, "thread", "PID",
	 "only this thread, followed over all CPUs", TEXT(show.thread)},
	{FOR_DIFF, 0, "pid", "PID", "look at this thread (default: the one that ran there)",
	 TEXT(filter.pids)},
	{FOR_GDBSERVER, 0, "pid", "PID", "only this thread", TEXT(filter.pids)},
	{FOR_BRANCHES | FOR_SEARCH | FOR_TIMELINE | FOR_EXPORT, 0, "pid", "LIST", "only these threads",
	 TEXT(filter.pids)},
	{FOR_BRANCHES | FOR_SEARCH | FOR_TIMELINE | FOR_EXPORT, 0, "tgid", "LIST", "only these processes",
	 TEXT(filter.tgids)},
	{FOR_BRANCHES | FOR_SEARCH | FOR_TIMELINE | FOR_EXPORT, 0, "comm", "GLOB",
	 "only threads with such a name", TEXT(filter.comm)},
	{FOR_BRANCHES | FOR_SEARCH | FOR_EXPORT, 0, "kernel", NULL, "only the kernel", FLAG(filter.kernel)},
	{FOR_BRANCHES | FOR_SEARCH | FOR_EXPORT | FOR_GDBSERVER, 0, "user", NULL, "only user code",
	 FLAG(filter.user)},
	{FOR_BRANCHES | FOR_SEARCH | FOR_TIMELINE, 0, "from", "WHEN", "n:EVENT, tsc:CYCLES, SECONDS since boot,",
	 TEXT(filter.from)},
	{FOR_BRANCHES | FOR_SEARCH | FOR_TIMELINE, 0, "to", "WHEN", "or -SECONDS before the freeze",
	 TEXT(filter.to)},
	{FOR_BRANCHES | FOR_EXPORT, 0, "symbol", "LIST",
	 "only branches from or to these functions (globs)", TEXT(filter.symbols)},
	{FOR_BRANCHES | FOR_EXPORT, 0, "module", "LIST",
	 "only branches from or to code of these modules (globs)", TEXT(filter.modules)},
	{FOR_SLOW, 0, "symbol", "LIST", "only calls of these functions (globs)",
	 TEXT(filter.symbols)},
	{FOR_SLOW, 0, "module", "LIST", "only calls of functions of these modules (globs)",
	 TEXT(filter.modules)},
	{FOR_BRANCHES | FOR_EXPORT, 0, "range", "LIST",
	 "only branches from or to FIRST-LAST (addresses)", TEXT(filter.ranges)},
	{FOR_BRANCHES | FOR_EXPORT, 0, "type", "LIST", "only these kinds of branches: call,ret,...",
	 TEXT(filter.types)},
	{FOR_SHOW, 'f', "format", "FORMAT", "text (default), jsonl, tsv or csv",
	 WORDS(show.format, "text", "jsonl", "tsv", "csv")},
	{FOR_INFO | FOR_FUNCTIONS, 'f', "format", "FORMAT", "text (default), jsonl or tsv",
	 WORDS(show.format, "text", "jsonl", "tsv")},
	{(FOR_VIEWS | FOR_DIFF) & ~FOR_TABLES, 'f', "format", "FORMAT", "text (default) or jsonl",
	 WORDS(show.format, "text", "jsonl")},
	{FOR_VIEWS | FOR_DIFF | FOR_REPORT | FOR_EXPORT, 0, "system-map", "FILE",
	 "kernel names from this System.map", TEXT(system_map)},
	{FOR_VIEWS | FOR_DIFF | FOR_REPORT | FOR_EXPORT, 0, "vmlinux", "FILE",
	 "kernel names from this ELF vmlinux", TEXT(vmlinux)},
	{FOR_SHOW | FOR_CALLS | FOR_STACK, 'l', "lines", NULL, "with source lines", FLAG(show.lines)},
	{FOR_INSNS | FOR_COVERAGE, 0, "source", NULL, "with source lines", FLAG(show.lines)},
	{FOR_INSNS, 0, "source-dir", "DIR", "as --source, with the text of each line from there",
	 .set = set_source_folder},
	{FOR_EXPORT, 0, "to", "KIND", "perf (default), chrome, folded, lcov or tables",
	 WORDS(kind, "perf", "chrome", "folded", "lcov", "tables")},
	{FOR_GDBSERVER, 0, "likely", NULL, "show what is likely, too, not only what is certain",
	 FLAG(likely)},
	{FOR_GDBSERVER, 0, "socket", "PATH", "wait for gdb there, not on standard input",
	 TEXT(socket)},
	{FOR_CODE, 0, "sysroot", "DIR", "programs and libraries are below DIR (default: /)",
	 TEXT(sysroot)},
	{FOR_CODE, 0, "debuginfo", "DIR", "debug files (default: /usr/lib/debug)", TEXT(debuginfo)},
	{FOR_CODE | FOR_DIFF, 0, "no-names", NULL, "leave out the names that the dump itself has",
	 FLAG(no_names)},
	{FOR_CODE | FOR_DIFF, 0, "raw-names", NULL, "name symbols, not the functions they are of",
	 FLAG(raw_names)},
	{FOR_SUMMARY | FOR_TIMELINE | FOR_REPORT, 0, "no-log", NULL,
	 "leave out the kernel's log", FLAG(no_log)},
	{FOR_SMALL, 0, "no-log", NULL, "leave out the kernel's log", FLAG(extract.no_log)},
	{FOR_ALL & ~FOR_SNAPSHOT, 0, "live", NULL,
	 "no DUMP: the recorder that runs on this machine", FLAG(live)},
	{FOR_ALL & ~FOR_DIFF, 0, "root", "PA", "physical address of the recorder's root page",
	 .takes = "a multiple of 4096 that is above 0", .set = set_root},
	{FOR_ALL, 0, "scan", "WHERE", "search memory: dma (default: first 16 MiB), all, none",
	 WORDS(scan, "dma", "all", "none")},
	{FOR_SMALL, 0, "no-user", NULL, "leave out the addresses of user space",
	 FLAG(extract.no_user)},
	{FOR_SMALL, 0, "no-paths", NULL, "leave out the paths of programs", FLAG(extract.no_paths)},
	{FOR_EXPORT, 0, "no-user", NULL, "of tables: without functions of user space",
	 FLAG(extract.no_user)},
	{FOR_EXPORT, 0, "no-paths", NULL, "of tables: without the paths of programs",
	 FLAG(extract.no_paths)},
	{FOR_REPORT | FOR_EXPORT | FOR_SMALL, 0, "force", NULL, "write over OUT if it exists",
	 FLAG(force)},
	{FOR_PRINTED, 0, "color", "WHEN", "auto (default: on a terminal), always, never",
	 WORDS(color, "auto", "always", "never")},
	{FOR_PRINTED, 0, "no-pager", NULL, "print to the terminal without a pager",
	 FLAG(no_pager)},
	{FOR_DOCTOR, 'f', "format", "FORMAT", "text (default), jsonl or prometheus",
	 WORDS(answer, "text", "jsonl", "prometheus")},
	{FOR_DOCTOR, 0, "root", "DIR", "ask the files below DIR instead of this machine's",
	 TEXT(machine_root)},
	{FOR_BENCH, 'n', "pairs", "N",
	 "pairs of runs of each work (default: " TEXT_OF(COMMAND_DEFAULT_PAIRS) ")",
	 .takes = "1 to " TEXT_OF(COMMAND_MAX_PAIRS), .set = set_pairs},
	{FOR_BENCH, 'w', "work", "NAME",
	 "all (default), branches, calls, syscalls, switches, faults, copies",
	 WORDS(work, "all", "branches", "calls", "syscalls", "switches", "faults", "copies")},
	{FOR_VERIFY, 'c', "cpu", "CPU", "ask this CPU (default: the first that records)",
	 .takes = TAKES_CPU, .set = set_cpu},
	{FOR_BENCH | FOR_VERIFY, 'f', "format", "FORMAT", "text (default) or jsonl",
	 WORDS(show.format, "text", "jsonl")},
	{FOR_ALL | FOR_DOCTOR | FOR_BENCH | FOR_VERIFY, 'h', HELP, NULL, "show this help", .set = NULL},
	{.name = NULL},
};

static_assert(sizeof(options_all) / sizeof(options_all[0]) <= MAX_OPTIONS,
	      "no room for what getopt_long() is given");
