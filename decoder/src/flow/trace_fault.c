// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/trace_fault.h"

#include "base/cleanup.h"
#include "flow/clock.h"
#include "flow/thread.h"
#include "flow/trace.h"
#include "recorder/cpus.h"

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

/* --- Over all CPUs ------------------------------------------------------ */

/* So often a handler may be preempted. */
#define MAX_INTERVALS	64

/** struct interval_tail - the newest events of @interval: event number i is at i % @room */
struct interval_tail {
	const struct interval *interval;
	struct btsrec_event *events;
	size_t room;
	size_t nr;
};

static bool keep_newest(void *arg, const struct btsrec_event *event)
{
	struct interval_tail *tail = arg;

	if (event->n >= tail->interval->first_n && event->n <= tail->interval->last_n)
		tail->events[tail->nr++ % tail->room] = *event;
	return event->n < tail->interval->last_n;
}

/* *@nr_left: so many events are looked at, at most. */
static enum btsrec_status search_interval(struct btsrec *rec, const struct interval *interval,
					  struct fault_search *search, size_t *nr_left,
					  bool *ret_more)
{
	struct interval_tail tail = { .interval = interval };
	_cleanup_free_ struct btsrec_event *events = NULL;
	uint64_t nr_events = interval->last_n - interval->first_n + 1;
	enum btsrec_status status;
	size_t nr;

	tail.room = nr_events < *nr_left ? nr_events : *nr_left;
	events = malloc((tail.room + 1) * sizeof(*events));
	if (!events)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	tail.events = events;
	status = btsrec_events(rec, interval->cpu, keep_newest, &tail);
	if (status && status != BTSREC_ERR_STOPPED)
		return status;
	nr = tail.nr < tail.room ? tail.nr : tail.room;
	*nr_left -= nr;
	*ret_more = true;
	for (size_t i = 0; i < nr && *ret_more; i++) {
		const struct btsrec_event *event = &events[(tail.nr - 1 - i) % tail.room];
		struct branch branch = judge(trace_code(rec), event);

		*ret_more = fault_feed(search, event, &branch);
	}
	*ret_more = *ret_more && *nr_left;
	return BTSREC_OK;
}

/*
 * Is it proven that the thread ran nowhere else between interval @i and the one before?  If a gap
 * alone is between them, the search looks at that.
 */
static bool follows(const struct intervals *intervals, size_t i)
{
	const struct interval *interval = &intervals->list[i];

	if (!i)
		return false;
	if (interval->cpu == interval[-1].cpu && interval->first_n == interval[-1].last_n + 1)
		return true;
	return interval->begins && !interval->maybe && interval->order == INTERVAL_PROVEN &&
	       interval[-1].ends;
}

static bool begin(struct fault_search *search, const struct btsrec_cpu *page)
{
	bool more = fault_begin(search, page->frozen ? &page->freeze : NULL, page->source);

	search->registers = cpus_registers(page);
	return more;
}

enum btsrec_status trace_fault_moved(struct thread *thread, unsigned int cpu, struct fault *ret,
				     size_t *ret_interval)
{
	const struct btsrec_cpu *page = btsrec_cpu(thread->rec, cpu);
	const struct intervals *intervals = &thread->intervals;
	size_t i = intervals->nr, nr_left = TRACE_FAULT_MAX_EVENTS;
	enum btsrec_status status = BTSREC_OK;
	struct fault_search search;
	bool more;

	if (!page)
		return session_no_cpu(thread->rec, cpu);
	if (!trace_code(thread->rec))
		return msg_set(&thread->rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	more = begin(&search, page) && i &&
	       intervals->list[i - 1].cpu == cpu && intervals->list[i - 1].ends;
	while (more && !status && intervals->nr - i < MAX_INTERVALS) {
		status = search_interval(thread->rec, &intervals->list[--i], &search, &nr_left,
					 &more);
		if (search.fault.kind) {
			search.fault.why = FAULT_FOUND;
			break;
		}
		more = more && follows(intervals, i);
	}
	*ret = search.fault;
	*ret_interval = i;
	return status;
}

/* --- Of one CPU ---------------------------------------------------------- */

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

/* The branches from event @first_n on. */
struct branches_from {
	uint64_t first_n;
	uint64_t nr;
};

static bool count_branch(void *arg, const struct btsrec_event *event)
{
	struct branches_from *from = arg;

	from->nr += event->kind == BTSREC_EVENT_BRANCH && event->n >= from->first_n;
	return true;
}

/*
 * What other threads recorded meanwhile may be more than is searched.  The thread's own events
 * alone are looked at.
 */
static enum btsrec_status search_thread(struct thread *thread, unsigned int cpu,
					struct fault_search *search)
{
	struct branches_from newer = { 0 };
	enum btsrec_status status;
	struct fault fault = { 0 };
	size_t interval = 0;

	status = trace_fault_moved(thread, cpu, &fault, &interval);
	if (status || !fault.kind)
		return status;
	if (thread->intervals.list[interval].cpu != cpu) {
		fault_moved(search);
		return BTSREC_OK;
	}
	newer.first_n = fault.n;
	status = btsrec_events(thread->rec, cpu, count_branch, &newer);
	fault.nr_newer = newer.nr;
	search->fault = fault;
	return status;
}

/* The thread of the freeze was away.  Each CPU has an idle thread, and all have one number. */
static enum btsrec_status follow_thread(struct btsrec *rec, unsigned int cpu,
					struct fault_search *search)
{
	bool too_old = !search->fault.kind && search->fault.why == FAULT_TOO_OLD;
	enum btsrec_status status;
	struct thread thread;

	if (!search->back_tsc || !search->freeze->pid || search->freeze->via_nmi ||
	    (!too_old && (!search->fault.kind || !search->left_tsc)))
		return BTSREC_OK;
	status = thread_open(&thread, rec, search->freeze->pid, false);
	if (!status && too_old)
		status = search_thread(&thread, cpu, search);
	else if (!status && ran_elsewhere(&thread.intervals, cpu, search))
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
	if (!begin(&search, page)) {
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
	status = follow_thread(rec, cpu, &search);
	*ret = search.fault;
	return status;
}

/* --- When ----------------------------------------------------------------- */

/* The first time from event @n on. */
struct first_time {
	uint64_t n;
	uint64_t tsc;
};

static bool take_time(void *arg, const struct btsrec_event *event)
{
	struct first_time *first = arg;
	uint64_t tsc;

	if (event->n < first->n || !clock_event(event, &tsc))
		return true;
	first->tsc = clock_event_begin(event, tsc);
	return false;
}

enum btsrec_status trace_fault_tsc(struct btsrec *rec, unsigned int cpu, const struct fault *fault,
				   uint64_t *ret)
{
	struct first_time first = { .n = fault->n };
	enum btsrec_status status;
	uint64_t nr_events;

	status = session_nr_events(rec, cpu, &nr_events);
	if (!status)
		status = session_tail(rec, cpu, nr_events - fault->n, take_time, &first);
	*ret = first.tsc;
	return status == BTSREC_ERR_STOPPED ? BTSREC_OK : status;
}
