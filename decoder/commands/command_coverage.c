// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

enum command_exit command_coverage(struct btsrec *rec, const struct command_options *options)
{
	struct btsrec_coverage opts = {
		.size = sizeof(opts),
		.cpus = options->show.cpus,
		.nr_cpus = options->show.nr_cpus,
		.filter = &options->filter,
		.function = options->second,
		.lines = options->show.lines,
		.format = options->show.format,
	};
	enum btsrec_status status = btsrec_coverage(rec, &opts, &front_sink);

	return command_ended(rec, status);
}
