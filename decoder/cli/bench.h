/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * btsrec bench-overhead: what recording costs on this machine.  bench.c takes the command line
 * apart and the turns, bench_device.c moves the recorder, bench_work.c is the work,
 * bench_print.c says what came of it.
 */
#ifndef BTSREC_BENCH_H
#define BTSREC_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command.h"

#define BENCH_STATE_BYTES	65536

/**
 * struct bench_work - something to do
 * @name: one word.
 * @what: what one of its units is.
 * @run: does @nr_units of them; returns false if the system does not let it.  NULL: a command.
 */
struct bench_work {
	const char *name;
	const char *what;
	bool (*run)(uint64_t nr_units);
};

/** bench_works - in the order of enum command_work; ends with a name of NULL */
extern const struct bench_work bench_works[];

/**
 * struct bench_result - one work
 * @nr_units: in each run.
 * @nr_runs: of each kind.
 * @disarmed_s, @armed_s: elapsed seconds; those of one number are a pair.
 */
struct bench_result {
	const struct bench_work *work;
	uint64_t nr_units;
	unsigned int nr_runs;
	double disarmed_s[COMMAND_MAX_PAIRS];
	double armed_s[COMMAND_MAX_PAIRS];
};

/**
 * struct bench_spread - of the same number of values each
 */
struct bench_spread {
	double disarmed_s;
	double armed_s;
	double ratio, least_ratio, most_ratio;
};

/** bench_spread_of() - medians of @result's seconds, and of the ratios of its pairs */
struct bench_spread bench_spread_of(const struct bench_result *result);

/**
 * bench_time() - do the work in a process of its own
 * @nr_units: ignored for a command
 * @argv: the command, if @work has no function
 * @ret_s: elapsed seconds
 *
 * A command's standard output goes nowhere.
 *
 * Return: false after a message, or after a signal that ends the program (bench_stopped).
 */
bool bench_time(const struct bench_work *work, uint64_t nr_units, char *const *argv,
		double *ret_s);

/** bench_stopped - the number of the signal that ended a run; 0: none did */
extern int bench_stopped;

/** bench_block_signals() - SIGHUP, SIGINT and SIGTERM end a run of bench_time(), and no more */
void bench_block_signals(void);

/**
 * bench_device_open() - find the recorder, and remember whether it is armed
 * @command: for messages, from now on.
 *
 * Return: COMMAND_OK, or COMMAND_NO_RECORDER after a message: it is not loaded, one is not root,
 * it keeps the history of a fault, or somebody copies its rings.
 */
int bench_device_open(const char *command);

/** bench_command - for messages: what bench_device_open() was given */
extern const char *bench_command;

/**
 * bench_device_arm() - arm or disarm
 *
 * Return: false after a message.
 */
bool bench_device_arm(bool armed);

/** bench_device_mark() - a mark on this CPU; false after a message */
bool bench_device_mark(const char *text);

/** bench_device_freeze() - false after a message */
bool bench_device_freeze(void);

/** bench_device_ring_bytes() - of the smallest ring, as the device said when it was opened */
uint64_t bench_device_ring_bytes(void);

/** bench_device_has() - whether the device has a line that begins with @line, now */
bool bench_device_has(const char *line);

/** bench_device_records() - whether all CPUs record; false after a message */
bool bench_device_records(void);

/** bench_device_close() - leave the recorder as it was found; false after a message */
bool bench_device_close(void);

/** bench_print_machine() - processor, kernel, and what the recorder was loaded with */
void bench_print_machine(bool json, const char *state);

/** bench_print_stepping() - more of the processor, and whether it is a virtual one */
void bench_print_stepping(bool json);

/** bench_print_head() - the machine, and for text the titles of the table */
void bench_print_head(bool json, const char *state, unsigned int nr_runs);
void bench_print(bool json, const struct bench_result *result);

/** bench_device_state() - what the device said when it was opened */
const char *bench_device_state(void);

#endif /* BTSREC_BENCH_H */
