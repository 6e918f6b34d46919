// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* More CPUs than the format has room for; keeps a list from filling memory. */
#define MAX_CPU_NUMBER	(BTSREC_MAX_CPU_DIR_PAGES * BTSREC_PAS_PER_PAGE - 1)

/**
 * struct cli_option - one option of all commands
 * @letter: stands for it in cli_command.options; its short form if @has_short.
 * @set: NULL: handled elsewhere; else takes the argument, false: not understood.
 */
struct cli_option {
	char letter;
	bool has_short;
	const char *name;
	const char *argument;
	const char *help;
	bool (*set)(struct cli_options *options, const char *argument);
};

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

static bool cpus_append(struct cli_options *options, unsigned long cpu)
{
	struct btsrec_show *show = &options->show;
	unsigned int *cpus = reallocarray((void *)show->cpus, show->nr_cpus + 1, sizeof(*cpus));

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

static bool set_count(struct cli_options *options, const char *argument)
{
	return parse_number(argument, 10, &options->show.max_events) && options->show.max_events;
}

static bool set_range(struct cli_options *options, const char *argument)
{
	const char *dash = strchr(argument, '-');
	char first[24];

	if (!dash || (size_t)(dash - argument) >= sizeof(first))
		return false;
	memcpy(first, argument, (size_t)(dash - argument));
	first[dash - argument] = '\0';
	return parse_number(first, 10, &options->first_n) &&
	       parse_number(dash + 1, 10, &options->last_n) &&
	       options->last_n >= options->first_n && options->last_n;
}

static bool set_types(struct cli_options *options, const char *argument)
{
	(void)argument;
	options->show.types = true;
	return true;
}

static bool set_bytes(struct cli_options *options, const char *argument)
{
	(void)argument;
	options->bytes = true;
	return true;
}

static bool set_newest_first(struct cli_options *options, const char *argument)
{
	(void)argument;
	options->show.newest_first = true;
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

static bool set_root(struct cli_options *options, const char *argument)
{
	return parse_number(argument, 0, &options->root_pa) && options->root_pa &&
	       options->root_pa % BTSREC_PAGE_BYTES == 0;
}

static bool set_system_map(struct cli_options *options, const char *argument)
{
	options->system_map = argument;
	return true;
}

static bool set_vmlinux(struct cli_options *options, const char *argument)
{
	options->vmlinux = argument;
	return true;
}

static bool set_no_names(struct cli_options *options, const char *argument)
{
	(void)argument;
	options->no_names = true;
	return true;
}

static const struct cli_option cli_options_all[] = {
	{ 'c', true, "cpu", "LIST", "only these CPUs: 0,2-5", set_cpus },
	{ 'n', true, "count", "COUNT", "only the newest COUNT events of each CPU", set_count },
	{ 't', true, "types", NULL, "with the kind of each branch", set_types },
	{ 'g', false, "range", "FIRST-LAST", "only events with these numbers", set_range },
	{ 'b', true, "bytes", NULL, "with the bytes of each instruction", set_bytes },
	{ 'r', true, "newest-first", NULL, "newest event first", set_newest_first },
	{ 'f', true, "format", "FORMAT", "text (default), jsonl or tsv", set_format },
	{ 'm', false, "system-map", "FILE", "kernel names from this System.map", set_system_map },
	{ 'v', false, "vmlinux", "FILE", "kernel names from this ELF vmlinux", set_vmlinux },
	{ 'N', false, "no-names", NULL, "leave out the names that the dump itself has", set_no_names },
	{ 'R', false, "root", "PA", "physical address of the recorder's root page", set_root },
	{ 's', false, "scan", "WHERE", "search memory: dma (default: first 16 MiB), all, none",
	  set_scan },
	{ 'h', true, "help", NULL, "show this help", NULL },
};

#define NR_OPTIONS	(sizeof(cli_options_all) / sizeof(cli_options_all[0]))

static bool takes_option(const struct cli_command *command, const struct cli_option *option)
{
	return option->letter == 'h' || strchr(command->options, option->letter);
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

	printf("usage: btsrec %s [OPTION]... DUMP\n%s\n\n", command->name, command->summary);
	for (i = 0; i < NR_OPTIONS; i++)
		if (takes_option(command, &cli_options_all[i]))
			help_option(&cli_options_all[i]);
	printf("\nbtsrec(1) explains the output and the exit status.\n");
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
		names->val = option->letter;
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

static enum cli_exit set_option(const struct cli_command *command, struct cli_options *options,
				int letter)
{
	size_t i;

	for (i = 0; i < NR_OPTIONS; i++) {
		const struct cli_option *option = &cli_options_all[i];

		if (option->letter != letter || !option->set)
			continue;
		if (option->set(options, optarg))
			return CLI_OK;
		cli_error("%s: --%s does not take '%s'", command->name, option->name, optarg);
		return usage(command);
	}
	return usage(command);
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
	while (!status && (letter = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		if (letter == 'h') {
			cli_help(command);
			*ret_done = true;
			break;
		}
		status = set_option(command, options, letter);
	}
	argv[0] = NULL;
	return status;
}

enum cli_exit cli_parse(const struct cli_command *command, int argc, char **argv,
			struct cli_options *ret, bool *ret_done)
{
	enum cli_exit status;

	memset(ret, 0, sizeof(*ret));
	*ret_done = false;
	status = parse_options(command, argc, argv, ret, ret_done);
	if (status || *ret_done)
		return status;
	if (optind + 1 != argc) {
		cli_error("%s: %s", command->name,
			  optind == argc ? "which dump?" : "one dump at a time");
		return usage(command);
	}
	ret->dump = argv[optind];
	return CLI_OK;
}

void cli_options_fini(struct cli_options *options)
{
	free((void *)options->show.cpus);
}
