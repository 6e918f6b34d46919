// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

enum command_exit command_calls(struct btsrec *rec, const struct command_options *options)
{
	struct btsrec_calls opts = {
		.size = sizeof(opts),
		.cpus = options->show.cpus,
		.nr_cpus = options->show.nr_cpus,
		.thread = options->show.thread,
		.max_events = options->show.max_events,
		.filter = &options->filter,
		.max_depth = options->max_depth,
		.lines = options->show.lines,
		.args = options->args,
		.format = options->show.format,
	};
	enum btsrec_status status;

	if (options->merge)
		return command_merged(rec, options);
	status = btsrec_calls(rec, &opts, &front_sink);
	return command_ended(rec, status);
}
