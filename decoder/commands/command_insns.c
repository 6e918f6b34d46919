// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

enum command_exit command_insns(struct btsrec *rec, const struct command_options *options)
{
	struct btsrec_insns opts = {
		.size = sizeof(opts),
		.cpus = options->show.cpus,
		.nr_cpus = options->show.nr_cpus,
		.thread = options->show.thread,
		.max_events = options->show.max_events,
		.filter = &options->filter,
		.bytes = options->bytes,
		.values = options->values,
		.lines = options->show.lines,
		.source_folder = options->source_folder,
		.format = options->show.format,
	};
	enum btsrec_status status = btsrec_insns(rec, &opts, &front_sink);

	return command_ended(rec, status);
}
