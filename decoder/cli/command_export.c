// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli.h"
#include "out_file.h"

static enum btsrec_status write_export(struct btsrec *rec, const struct command_options *options,
				       const struct btsrec_sink *sink)
{
	const struct btsrec_export opts = {
		.size = sizeof(opts),
		.cpus = options->show.cpus,
		.nr_cpus = options->show.nr_cpus,
		.filter = &options->filter,
	};

	switch (options->kind) {
	case COMMAND_EXPORT_PERF:
	case COMMAND_EXPORT_TABLES:
		break;
	case COMMAND_EXPORT_CHROME:
		return btsrec_export_chrome(rec, &opts, sink);
	case COMMAND_EXPORT_FOLDED:
		return btsrec_export_folded(rec, &opts, sink);
	case COMMAND_EXPORT_LCOV:
		return btsrec_export_lcov(rec, &opts, sink);
	}
	return btsrec_export_perf(rec, &opts, sink);
}

/* Of these a reader cannot see where something is missing: the others have marks for it. */
static bool has_no_mark_for_gaps(enum command_export_kind kind)
{
	return kind == COMMAND_EXPORT_FOLDED || kind == COMMAND_EXPORT_LCOV;
}

enum command_exit command_export(struct btsrec *rec, const struct command_options *options)
{
	enum command_exit status;

	if (options->kind == COMMAND_EXPORT_TABLES)
		return cli_export_tables(rec, options);
	if (options->extract.no_user || options->extract.no_paths) {
		front_error("--no-user and --no-paths are of --to tables and of btsrec extract");
		return COMMAND_USAGE;
	}
	status = out_file_run(rec, options, write_export);
	if (status == COMMAND_OK && has_no_mark_for_gaps(options->kind))
		status = command_say_holes(rec, &options->show);
	return status;
}
