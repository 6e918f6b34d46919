/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of <btsrec/decoder.h>: histories as text, JSON Lines, tables or a page. */
#ifndef BTSREC_VIEWS_H
#define BTSREC_VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <btsrec/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A view that was written to its end still fails, with BTSREC_ERR_NOMEM or BTSREC_ERR_IO,
 * if something may be missing in it: a name or a source line for which there was no memory,
 * or which the image refused to read.  So do all later views of that session.
 */

/**
 * struct btsrec_sink - where rendered text goes
 * @write: take @len_bytes bytes of @text; false to stop (pager closed, Ctrl-C).
 */
struct btsrec_sink {
	bool (*write)(void *arg, const char *text, size_t len_bytes);
	void *arg;
};

enum btsrec_format {
	BTSREC_FORMAT_TEXT,
	BTSREC_FORMAT_JSONL,
	BTSREC_FORMAT_TSV,
};

/**
 * struct btsrec_filter - which events are wanted; texts in the forms of btsrec-show(1)
 * @pids, @tgids: who ran: lists of thread and of process numbers.
 * @comm: who ran: a pattern as in glob(7).
 * @user, @kernel: only this level; both or none: both.
 * @from, @to: only events that can have happened between these, both included.
 * @symbols: only branches from or to these: a list of patterns.
 * @ranges: only branches from or to these addresses: a list of FIRST-LAST.
 * @types: only these kinds of branches: a list of what "type" says in JSON.
 *
 * Borrowed, as the struct itself, while the call lasts that it is given to; a NULL
 * text asks for nothing.  What is given must all hold.
 */
struct btsrec_filter {
	const char *pids;
	const char *tgids;
	const char *comm;
	bool user;
	bool kernel;
	const char *from;
	const char *to;
	const char *symbols;
	const char *ranges;
	const char *types;
};

/**
 * struct btsrec_show - what btsrec_show() prints
 * @cpus: CPU numbers, @nr_cpus of them; NULL: every CPU that has a ring.
 * @thread: NULL, or the number of a thread as text: only this one, followed over all CPUs
 *	in the order of time.  Then no @cpus, no @newest_first, and in @filter nobody else.
 * @filter: which events; the other level is told in one line per stretch.
 * @max_events: the newest so many of each CPU, or of @thread; 0: all.
 * @newest_first: reverse the order of the lines.
 * @fold: of branches that go round again in exactly the same way tell two rounds and how
 *	many more there were; then @max_events are lines, and there is no @newest_first.
 * @types: say of each branch what kind it is, by the code in the dump.
 * @lines: say which source lines both ends of a branch are made from, and at the end
 *	which files were not found.
 */
struct btsrec_show {
	const unsigned int *cpus;
	size_t nr_cpus;
	const char *thread;
	struct btsrec_filter filter;
	uint64_t max_events;
	bool newest_first;
	bool types;
	bool lines;
	bool fold;
	enum btsrec_format format;
};

/**
 * btsrec_info() - what was found: kernel, root, one line per CPU
 * btsrec_show() - the histories
 * btsrec_check() - validate all that can be validated, one line per finding
 *
 * *@ret_nr_faults of btsrec_check() counts the findings that are faults.
 *
 * Return: BTSREC_OK; BTSREC_ERR_STOPPED when the sink stopped; BTSREC_ERR_NO_CPU for
 * an @opts->cpus entry without ring; BTSREC_ERR_CORRUPT, but not from btsrec_info() and
 * btsrec_check(), if, without @opts->cpus, a CPU could not be shown, after all others were;
 * BTSREC_ERR_IO;
 * BTSREC_ERR_NOMEM; BTSREC_ERR_INVAL before btsrec_locate().
 */
BTSREC_API enum btsrec_status
btsrec_info(struct btsrec *rec, enum btsrec_format format,
	    const struct btsrec_sink *sink);
BTSREC_API enum btsrec_status
btsrec_show(struct btsrec *rec, const struct btsrec_show *opts,
	    const struct btsrec_sink *sink);
BTSREC_API enum btsrec_status
btsrec_check(struct btsrec *rec, const struct btsrec_sink *sink,
	     uint64_t *ret_nr_faults);

/**
 * struct btsrec_insns - what btsrec_insns() prints
 * @cpus, @nr_cpus, @thread, @max_events: as in struct btsrec_show.
 * @filter: the instructions that ran before the branches that it wants.
 * @bytes: with the bytes of each instruction.
 * @lines: with the source line before the instructions that were made from it.
 * @source_folder: where to find the text of source lines; NULL: without text.
 * @format: text or JSON lines.
 */
struct btsrec_insns {
	const unsigned int *cpus;
	size_t nr_cpus;
	const char *thread;
	struct btsrec_filter filter;
	uint64_t max_events;
	bool bytes;
	bool lines;
	const char *source_folder;
	enum btsrec_format format;
};

/**
 * btsrec_insns() - every instruction that was executed, as the dump has it
 * btsrec_prove() - whether each history can have happened as recorded
 *
 * Code is read through the page tables in the dump.  From the target of each
 * branch straight-line code must lead to the next branch, which must be able to
 * reach its own target.  What cannot be told, because the dump lacks the code, or the
 * kernel has patched it since, is said and is no fault.  *@ret_nr_faults of
 * btsrec_prove() counts the pairs of branches that contradict the code.
 *
 * Return: as btsrec_show(); BTSREC_ERR_INVAL also for a format that is not offered.
 */
BTSREC_API enum btsrec_status
btsrec_insns(struct btsrec *rec, const struct btsrec_insns *opts,
	     const struct btsrec_sink *sink);
BTSREC_API enum btsrec_status
btsrec_prove(struct btsrec *rec, enum btsrec_format format,
	     const struct btsrec_sink *sink, uint64_t *ret_nr_faults);

/** struct btsrec_span - events by their numbers, @first to @last */
struct btsrec_span {
	uint64_t first;
	uint64_t last;
};

/**
 * struct btsrec_stack - what btsrec_stack() prints
 * @cpus, @nr_cpus, @thread: as in struct btsrec_show.  The stack of a thread is the one
 *	at its end, put together from the histories of all CPUs.
 * @at: behind which events, @nr_at spans, ascending and apart; NULL: the newest one.
 * @format: text or JSON lines.
 */
struct btsrec_stack {
	const unsigned int *cpus;
	size_t nr_cpus;
	const char *thread;
	const struct btsrec_span *at;
	size_t nr_at;
	enum btsrec_format format;
};

/**
 * btsrec_stack() - the call stack, rebuilt from the calls and returns of a history
 *
 * At a freeze it is compared with the register snapshot and the stack in memory.
 *
 * Return: as btsrec_show(); BTSREC_ERR_INVAL also for a format that is not offered
 * and for spans that do not ascend, or of which one begins behind the newest event.
 */
BTSREC_API enum btsrec_status
btsrec_stack(struct btsrec *rec, const struct btsrec_stack *opts,
	     const struct btsrec_sink *sink);

/**
 * btsrec_summary() - on one screen: the first fault, the calls that led to it, what the
 * other CPUs were doing, and the last switches
 *
 * Return: as btsrec_insns().
 */
BTSREC_API enum btsrec_status
btsrec_summary(struct btsrec *rec, enum btsrec_format format,
	       const struct btsrec_sink *sink);

/**
 * struct btsrec_timeline - what btsrec_timeline() prints
 * @cpus, @nr_cpus: as in struct btsrec_show; each number once.
 * @filter: which events; only who ran, from and to are heeded.
 * @max_events: the newest so many of all CPUs together; 0: all.
 * @format: text or JSON lines.
 */
struct btsrec_timeline {
	const unsigned int *cpus;
	size_t nr_cpus;
	struct btsrec_filter filter;
	uint64_t max_events;
	enum btsrec_format format;
};

/**
 * btsrec_timeline() - what is no branch, of all CPUs, in the order of time
 *
 * Return: as btsrec_insns().
 */
BTSREC_API enum btsrec_status
btsrec_timeline(struct btsrec *rec, const struct btsrec_timeline *opts,
		const struct btsrec_sink *sink);

/**
 * struct btsrec_diff - what btsrec_diff() compares
 * @has_cpu, @cpu: this one of both; else that of the first fault.
 * @has_pid, @pid: this thread of both; else who ran at the fault.
 * @format: text or JSON lines.
 */
struct btsrec_diff {
	bool has_cpu;
	bool has_pid;
	unsigned int cpu;
	uint32_t pid;
	enum btsrec_format format;
};

/**
 * btsrec_diff() - where the histories @a and @b part, looked at from the fault backwards
 *
 * What a thread called in the kernel, by name; what interrupts called is left out.
 * Messages, also those about @b, are in @a.
 *
 * Return: as btsrec_insns(); BTSREC_ERR_INVAL also if there is nothing to compare.
 * *@ret_differs is set with BTSREC_OK only.
 */
BTSREC_API enum btsrec_status
btsrec_diff(struct btsrec *a, struct btsrec *b, const struct btsrec_diff *opts,
	    const struct btsrec_sink *sink, bool *ret_differs);

/**
 * struct btsrec_calls - what btsrec_calls() prints
 * @cpus, @nr_cpus, @thread, @max_events: as in struct btsrec_show.
 * @filter: symbols and ranges: only calls of such functions, with all that they call;
 *	types: of these only the kinds; the level is that of the function, and entries from
 *	user code are of both.
 * @max_depth: only so many levels of calls; 0: all.
 * @lines: with the source line of what called, and at the end which files were not found.
 * @format: text or JSON lines.
 */
struct btsrec_calls {
	const unsigned int *cpus;
	size_t nr_cpus;
	const char *thread;
	uint64_t max_events;
	struct btsrec_filter filter;
	uint32_t max_depth;
	bool lines;
	enum btsrec_format format;
};

/**
 * btsrec_calls() - the functions that were called, as a tree
 *
 * Return: as btsrec_insns(); BTSREC_ERR_NOMEM also if a part of a history must be chosen
 * because it has too many calls.
 */
BTSREC_API enum btsrec_status
btsrec_calls(struct btsrec *rec, const struct btsrec_calls *opts,
	     const struct btsrec_sink *sink);

/** enum btsrec_by - what a profile by function is divided by */
enum btsrec_by {
	BTSREC_BY_FUNCTION,	/* nothing else */
	BTSREC_BY_TASK,
	BTSREC_BY_CPU,
};

/**
 * struct btsrec_functions - what btsrec_functions() counts
 * @cpus, @nr_cpus: as in struct btsrec_show.
 * @filter: only these events.
 */
struct btsrec_functions {
	const unsigned int *cpus;
	size_t nr_cpus;
	struct btsrec_filter filter;
	enum btsrec_by by;
	enum btsrec_format format;
};

/**
 * btsrec_functions() - how many branches each function took, and how often it was entered
 *
 * Return: as btsrec_insns().
 */
BTSREC_API enum btsrec_status
btsrec_functions(struct btsrec *rec, const struct btsrec_functions *opts,
		 const struct btsrec_sink *sink);

/**
 * struct btsrec_coverage - what btsrec_coverage() prints
 * @cpus, @nr_cpus: as in struct btsrec_show.
 * @filter: only what ran before the branches that it wants.
 * @function: a name of the kernel or a module, or an address in a function, as 0x...;
 *	borrowed.
 * @lines: with the source line of each instruction.
 * @format: text or JSON lines.
 */
struct btsrec_coverage {
	const unsigned int *cpus;
	size_t nr_cpus;
	struct btsrec_filter filter;
	const char *function;
	bool lines;
	enum btsrec_format format;
};

/**
 * btsrec_coverage() - how often each instruction of a function was executed
 *
 * Return: as btsrec_insns(); BTSREC_ERR_INVAL also for a function that is not known.
 */
BTSREC_API enum btsrec_status
btsrec_coverage(struct btsrec *rec, const struct btsrec_coverage *opts,
		const struct btsrec_sink *sink);

/* What a browser opens in seconds: a page of some 100 MB. */
#define BTSREC_REPORT_EVENTS	(4ULL << 20)

/**
 * struct btsrec_report - how much of the histories is on the page
 * @max_events: the newest so many of each CPU; 0: all.
 * @max_all_events: the newest of each CPU, as many of one as of another that has them, so
 *	that those of all CPUs together are no more than this, but one of each; 0: all.
 *
 * Both hold.  What is left out is told on the page, by CPU.
 */
struct btsrec_report {
	uint64_t max_events;
	uint64_t max_all_events;
};

/**
 * btsrec_report() - the histories as one HTML page that needs nothing else
 *
 * For a browser: the summary, a timeline of all CPUs with their threads and calls, and
 * the branches behind each.  Takes some 24 bytes per branch.  In libbtsrec only, not
 * in the part that the crash extension links.
 *
 * Return: as btsrec_show(); BTSREC_ERR_NOMEM also if fewer events must be asked for
 * because a CPU has too many calls.  What @sink has is then no whole page.
 */
BTSREC_API enum btsrec_status
btsrec_report(struct btsrec *rec, const struct btsrec_report *opts,
	      const struct btsrec_sink *sink);

#ifdef __cplusplus
}
#endif

#endif /* BTSREC_VIEWS_H */
