/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of options, for what parses them and prints their help texts. */
#ifndef BTSREC_OPTIONS_H
#define BTSREC_OPTIONS_H

#include "command.h"

/* One decodes; what more of them write is soon more than it decodes. */
#define MAX_THREADS	    16
#define DEFAULT_MAX_THREADS 4

/* No more are in the table. */
#define MAX_OPTIONS 96

/* What every command answers, whatever else is asked. */
#define HELP "help"

/**
 * struct option_entry - one option; all of the same name are for different commands
 * @takers: the commands that take it, bits of enum command_set.
 * @letter: its short form; 0: it has none.
 * @argument: NULL: it takes none.
 * @takes: what @set understands, for a message.
 * @values: the words that it takes, ends with NULL; they are numbered as the enum at @value.
 * @text, @flag, @value: offset in struct command_options of where the argument goes, of what it
 *	makes true, of the number of the word in @values; 0: @set does more.
 * @set: takes the argument, false: not understood.
 */
struct option_entry {
	unsigned int takers;
	char letter;
	const char *name;
	const char *argument;
	const char *help;
	const char *takes;
	const char *const *values;
	size_t text;
	size_t flag;
	size_t value;
	bool (*set)(struct command_options *options, const char *argument);
};

/** option_is_taken() - does @command have @option, in this front? */
bool option_is_taken(const struct command *command, const struct option_entry *option);

/** option_is_filter() - does it write into the filter of struct command_options? */
bool option_is_filter(const struct option_entry *option);

/** options_all - a new option is an entry here, and its use; ends with a name of NULL */
extern const struct option_entry options_all[];

#endif /* BTSREC_OPTIONS_H */
