// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is no branch, of all CPUs, in the order of time.  Only annotations carry a
 * time; a gap without one is printed after the last event of its CPU that has one.
 * The events of one CPU stay in their order, whatever their time stamps say.
 * The lines of the kernel's log are one more lane, from the oldest event with a time on.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/options.h"
#include "flow/clock.h"
#include "recorder/history.h"
#include "recorder/record.h"
#include "render/json.h"
#include "flow/event_filter.h"
#include "render/text_columns.h"
#include "recorder/cpus.h"
#include "views/kernel_log.h"
#include "views/values.h"

#define NS_PER_S	1000000000U

/* So many records may be between two that are in the wrong order. */
#define MAX_DISORDER	64

/**
 * struct lane - one CPU
 * @event: its next line, if @has_event; at @tsc, or not before @tsc if not @timed.
 * @nr_branches: between that and its line before; @nr_passed: up to there.
 */
struct lane {
	struct history history;
	struct event_filter event_filter;
	bool has_event;
	bool timed;
	uint64_t tsc;
	uint64_t nr_branches;
	uint64_t nr_passed;
	struct btsrec_event event;
};

/**
 * struct log_lane - the lines of the kernel's log that are wanted, @nr of them, the newest first
 * @why: why there are none, static; NULL: there may be.
 * @nr_left: those that were not printed yet are the first so many.
 */
struct log_lane {
	struct kernel_log log;
	const char *why;
	struct kernel_log_line *lines;
	size_t nr;
	size_t nr_room;
	size_t nr_left;
	struct kernel_log_text text;
};

/**
 * struct timeline_view - one btsrec_timeline() under way
 * @lanes: @nr_lanes of them; those of @nr_ready CPUs are in use.
 * @begin_tsc: of the oldest event of all that has a time, or of the filter; UINT64_MAX: none.
 * @nr_skip: so many lines are too old to be shown.
 * @fn: NULL: text; else receives the lines as values, with @arg.
 * @filter: what is heeded of that in @opts: of the others all would let gaps pass alone.
 */
struct timeline_view {
	struct renderer renderer;
	const struct btsrec_timeline *opts;
	struct clock clock;
	struct lane *lanes;
	size_t nr_lanes;
	size_t nr_ready;
	struct log_lane log;
	uint64_t begin_tsc;
	uint64_t nr_skip;
	struct btsrec_filter filter;
	btsrec_moment_fn fn;
	void *arg;
};

/* --- Lanes -------------------------------------------------------------- */

static void lane_fini(struct lane *lane)
{
	history_fini(&lane->history);
	event_filter_fini(&lane->event_filter);
}

/* On to the next event that is wanted and no branch. */
static enum btsrec_status lane_advance(struct lane *lane)
{
	lane->has_event = false;
	while (history_next_other(&lane->history, &lane->event)) {
		lane->timed = clock_event(&lane->event, &lane->tsc);
		if (!event_filter_wants(&lane->event_filter, &lane->event))
			continue;
		lane->has_event = true;
		lane->nr_branches = lane->history.passed.nr_branches - lane->nr_passed;
		lane->nr_passed = lane->history.passed.nr_branches;
		break;
	}
	return lane->history.status;
}

static enum btsrec_status lane_init(void *arg, unsigned int cpu)
{
	struct timeline_view *view = arg;
	struct btsrec *rec = view->renderer.rec;
	struct lane *lane = &view->lanes[view->nr_ready++];
	enum btsrec_status status;

	status = event_filter_init(&lane->event_filter, rec, cpu, &view->filter, 0);
	if (!status)
		status = history_init(&lane->history, rec, cpu, 0);
	if (!status)
		status = lane_advance(lane);
	return status;
}

static void lanes_fini(struct timeline_view *view)
{
	while (view->nr_ready)
		lane_fini(&view->lanes[--view->nr_ready]);
	memset(view->lanes, 0, view->nr_lanes * sizeof(*view->lanes));
}

/* The lane of the oldest line; NULL: there are no more. */
static struct lane *oldest_lane(struct timeline_view *view)
{
	struct lane *oldest = NULL;

	for (size_t i = 0; i < view->nr_ready; i++) {
		struct lane *lane = &view->lanes[i];

		if (lane->has_event && (!oldest || lane->tsc < oldest->tsc))
			oldest = lane;
	}
	return oldest;
}

/* --- The kernel's log --------------------------------------------------- */

/* When the oldest event of @cpu that has a time was; UINT64_MAX: none has. */
static enum btsrec_status oldest_tsc(struct btsrec *rec, unsigned int cpu, uint64_t *ret)
{
	struct history history;
	struct btsrec_event event;
	enum btsrec_status status = history_init(&history, rec, cpu, 0);
	bool timed = false;

	while (!status && !timed && history_next_other(&history, &event))
		timed = clock_event(&event, ret);
	if (!timed)
		*ret = UINT64_MAX;
	if (!status)
		status = history.status;
	history_fini(&history);
	return status;
}

static enum btsrec_status find_begin(void *arg, unsigned int cpu)
{
	struct timeline_view *view = arg;
	uint64_t tsc;
	enum btsrec_status status = oldest_tsc(view->renderer.rec, cpu, &tsc);

	if (!status && tsc < view->begin_tsc)
		view->begin_tsc = tsc;
	return status;
}

/* A line has no CPU, no number of an event, and of its thread the number only. */
static bool may_match(const struct filter *filter)
{
	return !filter->pids.nr && !filter->tgids.nr && !filter->comm &&
	       filter->from.kind != FILTER_N && filter->to.kind != FILTER_N;
}

static const char *why_no_log(struct timeline_view *view, const struct filter *filter)
{
	struct kernel_log *log = &view->log.log;

	kernel_log_open(log, view->renderer.rec);
	if (log->why || log->no_clock)
		return log->why ? log->why : log->no_clock;
	if (view->begin_tsc == UINT64_MAX)
		return "no event has a time";
	return may_match(filter) ? NULL : "a filter of threads or events leaves it out";
}

/* The newest first; at one time the one with the higher number is newer. */
static int compare_log(const void *a, const void *b)
{
	const struct kernel_log_line *left = a, *right = b;

	if (left->tsc != right->tsc)
		return left->tsc < right->tsc ? 1 : -1;
	return (left->record.seq < right->record.seq) - (left->record.seq > right->record.seq);
}

/*
 * Those from @begin_tsc on.  Where several CPUs print at once, records and their times may have
 * another order: the search goes on for some more.
 */
static enum btsrec_status log_lane_read(struct timeline_view *view, const struct filter *filter)
{
	uint64_t end_tsc = filter->to.kind == FILTER_TSC ? filter->to.value : UINT64_MAX;
	struct log_lane *lane = &view->log;
	unsigned int nr_older = 0;
	struct kernel_log_line line;

	if (filter->from.kind == FILTER_TSC && filter->from.value > view->begin_tsc)
		view->begin_tsc = filter->from.value;
	lane->why = why_no_log(view, filter);
	while (!lane->why && nr_older < MAX_DISORDER && kernel_log_next(&lane->log, &line)) {
		if (!line.has_tsc || line.tsc < view->begin_tsc) {
			nr_older++;
			continue;
		}
		if (line.tsc > end_tsc)
			continue;
		if (!grow_from(&lane->lines, sizeof(line), lane->nr, &lane->nr_room, 64))
			return msg_set(&view->renderer.rec->msg, BTSREC_ERR_NOMEM,
				       "out of memory");
		lane->lines[lane->nr++] = line;
	}
	if (lane->nr)
		qsort(lane->lines, lane->nr, sizeof(*lane->lines), compare_log);
	return BTSREC_OK;
}

static enum btsrec_status log_lane_init(struct timeline_view *view)
{
	const struct btsrec_timeline *opts = view->opts;
	struct btsrec *rec = view->renderer.rec;
	struct filter filter;
	enum btsrec_status status = event_filter_filter(rec, &view->filter, &filter);

	view->begin_tsc = UINT64_MAX;
	if (rec->no_log)
		return BTSREC_OK;
	if (!status)
		status = cpus_for_each(rec, opts->cpus, opts->nr_cpus, find_begin, view);
	return status ? status : log_lane_read(view, &filter);
}

/* --- Text --------------------------------------------------------------- */

/* Right-aligned, as numbers are. */
static void text_right(struct out *out, const char *text, size_t width)
{
	for (size_t nr_chars = strlen(text); nr_chars < width; nr_chars++)
		out_char(out, ' ');
	out_str(out, text);
}

static void text_time(struct timeline_view *view, bool timed, uint64_t tsc)
{
	char text[32] = "-";
	bool before;
	uint64_t ns;

	if (timed && clock_from_end(&view->clock, tsc, &before, &ns))
		snprintf(text, sizeof(text), "%c%llu.%09llu", before ? '-' : '+',
			 (unsigned long long)(ns / NS_PER_S), (unsigned long long)(ns % NS_PER_S));
	text_right(&view->renderer.out, text, 17);
	out_char(&view->renderer.out, ' ');
	if (timed)
		out_dec(&view->renderer.out, tsc, 17);
	else
		text_right(&view->renderer.out, "-", 17);
}

static void text_line(struct timeline_view *view, const struct lane *lane)
{
	struct renderer *r = &view->renderer;
	struct out *out = &r->out;

	text_time(view, lane->timed, lane->tsc);
	out_char(out, ' ');
	out_event(out, lane->event.cpu, lane->event.n);
	out_dec(out, lane->nr_branches, 9);
	out_char(out, ' ');
	out_pad(out, record_event_str(lane->event.kind), 8);
	render_details(r, &lane->event);
	if (!lane->timed && lane->tsc) {
		out_literal(out, " after_tsc=");
		out_dec(out, lane->tsc, 0);
	}
	out_char(out, '\n');
}

static void text_begin(struct timeline_view *view, const char *why)
{
	struct out *out = &view->renderer.out;

	out_literal(out, "#     FROM_FREEZE               TSC CPU         N  BRANCHES EVENT\n");
	if (!why)
		return;
	out_literal(out, "# kernel log: ");
	out_str(out, why);
	out_char(out, '\n');
}

static void text_log(struct timeline_view *view, const struct btsrec_log_line *line)
{
	struct out *out = &view->renderer.out;

	text_time(view, true, line->tsc);
	out_literal(out, "   -         -         - ");
	out_pad(out, "log", 8);
	kernel_log_text(out, line, SIZE_MAX);
	out_char(out, '\n');
}

/* --- JSON lines --------------------------------------------------------- */

static void json_line(struct timeline_view *view, const struct lane *lane)
{
	struct out *out = &view->renderer.out;

	json_event_open(&view->renderer, &lane->event);
	json_number(out, "branches", lane->nr_branches);
	if (lane->timed)
		json_from_freeze(out, "from_freeze_ns", &view->clock, lane->tsc);
	else if (lane->tsc)
		json_number(out, "after_tsc", lane->tsc);
	out_literal(out, "}\n");
}

/* --- Values ------------------------------------------------------------- */

static void value_put(struct timeline_view *view, struct btsrec_moment *value)
{
	bool before;
	uint64_t ns;

	if (value->timed && clock_from_end(&view->clock, value->tsc, &before, &ns) &&
	    ns <= INT64_MAX) {
		value->has_from_freeze = true;
		value->from_freeze_ns = before ? -(int64_t)ns : (int64_t)ns;
	}
	if (!view->fn(view->arg, value))
		view->renderer.out.stopped = true;
}

static void value_line(struct timeline_view *view, const struct lane *lane)
{
	struct btsrec_moment value = {
		.size = sizeof(value),
		.event = &lane->event,
		.nr_branches = lane->nr_branches,
		.timed = lane->timed,
		.tsc = lane->tsc,
	};

	value.has_task = values_task(view->renderer.side, &value.task);
	value_put(view, &value);
}

static void value_log(struct timeline_view *view, const struct btsrec_log_line *line)
{
	struct btsrec_moment value = {
		.size = sizeof(value),
		.timed = true,
		.tsc = line->tsc,
		.log = line,
	};

	value_put(view, &value);
}

/* --- All --------------------------------------------------------------- */

static void show_line(struct timeline_view *view, struct lane *lane)
{
	view->renderer.side = aspace_at(&lane->event_filter.spaces, lane->event.n);
	if (view->fn)
		value_line(view, lane);
	else if (view->opts->format == BTSREC_FORMAT_JSONL)
		json_line(view, lane);
	else
		text_line(view, lane);
}

static void show_log_line(struct timeline_view *view, const struct kernel_log_line *line)
{
	struct log_lane *log = &view->log;
	struct btsrec_log_line value = kernel_log_value(&log->log, line, &log->text);

	if (view->fn)
		value_log(view, &value);
	else if (view->opts->format == BTSREC_FORMAT_JSONL)
		kernel_log_json(&view->renderer.out, &value, &log->text, &view->clock);
	else
		text_log(view, &value);
}

/* The next line of the log, if it is older than that of @lane; else NULL. */
static const struct kernel_log_line *next_log_line(const struct timeline_view *view,
						   const struct lane *lane)
{
	const struct log_lane *log = &view->log;
	const struct kernel_log_line *line = log->nr_left ? &log->lines[log->nr_left - 1] : NULL;

	return line && (!lane || line->tsc < lane->tsc) ? line : NULL;
}

/* The next line is that of the log, or of @lane; shown if it is @wanted. */
static enum btsrec_status pass_line(struct timeline_view *view, struct lane *lane, bool wanted)
{
	const struct kernel_log_line *line = next_log_line(view, lane);

	if (line) {
		view->log.nr_left--;
		if (wanted)
			show_log_line(view, line);
		return BTSREC_OK;
	}
	if (!lane)
		return BTSREC_OK;
	if (wanted)
		show_line(view, lane);
	return lane_advance(lane);
}

/* All lines in order; only counted if @ret_nr_lines. */
static enum btsrec_status pass(struct timeline_view *view, uint64_t *ret_nr_lines)
{
	const struct btsrec_timeline *opts = view->opts;
	uint64_t nr_lines = 0;
	struct lane *lane;
	enum btsrec_status status;

	view->log.nr_left = view->log.nr;
	status = cpus_for_each(view->renderer.rec, opts->cpus, opts->nr_cpus, lane_init, view);
	while (!status && !view->renderer.out.stopped &&
	       ((lane = oldest_lane(view)) || view->log.nr_left))
		status = pass_line(view, lane, ++nr_lines > view->nr_skip && !ret_nr_lines);
	lanes_fini(view);
	if (ret_nr_lines)
		*ret_nr_lines = nr_lines;
	return status;
}

static enum btsrec_status show_all(struct timeline_view *view)
{
	uint64_t max_lines = view->opts->max_events, nr_lines = 0;
	enum btsrec_status status = log_lane_init(view);
	char lacks[KERNEL_LOG_LACKS_BYTES];
	const char *why = view->log.why;

	if (!why)
		why = kernel_log_lacks(&view->log.log, lacks);
	if (!status && max_lines)
		status = pass(view, &nr_lines);
	if (status)
		return status;
	view->nr_skip = max_lines && nr_lines > max_lines ? nr_lines - max_lines : 0;
	if (view->opts->format == BTSREC_FORMAT_TEXT && !view->fn)
		text_begin(view, why);
	else if (why && !view->fn)
		kernel_log_json_none(&view->renderer.out, why);
	return pass(view, NULL);
}

static enum btsrec_status timeline_check(struct btsrec *rec, const struct btsrec_timeline *opts)
{
	enum btsrec_status status = cpus_check(rec, opts->cpus, opts->nr_cpus);

	if (status)
		return status;
	if (opts->format != BTSREC_FORMAT_TEXT && opts->format != BTSREC_FORMAT_JSONL)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "a timeline is text or JSON lines");
	return event_filter_check(rec, opts->filter);
}

/* As text to @sink, or, if there is @fn, as values to it. */
static enum btsrec_status put_timeline(struct btsrec *rec, const struct btsrec_timeline *opts,
				       const struct btsrec_sink *sink, btsrec_moment_fn fn,
				       void *arg)
{
	enum btsrec_status status = timeline_check(rec, opts), flushed;
	_cleanup_free_ struct timeline_view *view = NULL;
	_cleanup_free_ struct lane *lanes = NULL;
	const struct btsrec_root *root;
	size_t nr_lanes;

	if (status)
		return status;
	root = btsrec_root(rec);
	nr_lanes = btsrec_nr_cpu_ids(rec) + opts->nr_cpus + 1;
	view = calloc(1, sizeof(*view));
	lanes = calloc(nr_lanes, sizeof(*lanes));
	if (!view || !lanes)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	view->renderer.rec = rec;
	view->opts = opts;
	view->fn = fn;
	view->arg = arg;
	view->filter = *opts->filter;
	filter_without_branches(&view->filter);
	view->clock = clock_of(root, btsrec_cpu(rec, root->freeze_cpu));
	view->lanes = lanes;
	view->nr_lanes = nr_lanes;
	out_init(&view->renderer.out, sink);
	status = show_all(view);
	free(view->log.lines);
	flushed = out_flush(&view->renderer.out);
	return cpus_end(rec, opts->cpus, status ? status : flushed);
}

enum btsrec_status btsrec_timeline(struct btsrec *rec, const struct btsrec_timeline *given,
				   const struct btsrec_sink *sink)
{
	struct btsrec_filter filter;
	struct btsrec_timeline opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	return status ? status : put_timeline(rec, &opts, sink, NULL, NULL);
}

enum btsrec_status btsrec_timeline_each(struct btsrec *rec, const struct btsrec_timeline *given,
					btsrec_moment_fn fn, void *arg)
{
	struct btsrec_filter filter;
	struct btsrec_timeline opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	if (!status)
		status = values_check(&rec->msg, opts.format);
	return status ? status : put_timeline(rec, &opts, &values_sink, fn, arg);
}
