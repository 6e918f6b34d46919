// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

enum command_exit command_check(struct btsrec *rec, const struct command_options *options)
{
	enum btsrec_status status;
	uint64_t nr_faults;

	(void)options;
	status = btsrec_check(rec, &front_sink, &nr_faults);
	if (status)
		return command_ended(rec, status);
	return nr_faults ? COMMAND_FAULTS : COMMAND_OK;
}
