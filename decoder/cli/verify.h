/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * btsrec verify-hardware: does this processor record what docs/develop/hardware.md assumes?
 * verify_list.c has the questions, verify_code.c the instructions, and verify_run.c executes them.
 * verify_read.c takes their branches out of the history, verify_match.c compares them.
 * verify_judge.c gives the answers, verify_print.c prints them, verify.c has the order.
 */
#ifndef BTSREC_VERIFY_H
#define BTSREC_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench.h"

/* --- The questions ------------------------------------------------------- */

enum verify_verdict {
	VERIFY_EXPECTED,
	VERIFY_DIFFERS,
	VERIFY_NOT_SHOWN,	/* it was tried, and the answer was not there to see */
	VERIFY_NOT_POSSIBLE,	/* on this machine, or by a program */
};

/**
 * struct verify_question - what is asked
 * @name: one word.
 * @expected: by the SDM, or by how the emulated machine answers it.
 * @touches: which page, and section, is wrong if the answer differs.
 * @impossible: why a program cannot ask it; NULL: it can.
 */
struct verify_question {
	const char *name;
	const char *question;
	const char *expected;
	const char *touches;
	const char *impossible;
};

#define VERIFY_FOUND_BYTES	512

/** struct verify_answer - @found is one sentence without addresses of this machine */
struct verify_answer {
	enum verify_verdict verdict;
	char found[VERIFY_FOUND_BYTES];
};

/** verify_questions - ends with a name of NULL */
extern const struct verify_question verify_questions[];

/** verify_answer() - of the question @name; prints it, and counts those that differ */
void verify_answer(const char *name, enum verify_verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** verify_begin() - print what the machine is */
void verify_begin(bool json, const char *state, unsigned int cpu);

/** verify_end() - those that no program can ask, and the sum; returns how many differ */
unsigned int verify_end(void);

/* --- Code with known branches -------------------------------------------- */

/**
 * struct verify_branch - @times times in a row
 * @from, @to: NULL: anywhere in the kernel.
 */
struct verify_branch {
	const char *from;
	const char *to;
	unsigned int times;
};

/**
 * struct verify_code - a piece of code and its branches
 * @name: of the question.
 * @run: @argument is for it alone.
 * @begin, @end: where the code is.
 * @branches: ends with @times of 0.
 * @keeps_faults: a branch to the kernel and back to the same place is one of @branches, and
 *	not an interrupt.
 */
struct verify_code {
	const char *name;
	void (*run)(void *argument);
	const char *begin, *end;
	const struct verify_branch *branches;
	bool keeps_faults;
};

/** verify_codes - each with its branches; ends with a name of NULL; empty where not x86-64 */
extern const struct verify_code verify_codes[];

/* All code with known branches is between them. */
extern const char verify_code_begin[], verify_code_end[];

/* Rounds of a loop whose branches a shift register decides; its code has no @branches. */
#define VERIFY_ROUNDS		4000
#define VERIFY_MAX_BRANCHES	(VERIFY_ROUNDS * 3)

/** verify_sequence - the loop; the ends of its branches */
extern const struct verify_code verify_sequence;
extern const struct verify_ends {
	struct verify_branch skip;	/* taken at random */
	struct verify_branch call, ret;	/* if that is not */
	struct verify_branch again;	/* taken in each round but the last */
} verify_ends;

/** verify_sequence_branches() - in order; returns how many of VERIFY_MAX_BRANCHES */
size_t verify_sequence_branches(struct verify_branch *ret);

/** verify_step_code - a few branches after INT3, for a debugger */
extern const struct verify_code verify_step_code;

/** verify_wait_code - a loop of string instructions, for interrupts; runs about a millisecond */
extern const struct verify_code verify_wait_code;

#define VERIFY_NR_COSTS	4

/** verify_costs - code of eight branches of a kind in each round; the argument is the rounds */
extern const struct verify_cost {
	const char *name;
	void (*run)(void *rounds);
} verify_costs[VERIFY_NR_COSTS];

/* What signal handlers are for the code that faults: each goes on after the instruction. */
extern void verify_handler_next(int number);
extern void verify_handler_skip(int number);

/* --- What was recorded --------------------------------------------------- */

#define VERIFY_MAX_RECORDS	65536

/**
 * struct verify_history - the branches from or to the code since the mark
 * @nr: of @records, oldest first.
 * @has_mark: nothing since then was overwritten.
 * @nr_gaps: since then; @reason of the newest; @has_foreign: one is of BTS that was found off.
 */
struct verify_history {
	struct btsrec_record *records;
	size_t nr;
	bool has_mark, has_foreign;
	unsigned int nr_gaps;
	char reason[48];
};

/**
 * verify_read() - read the history of @cpu since the newest mark @text
 * @ret: its records have room for VERIFY_MAX_RECORDS.
 *
 * Return: false after a message.
 */
bool verify_read(unsigned int cpu, const char *text, struct verify_history *ret);

/** struct verify_freeze - how a freeze reached the CPUs */
struct verify_freeze {
	unsigned int nr_cpus, nr_by_nmi, nr_late;	/* late: not when it was over */
	double spread_us;	/* between the first and the last */
};

/** verify_read_freeze() - of a recorder that is frozen; false after a message */
bool verify_read_freeze(struct verify_freeze *ret);

/* --- Comparing ----------------------------------------------------------- */

/** struct verify_match - the first difference; @text is a sentence, "" if there is none */
struct verify_match {
	bool same;
	size_t nr_expected, nr_found;
	char text[VERIFY_FOUND_BYTES];
};

/** verify_select() - the records of @code; returns how many were copied to @ret */
size_t verify_select(const struct verify_history *history, const struct verify_code *code,
		     struct btsrec_record *ret);

/** verify_drop_interrupts() - drop branches to the kernel and back to the same place */
size_t verify_drop_interrupts(struct btsrec_record *records, size_t nr);

/** verify_compare() - @records against @branches, which end with @times of 0 */
void verify_compare(const struct verify_code *code, const struct verify_branch *branches,
		    const struct btsrec_record *records, size_t nr, struct verify_match *ret);

/* --- Doing it ------------------------------------------------------------ */

/** verify_pin() - run on @cpu alone from now on; false after a message */
bool verify_pin(unsigned int cpu);

/** verify_run_codes, verify_run_sequence, ... - work for bench_time() */
bool verify_run_codes(uint64_t nr);
bool verify_run_sequence(uint64_t nr);
bool verify_run_interrupts(uint64_t nr);
bool verify_run_idle(uint64_t nr);
bool verify_run_steps(uint64_t nr);
bool verify_run_costs(uint64_t nr);

/** struct verify_shared - what a run reports, in memory that both processes have */
struct verify_shared {
	unsigned int nr_signals;
	unsigned int nr_stops;
	double cost_ns[VERIFY_NR_COSTS];	/* of one branch */
};

extern struct verify_shared *verify_shared;

/** verify_mark() - each run does this where the part begins that is looked at */
bool verify_mark(void);

/** verify_record() - run @work with the recorder armed anew, and read what it recorded */
bool verify_record(const char *name, bool (*run)(uint64_t nr), unsigned int cpu,
		   struct verify_history *ret);

/* The questions that are asked together; false: a run failed, after a message. */
bool verify_ask_codes(unsigned int cpu, struct verify_history *history);
bool verify_ask_sequence(unsigned int cpu, struct verify_history *history);
bool verify_ask_interrupts(unsigned int cpu, struct verify_history *history);
bool verify_ask_idle(unsigned int cpu, struct verify_history *history);
bool verify_ask_steps(unsigned int cpu, struct verify_history *history);
bool verify_ask_freeze(void);
bool verify_ask_costs(void);

#endif /* BTSREC_VERIFY_H */
