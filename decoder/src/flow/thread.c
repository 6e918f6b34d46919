// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/cpus.h"

/* --- Checks ------------------------------------------------------------- */

static bool is_number(const char *text, uint32_t *ret)
{
	unsigned long value;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	*ret = (uint32_t)value;
	return !errno && !*end && value <= UINT32_MAX;
}

static bool counts_events(const char *when)
{
	return when && !strncmp(when, "n:", 2);
}

enum btsrec_status thread_check(struct btsrec *rec, const char *pid,
				const struct btsrec_filter *filter, uint32_t *ret_pid)
{
	const char *why = NULL;

	if (!is_number(pid, ret_pid))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "'%s' is not the number of a thread",
			       pid);
	if (!*ret_pid)
		why = "each CPU has a thread 0 of its own: choose a CPU and thread 0 there";
	else if (filter && (filter->pids || filter->tgids || filter->comm))
		why = "one thread is followed: leave out the other choices of threads";
	else if (filter && (counts_events(filter->from) || counts_events(filter->to)))
		why = "events are numbered by CPU, and a thread is followed over all of them: "
		      "give a time instead of n:EVENT";
	return why ? msg_set(&rec->msg, BTSREC_ERR_INVAL, "%s", why) : BTSREC_OK;
}

/* --- When it ran -------------------------------------------------------- */

struct finding_intervals {
	struct thread *thread;
	struct aspace spaces;
};

static bool find_event(void *arg, const struct btsrec_event *event)
{
	struct finding_intervals *find = arg;

	intervals_feed(&find->thread->intervals, event, aspace_at(&find->spaces, event->n));
	return !find->thread->intervals.nomem;
}

static enum btsrec_status find_on_cpu(void *arg, unsigned int cpu)
{
	struct finding_intervals find = {.thread = arg};
	struct intervals *intervals = &find.thread->intervals;
	struct btsrec *rec = find.thread->rec;
	enum btsrec_status status = trace_spaces(rec, cpu, &find.spaces);

	if (!status)
		status = btsrec_events(rec, cpu, find_event, &find);
	intervals_cpu_end(intervals);
	aspace_fini(&find.spaces);
	return intervals->nomem ? msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory") : status;
}

enum btsrec_status thread_open(struct thread *thread, struct btsrec *rec, uint32_t pid,
			       bool prove)
{
	enum btsrec_status status;

	memset(thread, 0, sizeof(*thread));
	thread->rec = rec;
	thread->prove = prove;
	thread->nr_lanes = btsrec_nr_cpu_ids(rec);
	intervals_init(&thread->intervals, pid);
	thread->lanes = calloc(thread->nr_lanes + 1, sizeof(*thread->lanes));
	if (!thread->lanes)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	status = cpus_for_each(rec, NULL, 0, find_on_cpu, thread);
	for (size_t i = 0; i < rec->diags.nr && !status; i++) {
		const struct diag *diag = &rec->diags.list[i];

		if (diag->status && diag->cpu != DIAG_NO_CPU && !btsrec_cpu(rec, diag->cpu))
			intervals_blind(&thread->intervals, diag->cpu);
	}
	intervals_end(&thread->intervals);
	if (thread->intervals.nomem)
		status = msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return status;
}

/* --- Events ------------------------------------------------------------- */

static void close_lanes(struct thread *thread)
{
	for (unsigned int cpu = 0; thread->lanes && cpu < thread->nr_lanes; cpu++)
		if (thread->lanes[cpu].opened)
			trace_close(&thread->lanes[cpu].trace);
}

void thread_rewind(struct thread *thread)
{
	close_lanes(thread);
	memset(thread->lanes, 0, thread->nr_lanes * sizeof(*thread->lanes));
}

void thread_close(struct thread *thread)
{
	close_lanes(thread);
	free(thread->lanes);
	intervals_fini(&thread->intervals);
	memset(thread, 0, sizeof(*thread));
}

enum btsrec_status thread_lane(struct thread *thread, unsigned int cpu,
			       struct thread_lane **ret)
{
	struct thread_lane *lane = &thread->lanes[cpu];
	enum btsrec_status status;

	*ret = lane;
	if (lane->opened)
		return lane->trace.status;
	lane->opened = true;
	status = trace_open(&lane->trace, thread->rec, cpu, 0, thread->prove);
	return status ? status : trace_fault(thread->rec, cpu, &lane->fault);
}

static bool lane_next(struct thread_lane *lane, struct trace_event *ret)
{
	if (!lane->has_pending)
		return trace_next(&lane->trace, ret);
	lane->has_pending = false;
	*ret = lane->pending;
	return true;
}

enum btsrec_status thread_interval(struct thread *thread, size_t i, trace_fn fn, void *arg)
{
	const struct interval *interval = &thread->intervals.list[i];
	struct thread_lane *lane;
	enum btsrec_status status = thread_lane(thread, interval->cpu, &lane);
	struct trace_event event;

	while (!status && lane_next(lane, &event)) {
		if (event.event->n >= interval->first_n && !fn(arg, &event))
			return BTSREC_ERR_STOPPED;
		if (event.event->n >= interval->last_n)
			return BTSREC_OK;
	}
	return status ? status : lane->trace.status;
}

enum btsrec_status thread_tail(struct thread *thread, size_t i, trace_fn fn, void *arg)
{
	const struct interval *interval = &thread->intervals.list[i];
	struct thread_lane *lane;
	enum btsrec_status status = thread_lane(thread, interval->cpu, &lane);
	struct trace_event event;

	while (!status && lane_next(lane, &event)) {
		if (event.event->kind != BTSREC_EVENT_BRANCH) {
			lane->pending = event;
			lane->has_pending = true;
			return BTSREC_OK;
		}
		if (!fn(arg, &event))
			return BTSREC_OK;
	}
	return status ? status : lane->trace.status;
}
