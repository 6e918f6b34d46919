// SPDX-License-Identifier: GPL-2.0-or-later
/* The commands that ask for single calls of all CPUs. */
#include "command.h"

static struct btsrec_search search_of(const struct command_options *options,
				      enum btsrec_question question)
{
	return (struct btsrec_search){
		.size = sizeof(struct btsrec_search),
		.question = question,
		.cpus = options->show.cpus,
		.nr_cpus = options->show.nr_cpus,
		.filter = &options->filter,
		.what = options->second,
		.second = options->third,
		.max_lines = options->show.max_events,
		.max_depth = options->max_depth,
		.by = options->by,
		.any_thread = options->any_thread,
		.format = options->show.format,
	};
}

static enum command_exit answer(struct btsrec *rec, const struct btsrec_search *opts)
{
	return command_ended(rec, btsrec_search(rec, opts, &front_sink));
}

static enum command_exit ask(struct btsrec *rec, const struct command_options *options,
			     enum btsrec_question question)
{
	struct btsrec_search opts = search_of(options, question);

	return answer(rec, &opts);
}

enum command_exit command_last(struct btsrec *rec, const struct command_options *options)
{
	return ask(rec, options, BTSREC_LAST);
}

/* One thread is on all CPUs here anyway. */
enum command_exit command_merged(struct btsrec *rec, const struct command_options *options)
{
	struct btsrec_search opts = search_of(options, BTSREC_MERGED);
	struct btsrec_filter filter = options->filter;

	if (options->show.lines || options->args) {
		front_error("calls: --merge prints no %s",
			    options->args ? "arguments" : "source lines");
		return COMMAND_USAGE;
	}
	if (options->show.thread && filter.pids) {
		front_error("calls: --thread and --pid choose threads: give one of them");
		return COMMAND_USAGE;
	}
	if (options->show.thread)
		filter.pids = options->show.thread;
	opts.filter = &filter;
	return answer(rec, &opts);
}

enum command_exit command_pairs(struct btsrec *rec, const struct command_options *options)
{
	return ask(rec, options, BTSREC_PAIRS);
}

enum command_exit command_slow(struct btsrec *rec, const struct command_options *options)
{
	struct btsrec_search opts = search_of(options, BTSREC_SLOW);

	if (!options->has_count)
		opts.max_lines = COMMAND_DEFAULT_SLOW;
	return answer(rec, &opts);
}

enum command_exit command_path(struct btsrec *rec, const struct command_options *options)
{
	return ask(rec, options, BTSREC_PATH);
}

enum command_exit command_around(struct btsrec *rec, const struct command_options *options)
{
	return ask(rec, options, BTSREC_AROUND);
}

enum command_exit command_locks(struct btsrec *rec, const struct command_options *options)
{
	return ask(rec, options, BTSREC_LOCKS);
}
