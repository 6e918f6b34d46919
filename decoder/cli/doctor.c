// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "doctor.h"

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

enum command_exit command_doctor(struct btsrec *rec, const struct command_options *options)
{
	const char *root = options->machine_root;
	struct doctor_facts facts;
	struct doctor_report report;

	(void)rec;
	if (root && !is_folder(root))
		return (enum command_exit)DOCTOR_USAGE;
	doctor_facts_read(root ? root : "", &facts);
	doctor_judge(&facts, &report);
	if (options->answer == COMMAND_ANSWER_JSONL)
		doctor_print_jsonl(&report);
	else if (options->answer == COMMAND_ANSWER_PROMETHEUS)
		doctor_print_prometheus(&report, &facts);
	else
		doctor_print_text(&report);
	return (enum command_exit)report.level;
}
