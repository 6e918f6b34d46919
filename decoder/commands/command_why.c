// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

enum command_exit command_why(struct btsrec *rec, const struct command_options *options)
{
	struct btsrec_why opts = {
		.size = sizeof(opts),
		.has_cpu = options->show.nr_cpus,
		.cpu = options->show.nr_cpus ? options->show.cpus[0] : 0,
		.value = options->value,
		.has_at = options->nr_at,
		.at_n = options->nr_at ? options->at[0].first : 0,
		.format = options->show.format,
		.max_events = options->show.max_events,
	};

	return command_ended(rec, btsrec_why(rec, &opts, &front_sink));
}
