// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

enum command_exit command_functions(struct btsrec *rec, const struct command_options *options)
{
	struct btsrec_functions opts = {
		.size = sizeof(opts),
		.cpus = options->show.cpus,
		.nr_cpus = options->show.nr_cpus,
		.filter = &options->filter,
		.by = options->by,
		.format = options->show.format,
	};
	enum btsrec_status status = btsrec_functions(rec, &opts, &front_sink);

	return command_ended(rec, status);
}
