// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Running a command.  A filter that lets nothing through may have a typing error, or what it asks
 * for never ran: an answer without a line does not show which.
 */
#include <stdio.h>
#include <string.h>

#include "nearest.h"
#include "options.h"

/* Longer values are cut. */
#define VALUE_CHARS 60

/** struct known_name - the nearest to @nearest.typed of the names that the dump has */
struct known_name {
	struct nearest nearest;
	char text[64];
};

static void offer_name(void *arg, const char *name)
{
	struct known_name *known = arg;
	unsigned int distance = known->nearest.distance;

	nearest_offer(&known->nearest, name);
	/* It is borrowed, and is near only if it is short. */
	if (known->nearest.distance < distance)
		snprintf(known->text, sizeof(known->text), "%s", name);
}

/* The value of @option in @filter; NULL: it does not ask for it. */
static const char *value_in(const struct option_entry *option, const struct btsrec_filter *filter)
{
	const char *at = (const char *)filter - offsetof(struct command_options, filter);

	if (option->text)
		return *(const char *const *)(at + option->text);
	return *(const bool *)(at + option->flag) ? "" : NULL;
}

/* The thread that is followed is asked for as any other. */
static const char *name_of(const struct option_entry *option, const struct command_options *options)
{
	bool is_thread = option->text == offsetof(struct command_options, filter.pids);

	return is_thread && options->show.thread ? "thread" : option->name;
}

/* "--comm 'sh', --user", as they are in the table. */
static void list_options(const struct command *command, const struct command_options *options,
			 const struct btsrec_filter *filter, char *ret, size_t ret_bytes)
{
	size_t at = 0;

	*ret = '\0';
	for (const struct option_entry *option = options_all; option->name; option++) {
		const char *value, *name = name_of(option, options);

		if (!option_is_taken(command, option) || !option_is_filter(option))
			continue;
		value = value_in(option, filter);
		if (!value || at >= ret_bytes)
			continue;
		at += (size_t)snprintf(ret + at, ret_bytes - at,
				       *value ? "%s--%s '%.*s%s'" : "%s--%s", at ? ", " : "", name,
				       VALUE_CHARS, value,
				       strlen(value) > VALUE_CHARS ? "..." : "");
	}
}

/* What was typed, if it is one name. */
static const char *typed_name(const struct btsrec_filter *filter)
{
	if (filter->comm)
		return filter->comm;
	if (filter->symbols)
		return filter->symbols;
	return filter->modules ? filter->modules : "";
}

/* Other events pass some parts of a filter, and gaps all. */
static const char *asked_for(const struct btsrec_filter *part)
{
	bool of_branches = part->symbols || part->modules || part->ranges || part->types;

	return of_branches || part->user != part->kernel ? "branch" : "event";
}

static void report_unmatched(const struct command *command, struct btsrec *rec,
			     const struct command_options *options)
{
	struct btsrec_filter filter = options->filter;
	struct btsrec_unmatched unmatched;
	struct known_name known;
	char list[1024];
	bool matches;

	if (options->show.thread)
		filter.pids = options->show.thread;
	known.nearest = nearest_to(typed_name(&filter));
	if (btsrec_unmatched(rec, options->show.cpus, options->show.nr_cpus, &filter, offer_name,
			     &known, &matches, &unmatched) || matches)
		return;
	list_options(command, options, &unmatched.part, list, sizeof(list));
	front_notice("no %s matches %s%s%s%s%s%s%s%s", asked_for(&unmatched.part),
		     unmatched.together ? "all of " : "", list,
		     unmatched.together ? ": each alone matches some" : "",
		     *unmatched.why ? ": " : "", unmatched.why,
		     known.nearest.word ? "; did you mean '" : "",
		     known.nearest.word ? known.text : "", known.nearest.word ? "'?" : "");
}

/* They look at one thread, and fail if they do not find it. */
static bool reports_itself(const struct command *command)
{
	return command->self == FOR_DIFF || command->self == FOR_GDBSERVER;
}

enum command_exit command_run(const struct command *command, struct btsrec *rec,
			      const struct command_options *options)
{
	enum command_exit exit = command->run(rec, options);

	if (options->filtered && exit <= COMMAND_FAULTS && !reports_itself(command) &&
	    !btsrec_matched(rec))
		report_unmatched(command, rec, options);
	return exit;
}
