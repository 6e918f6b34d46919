// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/view_thread.h"

#include <stdlib.h>

#include "recorder/cpus.h"

enum btsrec_status view_thread_check(struct btsrec *rec, const unsigned int *cpus,
				     size_t nr_cpus, const struct btsrec_filter *filter,
				     const char *thread)
{
	enum btsrec_status status = cpus_check(rec, cpus, nr_cpus);
	uint32_t pid;

	if (!status)
		status = event_filter_check(rec, filter);
	if (!status && thread)
		status = thread_check(rec, thread, filter, &pid);
	return status;
}

enum btsrec_status view_thread_open(struct view_thread *view, struct btsrec *rec,
				    const char *pid, const struct btsrec_filter *filter,
				    bool prove)
{
	unsigned int nr_cpus = btsrec_nr_cpu_ids(rec);
	enum btsrec_status status;
	uint32_t number;

	memset(view, 0, sizeof(*view));
	view->filter = *filter;
	view->filter.pids = pid;
	view->event_filters = calloc(nr_cpus + 1, sizeof(*view->event_filters));
	view->ready = calloc(nr_cpus + 1, sizeof(*view->ready));
	if (!view->event_filters || !view->ready)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	status = thread_check(rec, pid, NULL, &number);
	if (!status)
		status = thread_open(&view->thread, rec, number, prove);
	if (!status && !view->thread.intervals.nr)
		status = msg_set(&rec->msg, BTSREC_ERR_INVAL, "no history has a thread %u",
				 number);
	return status;
}

enum btsrec_status view_thread_choose(struct view_thread *view, const unsigned int *cpus,
				      size_t nr_cpus)
{
	const struct intervals *intervals = &view->thread.intervals;

	view->cpus = cpus;
	view->nr_cpus = nr_cpus;
	for (size_t i = 0; i < intervals->nr; i++)
		if (view_thread_wants(view, intervals->list[i].cpu))
			return BTSREC_OK;
	return msg_set(&view->thread.rec->msg, BTSREC_ERR_INVAL,
		       "the history of no chosen CPU has a thread %u", intervals->pid);
}

enum btsrec_status view_thread_select(struct view_thread *view, unsigned int cpu,
				      struct event_filter **ret, const struct fault **ret_fault)
{
	struct thread_lane *lane;
	enum btsrec_status status = thread_lane(&view->thread, cpu, &lane);

	*ret = &view->event_filters[cpu];
	*ret_fault = &lane->fault;
	if (status || view->ready[cpu])
		return status;
	view->ready[cpu] = true;
	status = event_filter_init(*ret, view->thread.rec, cpu, &view->filter, 0);
	return status ? status : event_filter_add_types(*ret, cpu);
}

static bool ran_on(const struct intervals *intervals, unsigned int cpu)
{
	for (size_t i = 0; i < intervals->nr; i++)
		if (intervals->list[i].cpu == cpu)
			return true;
	return false;
}

enum btsrec_status view_thread_rings(const struct view_thread *view, struct renderer *r,
				     const struct render_format *format)
{
	enum btsrec_status status = BTSREC_OK;
	struct session_ring ring;

	for (unsigned int cpu = 0; cpu < view->thread.nr_lanes && !status; cpu++) {
		if (!format->cpu || !view_thread_wants(view, cpu) ||
		    !ran_on(&view->thread.intervals, cpu))
			continue;
		status = session_ring(r->rec, cpu, &ring);
		if (!status)
			format->cpu(r, btsrec_cpu(r->rec, cpu), &ring);
	}
	return status;
}

void view_thread_end(const struct view_thread *view, struct renderer *r,
		     const struct render_format *format)
{
	if (format->thread_end)
		format->thread_end(r, view->thread.intervals.pid);
}

void view_thread_close(struct view_thread *view)
{
	for (unsigned int cpu = 0; cpu < view->thread.nr_lanes; cpu++)
		if (view->ready[cpu])
			event_filter_fini(&view->event_filters[cpu]);
	thread_close(&view->thread);
	free(view->event_filters);
	free(view->ready);
}
