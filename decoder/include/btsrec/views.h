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
 * Every view that takes options also returns BTSREC_ERR_TOO_NEW, see base.h, and takes NULL for
 * the defaults.
 *
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
	BTSREC_FORMAT_CSV,	/* as RFC 4180 has it; of btsrec_show() only */
};

/**
 * struct btsrec_filter - which events are wanted; it grows, see base.h
 *
 * Texts are in the forms of btsrec-show(1) and borrowed, as the structure itself, while the
 * call lasts.  A NULL text asks for nothing.  What is given must all hold.  Options point to
 * a filter, so that a new key changes no other structure; NULL there: every event.
 */
struct btsrec_filter {
	size_t size;		/* sizeof(struct btsrec_filter) */
	const char *pids;	/* thread that ran: a list of thread numbers */
	const char *tgids;	/* thread that ran: a list of process numbers */
	const char *comm;	/* thread that ran: a pattern as in glob(7) */
	bool user;		/* only this level; both or none: both */
	bool kernel;
	const char *from;	/* only events that can have happened from here on */
	const char *to;		/* and up to here; both included */
	const char *symbols;	/* branches from or to these: a list of patterns */
	const char *modules;	/* branches from or to code of these modules, or of programs
				 * and libraries by their paths: a list of patterns */
	const char *ranges;	/* branches from or to these addresses: FIRST-LAST,... */
	const char *types;	/* branches of these kinds: a list of JSON's words of "type" */
};

/**
 * struct btsrec_unmatched - why a filter lets no event through
 * @part: the part of the filter that no event passes, with the texts of the filter; its other
 *	members ask for nothing.  If some event passes each part it is the whole filter.
 * @together: it is.
 * @why: what is known of @part, as a clause; empty: nothing.
 */
struct btsrec_unmatched {
	struct btsrec_filter part;
	bool together;
	char why[256];
};

/** btsrec_name_fn - receives a name, NUL-terminated and valid during the call */
typedef void (*btsrec_name_fn)(void *arg, const char *name);

/**
 * btsrec_matched() - has a filter let an event through, in a call on @rec that took one?
 *
 * Gaps pass every filter, and annotations one of a level: these are not meant.  Some exports do
 * not note it: this only spares btsrec_unmatched(), which reads the histories once more.
 */
BTSREC_API bool btsrec_matched(const struct btsrec *rec);

/**
 * btsrec_unmatched() - does an event of @cpus pass @filter, and if none does, why?
 * @cpus: @nr_cpus numbers; NULL: each with a ring.
 * @offer: receives the names that the dump has, if it has none that @ret->part asks for;
 *	NULL: not wanted.
 * @ret_matches: some event passes, and @ret is untouched.
 *
 * Return: as btsrec_show().
 */
BTSREC_API enum btsrec_status
btsrec_unmatched(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus,
		 const struct btsrec_filter *filter, btsrec_name_fn offer, void *arg,
		 bool *ret_matches, struct btsrec_unmatched *ret);

/**
 * struct btsrec_show - what btsrec_show() prints; it grows, see base.h
 *
 * With @thread there is no @newest_first, and @filter names no other thread; only what it
 * did on @cpus is printed.  With @fold, @max_events are lines, and there is no @newest_first.
 */
struct btsrec_show {
	size_t size;		/* sizeof(struct btsrec_show) */
	const unsigned int *cpus; /* CPU numbers, @nr_cpus of them; NULL: each with a ring */
	size_t nr_cpus;

	/*
	 * NULL, or the number of a thread as text: only this one, followed over all CPUs in
	 * the order of time.
	 */
	const char *thread;
	/* Which events; NULL: all.  The other level is one line per interval. */
	const struct btsrec_filter *filter;
	uint64_t max_events;	/* the newest so many of each CPU, or of @thread; 0: all */
	bool newest_first;	/* reverse the order of the lines */
	bool types;		/* print of each branch what kind it is, by the code in the dump */
	bool lines;		/* print source lines, and at the end files that were not found */
	bool fold;		/* of repeated branches print two rounds and the number of others */
	enum btsrec_format format; /* default: text */
};

/** struct btsrec_info - what btsrec_info() prints; it grows, see base.h */
struct btsrec_info {
	size_t size;		/* sizeof(struct btsrec_info) */
	bool registers;		/* of each CPU at its freeze, too; not as BTSREC_FORMAT_TSV */
	enum btsrec_format format;
};

/**
 * btsrec_info() - what was found: kernel, root, one line per CPU
 * btsrec_show() - the histories
 * btsrec_check() - validate all that can be validated, one line per diagnostic
 *
 * *@ret_nr_faults of btsrec_check() counts the lines that are faults.
 *
 * Return: BTSREC_OK; BTSREC_ERR_STOPPED when the sink stopped; BTSREC_ERR_NO_CPU for
 * an @opts->cpus entry without ring; BTSREC_ERR_CORRUPT, but not from btsrec_info() and
 * btsrec_check(), if, without @opts->cpus, a CPU could not be shown, after all others were;
 * BTSREC_ERR_IO;
 * BTSREC_ERR_NOMEM; BTSREC_ERR_INVAL before btsrec_locate().
 */
BTSREC_API enum btsrec_status
btsrec_info(struct btsrec *rec, const struct btsrec_info *opts,
	    const struct btsrec_sink *sink);
BTSREC_API enum btsrec_status
btsrec_show(struct btsrec *rec, const struct btsrec_show *opts,
	    const struct btsrec_sink *sink);
BTSREC_API enum btsrec_status
btsrec_check(struct btsrec *rec, const struct btsrec_sink *sink,
	     uint64_t *ret_nr_faults);

/**
 * struct btsrec_insns - what btsrec_insns() prints; it grows, see base.h
 */
struct btsrec_insns {
	size_t size;		/* sizeof(struct btsrec_insns) */
	const unsigned int *cpus; /* CPU numbers, @nr_cpus of them; NULL: each with a ring */
	size_t nr_cpus;
	const char *thread;	/* as in struct btsrec_show */
	/* Only instructions that ran before the branches that it wants; NULL: all. */
	const struct btsrec_filter *filter;
	uint64_t max_events;	/* before the newest so many of each CPU, or of @thread; 0: all */
	bool bytes;		/* with the bytes of each instruction */
	bool values;		/* with what is known of the registers that each one names */
	bool lines;		/* with each source line before what was made from it */
	const char *source_folder; /* where the text of source lines is; NULL: without text */
	enum btsrec_format format; /* text or JSON lines; default: text */
};

/**
 * btsrec_insns() - every instruction that was executed, as the dump has it
 * btsrec_prove() - whether each history can have happened as recorded
 *
 * Code is read through the page tables in the dump.  From the target of each
 * branch straight-line code must lead to the next branch, which must be able to
 * reach its own target.  What is not known, because the dump lacks the code or the
 * kernel has patched it since, is printed and is no fault.  *@ret_nr_faults of
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

/**
 * struct btsrec_why - what btsrec_why() looks for; it grows, see base.h
 */
struct btsrec_why {
	size_t size;		/* sizeof(struct btsrec_why) */
	bool has_cpu;
	unsigned int cpu;	/* if @has_cpu; else that of the first fault */
	const char *value;	/* a register, "rax", or 8 bytes at an address, "0xffff..." */
				/* NULL: the operand that made the fault */
	bool has_at;
	uint64_t at_n;		/* if @has_at: at the end of this event; else at the fault */
	enum btsrec_format format; /* text or JSON lines; default: text */
	uint64_t max_events;	/* look at the newest so many events of each CPU; 0: at all */
};

/**
 * btsrec_why() - where a value came from, backwards to what made it
 *
 * Where no operand made the fault, or the fault is not in the history, it says that.
 *
 * Return: as btsrec_show(); BTSREC_ERR_INVAL also for a value or an event that does not exist.
 */
BTSREC_API enum btsrec_status
btsrec_why(struct btsrec *rec, const struct btsrec_why *opts, const struct btsrec_sink *sink);

/** struct btsrec_span - events by their numbers, @first to @last */
struct btsrec_span {
	uint64_t first;
	uint64_t last;
};

/**
 * struct btsrec_stack - what btsrec_stack() prints; it grows, see base.h
 *
 * The stack of @thread is the one at its end, put together from the histories of all CPUs.
 */
struct btsrec_stack {
	size_t size;		/* sizeof(struct btsrec_stack) */
	const unsigned int *cpus; /* CPU numbers, @nr_cpus of them; NULL: each with a ring */
	size_t nr_cpus;
	const char *thread;	/* as in struct btsrec_show; no @cpus and no @at then */
	/* After which events, @nr_at spans, ascending and apart; NULL: the newest one. */
	const struct btsrec_span *at;
	size_t nr_at;
	bool args;		/* with the arguments of each frame; not of @thread */
	enum btsrec_format format; /* text or JSON lines; default: text */
	bool lines;		/* with source lines, and what was inlined there */
};

/**
 * btsrec_stack() - the call stack, rebuilt from the calls and returns of a history
 *
 * At a freeze it is compared with the register snapshot and the stack in memory.
 *
 * Return: as btsrec_show(); BTSREC_ERR_INVAL also for a format that is not offered
 * and for spans that do not ascend, or that begin after the newest event.
 */
BTSREC_API enum btsrec_status
btsrec_stack(struct btsrec *rec, const struct btsrec_stack *opts,
	     const struct btsrec_sink *sink);

/**
 * btsrec_set_log() - are lines of the kernel's log among what the summary and the timeline print?
 * Yes, unless this says otherwise.
 *
 * VMCOREINFO says where the log is.  The timeline needs the clock of the log as TSC, which the
 * kernel's constants give where the TSC is its clock.
 */
BTSREC_API void btsrec_set_log(struct btsrec *rec, bool wanted);

/**
 * btsrec_set_full_cpus() - which CPUs the summary prints in full, whatever it prints of others
 * @cpus: @nr_cpus numbers, the caller's, used until the session ends or this is called again.
 *
 * A number without a usable ring makes btsrec_summary() fail with BTSREC_ERR_NO_CPU.
 */
BTSREC_API void btsrec_set_full_cpus(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus);

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
 * struct btsrec_timeline - what btsrec_timeline() prints; it grows, see base.h
 */
struct btsrec_timeline {
	size_t size;		/* sizeof(struct btsrec_timeline) */
	const unsigned int *cpus; /* CPU numbers, each once; NULL: each with a ring */
	size_t nr_cpus;
	/* Which events; only threads, from and to are heeded.  NULL: all. */
	const struct btsrec_filter *filter;
	uint64_t max_events;	/* the newest so many of all CPUs together; 0: all */
	enum btsrec_format format; /* text or JSON lines; default: text */
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
 * struct btsrec_diff - what btsrec_diff() compares; it grows, see base.h
 */
struct btsrec_diff {
	size_t size;		/* sizeof(struct btsrec_diff) */
	bool has_cpu;		/* @cpu of both; else that of the first fault */
	bool has_pid;		/* thread @pid of both; else that of the fault */
	unsigned int cpu;
	uint32_t pid;
	enum btsrec_format format; /* text or JSON lines; default: text */
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
 * struct btsrec_calls - what btsrec_calls() prints; it grows, see base.h
 */
struct btsrec_calls {
	size_t size;		/* sizeof(struct btsrec_calls) */
	const unsigned int *cpus; /* CPU numbers, @nr_cpus of them; NULL: each with a ring */
	size_t nr_cpus;
	const char *thread;	/* as in struct btsrec_show */
	uint64_t max_events;	/* the newest so many of each CPU, or of @thread; 0: all */
	/*
	 * NULL: all.  Symbols and ranges: only calls of such functions, with all that they
	 * call; types: of these only the kinds; the level is that of the function, and
	 * entries from user code are of both.
	 */
	const struct btsrec_filter *filter;
	uint32_t max_depth;	/* only so many levels of calls; 0: all */
	bool lines;		/* with source lines of callers, and files that were not found */
	bool args;		/* with arguments; not of @thread; equal calls are not folded */
	enum btsrec_format format; /* text or JSON lines; default: text */
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
 * struct btsrec_functions - what btsrec_functions() counts; it grows, see base.h
 */
struct btsrec_functions {
	size_t size;		/* sizeof(struct btsrec_functions) */
	const unsigned int *cpus; /* CPU numbers, @nr_cpus of them; NULL: each with a ring */
	size_t nr_cpus;
	const struct btsrec_filter *filter; /* which events; NULL: all */
	enum btsrec_by by;	/* default: nothing else than functions */
	enum btsrec_format format; /* default: text */
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
 * struct btsrec_coverage - what btsrec_coverage() prints; it grows, see base.h
 */
struct btsrec_coverage {
	size_t size;		/* sizeof(struct btsrec_coverage) */
	const unsigned int *cpus; /* CPU numbers, @nr_cpus of them; NULL: each with a ring */
	size_t nr_cpus;
	/* Only what ran before the branches that it wants; NULL: all. */
	const struct btsrec_filter *filter;
	/* A name of the kernel or a module, or an address in a function, as 0x...; not NULL. */
	const char *function;
	bool lines;		/* with the source line of each instruction */
	enum btsrec_format format; /* text or JSON lines; default: text */
};

/**
 * btsrec_coverage() - how often each instruction of a function was executed
 *
 * Return: as btsrec_insns(); BTSREC_ERR_INVAL also for a function that is not known, and
 * for none.
 */
BTSREC_API enum btsrec_status
btsrec_coverage(struct btsrec *rec, const struct btsrec_coverage *opts,
		const struct btsrec_sink *sink);

/** enum btsrec_question - what btsrec_search() answers */
enum btsrec_question {
	BTSREC_LAST,		/* the calls of @what, the newest first */
	BTSREC_MERGED,		/* all that the filter wants, as one tree, the oldest first */
	BTSREC_PAIRS,		/* calls of @what and @second without the other in their thread */
	BTSREC_SLOW,		/* those whose duration has bounds, the longest first */
	BTSREC_PATH,		/* the chains of calls from @what to @second, the shortest first */
	BTSREC_AROUND,		/* what all CPUs did at the event @what: CPU:NUMBER, "fault" */
	BTSREC_LOCKS,		/* locks that are held or waited for, by the kernel's functions */
};

/**
 * struct btsrec_search - what btsrec_search() looks for; it grows, see base.h
 *
 * An operand is the name of a function or a pattern as in glob(7), an address in one, as 0x..., or
 * a module: [module], or its name if no function has it.
 */
struct btsrec_search {
	size_t size;		/* sizeof(struct btsrec_search) */
	enum btsrec_question question;
	const unsigned int *cpus; /* CPU numbers, @nr_cpus of them; NULL: each with a ring */
	size_t nr_cpus;
	/* Only calls that it wants, by thread, time and the function that is called; NULL: all. */
	const struct btsrec_filter *filter;
	const char *what;	/* an operand; of MERGED, SLOW and LOCKS NULL */
	const char *second;	/* another one, of the questions that have two; else NULL */
	uint64_t max_lines;	/* only so many; 0: all */
	uint32_t max_depth;	/* levels of calls: of MERGED, 0: all; of AROUND of other CPUs */
	enum btsrec_by by;	/* of BTSREC_LAST: with BTSREC_BY_TASK one line for each thread */
	bool any_thread;	/* of PAIRS: calls of different threads belong together, too */
	enum btsrec_format format; /* text or JSON lines; default: text */
};

/**
 * btsrec_search() - a question about calls of all CPUs together, in the order of time
 *
 * A call is an event without a time of its own: time stamps before and after it bound when it was.
 *
 * Return: as btsrec_insns(); BTSREC_ERR_INVAL also for an operand that is not understood or
 * missing.
 */
BTSREC_API enum btsrec_status
btsrec_search(struct btsrec *rec, const struct btsrec_search *opts,
	      const struct btsrec_sink *sink);

/* What a browser opens in seconds: a page of some 100 MB. */
#define BTSREC_REPORT_EVENTS	(4ULL << 20)

/**
 * struct btsrec_report - how much of the histories is on the page; it grows, see base.h
 *
 * Both limits hold.  What is left out is on the page, by CPU.
 */
struct btsrec_report {
	size_t size;		/* sizeof(struct btsrec_report) */
	uint64_t max_events;	/* the newest so many of each CPU; 0: all */
	/*
	 * The newest of each CPU, as many of one as of another that has them.  Those of all CPUs
	 * together are no more than this, but one of each; 0: all.
	 */
	uint64_t max_all_events;
};

/**
 * btsrec_report() - the histories as one HTML page that needs nothing else
 *
 * For a browser: the summary, a timeline of all CPUs with their threads and calls, and
 * the branches after each.  Takes some 24 bytes per branch.  In libbtsrec only, not
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
