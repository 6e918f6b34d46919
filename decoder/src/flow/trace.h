/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A history with its code: each event together with the thread that ran, what kind of branch it is
 * and what ran before it.  Wires aspace, code and proof to a session.
 */
#ifndef BTSREC_TRACE_H
#define BTSREC_TRACE_H

#include "flow/aspace.h"
#include "recorder/history.h"
#include "flow/proof.h"

struct symbol_name;

/**
 * struct trace_event - one event and what is known of it
 * @side: the thread that ran; NULL: unknown.
 * @step: of a branch and of the stop; NULL for other events, and where trace_way_run() is
 *	asked for its branches.
 */
struct trace_event {
	const struct btsrec_event *event;
	const struct btsrec_side *side;
	const struct proof_step *step;
};

/** trace_fn - receives one event, valid during the call; false to stop. */
typedef bool (*trace_fn)(void *arg, const struct trace_event *event);

/**
 * trace_events() - the newest @max_events events of @cpu with their code, oldest first
 * @max_events: 0: all.
 * @ret: NULL, or the tallies of what @fn has seen.
 *
 * Return: as btsrec_events().
 */
enum btsrec_status trace_events(struct btsrec *rec, unsigned int cpu, uint64_t max_events,
				trace_fn fn, void *arg, struct proof *ret);

/**
 * struct trace - one way through one history, for a caller that reads several CPUs at once
 * @prove: with the steps of the proof.
 * @branches: the branches that come next.  @nr_taken of them have been passed on, and @nr_fetched
 *	been looked at for code that is going to be decoded.
 * @status: why trace_next() returned false; BTSREC_OK: this was the end.
 */
struct trace {
	struct btsrec *rec;
	bool prove;
	struct history history;
	struct timeline_branches branches;
	uint64_t nr_taken;
	uint64_t nr_fetched;
	struct aspace spaces;
	struct proof proof;
	struct btsrec_event event;
	struct proof_step step;
	enum btsrec_status status;
};

/**
 * trace_open() - before the oldest of the newest @max_events events of @cpu
 * @max_events: 0: all.
 * @prove: with the steps of the proof, for which all code on the way is decoded.
 *
 * Return: as btsrec_events(); trace_close() is allowed after all of them.
 */
enum btsrec_status trace_open(struct trace *trace, struct btsrec *rec, unsigned int cpu,
			      uint64_t max_events, bool prove);

/** trace_next() - the next event, valid until the one after; false: none, see @trace->status */
bool trace_next(struct trace *trace, struct trace_event *ret);

/**
 * struct trace_way - plain branches of a history, one after the other
 * @branch: the next, number @n, if it is not @end.
 * @prev_to: of the one before; @nr_insns: that ran on the way.
 *
 * What each branch changes is here, where a loop has it in registers, from
 * trace_way_begin() to trace_way_end().
 */
struct trace_way {
	const struct btsrec_record *branch;
	const struct btsrec_record *end;
	uint64_t n;
	uint64_t prev_to;
	uint64_t nr_insns;
};

static inline struct trace_way trace_way_begin(const struct trace *trace)
{
	const struct timeline_branches *branches = &trace->branches;
	struct trace_way way = { .n = branches->n + trace->nr_taken,
				 .prev_to = trace->proof.prev_to };

	/* Without any there is nothing to point into. */
	if (branches->nr) {
		way.branch = branches->records + trace->nr_taken;
		way.end = branches->records + branches->nr;
	}
	return way;
}

/**
 * trace_way_run() - the run to the next branch; NULL: proof_plain() has none
 *
 * proof_is_plain() has said that it may be asked.
 */
static inline const struct code_brief *trace_way_run(const struct trace *trace,
						     const struct trace_way *way)
{
	return way->branch == way->end ? NULL :
					 proof_plain(&trace->proof, way->prev_to, way->branch);
}

/* So many records take longer than a cache miss. */
#define TRACE_AHEAD 16

/*
 * The table of runs is larger than any cache, so the run of a record that comes soon is asked
 * for now.  That is the caller's: gcc takes a function that does nothing else for one that
 * does nothing.
 */
static inline const struct code_brief *trace_ahead(const struct trace *trace,
						   const struct btsrec_record *branch,
						   const struct btsrec_record *end)
{
	const struct code_runs *runs = trace->proof.runs;

	if (end - branch <= TRACE_AHEAD)
		return NULL;
	return &runs->places[code_place(runs, 0, branch[TRACE_AHEAD - 1].to,
					branch[TRACE_AHEAD].from)];
}

/** trace_way_pass() - the branch for which trace_way_run() returned @run is done with */
static inline void trace_way_pass(const struct trace *trace, struct trace_way *way,
				  const struct code_brief *run)
{
	__builtin_prefetch(trace_ahead(trace, way->branch, way->end));
	way->prev_to = way->branch->to;
	way->nr_insns += run->nr_insns + 1;
	way->branch++;
	way->n++;
}

static inline void trace_way_end(struct trace *trace, const struct trace_way *way)
{
	uint64_t nr = way->n - trace->branches.n - trace->nr_taken;

	trace->nr_taken += nr;
	proof_feed_plain(&trace->proof, nr, way->prev_to, way->nr_insns);
}

/**
 * trace_next_plain() - trace_next() of the branch for which trace_way_run() returned @run, but
 * without a step; ends @way, too
 */
void trace_next_plain(struct trace *trace, struct trace_way *way, const struct code_brief *run,
		      struct trace_event *ret);

/** trace_pass() - past the plain branches that come next: @trace->proof counts them */
void trace_pass(struct trace *trace);

/** trace_stopped() - BTSREC_ERR_STOPPED, with a message: the receiver wanted no more */
enum btsrec_status trace_stopped(const struct trace *trace);

/** trace_close() - free what trace_open() allocated */
void trace_close(struct trace *trace);

/**
 * trace_code() - the code of the dump that @rec reads, for as long as the session
 *
 * NULL: out of memory.
 */
struct code *trace_code(struct btsrec *rec);

/**
 * trace_spaces() - which thread ran when on @cpu
 * @spaces: zero-filled by the caller, which frees it with aspace_fini() in every case.
 *
 * A side has no CR3 if that page table has become another process's since.
 *
 * Return: as btsrec_events().
 */
enum btsrec_status trace_spaces(struct btsrec *rec, unsigned int cpu, struct aspace *spaces);

/**
 * trace_others() - history_others(), from which trace_spaces() learns, too
 *
 * For a caller that is going to ask it anyway: it need not read all of the history once more.
 *
 * Return: as btsrec_events().
 */
enum btsrec_status trace_others(struct btsrec *rec, unsigned int cpu, btsrec_event_fn fn,
				void *arg, struct history_passed *ret);

/**
 * trace_first_spaces() - which thread ran in the oldest events of @cpu, before all of it is read
 * @spaces: as of trace_spaces(), which says the same of these events.  For branches within the
 *	kernel it may be unknown here.
 * @ret_end_n: they are those before this one, which is older than the fault.
 *
 * Return: false: nothing is known so soon, or all of it has been read before.
 */
bool trace_first_spaces(struct btsrec *rec, unsigned int cpu, struct aspace *spaces,
			uint64_t *ret_end_n);

/**
 * struct trace_types - kinds of branches without the way to them, in any order
 * @spaces: borrowed; of the CPU.
 */
struct trace_types {
	struct code *code;
	struct aspace *spaces;
};

/** trace_types_init() - for the branches in @spaces; BTSREC_ERR_NOMEM. */
enum btsrec_status trace_types_init(struct trace_types *types, struct btsrec *rec,
				    struct aspace *spaces);

/** trace_type() - what kind of branch @event is */
struct branch trace_type(struct trace_types *types, const struct btsrec_event *event);

/**
 * trace_syscall() - of the name of a system call's handler, the part that names it
 *
 * Return: NULL if it is no such name.
 */
const char *trace_syscall(const struct symbol_name *name, size_t *ret_bytes);

/** trace_is_syscall() - is @va the first instruction of a system call's handler, by its name? */
bool trace_is_syscall(struct btsrec *rec, uint64_t va);

#endif /* BTSREC_TRACE_H */
