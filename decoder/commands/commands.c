// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of commands.  Each front compiles it.  In crash some are refused with the reason: those
 * that write a file, read a second dump, serve gdb or ask the machine.
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
	{"summary", "How the machine came to its end, on one screen.", FOR_SUMMARY,
	 .run = command_summary},
	{"info", "What the recorder left: kernel, root, one line per CPU.", FOR_INFO,
	 .run = command_info},
	{"show", "The branch histories, event by event.", FOR_SHOW, .run = command_show},
	{"insns", "The instructions that were executed, one by one.", FOR_INSNS,
	 .run = command_insns},
	{"calls", "The functions that were called, as a tree.", FOR_CALLS, .run = command_calls},
	{"functions", "The functions by how many branches they took.", FOR_FUNCTIONS,
	 .run = command_functions},
	{"coverage", "The instructions of a function: how often each was executed.", FOR_COVERAGE,
	 .run = command_coverage, .second = "FUNCTION"},
	{"last", "The newest calls of a function or module, with CPU, thread and time.", FOR_LAST,
	 .run = command_last, .second = "WHAT"},
	{"pairs", "Which calls of a function have none of another one behind them.", FOR_PAIRS,
	 .run = command_pairs, .second = "ENTER", .third = "LEAVE"},
	{"slow", "The longest calls, of those whose duration has bounds.", FOR_SLOW,
	 .run = command_slow},
	{"path", "By which calls one function reached another one.", FOR_PATH,
	 .run = command_path, .second = "FROM", .third = "TO"},
	{"around", "What all CPUs did at the time of an event.", FOR_AROUND,
	 .run = command_around, .second = "EVENT"},
	{"locks", "Which locks are held or waited for, and where interrupts are off.", FOR_LOCKS,
	 .run = command_locks},
	{"diff", "Where two histories part: the calls up to the fault, compared from there.",
	 FOR_DIFF, .run = OFFLINE(command_diff), .second = "OTHER"},
	{"timeline", "Switches, execs, marks, gaps and freezes of all CPUs by time.", FOR_TIMELINE,
	 .run = command_timeline},
	{"stack", "The call stack, rebuilt from calls and returns.", FOR_STACK,
	 .run = command_stack},
	{"why", "Where a value came from: by default the operand that made the fault.", FOR_WHY,
	 .run = command_why},
	{"prove", "Whether each history fits the code in the dump; if not, exit status 1.",
	 FOR_PROVE, .run = command_prove},
	{"report", "All histories as one page for a browser.", FOR_REPORT,
	 .run = OFFLINE(command_report), .second = "OUT"},
	{"gdbserver", "A remote target for gdb: history, registers and memory of one CPU.",
	 FOR_GDBSERVER, .run = OFFLINE(command_gdbserver)},
	{"export", "The histories as a file for other tools: perf, viewers of traces, lcov.",
	 FOR_EXPORT, .run = OFFLINE(command_export), .second = "OUT"},
	{"extract", "Keep what decoding needs of a dump in a small file.", FOR_EXTRACT,
	 .run = OFFLINE(command_extract), .second = "OUT"},
	{"snapshot", "As extract, of the recorder that runs on this machine.", FOR_SNAPSHOT,
	 .run = OFFLINE(command_extract), .second = "OUT"},
	{"check", "Validate all that can be validated; faults make the exit status 1.", FOR_CHECK,
	 .run = command_check},
	{"doctor", "Whether this machine will give a history after a crash.", FOR_DOCTOR,
	 .run = OFFLINE(command_doctor), .of_machine = true},
	{"bench-overhead", "What recording costs on this machine.", FOR_BENCH,
	 .run = OFFLINE(command_bench), .second = "[-- COMMAND [ARGUMENT]...]", .of_machine = true,
	 .takes_rest = true},
	{"verify-hardware", "Whether this processor records what btsrec assumes.", FOR_VERIFY,
	 .run = OFFLINE(command_verify), .of_machine = true},
	{.name = NULL},
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
	front_error("%s works on %s only: btsrec %s", command->name,
		    command->of_machine ? "the machine that runs" : "the file of a dump",
		    command->name);
	return COMMAND_USAGE;
}
