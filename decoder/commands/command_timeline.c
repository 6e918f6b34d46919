// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

enum command_exit command_timeline(struct btsrec *rec, const struct command_options *options)
{
	struct btsrec_timeline opts = {
		.size = sizeof(opts),
		.cpus = options->show.cpus,
		.nr_cpus = options->show.nr_cpus,
		.filter = &options->filter,
		.max_events = options->show.max_events,
		.format = options->show.format,
	};
	enum btsrec_status status;

	btsrec_set_log(rec, !options->no_log);
	status = btsrec_timeline(rec, &opts, &front_sink);

	return command_ended(rec, status);
}
