// SPDX-License-Identifier: GPL-2.0-or-later
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "options.h"

/* getopt_long() returns this and the option's place in the table. */
#define FIRST_VALUE 256

static const struct option_entry *option_of(int value)
{
	return &options_all[value - FIRST_VALUE];
}

/* Does this front leave @name out? */
static bool is_without(const char *name)
{
	size_t nr_bytes = strlen(name);

	for (const char *at = front.without; at && (at = strstr(at, name)); at += nr_bytes)
		if (at[-1] == ' ' && (!at[nr_bytes] || at[nr_bytes] == ' '))
			return true;
	return false;
}

bool option_is_taken(const struct command *command, const struct option_entry *option)
{
	return option->takers & command->self && !is_without(option->name);
}

static bool is_always_live(const struct command *command)
{
	return command->self == FOR_SNAPSHOT;
}

static bool takes_dump(const struct command *command)
{
	return front.has_dump && !command->of_machine && !is_always_live(command);
}

/* --- Help --------------------------------------------------------------- */

static void help_option(const struct option_entry *option)
{
	char names[40];

	snprintf(names, sizeof(names), "--%s%s%s", option->name, option->argument ? " " : "",
		 option->argument ? option->argument : "");
	if (option->letter)
		command_print("  -%c, %-20s %s\n", option->letter, names, option->help);
	else
		command_print("      %-20s %s\n", names, option->help);
}

void command_help(const struct command *command)
{
	command_print("usage: %s %s [OPTION]...%s%s%s%s%s\n%s\n\n", front.name, command->name,
		      takes_dump(command) ? " DUMP..." : "",
		      command->second ? " " : "", command->second ? command->second : "",
		      command->third ? " " : "", command->third ? command->third : "",
		      command->summary);
	for (const struct option_entry *option = options_all; option->name; option++)
		if (option_is_taken(command, option))
			help_option(option);
	command_print("\nbtsrec-%s(1) explains the output and the exit status.\n", command->name);
}

static enum command_exit usage(const struct command *command)
{
	char hint[64];

	snprintf(hint, sizeof(hint), front.help_form, command->name);
	front_hint("Try '%s'.", hint);
	return COMMAND_USAGE;
}

/* --- Values ------------------------------------------------------------- */

/* "text, jsonl or tsv" */
static void list_values(const struct option_entry *option, char *ret, size_t ret_bytes)
{
	const char *const *value = option->values;
	size_t at = 0;

	for (; *value && at < ret_bytes; value++)
		at += (size_t)snprintf(ret + at, ret_bytes - at, "%s%s",
				       value == option->values ? "" :
				       value[1]		       ? ", " :
								 " or ",
				       *value);
}

static bool set_value(const struct option_entry *option, struct command_options *options,
		      const char *argument)
{
	for (unsigned int i = 0; option->values[i]; i++) {
		if (strcmp(option->values[i], argument))
			continue;
		*(unsigned int *)((char *)options + option->value) = i;
		return true;
	}
	return false;
}

bool option_is_filter(const struct option_entry *option)
{
	const size_t begin = offsetof(struct command_options, filter);
	size_t at = option->text ? option->text : option->flag;

	return at >= begin && at < begin + sizeof(struct btsrec_filter);
}

/* An empty name is that of a variable which is not set, and stands for no file. */
static bool names_file(const struct option_entry *option)
{
	static const char *const kinds[] = {"FILE", "DIR", "PATH"};

	for (size_t i = 0; option->argument && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(option->argument, kinds[i]))
			return true;
	return false;
}

static bool store(const struct option_entry *option, struct command_options *options,
		  const char *argument)
{
	options->filtered |= option_is_filter(option);
	if (names_file(option) && !*argument)
		return false;
	if (option->text)
		*(const char **)((char *)options + option->text) = argument;
	else if (option->flag)
		*(bool *)((char *)options + option->flag) = true;
	else if (option->values)
		return set_value(option, options, argument);
	else
		return option->set(options, argument);
	return true;
}

static enum command_exit refuse_value(const struct command *command,
				      const struct option_entry *option, const char *argument)
{
	struct nearest nearest = nearest_to(argument);
	char values[80];

	if (option->values) {
		list_values(option, values, sizeof(values));
		for (const char *const *value = option->values; *value; value++)
			nearest_offer(&nearest, *value);
	}
	front_error("%s: --%s takes %s, not '%s'%s%s%s", command->name, option->name,
		    option->values ? values :
		    option->takes  ? option->takes :
				     option->argument,
		    argument,
		    nearest.word ? "; did you mean '" : "", nearest.word ? nearest.word : "",
		    nearest.word ? "'?" : "");
	return usage(command);
}

/* --- Options that are not understood ------------------------------------ */

/**
 * struct refused - what getopt_long() has refused
 * @text: as it was typed; @name: without dashes and value, of @nr_bytes.
 * @letter: of a short one; 0: it is a long one.
 */
struct refused {
	const char *text;
	const char *name;
	size_t nr_bytes;
	char letter;
};

static bool is_named(const struct option_entry *option, const struct refused *refused)
{
	if (refused->letter)
		return option->letter == refused->letter;
	return strlen(option->name) == refused->nr_bytes &&
	       !strncmp(option->name, refused->name, refused->nr_bytes);
}

/* The commands that take it, as bits. */
static unsigned int takers_of(const struct refused *refused)
{
	unsigned int takers = 0;

	for (const struct option_entry *option = options_all; option->name; option++)
		if (is_named(option, refused) && !is_without(option->name))
			takers |= option->takers;
	return takers;
}

/* "show, insns and calls do" */
static void list_takers(unsigned int takers, char *ret, size_t ret_bytes)
{
	unsigned int nr_left = (unsigned int)__builtin_popcount(takers), nr = nr_left;
	size_t at = 0;

	for (const struct command *taker = commands; taker->name; taker++) {
		if (!(taker->self & takers) || at >= ret_bytes)
			continue;
		at += (size_t)snprintf(ret + at, ret_bytes - at, "%s%s",
				       nr_left == nr ? "" :
				       nr_left > 1   ? ", " :
						       " and ",
				       taker->name);
		nr_left--;
	}
	if (at < ret_bytes)
		snprintf(ret + at, ret_bytes - at, nr == 1 ? " does" : " do");
}

/* It belongs to other commands. */
static bool refuse_foreign(const struct command *command, const struct refused *refused)
{
	unsigned int takers = takers_of(refused);
	char list[256];

	if (!takers)
		return false;
	list_takers(takers, list, sizeof(list));
	front_error("%s takes no %.*s; %s", command->name,
		    (int)(refused->nr_bytes + (size_t)(refused->name - refused->text)),
		    refused->text, list);
	return true;
}

/* The names that begin with what was typed: "--no could be --no-names, --no-user". */
static bool refuse_ambiguous(const struct command *command, const struct refused *refused)
{
	char list[256];
	size_t at = 0, nr = 0;

	for (const struct option_entry *option = options_all; option->name && !refused->letter;
	     option++) {
		if (!option_is_taken(command, option) ||
		    strncmp(option->name, refused->name, refused->nr_bytes) || at >= sizeof(list))
			continue;
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s--%s", nr++ ? ", " : "",
				       option->name);
	}
	if (nr < 2)
		return false;
	front_error("%s: --%.*s could be %s", command->name, (int)refused->nr_bytes, refused->name,
		    list);
	return true;
}

static void refuse_unknown(const struct command *command, const struct refused *refused)
{
	char typed[32];
	struct nearest nearest;

	snprintf(typed, sizeof(typed), "%.*s", (int)refused->nr_bytes, refused->name);
	nearest = nearest_to(refused->letter ? "" : typed);
	for (const struct option_entry *option = options_all; option->name; option++)
		if (option_is_taken(command, option))
			nearest_offer(&nearest, option->name);
	front_error("%s: there is no option '%.*s'%s%s%s", command->name,
		    (int)(refused->nr_bytes + (size_t)(refused->name - refused->text)),
		    refused->text, nearest.word ? "; did you mean '--" : "",
		    nearest.word ? nearest.word : "", nearest.word ? "'?" : "");
}

/* This front leaves it out. */
static bool refuse_without(const struct command *command, const struct refused *refused)
{
	for (const struct option_entry *option = options_all; option->name; option++) {
		if (!is_named(option, refused) || !(option->takers & command->self) ||
		    !is_without(option->name))
			continue;
		front_error("%s: no --%s here: %s", command->name, option->name, front.why_without);
		return true;
	}
	return false;
}

/* getopt_long() returned '?': what it names in optopt depends on what is wrong. */
static void refuse(const struct command *command, const char *text)
{
	struct refused refused = {.text = text, .name = text + strspn(text, "-")};
	char short_text[] = {'-', (char)optopt, '\0'};

	if (optopt >= FIRST_VALUE) {
		front_error("%s: --%s takes no value", command->name, option_of(optopt)->name);
		return;
	}
	refused.nr_bytes = strcspn(refused.name, "=");
	if (optopt)
		refused = (struct refused){short_text, short_text + 1, 1, (char)optopt};
	if (!refuse_without(command, &refused) && !refuse_foreign(command, &refused) &&
	    !refuse_ambiguous(command, &refused))
		refuse_unknown(command, &refused);
}

/* The letter of "-f"; 0: @text is a name, with dashes or without. */
static char typed_letter(const char *text)
{
	return (char)(*text == '-' && text[1] != '-' && strlen(text) == 2 ? text[1] : '\0');
}

/* The option of @command that is typed as @text; NULL: it has none. */
static const struct option_entry *find_typed(const struct command *command, const char *text)
{
	const char *name = text + strspn(text, "-");
	const struct refused typed = {
		.name = name,
		.nr_bytes = strlen(name),
		.letter = typed_letter(text),
	};

	for (const struct option_entry *option = options_all; option->name; option++)
		if (option_is_taken(command, option) && is_named(option, &typed))
			return option;
	return NULL;
}

enum command_exit command_help_option(const struct command *command, const char *text)
{
	const struct option_entry *option = find_typed(command, text);

	if (!option) {
		optopt = (unsigned char)typed_letter(text);
		refuse(command, text);
		return usage(command);
	}
	help_option(option);
	if (!option->values)
		return COMMAND_OK;
	command_print("one of:");
	for (const char *const *value = option->values; *value; value++)
		command_print(" %s", *value);
	command_print("\n");
	return COMMAND_OK;
}

/* --- The command line --------------------------------------------------- */

/* The long options of @command for getopt_long(), and the short ones after a colon. */
static void make_getopt(const struct command *command, char *letters, struct option *names)
{
	/* Options end where a command of the user begins. */
	if (command->takes_rest)
		*letters++ = '+';
	*letters++ = ':';
	for (const struct option_entry *option = options_all; option->name; option++) {
		if (!option_is_taken(command, option))
			continue;
		*names++ = (struct option){
			.name = option->name,
			.has_arg = option->argument ? required_argument : no_argument,
			.val = FIRST_VALUE + (int)(option - options_all),
		};
		if (!option->letter)
			continue;
		*letters++ = option->letter;
		if (option->argument)
			*letters++ = ':';
	}
	*letters = '\0';
	memset(names, 0, sizeof(*names));
}

/* What getopt_long() returned; NULL: it is nothing that @command takes. */
static const struct option_entry *find_option(const struct command *command, int value)
{
	if (value >= FIRST_VALUE)
		return option_of(value);
	for (const struct option_entry *option = options_all; option->name; option++)
		if (option->letter == value && option_is_taken(command, option))
			return option;
	return NULL;
}

static enum command_exit set_option(const struct command *command, struct command_options *options,
				    int value, const char *text)
{
	const struct option_entry *option = find_option(command, value == ':' ? optopt : value);

	if (!option || value == '?') {
		refuse(command, text);
		return usage(command);
	}
	if (value == ':') {
		front_error("%s: --%s takes %s", command->name, option->name,
			    option->takes ? option->takes : option->argument);
		return usage(command);
	}
	return store(option, options, optarg) ? COMMAND_OK : refuse_value(command, option, optarg);
}

static enum command_exit parse_options(const struct command *command, int argc, char **argv,
				       struct command_options *options, bool *ret_done)
{
	struct option names[MAX_OPTIONS + 1];
	char letters[2 * MAX_OPTIONS + 3];
	enum command_exit status = COMMAND_OK;
	int value;

	make_getopt(command, letters, names);
	opterr = 0;
	/* It has been used before by crash, and by commands before. */
	optind = 0;
	while (!status && (value = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		const struct option_entry *option = find_option(command, value);

		if (option && !strcmp(option->name, HELP)) {
			command_help(command);
			*ret_done = true;
			break;
		}
		status = set_option(command, options, value, argv[optind - 1]);
	}
	return status;
}

/* An empty name is that of a variable which is not set. */
static enum command_exit refuse_empty(const struct command *command,
				      const struct command_options *options)
{
	const char *empty = NULL;

	for (size_t i = 0; i < options->nr_dumps; i++)
		if (!*options->dumps[i])
			empty = "DUMP";
	if (options->second && !*options->second)
		empty = command->second;
	if (options->third && !*options->third)
		empty = command->third;
	if (!empty)
		return COMMAND_OK;
	front_error("%s: %s is empty", command->name, empty);
	return usage(command);
}

static enum command_exit take_operands(const struct command *command, int argc, char **argv,
				       struct command_options *ret)
{
	int nr = argc - optind, nr_second = (command->second != NULL) + (command->third != NULL);
	bool has_dump = takes_dump(command) && !ret->live;
	int nr_wanted = nr_second + has_dump;

	if (command->takes_rest) {
		ret->rest = nr ? argv + optind : NULL;
		return COMMAND_OK;
	}
	if (nr == nr_wanted || (nr > nr_wanted && has_dump)) {
		ret->dumps = (const char *const *)argv + optind;
		ret->nr_dumps = (size_t)(nr - nr_second);
		ret->second = nr_second ? argv[argc - nr_second] : NULL;
		ret->third = nr_second > 1 ? argv[argc - 1] : NULL;
		return refuse_empty(command, ret);
	}
	if (nr > nr_wanted)
		front_error("%s: '%s' is too much%s", command->name, argv[optind],
			    ret->live ? " besides the recorder that runs" : "");
	else if (!nr && has_dump)
		front_error("%s: which dump?", command->name);
	else
		front_error("%s: %s is missing", command->name,
			    command->third && nr == nr_wanted - 1 ? command->third :
								    command->second);
	return usage(command);
}

/* Those on which this process may run. */
static unsigned int default_threads(void)
{
	cpu_set_t allowed;
	int nr = sched_getaffinity(0, sizeof(allowed), &allowed) ? 1 : CPU_COUNT(&allowed);

	return (unsigned int)(nr < DEFAULT_MAX_THREADS ? nr : DEFAULT_MAX_THREADS);
}

enum command_exit command_parse(const struct command *command, int argc, char **argv,
				struct command_options *ret, bool *ret_done)
{
	enum command_exit status;

	memset(ret, 0, sizeof(*ret));
	ret->filter.size = sizeof(ret->filter);
	ret->live = is_always_live(command);
	for (const struct option_entry *option = options_all; option->name; option++)
		if (!strcmp(option->name, "root"))
			ret->takes_root |= option_is_taken(command, option);
	*ret_done = false;
	status = parse_options(command, argc, argv, ret, ret_done);
	if (status || *ret_done)
		return status;
	if (!ret->nr_threads)
		ret->nr_threads = default_threads();
	return take_operands(command, argc, argv, ret);
}

void command_options_fini(struct command_options *options)
{
	free((void *)options->show.cpus);
	free(options->at);
}
