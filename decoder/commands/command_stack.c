// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

enum command_exit command_stack(struct btsrec *rec, const struct command_options *options)
{
	struct btsrec_stack opts = {
		.size = sizeof(opts),
		.cpus = options->show.cpus,
		.nr_cpus = options->show.nr_cpus,
		.thread = options->show.thread,
		.at = options->at,
		.nr_at = options->nr_at,
		.args = options->args,
		.format = options->show.format,
		.lines = options->show.lines,
	};
	enum btsrec_status status = btsrec_stack(rec, &opts, &front_sink);

	return command_ended(rec, status);
}
