// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of commands.  Each front compiles it: in crash the commands that write a file,
 * read a second dump or serve gdb are named, and refused with the reason.
 */
#include <string.h>

#include "command.h"
#include "nearest.h"

#ifdef BTSREC_IN_CRASH
#define OFFLINE(run) NULL
#else
#define OFFLINE(run) (run)
#endif

const struct command commands[] = {
	{"summary", "How the machine came to its end, on one screen.", FOR_SUMMARY, command_summary,
	 NULL},
	{"info", "What the recorder left: kernel, root, one line per CPU.", FOR_INFO, command_info,
	 NULL},
	{"show", "The branch histories, event by event.", FOR_SHOW, command_show, NULL},
	{"insns", "The instructions that were executed, one by one.", FOR_INSNS, command_insns,
	 NULL},
	{"calls", "The functions that were called, as a tree.", FOR_CALLS, command_calls, NULL},
	{"functions", "The functions by how many branches they took.", FOR_FUNCTIONS,
	 command_functions, NULL},
	{"coverage", "The instructions of a function: how often each was executed.", FOR_COVERAGE,
	 command_coverage, "FUNCTION"},
	{"diff", "Where two histories part: the calls up to the fault, compared from there.",
	 FOR_DIFF, OFFLINE(command_diff), "OTHER"},
	{"timeline", "Switches, execs, marks, gaps and freezes of all CPUs by time.", FOR_TIMELINE,
	 command_timeline, NULL},
	{"stack", "The call stack, rebuilt from calls and returns.", FOR_STACK, command_stack,
	 NULL},
	{"prove", "Whether each history fits the code in the dump; if not, exit status 1.",
	 FOR_PROVE, command_prove, NULL},
	{"report", "All histories as one page for a browser.", FOR_REPORT, OFFLINE(command_report),
	 "OUT"},
	{"gdbserver", "A remote target for gdb: history, registers and memory of one CPU.",
	 FOR_GDBSERVER, OFFLINE(command_gdbserver), NULL},
	{"export", "The histories as a file for other tools: perf, viewers of traces, lcov.",
	 FOR_EXPORT, OFFLINE(command_export), "OUT"},
	{"extract", "Keep what decoding needs of a dump in a small file.", FOR_EXTRACT,
	 OFFLINE(command_extract), "OUT"},
	{"snapshot", "As extract, of the recorder that runs on this machine.", FOR_SNAPSHOT,
	 OFFLINE(command_extract), "OUT"},
	{"check", "Validate all that can be validated; faults make the exit status 1.", FOR_CHECK,
	 command_check, NULL},
	{NULL, NULL, 0, NULL, NULL},
};

const struct command *command_find(const char *name)
{
	for (const struct command *command = commands; command->name; command++)
		if (!strcmp(command->name, name))
			return command;
	return NULL;
}

void command_list(void)
{
	for (const struct command *command = commands; command->name; command++)
		if (command->run)
			command_print("  %-9s %s\n", command->name, command->summary);
}

enum command_exit command_unknown(const char *name, const char *also)
{
	struct nearest nearest = nearest_to(name);

	for (const struct command *command = commands; command->name; command++)
		nearest_offer(&nearest, command->name);
	for (const char *const *word = front.other_commands; *word; word++)
		nearest_offer(&nearest, *word);
	if (nearest.word)
		front_error("there is no command '%s'%s; did you mean '%s'?", name, also,
			    nearest.word);
	else
		front_error("there is no command '%s'%s", name, also);
	return COMMAND_USAGE;
}

enum command_exit command_not_here(const struct command *command)
{
	front_error("%s works on the file of a dump only: btsrec %s", command->name, command->name);
	return COMMAND_USAGE;
}
