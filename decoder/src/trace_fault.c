// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace_fault.h"

#include "cleanup.h"
#include "thread.h"
#include "trace.h"

/** struct newest - the newest events, oldest of them first */
struct newest {
	size_t nr;
	struct btsrec_event events[TRACE_FAULT_MAX_EVENTS];
};

static bool keep(void *arg, const struct btsrec_event *event)
{
	struct newest *newest = arg;

	if (newest->nr < TRACE_FAULT_MAX_EVENTS)
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
	return branch_judge(&run->last, code_gates(code), event->branch.to);
}

static void search_back(struct fault_search *search, struct code *code,
			const struct newest *newest)
{
	bool more = true;

	for (size_t i = newest->nr; more && i; i--) {
		struct branch branch = judge(code, &newest->events[i - 1]);

		more = fault_feed(search, &newest->events[i - 1], &branch);
	}
}

/* Did the thread of the freeze run on another CPU while it was away from @cpu? */
static bool ran_elsewhere(const struct stretches *stretches, unsigned int cpu,
			  const struct fault_search *search)
{
	for (size_t i = 0; i < stretches->nr; i++) {
		const struct stretch *stretch = &stretches->list[i];

		if (stretch->cpu != cpu && stretch->timed &&
		    stretch->last_tsc > search->left_tsc &&
		    stretch->first_tsc < search->back_tsc)
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
	if (!status && ran_elsewhere(&thread.stretches, cpu, search))
		fault_moved(search);
	thread_close(&thread);
	return status;
}

enum btsrec_status trace_fault(struct btsrec *rec, unsigned int cpu, struct fault *ret)
{
	const struct btsrec_cpu *page = btsrec_cpu(rec, cpu);
	_cleanup_free_ struct newest *newest = NULL;
	struct aspace spaces = { 0 };
	struct fault_search search;
	enum btsrec_status status;

	if (!page)
		return msg_set(&rec->msg, BTSREC_ERR_NO_CPU, "CPU %u has no usable ring", cpu);
	if (!fault_begin(&search, page->frozen ? &page->freeze : NULL)) {
		*ret = search.fault;
		return BTSREC_OK;
	}
	newest = malloc(sizeof(*newest));
	if (!newest || !trace_code(rec))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	newest->nr = 0;
	/* All of the history has to be read anyway; so who ran need not be read again. */
	status = trace_spaces(rec, cpu, &spaces);
	aspace_fini(&spaces);
	if (!status)
		status = session_tail(rec, cpu, TRACE_FAULT_MAX_EVENTS, keep, newest);
	if (status)
		return status;
	search_back(&search, trace_code(rec), newest);
	status = check_moved(rec, cpu, &search);
	*ret = search.fault;
	return status;
}
