// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What all CPUs did around an event: the calls in which it happened, and of the other CPUs what
 * they may have done at that time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "recorder/session.h"
#include "views/view_search.h"

/**
 * struct around - the question under way
 * @cpu, @n: the event.  @time: when it was.
 * @nr_lines: that may still be printed.
 * @counts: lines are counted, and none is printed.
 * @pid: the thread that runs at the event, if @pid_known.
 */
struct around {
	struct search *view;
	unsigned int cpu;
	uint64_t n;
	struct search_time time;
	uint64_t nr_lines;
	bool counts;
	bool pid_known;
	uint32_t pid;
};

static bool is_fault(const char *event)
{
	return !strcmp(event, "fault");
}

/* "1:43656" */
static bool parse_event(const char *text, unsigned int *ret_cpu, uint64_t *ret_n)
{
	unsigned long long cpu, n;
	char *end;

	errno = 0;
	cpu = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != ':' || end[1] < '0' || end[1] > '9' ||
	    cpu > UINT32_MAX)
		return false;
	n = strtoull(end + 1, &end, 10);
	if (errno || *end)
		return false;
	*ret_cpu = (unsigned int)cpu;
	*ret_n = n;
	return true;
}

/* --- What is near ---------------------------------------------------------- */

/* May what has gone on from event @first_n to @last_n have been at the time of the event? */
static bool is_near(const struct around *around, unsigned int cpu, uint64_t first_n,
		    uint64_t last_n)
{
	const struct call_list *list = &around->view->lists[cpu];

	if (cpu == around->cpu)
		return first_n <= around->n && around->n <= last_n;
	return search_when(list, first_n).min_tsc <= around->time.max_tsc &&
	       search_when(list, last_n).max_tsc >= around->time.min_tsc;
}

/*
 * A call without an end goes on as long as its thread is seen; on the CPU of the event, also when
 * that comes back, unless it may have ended elsewhere.
 */
static uint64_t call_end_n(const struct call_list *list, const struct listed_call *call,
			   bool comes_back)
{
	if (call->last_n == UINT64_MAX && comes_back && !call->lost)
		return list->end_n;
	if (call->last_n != UINT64_MAX)
		return call->last_n;
	return call->side + 1 == list->nr_stays ? list->end_n : list->stays[call->side].last_n;
}

/* --- Lines ------------------------------------------------------------------ */

static bool takes_line(struct around *around)
{
	if (around->counts) {
		around->nr_lines++;
		return false;
	}
	if (!around->nr_lines)
		return false;
	around->nr_lines--;
	return true;
}

static void put_stay(struct around *around, unsigned int cpu, uint32_t number)
{
	struct search *view = around->view;
	const struct call_list *list = &view->lists[cpu];
	const struct call_stay *stay = &list->stays[number];
	const struct listed_call call = {
		.n = stay->first_n, .last_n = stay->last_n, .side = number};
	const struct search_line line = {search_when(list, stay->first_n), cpu, &call};
	const struct search_time last = search_when(list, stay->last_n);
	struct out *out = &view->renderer.out;

	if (!takes_line(around))
		return;
	if (!search_is_text(view)) {
		search_put_stay(view, &line);
		return;
	}
	search_text_head(view, &line, false);
	out_literal(out, "runs to ");
	out_dec(out, stay->last_n, 0);
	out_char(out, ' ');
	search_text_time(view, &last);
	out_char(out, '\n');
}

static void put_call(struct around *around, unsigned int cpu, const struct listed_call *call)
{
	struct search *view = around->view;
	const struct search_line line = {search_when(&view->lists[cpu], call->n), cpu, call};
	struct out *out = &view->renderer.out;

	if (!takes_line(around))
		return;
	if (!search_is_text(view)) {
		search_put(view, &line, &(struct btsrec_found){.level = call->depth});
		return;
	}
	search_text_head(view, &line, false);
	out_blanks(out, 2 * (1 + (call->depth < 16 ? call->depth : 16)));
	search_text_function(view, call->to);
	if (cpu != around->cpu || call->last_n != UINT64_MAX)
		search_text_state(view, &line);
	out_char(out, '\n');
}

/* Of the thread that runs at the event, all open calls; of others those that are asked for. */
static bool takes_call(const struct around *around, unsigned int cpu,
		       const struct listed_call *call)
{
	const struct call_list *list = &around->view->lists[cpu];
	uint32_t max_depth = around->view->opts->max_depth;
	const struct call_stay *stay = &list->stays[call->side];

	if (!call->tags)
		return false;
	if (cpu == around->cpu)
		return stay->known && around->pid_known && stay->side.pid == around->pid &&
		       is_near(around, cpu, call->n, call_end_n(list, call, true));
	return call->depth < max_depth && is_near(around, cpu, stay->first_n, stay->last_n) &&
	       is_near(around, cpu, call->n, call_end_n(list, call, false));
}

static void put_cpu(struct around *around, unsigned int cpu)
{
	const struct call_list *list = &around->view->lists[cpu];
	size_t at = 0;

	for (uint32_t i = 0; i < list->nr_stays; i++) {
		const struct call_stay *stay = &list->stays[i];

		if (is_near(around, cpu, stay->first_n, stay->last_n))
			put_stay(around, cpu, i);
		for (; at < list->nr && list->calls[at].n <= stay->last_n; at++)
			if (takes_call(around, cpu, &list->calls[at]))
				put_call(around, cpu, &list->calls[at]);
	}
}

/* Which thread runs at the event. */
static void find_thread(struct around *around)
{
	const struct call_list *list = &around->view->lists[around->cpu];

	for (size_t i = 0; i < list->nr_stays; i++) {
		const struct call_stay *stay = &list->stays[i];

		if (stay->first_n > around->n || around->n > stay->last_n)
			continue;
		around->pid_known = stay->known;
		around->pid = stay->side.pid;
	}
}

static void put_cpus(struct around *around)
{
	put_cpu(around, around->cpu);
	for (unsigned int cpu = 0; cpu < around->view->nr_lists; cpu++)
		if (cpu != around->cpu && !around->view->renderer.out.stopped)
			put_cpu(around, cpu);
}

/* --- All -------------------------------------------------------------------- */

enum btsrec_status search_around_check(struct btsrec *rec, const char *event)
{
	unsigned int cpu;
	uint64_t n;

	if (event && (is_fault(event) || parse_event(event, &cpu, &n)))
		return BTSREC_OK;
	return msg_set(&rec->msg, BTSREC_ERR_INVAL,
		       "an event is CPU:NUMBER, as in 1:43656, or \"fault\"");
}

/* The fault of the CPU that failed first; what is reported or a trigger ends its history. */
static enum btsrec_status find_fault(struct around *around)
{
	struct search *view = around->view;
	struct btsrec *rec = view->renderer.rec;
	const struct btsrec_cpu *failed = session_failed_cpu(rec);
	const struct call_list *list;

	if (!failed || failed->cpu >= view->nr_lists)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no CPU is known to have failed");
	list = &view->lists[failed->cpu];
	if (!list->end_n)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "the fault is on CPU %u, which is left out or has no event",
			       failed->cpu);
	around->cpu = failed->cpu;
	around->n = list->fault.kind ? list->fault.n : list->end_n - 1;
	if (!list->fault.kind && list->fault.why != FAULT_REPORT &&
	    list->fault.why != FAULT_TRIGGER)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "where the fault is on CPU %u is not known: %s; its newest event "
			       "is %u:%llu", failed->cpu, fault_why_str(list->fault.why), failed->cpu,
			       (unsigned long long)list->end_n - 1);
	return BTSREC_OK;
}

/* What the question is about. */
static enum btsrec_status find_event(struct around *around)
{
	const char *event = around->view->opts->what;
	const struct search *view = around->view;

	if (is_fault(event))
		return find_fault(around);
	(void)parse_event(event, &around->cpu, &around->n);
	if (around->cpu < view->nr_lists && around->n < view->lists[around->cpu].end_n)
		return BTSREC_OK;
	return msg_set(&view->renderer.rec->msg, BTSREC_ERR_INVAL, "CPU %u has no event %llu",
		       around->cpu, (unsigned long long)around->n);
}

static void text_begin(struct around *around, uint64_t nr_all)
{
	struct out *out = &around->view->renderer.out;

	out_literal(out, "# around event ");
	out_dec(out, around->n, 0);
	out_literal(out, " of CPU ");
	out_dec(out, around->cpu, 0);
	out_literal(out, ", which was at ");
	search_text_time(around->view, &around->time);
	out_literal(out, " ms from the freeze");
	if (nr_all > around->nr_lines) {
		out_literal(out, "; ");
		out_dec(out, around->nr_lines, 0);
		out_literal(out, " of ");
		out_dec(out, nr_all, 0);
		out_literal(out, " lines");
	}
	out_char(out, '\n');
	search_text_columns(around->view, "CALL");
}

enum btsrec_status search_around(struct search *view)
{
	struct around around = {.view = view, .counts = true};
	bool is_text = search_is_text(view);
	enum btsrec_status status = find_event(&around);
	uint64_t nr_all;

	if (status)
		return status;
	around.time = search_when(&view->lists[around.cpu], around.n);
	find_thread(&around);
	put_cpus(&around);
	around.counts = false;
	nr_all = around.nr_lines;
	around.nr_lines = search_nr_shown(view, nr_all);
	if (is_text)
		text_begin(&around, nr_all);
	else
		search_put_begin(view, nr_all);
	put_cpus(&around);
	if (is_text)
		search_text_end(view);
	return BTSREC_OK;
}
