// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench.h"
#include "cli.h"

/* A run without the recorder takes at least as long; one with it perhaps forty times that. */
#define RUN_S		0.1
#define MAX_UNITS	(1ULL << 40)

static const struct bench_work command_work = { "command", "the command", NULL };

static unsigned int nr_pairs_of(const struct command_options *options)
{
	return options->nr_pairs ? options->nr_pairs : COMMAND_DEFAULT_PAIRS;
}

static bool is_json(const struct command_options *options)
{
	return options->show.format == BTSREC_FORMAT_JSONL;
}

/* --- Measuring ---------------------------------------------------------- */

/* How many units take RUN_S with the recorder disarmed; 0 after a message. */
static uint64_t enough_units(const struct bench_work *work, char *const *argv)
{
	uint64_t nr_units = 1;
	double took_s;

	if (!work->run)
		return 1;
	if (!bench_device_arm(false))
		return 0;
	for (; nr_units < MAX_UNITS; nr_units *= 2) {
		if (!bench_time(work, nr_units, argv, &took_s))
			return 0;
		if (took_s >= RUN_S)
			break;
	}
	return nr_units;
}

static bool run_once(struct bench_result *result, unsigned int pair, bool armed, char *const *argv)
{
	double *ret_s = armed ? &result->armed_s[pair] : &result->disarmed_s[pair];

	return bench_device_arm(armed) && bench_time(result->work, result->nr_units, argv, ret_s) &&
	       (!armed || bench_device_records());
}

/* The pairs begin by turns with the one and the other, so that what drifts is in both. */
static bool measure(const struct command_options *options, const struct bench_work *work)
{
	struct bench_result result = { .work = work, .nr_runs = nr_pairs_of(options) };

	result.nr_units = enough_units(work, options->rest);
	if (!result.nr_units)
		return false;
	for (unsigned int pair = 0; pair < result.nr_runs; pair++) {
		bool first = pair % 2;

		if (!run_once(&result, pair, first, options->rest) ||
		    !run_once(&result, pair, !first, options->rest))
			return false;
	}
	bench_print(is_json(options), &result);
	return true;
}

static bool measure_all(const struct command_options *options)
{
	enum command_work which = COMMAND_WORK_BRANCHES;

	if (options->rest)
		return measure(options, &command_work);
	for (const struct bench_work *work = bench_works; work->name; work++, which++)
		if ((!options->work || options->work == which) && !measure(options, work))
			return false;
	return true;
}

enum command_exit command_bench(struct btsrec *rec, const struct command_options *options)
{
	int status;
	bool done;

	(void)rec;
	if (options->rest && options->work) {
		front_error("bench-overhead: either --work or a command");
		return COMMAND_USAGE;
	}
	status = bench_device_open("bench-overhead");
	if (status)
		return (enum command_exit)status;
	bench_block_signals();
	bench_print_head(is_json(options), bench_device_state(), nr_pairs_of(options));
	done = measure_all(options);
	done = bench_device_close() && done;
	if (bench_stopped)
		return (enum command_exit)(128 + bench_stopped);
	return done ? COMMAND_OK : COMMAND_SYSTEM;
}
