// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "command.h"
#include "marks.h"

/* Is it in no table of commands? */
static bool is_other(const char *name)
{
	for (const char *const *word = front.other_commands; *word; word++)
		if (!strcmp(name, *word))
			return true;
	return !strcmp(name, "marks");
}

/* @option: NULL: of all. */
static enum command_exit help_on(const char *name, const char *option)
{
	const struct command *command = command_find(name);

	if (!strcmp(name, "marks") && !option) {
		marks_print();
		return COMMAND_OK;
	}
	if (!command && is_other(name)) {
		front_error("'%s' takes no options", name);
		return COMMAND_USAGE;
	}
	if (!command)
		return command_unknown(name, "");
	if (!command->run)
		return command_not_here(command);
	if (option)
		return command_help_option(command, option);
	command_help(command);
	return COMMAND_OK;
}

enum command_exit command_help_main(int argc, char **argv, void (*overview)(void))
{
	if (argc > 3) {
		front_error("help takes one command and an option of it, or marks");
		return COMMAND_USAGE;
	}
	if (argc > 1)
		return help_on(argv[1], argv[2]);
	overview();
	return COMMAND_OK;
}
