// SPDX-License-Identifier: GPL-2.0-or-later
/* The fault of a thread that went to another CPU before the freeze, and what led to it there. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "views/view_summary.h"

/* The path needs the newest calls before the fault; what is open is known in any case. */
#define NR_TREE_EVENTS	2000
#define PID_BYTES	11

/* The first interval and event of the newest NR_TREE_EVENTS up to the fault, in interval @i. */
static void find_newest(const struct intervals *intervals, size_t i, const struct fault *fault,
			struct calltree_part *ret)
{
	uint64_t end_n = fault->n + 1, nr_left = NR_TREE_EVENTS;

	for (;; i--) {
		const struct interval *interval = &intervals->list[i];
		uint64_t nr = end_n - interval->first_n;

		ret->first_interval = i;
		ret->first_cpu_n = nr > nr_left ? end_n - nr_left : interval->first_n;
		if (!i || nr >= nr_left)
			return;
		nr_left -= nr;
		end_n = intervals->list[i - 1].last_n + 1;
	}
}

static enum btsrec_status read_tree(struct summary *view, struct btsrec *rec, size_t interval,
				    const struct fault *fault)
{
	struct thread *thread = &view->followed.thread;
	unsigned int nr_cpus = btsrec_nr_cpu_ids(rec);
	_cleanup_free_ struct filter_window *windows = calloc(nr_cpus + 1, sizeof(*windows));
	struct calltree_part part = { .windows = windows };

	if (!windows)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++)
		windows[cpu].end_n = UINT64_MAX;
	windows[view->fault_cpu].end_n = fault->n + 1;
	find_newest(&thread->intervals, interval, fault, &part);
	return calltree_read_thread(&view->calls.tree, thread, &view->calls.places, &part);
}

/* The number that the fault has in the tree. */
static bool place_fault(struct summary *view, size_t interval, struct fault *fault)
{
	const struct thread_places *places = &view->calls.places;

	for (size_t i = 0; i < places->nr; i++) {
		const struct thread_place *place = &places->list[i];

		if (place->interval != interval || fault->n < place->cpu_n)
			continue;
		fault->n = place->n + (fault->n - place->cpu_n);
		return true;
	}
	return false;
}

/* May the fault have been on another CPU?  Each has an idle thread of its own. */
static bool may_have_moved(const struct fault *fault, const struct btsrec_cpu *failed)
{
	return !fault->kind && failed->frozen && !failed->freeze.via_nmi && failed->freeze.pid &&
	       (fault->why == FAULT_MOVED || fault->why == FAULT_TOO_OLD ||
		fault->why == FAULT_INCOMPLETE || fault->why == FAULT_NOT_ENTERED);
}

enum btsrec_status summary_follow(struct summary *view, struct btsrec *rec,
				  const struct btsrec_cpu *failed)
{
	const struct btsrec_filter everything = { 0 };
	enum btsrec_status status;
	char pid[PID_BYTES];
	struct fault fault = { 0 };
	size_t interval;

	if (!may_have_moved(&view->calls.fault, failed) || !view->nr_switches)
		return BTSREC_OK;
	(void)snprintf(pid, sizeof(pid), "%" PRIu32, failed->freeze.pid);
	status = view_thread_open(&view->followed, rec, pid, &everything, true);
	if (!status)
		status = trace_fault_moved(&view->followed.thread, failed->cpu, &fault, &interval);
	if (status || !fault.kind)
		return status == BTSREC_ERR_INVAL ? BTSREC_OK : status;
	view->fault_cpu = view->followed.thread.intervals.list[interval].cpu;
	status = read_tree(view, rec, interval, &fault);
	if (status || !place_fault(view, interval, &fault))
		return status;
	view->moved = true;
	view->calls.fault = fault;
	view->calls.followed = &view->followed;
	return BTSREC_OK;
}

void summary_unfollow(struct summary *view)
{
	view->calls.followed = NULL;
	view->moved = false;
	thread_places_fini(&view->calls.places);
	view_thread_close(&view->followed);
	memset(&view->followed, 0, sizeof(view->followed));
}
