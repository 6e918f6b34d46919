// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The instructions that ran, in order.  Branches are not events here: they are
 * instructions; only what entered the kernel without one has a line of its own.
 */
#include <stdlib.h>

#include "base/options.h"
#include "views/cpu_tasks.h"
#include "views/values.h"
#include "render/json.h"
#include "render/text_columns.h"
#include "recorder/cpus.h"
#include "symbols/symbol.h"
#include "views/view_insns.h"

/* --- Lines -------------------------------------------------------------- */

static void word_begin(struct insns *view)
{
	struct out *out = &view->lines.labels;

	out_init(out, NULL);
	if (view->json) {
		out_literal(out, "{\"cpu\":");
		out_dec(out, view->cpu, 0);
		json_number(out, "n", view->n);
	} else {
		out_event(out, view->cpu, view->n);
	}
	view->begin_bytes = (size_t)(out->at - out->buf);
	memcpy(view->begin, out->buf, sizeof(view->begin));
}

/* The lines from @line up to @end; the code of the first one begins at @ip. */
static void show_lines(struct insns *view, const struct insn_line *line,
		       const struct insn_line *end, uint64_t ip, const struct trace_event *traced)
{
	for (; line != end; line = insn_line_next(line)) {
		view->lines_as->insn(view, ip, traced, line);
		ip += line->code_bytes;
	}
}

static void show_range(struct insns *view, const struct proof_range *range,
		       const struct trace_event *traced)
{
	struct insn_row row = { .cr3 = view->cr3, .start = range->start, .stop = range->stop,
				.compat = traced->step->compat };
	const struct insn_line *line, *end;
	const struct label *label;

	row.named = view->lines_as->named && code_is_kernel(row.start);
	do {
		label = insn_lines_find(&view->lines, &row);
		view->nomem |= !label;
		if (!label)
			return;
		line = insn_line_first(label, &end);
		if (row.start == range->start)
			view->lines_as->code(view, row.start, traced, row.named ? line : NULL);
		if (row.named)
			line = insn_line_next(line);
		show_lines(view, line, end, row.start, traced);
		row.start += label->cookie;
		row.named = false;
	} while (label->cookie && row.start < row.stop && !view->renderer.out.stopped);
}

static void show_ranges(struct insns *view, const struct trace_event *traced)
{
	const struct proof_step *step = traced->step;
	struct trace_event before = *traced;

	/* Of two the first ran before an annotation, maybe in another thread. */
	if (view->has_before)
		before.side = &view->before;
	for (unsigned int i = 0; i < step->nr_ranges; i++) {
		view->place = view->opts->values ?
			      trace_values_find(&view->values, traced->event->n,
						step->ranges[i].start) :
			      TRACE_VALUES_NONE;
		show_range(view, &step->ranges[i], i + 1 < step->nr_ranges ? &before : traced);
	}
}

static bool is_entry(const struct branch *branch)
{
	return branch->type == BRANCH_IRQ || branch->type == BRANCH_NMI ||
	       branch->type == BRANCH_EXCEPTION || branch->type == BRANCH_ENTRY;
}

static void show_step(struct insns *view, const struct trace_event *traced)
{
	const struct proof_step *step = traced->step;

	if (step->kind != PROOF_PROVEN && step->kind != PROOF_START)
		view->lines_as->broken(view, traced);
	show_ranges(view, traced);
	if (fault_is_here(view->fault, traced->event) && view->lines_as->others)
		view->format->fault(&view->renderer, view->cpu, view->n, view->fault);
	if (traced->event->kind == BTSREC_EVENT_BRANCH && is_entry(&step->branch))
		view->lines_as->entry(view, traced);
}

static void print_interval_lines(struct insns *view)
{
	if (!view->interval)
		return;
	view->format->interval(&view->renderer, view->interval_before, view->interval);
	view->interval = NULL;
}

static void keep_before(struct insns *view, const struct trace_event *traced)
{
	if (!traced->step)
		return;
	view->has_before = traced->side;
	if (traced->side)
		view->before = *traced->side;
}

static bool show_event(struct insns *view, const struct trace_event *traced)
{
	const struct btsrec_event *event = traced->event;

	if (!event_filter_wants(view->event_filter, event))
		return true;
	if (view->nr_skip) {
		view->nr_skip -= event_filter_counts(view->event_filter, event);
		return true;
	}
	print_interval_lines(view);
	view->cpu = event->cpu;
	view->n = event->n;
	view->cr3 = traced->side ? traced->side->cr3 : 0;
	view->renderer.side = traced->side;
	word_begin(view);
	if (traced->step && filter_level(&view->event_filter->filter, traced->step->end))
		show_step(view, traced);
	if (event->kind != BTSREC_EVENT_BRANCH && view->lines_as->others)
		view->format->event(&view->renderer, event);
	return !view->renderer.out.stopped && !view->nomem;
}

static bool insns_event(void *arg, const struct trace_event *traced)
{
	struct insns *view = arg;
	bool goes_on = show_event(view, traced);

	keep_before(view, traced);
	return goes_on;
}

/* A thread without memory stops, and the status says why. */
static enum btsrec_status insns_status(const struct insns *view, enum btsrec_status status)
{
	if (view->nomem || view->lines.source.nomem)
		return msg_set(&view->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return status;
}

static enum btsrec_status insns_selected(struct insns *view, unsigned int cpu)
{
	struct btsrec *rec = view->renderer.rec;
	struct event_filter *event_filter = view->event_filter;
	enum btsrec_status status;

	status = event_filter_init(event_filter, rec, cpu, view->opts->filter,
				   view->opts->max_events);
	if (!status)
		status = trace_events(rec, cpu, event_filter->nr_tail, insns_event, view, NULL);
	if (!status && event_filter->filter.any && view->format->filtered)
		view->format->filtered(&view->renderer, cpu, event_filter->nr_wanted,
				       event_filter->nr_seen);
	event_filter_fini(event_filter);
	return status;
}

static enum btsrec_status insns_cpu(void *arg, unsigned int cpu)
{
	struct insns *view = arg;
	struct btsrec *rec = view->renderer.rec;
	struct session_ring ring;
	struct event_filter event_filter;
	struct fault fault;
	enum btsrec_status status = session_ring(rec, cpu, &ring);

	if (!status)
		status = trace_fault(rec, cpu, &fault);
	if (status)
		return status;
	view->event_filter = &event_filter;
	view->fault = &fault;
	view->has_before = false;
	if (view->format->cpu)
		view->format->cpu(&view->renderer, btsrec_cpu(rec, cpu), &ring);
	if (view->opts->values)
		status = trace_values_open(rec, cpu, &fault, &view->values);
	if (!status)
		status = insns_selected(view, cpu);
	if (view->opts->values)
		trace_values_close(&view->values);
	if (!status && view->format->cpu_end)
		view->format->cpu_end(&view->renderer, cpu);
	return insns_status(view, status);
}

/* --- One thread --------------------------------------------------------- */

static bool count_event(void *arg, const struct trace_event *traced)
{
	struct insns *view = arg;

	view->nr_skip += event_filter_wants(view->event_filter, traced->event) &&
			 event_filter_counts(view->event_filter, traced->event);
	return true;
}

static enum btsrec_status insns_pass(struct insns *view, struct view_thread *all, trace_fn fn)
{
	enum btsrec_status status = BTSREC_OK;

	thread_rewind(&all->thread);
	for (size_t i = 0; i < all->thread.intervals.nr && !status; i++) {
		view->interval = &all->thread.intervals.list[i];
		if (!view_thread_wants(all, view->interval->cpu))
			continue;
		view->interval_before = view_thread_before(all, i);
		status = view_thread_select(all, view->interval->cpu, &view->event_filter,
					    &view->fault);
		if (!status)
			status = thread_interval(&all->thread, i, fn, view);
	}
	return status;
}

static enum btsrec_status count_events(struct insns *view, struct view_thread *all)
{
	uint64_t max_events = view->opts->max_events;
	enum btsrec_status status;

	all->thread.prove = false;
	status = insns_pass(view, all, count_event);
	all->thread.prove = true;
	view->nr_skip = view->nr_skip > max_events ? view->nr_skip - max_events : 0;
	return status;
}

static enum btsrec_status insns_thread(void *arg)
{
	struct insns *view = arg;
	struct view_thread all;
	enum btsrec_status status;

	status = view_thread_open(&all, view->renderer.rec, view->opts->thread,
				  view->opts->filter, true);
	if (!status)
		status = view_thread_choose(&all, view->opts->cpus, view->opts->nr_cpus);
	if (!status)
		status = view_thread_rings(&all, &view->renderer, view->format);
	if (!status && view->opts->max_events)
		status = count_events(view, &all);
	if (!status)
		status = insns_pass(view, &all, insns_event);
	if (!status)
		view_thread_end(&all, &view->renderer, view->format);
	view_thread_close(&all);
	return insns_status(view, status);
}

/* --- All of them -------------------------------------------------------- */

static enum btsrec_status insns_check(struct btsrec *rec, const struct btsrec_insns *opts)
{
	if (opts->values && opts->thread)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "values are shown of CPUs, not of a thread");
	if (opts->format != BTSREC_FORMAT_TEXT && opts->format != BTSREC_FORMAT_JSONL)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "instructions are shown as text or JSON lines");
	return view_thread_check(rec, opts->cpus, opts->nr_cpus, opts->filter, opts->thread);
}

/** struct insns_how - @opts; @fn, @arg: see struct insns */
struct insns_how {
	const struct btsrec_insns *opts;
	btsrec_insn_fn fn;
	void *arg;
};

static bool insns_open(void *arg, void *data, struct btsrec *rec)
{
	const struct insns_how *how = arg;
	const struct btsrec_insns *opts = how->opts;
	struct insns *view = data;

	if (!trace_code(rec))
		return false;
	view->renderer.rec = rec;
	view->renderer.lines = opts->lines;
	view->format = render_format_of(opts->format);
	view->json = opts->format == BTSREC_FORMAT_JSONL;
	view->lines_as = how->fn ? &insns_values : view->json ? &insns_json : &insns_text;
	view->opts = opts;
	view->fn = how->fn;
	view->arg = how->arg;
	insn_lines_init(&view->lines, &view->renderer, opts);
	view->lines.bare = view->fn;
	return true;
}

static enum btsrec_status insns_close(void *arg, void *data)
{
	struct insns *view = data;
	enum btsrec_status status;

	(void)arg;
	view->format->end(&view->renderer);
	status = insns_status(view, BTSREC_OK);
	insn_lines_fini(&view->lines);
	return status;
}

static enum btsrec_status put_insns(struct btsrec *rec, struct insns_how how,
				    const struct btsrec_sink *sink)
{
	const struct btsrec_insns *opts = how.opts;
	static const struct cpu_tasks work = {
		.view_bytes = sizeof(struct insns),
		.out_at = offsetof(struct insns, renderer.out),
		.open = insns_open,
		.cpu = insns_cpu,
		.close = insns_close,
	};
	enum btsrec_status status = insns_check(rec, opts);

	if (!status && opts->thread)
		status = cpu_tasks_one(rec, &work, insns_thread, &how, sink);
	else if (!status)
		status = cpu_tasks_print(rec, opts->cpus, opts->nr_cpus,
					 opts->lines || opts->source_folder || how.fn, &work,
					 &how, sink);
	return cpus_end(rec, opts->cpus, status);
}

enum btsrec_status btsrec_insns(struct btsrec *rec, const struct btsrec_insns *given,
				const struct btsrec_sink *sink)
{
	struct btsrec_filter filter;
	struct btsrec_insns opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	return status ? status : put_insns(rec, (struct insns_how){ .opts = &opts }, sink);
}

enum btsrec_status btsrec_insns_each(struct btsrec *rec, const struct btsrec_insns *given,
				     btsrec_insn_fn fn, void *arg)
{
	struct btsrec_filter filter;
	struct btsrec_insns opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	if (!status)
		status = values_check(&rec->msg, opts.format);
	opts.values = false;
	return status ? status :
			put_insns(rec, (struct insns_how){ &opts, fn, arg }, &values_sink);
}
