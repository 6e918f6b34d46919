// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli.h"

enum cli_exit cmd_summary(struct btsrec *rec, const struct cli_options *options)
{
	enum btsrec_status status = btsrec_summary(rec, options->show.format, &cli_stdout);

	return cli_told(rec, status);
}
