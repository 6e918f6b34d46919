// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

enum command_exit command_last(struct btsrec *rec, const struct command_options *options)
{
	struct btsrec_search opts = {
		.size = sizeof(opts),
		.question = BTSREC_LAST,
		.cpus = options->show.cpus,
		.nr_cpus = options->show.nr_cpus,
		.filter = &options->filter,
		.what = options->second,
		.max_lines = options->show.max_events,
		.by = options->by,
		.format = options->show.format,
	};
	enum btsrec_status status = btsrec_search(rec, &opts, &front_sink);

	return command_ended(rec, status);
}
