// SPDX-License-Identifier: GPL-2.0-or-later
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cli.h"

#define DEFAULT_RUNS	7U
/* A run without the recorder takes at least as long; one with it perhaps forty times that. */
#define RUN_S		0.1
#define MAX_UNITS	(1ULL << 40)

/**
 * struct request - the command line
 * @only: the name of the work that is wanted; NULL: all
 * @argv: a command instead of all that; NULL: none
 */
struct request {
	unsigned int nr_runs;
	bool json;
	const char *only;
	char *const *argv;
};

static const struct bench_work command_work = { "command", "the command", NULL };

static void help(void)
{
	printf("usage: btsrec bench-overhead [OPTION]... [-- COMMAND [ARGUMENT]...]\n\n"
	       "What recording costs on this machine: work, in turns with the recorder disarmed and\n"
	       "armed. Instead of the works below it may be a COMMAND.\n\n"
	       "  -n, --pairs N           pairs of runs of each work (%u)\n"
	       "  -w, --work NAME         only this one\n"
	       "  -f, --format FORMAT     text or jsonl (text)\n"
	       "  -h, --help              this text\n\n", DEFAULT_RUNS);
	for (const struct bench_work *work = bench_works; work->name; work++)
		printf("  %-10s %s\n", work->name, work->what);
	printf("\nExit status: 3 where there is no recorder to measure.\n");
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
static bool measure(const struct request *request, const struct bench_work *work)
{
	struct bench_result result = { .work = work, .nr_runs = request->nr_runs };

	result.nr_units = enough_units(work, request->argv);
	if (!result.nr_units)
		return false;
	for (unsigned int pair = 0; pair < request->nr_runs; pair++) {
		bool first = pair % 2;

		if (!run_once(&result, pair, first, request->argv) ||
		    !run_once(&result, pair, !first, request->argv))
			return false;
	}
	bench_print(request->json, &result);
	return true;
}

static bool measure_all(const struct request *request)
{
	if (request->argv)
		return measure(request, &command_work);
	for (const struct bench_work *work = bench_works; work->name; work++)
		if ((!request->only || !strcmp(request->only, work->name)) &&
		    !measure(request, work))
			return false;
	return true;
}

static int bench(const struct request *request)
{
	int status = bench_device_open();
	bool done;

	if (status)
		return status;
	bench_block_signals();
	bench_print_head(request->json, bench_device_state(), request->nr_runs);
	done = measure_all(request);
	done = bench_device_close() && done;
	if (bench_stopped)
		return 128 + bench_stopped;
	return done ? COMMAND_OK : COMMAND_SYSTEM;
}

/* --- Command line ------------------------------------------------------- */

static bool is_work(const char *name)
{
	for (const struct bench_work *work = bench_works; work->name; work++)
		if (!strcmp(work->name, name))
			return true;
	return false;
}

static bool take_option(struct request *request, int letter)
{
	char *end;

	switch (letter) {
	case 'n':
		request->nr_runs = (unsigned int)strtoul(optarg, &end, 10);
		return !*end && request->nr_runs && request->nr_runs <= BENCH_MAX_RUNS;
	case 'w':
		request->only = optarg;
		return is_work(optarg);
	case 'f':
		request->json = !strcmp(optarg, "jsonl");
		return request->json || !strcmp(optarg, "text");
	}
	return false;
}

int bench_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "pairs", required_argument, NULL, 'n' },
		{ "work", required_argument, NULL, 'w' },
		{ "format", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct request request = { .nr_runs = DEFAULT_RUNS };
	int letter;

	opterr = 0;
	while ((letter = getopt_long(argc, argv, "+n:w:f:h", options, NULL)) != -1) {
		if (letter == 'h') {
			help();
			return COMMAND_OK;
		}
		if (!take_option(&request, letter)) {
			front_error("bench-overhead: '%s' is not understood; try 'btsrec "
				    "bench-overhead --help'",
				    argv[optind - 1]);
			return COMMAND_USAGE;
		}
	}
	if (optind < argc)
		request.argv = argv + optind;
	if (request.argv && request.only) {
		front_error("bench-overhead: either --work or a command");
		return COMMAND_USAGE;
	}
	return bench(&request);
}
