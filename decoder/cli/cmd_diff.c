// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli.h"

static enum cli_exit compare(struct btsrec *a, struct btsrec *b, const struct cli_options *options)
{
	struct btsrec_diff opts = {
		.has_cpu = options->show.nr_cpus,
		.cpu = options->show.nr_cpus ? options->show.cpus[0] : 0,
		.has_pid = options->filter.pids,
		.format = options->show.format,
	};
	enum btsrec_status status;
	bool differs;

	if (opts.has_pid && !cli_parse_pid(options->filter.pids, &opts.pid)) {
		cli_error("diff: --pid takes one number, not '%s'", options->filter.pids);
		return CLI_USAGE;
	}
	status = btsrec_diff(a, b, &opts, &cli_stdout, &differs);
	if (status)
		return cli_failed(a, status);
	return differs ? CLI_FAULTS : CLI_OK;
}

enum cli_exit cmd_diff(struct btsrec *rec, const struct cli_options *options)
{
	struct cli_options second = *options;
	struct btsrec *other = btsrec_new();
	enum cli_exit status;

	if (!other) {
		cli_error("out of memory");
		return CLI_SYSTEM;
	}
	second.dumps = &options->second;
	second.nr_dumps = 1;
	second.live = false;
	status = cli_open(other, &second);
	if (!status)
		status = compare(rec, other, options);
	btsrec_free(other);
	return status;
}
