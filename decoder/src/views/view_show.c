// SPDX-License-Identifier: GPL-2.0-or-later
/* The histories, event by event. */
#include "base/options.h"
#include "views/view_show.h"

#include <stdlib.h>

#include "symbols/symbol.h"
#include "recorder/cpus.h"
#include "render/csv.h"
#include "views/cpu_tasks.h"

/* --- Lines -------------------------------------------------------------- */

/* A gap is in no filter's way; see event_filter_counts(). */
static bool counts(const struct show *show, const struct btsrec_event *event)
{
	return !event || event->kind != BTSREC_EVENT_GAP ||
	       (!show->level_filtered && !show->event_filter->filter.any);
}

bool show_takes_line(struct show *show, const struct btsrec_event *event)
{
	if (show->counting) {
		show->nr_lines += counts(show, event);
		return false;
	}
	if (show->nr_skip) {
		show->nr_skip -= counts(show, event);
		return false;
	}
	show->nr_printed++;
	return true;
}

bool show_goes_on(const struct show *show)
{
	return !show->nomem && !show->renderer.out.stopped && !show->reverse_buffer.nomem;
}

/* The fault is in front of its event in time. */
bool show_print(void *arg, const struct btsrec_event *event, const struct level_filter_block *block)
{
	struct show *show = arg;
	struct renderer *r = &show->renderer;
	bool fault = event && fault_is_here(show->fault, event);

	if (block) {
		r->side = aspace_at(&show->event_filter->spaces, block->n);
		show->format->block(r, block);
	}
	if (event)
		r->side = aspace_at(&show->event_filter->spaces, event->n);
	if (fault && !show->opts->newest_first)
		show->format->fault(r, event->cpu, event->n, show->fault);
	if (event && event->kind == BTSREC_EVENT_BRANCH)
		show_branch(show, event);
	else if (event)
		show->format->event(r, event);
	if (fault && show->opts->newest_first)
		show->format->fault(r, event->cpu, event->n, show->fault);
	return show_goes_on(show);
}

void show_line(struct show *show, const struct btsrec_event *event)
{
	if (!show_takes_line(show, event))
		return;
	show_print_interval(show);
	if (show->opts->newest_first)
		reverse_buffer_event(&show->reverse_buffer, event);
	else
		show_print(show, event, NULL);
}

static void print_event(struct show *show, const struct btsrec_event *event)
{
	if (show->opts->fold)
		show_folded(show, event);
	else
		show_line(show, event);
}

void show_block(struct show *show, const struct level_filter_block *block)
{
	show_end_fold(show);
	if (!show_takes_line(show, NULL))
		return;
	show_print_interval(show);
	if (show->opts->newest_first)
		reverse_buffer_block(&show->reverse_buffer, block);
	else
		show_print(show, NULL, block);
}

static struct branch look_up_type(void *arg, const struct btsrec_event *event)
{
	struct show *show = arg;

	return trace_type(&show->event_filter->types, event);
}

static bool look_up_handler(void *arg, uint64_t va)
{
	struct show *show = arg;

	return trace_is_syscall(show->renderer.rec, va);
}

static void print_filtered_level(struct show *show, const struct btsrec_event *event)
{
	const struct level_filter_lookup lookup = {look_up_type, look_up_handler, show};
	struct level_filter_output printed = level_filter_feed(&show->level_filter, event, &lookup);

	if (printed.has_block)
		show_block(show, &printed.block);
	if (printed.has_event)
		print_event(show, event);
}

bool show_event(void *arg, const struct btsrec_event *event)
{
	struct show *show = arg;

	if (!event_filter_wants(show->event_filter, event))
		return true;
	if (show->level_filtered) {
		/* What is not of the level is a line, too. */
		show->renderer.rec->matched |= event->kind != BTSREC_EVENT_GAP;
		print_filtered_level(show, event);
	} else {
		print_event(show, event);
	}
	return show_goes_on(show);
}

/* --- All of them -------------------------------------------------------- */

/* Blocks are shown unless only branches are. */
static bool is_level_filtered(const struct btsrec_filter *filter)
{
	return filter->user != filter->kernel && !filter_asks_branches(filter);
}

static enum btsrec_status show_check(struct btsrec *rec, const struct btsrec_show *opts)
{
	enum btsrec_status status;
	uint32_t pid;

	if (!render_format_of(opts->format))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no such output format");
	if (opts->fold && opts->newest_first)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "loops are folded oldest first only");
	status = event_filter_check(rec, opts->filter);
	if (status || !opts->thread)
		return status;
	if (opts->newest_first)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "one thread over all CPUs is printed oldest first only");
	return thread_check(rec, opts->thread, opts->filter, &pid);
}

/* A line that was lost for lack of memory is what failed. */
enum btsrec_status show_status(const struct show *show, enum btsrec_status status)
{
	if (!show->nomem)
		return status;
	return msg_set(&show->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
}

/** struct show_how - @opts, as @format */
struct show_how {
	const struct btsrec_show *opts;
	const struct render_format *format;
};

static bool show_open(void *arg, void *data, struct btsrec *rec)
{
	const struct show_how *how = arg;
	const struct btsrec_show *opts = how->opts;
	struct show *show = data;

	show->renderer.rec = rec;
	show->renderer.has_types = opts->types;
	show->renderer.lines = opts->lines;
	show->format = how->format;
	show->opts = opts;
	show->filter = *opts->filter;
	show->level_filtered = is_level_filtered(opts->filter);
	if (show->level_filtered)
		show->filter.user = show->filter.kernel = false;
	return true;
}

static void show_begin(void *data)
{
	struct show *show = data;

	if (show->format->begin)
		show->format->begin(&show->renderer);
}

static enum btsrec_status show_the_thread(void *data)
{
	struct show *show = data;

	show_begin(show);
	return show_status(show, show_thread(show));
}

static enum btsrec_status show_close(void *arg, void *data)
{
	struct show *show = data;

	(void)arg;
	if (show->format->end)
		show->format->end(&show->renderer);
	labels_fini(&show->labels);
	return BTSREC_OK;
}

static enum btsrec_status show_as(struct btsrec *rec, struct show_how how,
				  const struct btsrec_sink *sink)
{
	static const struct cpu_tasks tasks = {
		.view_bytes = sizeof(struct show),
		.out_at = offsetof(struct show, renderer.out),
		.open = show_open,
		.begin = show_begin,
		.first_bytes = sizeof(struct show_first),
		.first = show_first_of_cpu,
		.max_parts = show_max_parts,
		.plan = show_plan_cpu,
		.part = show_part_of_cpu,
		.end = show_end_cpu,
		.drop = show_drop_plan,
		.close = show_close,
	};
	const struct btsrec_show *opts = how.opts;
	enum btsrec_status status;

	if (opts->thread)
		status = cpu_tasks_one(rec, &tasks, show_the_thread, &how, sink);
	else
		status = cpu_tasks_print(rec, opts->cpus, opts->nr_cpus, opts->lines, &tasks, &how,
					 sink);
	return cpus_end(rec, opts->cpus, status);
}

/* The columns of TSV, written otherwise. */
static enum btsrec_status show_as_csv(struct btsrec *rec, const struct btsrec_show *opts,
				      const struct btsrec_sink *sink)
{
	struct csv *csv = malloc(sizeof(*csv));
	enum btsrec_status status;
	struct btsrec_sink columns;

	if (!csv)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	columns = csv_sink(csv, sink);
	status = show_as(rec, (struct show_how){ opts, &render_tsv }, &columns);
	free(csv);
	return status;
}

static enum btsrec_status print_events(struct btsrec *rec, const struct btsrec_show *opts,
				       const struct btsrec_sink *sink)
{
	const struct show_how how = { opts, render_format_of(opts->format) };
	enum btsrec_status status = cpus_check(rec, opts->cpus, opts->nr_cpus);

	if (!status)
		status = show_check(rec, opts);
	if (status)
		return status;
	return opts->format == BTSREC_FORMAT_CSV ? show_as_csv(rec, opts, sink) :
						   show_as(rec, how, sink);
}

enum btsrec_status btsrec_show(struct btsrec *rec, const struct btsrec_show *given,
			       const struct btsrec_sink *sink)
{
	struct btsrec_filter filter;
	struct btsrec_show opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	return status ? status : print_events(rec, &opts, sink);
}

/* --- To nobody ---------------------------------------------------------- */

static void no_lines(struct out *out, const struct branch_run *run,
		     const struct label *const *labels)
{
	(void)out;
	(void)run;
	(void)labels;
}

/* Labels are made: names and types are read for them, once for the same ones. */
enum btsrec_status show_to_nobody(struct btsrec *rec, const struct btsrec_sink *nowhere)
{
	const struct btsrec_filter everything = { 0 };
	const struct btsrec_show opts = { .types = true, .filter = &everything };
	struct render_format format = render_tsv;

	format.branches = no_lines;
	return show_as(rec, (struct show_how){ &opts, &format }, nowhere);
}
