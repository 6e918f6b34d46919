// SPDX-License-Identifier: GPL-2.0-or-later
#include "jobs.h"

#include <string.h>

/* Only one that opens a second session wants @image. */
#define JOB(name) \
	static enum btsrec_status name(struct btsrec *rec, \
				       const struct btsrec_image *image __attribute__((unused)), \
				       const struct btsrec_sink *sink)

JOB(info)
{
	return btsrec_info(rec, NULL, sink);
}

JOB(info_json)
{
	struct btsrec_info opts = { .size = sizeof(opts), .registers = true,
				    .format = BTSREC_FORMAT_JSONL };

	return btsrec_info(rec, &opts, sink);
}

JOB(check)
{
	uint64_t nr_faults;

	return btsrec_check(rec, sink, &nr_faults);
}

JOB(prove)
{
	uint64_t nr_faults;

	return btsrec_prove(rec, BTSREC_FORMAT_TEXT, sink, &nr_faults);
}

JOB(why)
{
	struct btsrec_why opts = { .size = sizeof(opts), .value = "rax" };

	return btsrec_why(rec, &opts, sink);
}

JOB(summary)
{
	return btsrec_summary(rec, BTSREC_FORMAT_TEXT, sink);
}

JOB(summary_json)
{
	return btsrec_summary(rec, BTSREC_FORMAT_JSONL, sink);
}

JOB(show)
{
	struct btsrec_show opts = { .size = sizeof(opts), .types = true };

	return btsrec_show(rec, &opts, sink);
}

JOB(show_newest)
{
	struct btsrec_show opts = { .size = sizeof(opts), .newest_first = true, .max_events = 9,
				    .format = BTSREC_FORMAT_JSONL };

	return btsrec_show(rec, &opts, sink);
}

JOB(show_fold)
{
	struct btsrec_show opts = {
		.size = sizeof(opts), .fold = true, .lines = true, .format = BTSREC_FORMAT_TSV
	};

	return btsrec_show(rec, &opts, sink);
}

JOB(show_thread)
{
	struct btsrec_show opts = { .size = sizeof(opts), .thread = "8" };

	return btsrec_show(rec, &opts, sink);
}

JOB(show_filtered)
{
	const struct btsrec_filter filter = {
		.size = sizeof(filter), .kernel = true, .symbols = "*", .pids = "7,8"
	};
	struct btsrec_show opts = { .size = sizeof(opts), .filter = &filter };

	return btsrec_show(rec, &opts, sink);
}

JOB(insns)
{
	struct btsrec_insns opts = { .size = sizeof(opts), .bytes = true };

	return btsrec_insns(rec, &opts, sink);
}

JOB(insns_thread)
{
	struct btsrec_insns opts = {
		.size = sizeof(opts), .thread = "8", .format = BTSREC_FORMAT_JSONL
	};

	return btsrec_insns(rec, &opts, sink);
}

JOB(calls)
{
	struct btsrec_calls opts = { .size = sizeof(opts), .lines = true };

	return btsrec_calls(rec, &opts, sink);
}

JOB(calls_thread)
{
	struct btsrec_calls opts = {
		.size = sizeof(opts), .thread = "8", .format = BTSREC_FORMAT_JSONL
	};

	return btsrec_calls(rec, &opts, sink);
}

JOB(calls_filtered)
{
	const struct btsrec_filter filter = { .size = sizeof(filter), .types = "call,ret" };
	struct btsrec_calls opts = { .size = sizeof(opts), .filter = &filter };

	return btsrec_calls(rec, &opts, sink);
}

JOB(functions)
{
	struct btsrec_functions opts = { .size = sizeof(opts), .by = BTSREC_BY_TASK };

	return btsrec_functions(rec, &opts, sink);
}

JOB(last)
{
	struct btsrec_search opts = { .size = sizeof(opts), .what = "*", .by = BTSREC_BY_TASK };

	return btsrec_search(rec, &opts, sink);
}

static enum btsrec_status ask(struct btsrec *rec, enum btsrec_question question, const char *what,
			      const char *second, const struct btsrec_sink *sink)
{
	struct btsrec_search opts = { .size = sizeof(opts), .question = question, .what = what,
				      .second = second, .format = BTSREC_FORMAT_JSONL };

	return btsrec_search(rec, &opts, sink);
}

JOB(merged)
{
	return ask(rec, BTSREC_MERGED, NULL, NULL, sink);
}

JOB(pairs)
{
	return ask(rec, BTSREC_PAIRS, "0xffffffff81000000", "0xffffffff81000100", sink);
}

JOB(slow)
{
	return ask(rec, BTSREC_SLOW, NULL, NULL, sink);
}

JOB(locks)
{
	return ask(rec, BTSREC_LOCKS, NULL, NULL, sink);
}

JOB(path)
{
	return ask(rec, BTSREC_PATH, "0xffffffff81000000", "0xffffffff81000100", sink);
}

JOB(around)
{
	return ask(rec, BTSREC_AROUND, "0:1", NULL, sink);
}

JOB(coverage)
{
	struct btsrec_coverage opts = {
		.size = sizeof(opts), .function = "0xffffffff81000000", .lines = true
	};

	return btsrec_coverage(rec, &opts, sink);
}

JOB(stack)
{
	struct btsrec_stack opts = { .size = sizeof(opts), .format = BTSREC_FORMAT_TEXT };

	return btsrec_stack(rec, &opts, sink);
}

JOB(stack_thread)
{
	struct btsrec_stack opts = {
		.size = sizeof(opts), .thread = "8", .format = BTSREC_FORMAT_JSONL
	};

	return btsrec_stack(rec, &opts, sink);
}

JOB(timeline)
{
	struct btsrec_timeline opts = { .size = sizeof(opts), .format = BTSREC_FORMAT_TEXT };

	return btsrec_timeline(rec, &opts, sink);
}

JOB(diff)
{
	struct btsrec_diff opts = { .size = sizeof(opts), .format = BTSREC_FORMAT_TEXT };
	struct btsrec *other = btsrec_new();
	enum btsrec_status status = other ? btsrec_open_image(other, image) : BTSREC_ERR_NOMEM;
	bool differs;

	if (!status)
		status = btsrec_locate(other, 0, BTSREC_SCAN_DMA);
	if (!status)
		status = btsrec_diff(rec, other, &opts, sink, &differs);
	btsrec_free(other);
	return status;
}

static const struct btsrec_export everything = { .size = sizeof(everything) };

JOB(export_perf)
{
	return btsrec_export_perf(rec, &everything, sink);
}

JOB(export_chrome)
{
	return btsrec_export_chrome(rec, &everything, sink);
}

JOB(export_folded)
{
	return btsrec_export_folded(rec, &everything, sink);
}

JOB(export_lcov)
{
	return btsrec_export_lcov(rec, &everything, sink);
}

/* One after the other into the same sink. */
JOB(export_tables)
{
	struct btsrec_sink sinks[BTSREC_NR_TABLES];

	for (size_t i = 0; i < BTSREC_NR_TABLES; i++)
		sinks[i] = *sink;
	return btsrec_export_tables(rec, NULL, sinks, BTSREC_NR_TABLES);
}

JOB(report)
{
	const struct btsrec_report opts = { .size = sizeof(opts) };

	return btsrec_report(rec, &opts, sink);
}

JOB(report_cut)
{
	const struct btsrec_report opts = {
		.size = sizeof(opts), .max_events = 7, .max_all_events = 9
	};

	return btsrec_report(rec, &opts, sink);
}

JOB(extract)
{
	struct btsrec_extract opts = { .size = sizeof(opts) };

	return btsrec_extract(rec, &opts, sink);
}

JOB(extract_no_user)
{
	struct btsrec_extract opts = { .size = sizeof(opts), .no_user = true };

	return btsrec_extract(rec, &opts, sink);
}

/* What gdb says first; @arg: how much of it was given. */
static size_t gdb_asks(void *arg, char *buf, size_t room_bytes)
{
	static const char packets[] = "$g#67$mffffffff81000000,8#8a$Qbtrace:bts#45"
				      "$qXfer:btrace:read:all:0,fff#c2$D#44";
	size_t *given = arg, nr_bytes = sizeof(packets) - 1 - *given;

	if (nr_bytes > room_bytes)
		nr_bytes = room_bytes;
	memcpy(buf, packets + *given, nr_bytes);
	*given += nr_bytes;
	return nr_bytes;
}

JOB(gdbserver)
{
	struct btsrec_gdb wanted = { .size = sizeof(wanted), .cpu = 0 };
	size_t given = 0;
	struct btsrec_link link = { .read = gdb_asks, .arg = &given, .out = *sink };

	return btsrec_gdbserver(rec, &wanted, &link);
}

const struct job jobs[] = {
	{ "info", info, false },
	{ "info --format jsonl", info_json, false },
	{ "check", check, true },
	{ "prove", prove, false },
	{ "why", why, false },
	{ "summary", summary, false },
	{ "summary --format jsonl", summary_json, false },
	{ "show", show, false },
	{ "show -r", show_newest, false },
	{ "show --fold", show_fold, false },
	{ "show --thread", show_thread, false },
	{ "show --symbol", show_filtered, false },
	{ "insns", insns, false },
	{ "insns --thread", insns_thread, false },
	{ "calls", calls, false },
	{ "calls --thread", calls_thread, false },
	{ "calls --type", calls_filtered, false },
	{ "functions", functions, false },
	{ "last", last, false },
	{ "calls --merge", merged, false },
	{ "pairs", pairs, false },
	{ "slow", slow, false },
	{ "path", path, false },
	{ "locks", locks, false },
	{ "around", around, false },
	{ "coverage", coverage, false },
	{ "stack", stack, false },
	{ "stack --thread", stack_thread, false },
	{ "timeline", timeline, false },
	{ "diff", diff, false },
	{ "export --to perf", export_perf, false },
	{ "export --to chrome", export_chrome, false },
	{ "export --to folded", export_folded, false },
	{ "export --to lcov", export_lcov, false },
	{ "export --to tables", export_tables, false },
	{ "report", report, false },
	{ "report-cut", report_cut, false },
	{ "extract", extract, false },
	{ "extract --no-user", extract_no_user, false },
	{ "gdbserver", gdbserver, false },
	{ NULL, NULL, false },
};
