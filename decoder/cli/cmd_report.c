// SPDX-License-Identifier: GPL-2.0-or-later
#include "out_file.h"

static enum btsrec_status write_report(struct btsrec *rec, const struct cli_options *options,
				      const struct btsrec_sink *sink)
{
	(void)options;
	return btsrec_report(rec, sink);
}

enum cli_exit cmd_report(struct btsrec *rec, const struct cli_options *options)
{
	return out_file_run(rec, options, write_report);
}
