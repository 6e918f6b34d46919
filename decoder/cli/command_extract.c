// SPDX-License-Identifier: GPL-2.0-or-later
#include "out_file.h"

static enum btsrec_status write_extract(struct btsrec *rec, const struct command_options *options,
					const struct btsrec_sink *sink)
{
	struct btsrec_extract opts = options->extract;

	opts.size = sizeof(opts);
	return btsrec_extract(rec, &opts, sink);
}

enum command_exit command_extract(struct btsrec *rec, const struct command_options *options)
{
	return out_file_run(rec, options, write_extract);
}
