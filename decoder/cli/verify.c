// SPDX-License-Identifier: GPL-2.0-or-later
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cli.h"
#include "verify.h"

/* Enough for the longest run, on a machine that does little else. */
#define MIN_RING_BYTES (1000 * 1000)

/* What leaves branches out, so that nothing could be concluded. */
static bool records_all(void)
{
	static const char *const wanted[] = {"mode: all\n", "source: bts\n", "tasks: all\n",
					     "max_rate: 0\n"};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (bench_device_has(wanted[i]))
			continue;
		front_error("verify-hardware: the recorder leaves branches out: /dev/btsrec must "
			    "say \"%.*s\"",
			    (int)strlen(wanted[i]) - 1, wanted[i]);
		return false;
	}
	if (bench_device_ring_bytes() >= MIN_RING_BYTES)
		return true;
	front_error("verify-hardware: the rings are too small; load with ring_bytes=1M or more");
	return false;
}

static bool is_recording(unsigned int cpu)
{
	char line[32];

	snprintf(line, sizeof(line), "cpu%u: armed ", cpu);
	return bench_device_has(line);
}

/* The CPU to ask: the one that was named, or the first that records. */
static bool choose_cpu(const struct command_options *options, unsigned int *ret)
{
	cpu_set_t allowed;

	if (options->show.nr_cpus) {
		*ret = options->show.cpus[0];
		if (is_recording(*ret))
			return true;
		front_error("verify-hardware: CPU %u does not record", *ret);
		return false;
	}
	CPU_ZERO(&allowed);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (*ret = 0; *ret < CPU_SETSIZE; ++*ret)
		if (CPU_ISSET(*ret, &allowed) && is_recording(*ret))
			return true;
	front_error("verify-hardware: no CPU records that this process may use");
	return false;
}

static bool prepare(void)
{
	verify_shared = mmap(NULL, sizeof(*verify_shared), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return verify_shared != MAP_FAILED;
}

static bool ask_all(unsigned int cpu)
{
	struct verify_history history = {0};
	bool done;

	history.records = calloc(VERIFY_MAX_RECORDS, sizeof(*history.records));
	if (!history.records || !prepare()) {
		front_error("out of memory");
		free(history.records);
		return false;
	}
	done = verify_ask_codes(cpu, &history) && verify_ask_sequence(cpu, &history) &&
	       verify_ask_interrupts(cpu, &history) && verify_ask_idle(cpu, &history) &&
	       verify_ask_steps(cpu, &history) && verify_ask_freeze() && verify_ask_costs();
	free(history.records);
	munmap(verify_shared, sizeof(*verify_shared));
	return done;
}

enum command_exit command_verify(struct btsrec *rec, const struct command_options *options)
{
	int status = bench_device_open("verify-hardware");
	unsigned int cpu, nr_differ = 0;
	bool done;

	(void)rec;
	if (status)
		return (enum command_exit)status;
	if (!records_all())
		return COMMAND_NO_RECORDER;
	bench_block_signals();
	done = bench_device_arm(true) && choose_cpu(options, &cpu) && verify_pin(cpu);
	if (done) {
		verify_begin(options->show.format == BTSREC_FORMAT_JSONL, bench_device_state(),
			     cpu);
		done = ask_all(cpu);
	}
	if (done)
		nr_differ = verify_end();
	/* Arming ends the freeze of the last run, disarming would not. */
	done = bench_device_arm(true) && done;
	done = bench_device_close() && done;
	if (bench_stopped)
		return (enum command_exit)(128 + bench_stopped);
	if (!done)
		return COMMAND_SYSTEM;
	return nr_differ ? COMMAND_FAULTS : COMMAND_OK;
}
