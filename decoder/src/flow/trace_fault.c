// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/trace_fault.h"

#include "base/cleanup.h"
#include "flow/thread.h"
#include "flow/trace.h"

/* Most faults are found among so many. */
#define FIRST_EVENTS	BOUND(1024, 64)

/* So many events before one is judged, the cache is asked for what that takes. */
#define NR_AHEAD	16

/** struct newest - the newest @nr events, at most @nr_max, oldest of them first */
struct newest {
	size_t nr;
	size_t nr_max;
	struct btsrec_event events[];
};

static bool keep(void *arg, const struct btsrec_event *event)
{
	struct newest *newest = arg;

	if (newest->nr < newest->nr_max)
		newest->events[newest->nr++] = *event;
	return true;
}

/* What user code did does not matter: without its page table it is of unknown kind. */
static struct branch judge(struct code *code, const struct btsrec_event *event)
{
	const struct code_run *run;

	if (event->kind != BTSREC_EVENT_BRANCH)
		return (struct branch){ .type = BRANCH_UNKNOWN, .vector = -1 };
	run = code_run(code, 0, event->branch.from, event->branch.from);
	return branch_judge(&run->last, code_idt(code), event->branch.to);
}

/* What judge() is going to look at first. */
static const void *looked_at(const struct code_runs *runs, const struct btsrec_event *event)
{
	uint64_t from = event->kind == BTSREC_EVENT_BRANCH ? event->branch.from : 0;

	return &runs->places[code_place(runs, 0, from, from)];
}

/* Of @newest all but the @nr_done newest, which were fed before; false: the answer is final. */
static bool search_back(struct fault_search *search, struct code *code,
			const struct newest *newest, size_t nr_done)
{
	const struct code_runs *runs = code_runs(code);
	bool more = true;

	/* A read that succeeded before may fail now, and then there are fewer. */
	for (size_t nr = newest->nr > nr_done ? newest->nr - nr_done : 0; more && nr; nr--) {
		const struct btsrec_event *event = &newest->events[nr - 1];
		struct branch branch = judge(code, event);

		if (nr > NR_AHEAD)
			__builtin_prefetch(looked_at(runs, event - NR_AHEAD));
		more = fault_feed(search, event, &branch);
	}
	return more;
}

/* Among the @nr_max newest events; the @nr_done newest were fed before. */
static enum btsrec_status search_tail(struct btsrec *rec, unsigned int cpu,
				      struct fault_search *search, size_t nr_max, size_t nr_done,
				      bool *ret_more)
{
	_cleanup_free_ struct newest *newest =
		malloc(sizeof(*newest) + nr_max * sizeof(newest->events[0]));
	enum btsrec_status status;

	if (!newest)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	newest->nr = 0;
	newest->nr_max = nr_max;
	status = session_tail(rec, cpu, nr_max, keep, newest);
	if (!status)
		*ret_more = search_back(search, trace_code(rec), newest, nr_done) &&
			    newest->nr == nr_max;
	return status;
}

/* Did the thread of the freeze run on another CPU while it was away from @cpu? */
static bool ran_elsewhere(const struct intervals *intervals, unsigned int cpu,
			  const struct fault_search *search)
{
	for (size_t i = 0; i < intervals->nr; i++) {
		const struct interval *interval = &intervals->list[i];

		if (interval->cpu != cpu && interval->timed &&
		    interval->last_tsc > search->left_tsc && interval->first_tsc < search->back_tsc)
			return true;
	}
	return false;
}

/* Each CPU has an idle thread of its own, and all have the same number. */
static enum btsrec_status check_moved(struct btsrec *rec, unsigned int cpu,
				      struct fault_search *search)
{
	enum btsrec_status status;
	struct thread thread;

	if (!search->fault.kind || !search->left_tsc || !search->freeze->pid)
		return BTSREC_OK;
	status = thread_open(&thread, rec, search->freeze->pid, false);
	if (!status && ran_elsewhere(&thread.intervals, cpu, search))
		fault_moved(search);
	thread_close(&thread);
	return status;
}

enum btsrec_status trace_fault(struct btsrec *rec, unsigned int cpu, struct fault *ret)
{
	const struct btsrec_cpu *page = btsrec_cpu(rec, cpu);
	struct aspace spaces = { 0 };
	struct fault_search search;
	enum btsrec_status status;
	bool more = false;

	if (!page)
		return session_no_cpu(rec, cpu);
	if (!fault_begin(&search, page->frozen ? &page->freeze : NULL)) {
		*ret = search.fault;
		return BTSREC_OK;
	}
	if (!trace_code(rec))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	/* All of the history has to be read anyway; so threads need not be read again. */
	status = trace_spaces(rec, cpu, &spaces);
	aspace_fini(&spaces);
	if (!status)
		status = search_tail(rec, cpu, &search, FIRST_EVENTS, 0, &more);
	if (!status && more)
		status = search_tail(rec, cpu, &search, TRACE_FAULT_MAX_EVENTS, FIRST_EVENTS,
				     &more);
	if (status)
		return status;
	status = check_moved(rec, cpu, &search);
	*ret = search.fault;
	return status;
}
