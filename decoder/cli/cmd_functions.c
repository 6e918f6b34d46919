// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli.h"

enum cli_exit cmd_functions(struct btsrec *rec, const struct cli_options *options)
{
	struct btsrec_functions opts = {
		.cpus = options->show.cpus,
		.nr_cpus = options->show.nr_cpus,
		.filter = options->filter,
		.by = options->by,
		.format = options->show.format,
	};
	enum btsrec_status status = btsrec_functions(rec, &opts, &cli_stdout);

	return cli_told(rec, status);
}
