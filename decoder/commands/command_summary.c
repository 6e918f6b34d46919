// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

enum command_exit command_summary(struct btsrec *rec, const struct command_options *options)
{
	enum btsrec_status status;

	btsrec_set_log(rec, !options->no_log);
	btsrec_set_full_cpus(rec, options->show.cpus, options->show.nr_cpus);
	status = btsrec_summary(rec, options->show.format, &front_sink);

	return command_ended(rec, status);
}
