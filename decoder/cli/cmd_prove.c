// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli.h"

enum cli_exit cmd_prove(struct btsrec *rec, const struct cli_options *options)
{
	enum btsrec_status status;
	uint64_t nr_faults;

	status = btsrec_prove(rec, options->show.format, &cli_stdout, &nr_faults);
	if (status)
		return cli_told(rec, status);
	return nr_faults ? CLI_FAULTS : CLI_OK;
}
