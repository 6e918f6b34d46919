// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

enum command_exit command_info(struct btsrec *rec, const struct command_options *options)
{
	struct btsrec_info opts = {
		.size = sizeof(opts),
		.registers = options->registers,
		.format = options->show.format,
	};

	return command_ended(rec, btsrec_info(rec, &opts, &front_sink));
}
