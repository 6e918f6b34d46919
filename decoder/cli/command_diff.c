// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli.h"

static enum command_exit compare(struct btsrec *a, struct btsrec *b,
				 const struct command_options *options)
{
	struct btsrec_diff opts = {
		.size = sizeof(opts),
		.has_cpu = options->show.nr_cpus,
		.cpu = options->show.nr_cpus ? options->show.cpus[0] : 0,
		.has_pid = options->filter.pids,
		.format = options->show.format,
	};
	enum btsrec_status status;
	bool differs;

	if (opts.has_pid && !command_parse_pid(options->filter.pids, &opts.pid)) {
		front_error("diff: --pid takes one number, not '%s'", options->filter.pids);
		return COMMAND_USAGE;
	}
	status = btsrec_diff(a, b, &opts, &front_sink, &differs);
	if (status)
		return command_failed(a, status);
	return differs ? COMMAND_FAULTS : COMMAND_OK;
}

enum command_exit command_diff(struct btsrec *rec, const struct command_options *options)
{
	struct command_options second = *options;
	struct btsrec *other = btsrec_new();
	enum command_exit status;

	if (!other) {
		front_error("out of memory");
		return COMMAND_SYSTEM;
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
