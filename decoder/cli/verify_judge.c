// SPDX-License-Identifier: GPL-2.0-or-later
/* What the histories say to each question. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "verify.h"

#define MARK_BYTES     48
#define GAPS_BYTES     128
#define NR_STEP_BLOCKS 4 /* stops of verify_step_code where blocks end */
#define MAX_TRIES      5
#define MAX_LATE_US    50000
/* "Predicted" of a loop that is learned at once, less that of jumps at random. */
#define MIN_MEANING 0.1

/* What the process of a run does; it begins as a copy of this one. */
static struct {
	char mark[MARK_BYTES];
	bool (*run)(uint64_t nr);
} wanted;

static char *const no_command[] = {NULL};

bool verify_mark(void)
{
	return bench_device_mark(wanted.mark);
}

/* Marked and frozen at once: what begins, ends and reads a process would fill the ring. */
static bool run_and_freeze(uint64_t nr)
{
	return wanted.run(nr) && bench_device_freeze();
}

bool verify_record(const char *name, bool (*run)(uint64_t nr), unsigned int cpu,
		   struct verify_history *ret)
{
	struct bench_work work = {name, "known branches", run_and_freeze};
	unsigned int tries = MAX_TRIES;
	double took_s;
	bool done;

	snprintf(wanted.mark, sizeof(wanted.mark), "verify-hardware %s", name);
	wanted.run = run;
	/* A busy machine may fill the ring meanwhile.  Arming ends the freeze of the run before. */
	do {
		done = bench_device_arm(true) && bench_time(&work, 1, no_command, &took_s) &&
		       verify_read(cpu, wanted.mark, ret);
	} while (done && !ret->has_mark && --tries);
	return done;
}

/* Whether @history can be asked at all; if not, the answer has been given. */
static bool is_whole(const char *name, const struct verify_history *history)
{
	if (!history->has_mark)
		verify_answer(name, VERIFY_NOT_SHOWN,
			      "The ring came round meanwhile; load with a larger ring_bytes=.");
	return history->has_mark;
}

/* The sentence about a gap that may be why something lacks. */
static const char *about_gaps(const struct verify_history *history, char text[GAPS_BYTES])
{
	*text = '\0';
	if (history->nr_gaps)
		snprintf(text, GAPS_BYTES, " There are %u gaps, the newest of reason %s.",
			 history->nr_gaps, history->reason);
	return text;
}

static void answer_match(const char *name, const struct verify_history *history,
			 const struct verify_match *match)
{
	char gaps[GAPS_BYTES];

	if (match->same)
		verify_answer(name, VERIFY_EXPECTED, "All %zu records are as expected.",
			      match->nr_found);
	else
		verify_answer(name, VERIFY_DIFFERS, "Of %zu records expected there are %zu; %s.%s",
			      match->nr_expected, match->nr_found, match->text,
			      about_gaps(history, gaps));
}

/* --- Code whose branches are a list -------------------------------------- */

static bool compare(const struct verify_code *code, const struct verify_branch *branches,
		    const struct verify_history *history, struct verify_match *ret)
{
	struct btsrec_record *records = calloc(VERIFY_MAX_RECORDS, sizeof(*records));
	size_t nr;

	if (!records) {
		front_error("out of memory");
		return false;
	}
	nr = verify_select(history, code, records);
	if (!code->keeps_faults)
		nr = verify_drop_interrupts(records, nr);
	verify_compare(code, branches, records, nr, ret);
	free(records);
	return true;
}

bool verify_ask_codes(unsigned int cpu, struct verify_history *history)
{
	struct verify_match match;

	if (!verify_record("codes", verify_run_codes, cpu, history))
		return false;
	for (const struct verify_code *code = verify_codes; code->name; code++) {
		if (!is_whole(code->name, history))
			continue;
		if (!compare(code, code->branches, history, &match))
			return false;
		answer_match(code->name, history, &match);
	}
	return true;
}

/* --- The long sequence --------------------------------------------------- */

static void answer_flags(const struct verify_history *history)
{
	uint64_t others = 0;

	for (size_t i = 0; i < history->nr; i++)
		others |= history->records[i].flags & ~BTSREC_FLAG_PREDICTED;
	if (!history->nr)
		verify_answer("flags", VERIFY_NOT_SHOWN, "There are no records.");
	else if (others)
		verify_answer("flags", VERIFY_DIFFERS, "Bits 0x%llx are set, too, in %zu records.",
			      (unsigned long long)others, history->nr);
	else
		verify_answer("flags", VERIFY_EXPECTED, "No other bit is set in %zu records.",
			      history->nr);
}

/* Of the branches @branch the part that is marked as predicted. */
static double predicted(const struct verify_history *history, const struct verify_branch *branch)
{
	size_t nr = 0, nr_predicted = 0;

	for (size_t i = 0; i < history->nr; i++) {
		const struct btsrec_record *record = &history->records[i];

		if (record->from != (uintptr_t)branch->from || record->to != (uintptr_t)branch->to)
			continue;
		nr++;
		nr_predicted += record->flags & BTSREC_FLAG_PREDICTED ? 1 : 0;
	}
	return nr ? (double)nr_predicted / (double)nr : 0;
}

static void answer_predicted(const struct verify_history *history)
{
	double always = predicted(history, &verify_ends.again);
	double random = predicted(history, &verify_ends.skip);
	enum verify_verdict verdict = VERIFY_NOT_SHOWN;

	if (always - random >= MIN_MEANING)
		verdict = VERIFY_EXPECTED;
	else if (random - always >= MIN_MEANING)
		verdict = VERIFY_DIFFERS;
	verify_answer("predicted", verdict,
		      "Set in %.1f %% of a jump that is always taken, in %.1f %% of one taken at "
		      "random.%s",
		      always * 100, random * 100,
		      verdict == VERIFY_NOT_SHOWN ? " It means nothing here." : "");
}

bool verify_ask_sequence(unsigned int cpu, struct verify_history *history)
{
	static struct verify_branch branches[VERIFY_MAX_BRANCHES + 1];
	struct verify_match match;

	verify_sequence_branches(branches);
	if (!verify_record("sequence", verify_run_sequence, cpu, history))
		return false;
	if (!is_whole("sequence", history) || !is_whole("flags", history) ||
	    !is_whole("predicted", history))
		return true;
	if (!compare(&verify_sequence, branches, history, &match))
		return false;
	answer_match("sequence", history, &match);
	answer_flags(history);
	answer_predicted(history);
	return true;
}

/* --- What comes from outside --------------------------------------------- */

/**
 * struct interruptions - what broke into the loop
 * @nr: entries of the kernel.  @nr_back: those that came back to where they were, at once or after
 * a signal.  @nr_lost: ends of some that have no entry.
 */
struct interruptions {
	unsigned int nr, nr_back, nr_lost;
};

static struct interruptions count_interrupts(const struct btsrec_record *records, size_t nr)
{
	struct interruptions ret = {0};

	for (size_t i = 0; i < nr; i++) {
		bool enters = i && records[i - 1].to >> 63;

		ret.nr += records[i].to >> 63;
		if (!(records[i].from >> 63))
			continue;
		ret.nr_lost += !enters;
		ret.nr_back += enters && records[i].to == records[i - 1].from;
	}
	return ret;
}

bool verify_ask_interrupts(unsigned int cpu, struct verify_history *history)
{
	static struct btsrec_record records[VERIFY_MAX_RECORDS];
	struct interruptions found;
	enum verify_verdict verdict = VERIFY_DIFFERS;
	char gaps[GAPS_BYTES];

	if (!verify_record("interrupts", verify_run_interrupts, cpu, history))
		return false;
	if (!is_whole("interrupt", history))
		return true;
	found = count_interrupts(records, verify_select(history, &verify_wait_code, records));
	if (found.nr == found.nr_back && !found.nr_lost)
		verdict = found.nr ? VERIFY_EXPECTED : VERIFY_NOT_SHOWN;
	verify_answer("interrupt", verdict,
		      "Of %u interrupts in the loop %u came back to where they were; %u ends have "
		      "no entry; the timer sent %u signals.%s",
		      found.nr, found.nr_back, found.nr_lost, verify_shared->nr_signals,
		      about_gaps(history, gaps));
	return true;
}

/* The name of the deepest idle state that the CPU has been in since boot, or "". */
static void deepest_idle(unsigned int cpu, char ret[32])
{
	char path[96];
	unsigned int state = 0;
	FILE *file;

	*ret = '\0';
	for (;; state++) {
		unsigned long long usage = 0;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/usage",
			 cpu, state);
		file = fopen(path, "r");
		if (!file)
			return;
		if (fscanf(file, "%llu", &usage) != 1)
			usage = 0;
		fclose(file);
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/name",
			 cpu, state);
		file = usage ? fopen(path, "r") : NULL;
		if (file && fscanf(file, "%31[A-Za-z0-9_-]", ret) != 1)
			*ret = '\0';
		if (file)
			fclose(file);
	}
}

bool verify_ask_idle(unsigned int cpu, struct verify_history *history)
{
	struct verify_match match;
	char state[32];

	if (!verify_record("idle", verify_run_idle, cpu, history))
		return false;
	if (!is_whole("idle", history))
		return true;
	if (!compare(verify_codes, verify_codes->branches, history, &match))
		return false;
	deepest_idle(cpu, state);
	if (match.same && !history->has_foreign)
		verify_answer("idle", VERIFY_EXPECTED,
			      "It records after it; the deepest idle state so far: %s.",
			      *state ? state : "not known, no cpuidle driver");
	else
		verify_answer("idle", VERIFY_DIFFERS,
			      "%s After idling %zu of %zu records are there; deepest state: %s.",
			      history->has_foreign ? "Something switched BTS off." : "",
			      match.nr_found, match.nr_expected, *state ? state : "not known");
	return true;
}

/* --- Steps and the freeze ------------------------------------------------ */

bool verify_ask_steps(unsigned int cpu, struct verify_history *history)
{
	const struct verify_code *code = &verify_step_code;
	struct verify_match match;

	if (!verify_record("steps", verify_run_steps, cpu, history))
		return false;
	if (!is_whole("block-step", history))
		return true;
	if (!compare(code, code->branches, history, &match))
		return false;
	verify_answer("block-step", match.same ? VERIFY_EXPECTED : VERIFY_DIFFERS,
		      "%zu of %zu records of taken branches; %u stops, which is a step %s.%s%s",
		      match.nr_found, match.nr_expected, verify_shared->nr_stops,
		      verify_shared->nr_stops > NR_STEP_BLOCKS ? "for each instruction" :
								 "for each block",
		      match.same ? "" : " The first difference: ", match.text);
	return true;
}

bool verify_ask_freeze(void)
{
	struct verify_freeze freeze;

	if (!bench_device_arm(true) || !bench_device_freeze() || !verify_read_freeze(&freeze))
		return false;
	if (freeze.nr_cpus + freeze.nr_late < 2)
		verify_answer("freeze", VERIFY_NOT_POSSIBLE, "Only one CPU records.");
	else
		verify_answer("freeze",
			      freeze.spread_us < MAX_LATE_US && !freeze.nr_late ? VERIFY_EXPECTED :
										  VERIFY_DIFFERS,
			      "%u CPUs, %u of them by NMI; the last one stopped %.0f us after the "
			      "first, and %u did not in time.",
			      freeze.nr_cpus, freeze.nr_by_nmi, freeze.spread_us, freeze.nr_late);
	return true;
}

bool verify_ask_costs(void)
{
	static const struct bench_work work = {"costs", "known branches", verify_run_costs};
	double off_ns[VERIFY_NR_COSTS], *on_ns = verify_shared->cost_ns, took_s;
	char text[VERIFY_FOUND_BYTES] = "";
	size_t nr = 0;

	/* Armed first: that ends a freeze. */
	if (!bench_device_arm(true) || !bench_device_arm(false) ||
	    !bench_time(&work, 1, no_command, &took_s))
		return false;
	memcpy(off_ns, on_ns, sizeof(off_ns));
	if (!bench_device_arm(true) || !bench_time(&work, 1, no_command, &took_s))
		return false;
	for (unsigned int i = 0; i < VERIFY_NR_COSTS && nr < sizeof(text); i++)
		nr += (size_t)snprintf(text + nr, sizeof(text) - nr, "%s%s %.2f and %.2f",
				       i ? ", " : "", verify_costs[i].name, off_ns[i], on_ns[i]);
	verify_answer("cost", on_ns[0] > off_ns[0] ? VERIFY_EXPECTED : VERIFY_DIFFERS,
		      "ns without and with BTS: %s.", text);
	return true;
}
