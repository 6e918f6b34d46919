// SPDX-License-Identifier: GPL-2.0-or-later
#include "out_file.h"

static enum btsrec_status write_report(struct btsrec *rec, const struct command_options *options,
				       const struct btsrec_sink *sink)
{
	/* A number that is asked for is used, 0 is all, however large the page becomes. */
	const struct btsrec_report opts = {
		.size = sizeof(opts),
		.max_events = options->show.max_events,
		.max_all_events = options->has_count ? 0 : BTSREC_REPORT_EVENTS,
	};

	btsrec_set_log(rec, !options->no_log);
	return btsrec_report(rec, &opts, sink);
}

enum command_exit command_report(struct btsrec *rec, const struct command_options *options)
{
	return out_file_run(rec, options, write_report);
}
