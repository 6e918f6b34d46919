// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "doctor.h"

enum format { FORMAT_TEXT, FORMAT_JSONL, FORMAT_PROMETHEUS, NR_FORMATS };

static const char *const formats[NR_FORMATS] = { "text", "jsonl", "prometheus" };

static void help(void)
{
	printf("usage: btsrec doctor [OPTION]...\n\n"
	       "Whether this machine will give a history after a crash.\n\n"
	       "  -f, --format FORMAT     text, jsonl or prometheus (text)\n"
	       "      --root DIR          ask the files below DIR instead of this machine's\n"
	       "  -h, --help              this text\n\n"
	       "Exit status: 0 it will, 1 it will, but less than it could, 2 it will not.\n");
}

static enum format format_of(const char *name)
{
	size_t i;

	for (i = 0; i < NR_FORMATS; i++)
		if (!strcmp(name, formats[i]))
			break;
	return (enum format)i;
}

/* What is not there has no files, and would be judged as a machine without anything. */
static bool is_folder(const char *root)
{
	struct stat kind;

	if (stat(root, &kind)) {
		front_error("doctor: --root: %s: %s", root, strerror(errno));
		return false;
	}
	if (!S_ISDIR(kind.st_mode))
		front_error("doctor: --root takes a folder, which %s is not", root);
	return S_ISDIR(kind.st_mode);
}

static int ask(const char *root, enum format format)
{
	struct doctor_facts facts;
	struct doctor_report report;

	doctor_facts_read(root, &facts);
	doctor_judge(&facts, &report);
	if (format == FORMAT_JSONL)
		doctor_print_jsonl(&report);
	else if (format == FORMAT_PROMETHEUS)
		doctor_print_prometheus(&report, &facts);
	else
		doctor_print_text(&report);
	return (int)report.level;
}

int doctor_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "root", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	enum format format = FORMAT_TEXT;
	const char *root = NULL;
	int letter;

	opterr = 0;
	while ((letter = getopt_long(argc, argv, "f:h", options, NULL)) != -1) {
		if (letter == 'h') {
			help();
			return DOCTOR_GOOD;
		}
		if (letter == 'r')
			root = optarg;
		if (letter == 'f')
			format = format_of(optarg);
		if (letter == '?' || format == NR_FORMATS) {
			front_error("doctor: '%s' is not understood; try 'btsrec doctor --help'",
				    letter == 'f' ? optarg : argv[optind - 1]);
			return DOCTOR_USAGE;
		}
	}
	if (optind < argc) {
		front_error("doctor: '%s' is too much: it takes no dump", argv[optind]);
		return DOCTOR_USAGE;
	}
	if (root && !is_folder(root))
		return DOCTOR_USAGE;
	return ask(root ? root : "", format);
}
