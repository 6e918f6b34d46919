// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is no branch, of all CPUs, in the order of time.  Only annotations carry a
 * time; a gap without one is printed after the last event of its CPU that has one.
 * The events of one CPU stay in their order, whatever their time stamps say.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/options.h"
#include "flow/clock.h"
#include "recorder/history.h"
#include "recorder/record.h"
#include "render/json.h"
#include "flow/event_filter.h"
#include "render/text_columns.h"
#include "recorder/cpus.h"
#include "views/values.h"

#define NS_PER_S	1000000000U

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
 * struct timeline_view - one btsrec_timeline() under way
 * @lanes: @nr_lanes of them; those of @nr_ready CPUs are in use.
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

/* --- Text --------------------------------------------------------------- */

/* How far from the freeze; false: not known from this dump. */
static bool from_end(const struct timeline_view *view, uint64_t tsc, bool *ret_before,
		     uint64_t *ret_ns)
{
	const struct clock *clock = &view->clock;

	if (!clock->tsc_khz || !clock->has_end)
		return false;
	*ret_before = tsc < clock->end_tsc;
	*ret_ns = clock_ns(clock, *ret_before ? clock->end_tsc - tsc : tsc - clock->end_tsc);
	return true;
}

/* Right-aligned, as numbers are. */
static void text_right(struct out *out, const char *text, size_t width)
{
	for (size_t nr_chars = strlen(text); nr_chars < width; nr_chars++)
		out_char(out, ' ');
	out_str(out, text);
}

static void text_time(struct timeline_view *view, const struct lane *lane)
{
	char text[32] = "-";
	bool before;
	uint64_t ns;

	if (lane->timed && from_end(view, lane->tsc, &before, &ns))
		snprintf(text, sizeof(text), "%c%llu.%09llu", before ? '-' : '+',
			 (unsigned long long)(ns / NS_PER_S), (unsigned long long)(ns % NS_PER_S));
	text_right(&view->renderer.out, text, 17);
	out_char(&view->renderer.out, ' ');
	if (lane->timed)
		out_dec(&view->renderer.out, lane->tsc, 17);
	else
		text_right(&view->renderer.out, "-", 17);
}

static void text_line(struct timeline_view *view, const struct lane *lane)
{
	struct renderer *r = &view->renderer;
	struct out *out = &r->out;

	text_time(view, lane);
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

static void text_begin(struct out *out)
{
	out_literal(out, "#     FROM_FREEZE               TSC CPU         N  BRANCHES EVENT\n");
}

/* --- JSON lines --------------------------------------------------------- */

static void json_line(struct timeline_view *view, const struct lane *lane)
{
	struct out *out = &view->renderer.out;
	bool before;
	uint64_t ns;

	json_event_open(&view->renderer, &lane->event);
	json_number(out, "branches", lane->nr_branches);
	if (lane->timed && from_end(view, lane->tsc, &before, &ns)) {
		json_key(out, "from_freeze_ns");
		if (before && ns)
			out_char(out, '-');
		out_dec(out, ns, 0);
	}
	if (!lane->timed && lane->tsc)
		json_number(out, "after_tsc", lane->tsc);
	out_literal(out, "}\n");
}

/* --- Values ------------------------------------------------------------- */

static void value_line(struct timeline_view *view, const struct lane *lane)
{
	struct btsrec_moment value = {
		.size = sizeof(value),
		.event = &lane->event,
		.nr_branches = lane->nr_branches,
		.timed = lane->timed,
		.tsc = lane->tsc,
	};
	bool before;
	uint64_t ns;

	value.has_task = values_task(view->renderer.side, &value.task);
	if (lane->timed && from_end(view, lane->tsc, &before, &ns) && ns <= INT64_MAX) {
		value.has_from_freeze = true;
		value.from_freeze_ns = before ? -(int64_t)ns : (int64_t)ns;
	}
	if (!view->fn(view->arg, &value))
		view->renderer.out.stopped = true;
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

/* All lines in order; only counted if @ret_nr_lines. */
static enum btsrec_status pass(struct timeline_view *view, uint64_t *ret_nr_lines)
{
	const struct btsrec_timeline *opts = view->opts;
	uint64_t nr_lines = 0;
	struct lane *lane;
	enum btsrec_status status;

	status = cpus_for_each(view->renderer.rec, opts->cpus, opts->nr_cpus, lane_init, view);
	while (!status && !view->renderer.out.stopped && (lane = oldest_lane(view))) {
		if (++nr_lines > view->nr_skip && !ret_nr_lines)
			show_line(view, lane);
		status = lane_advance(lane);
	}
	lanes_fini(view);
	if (ret_nr_lines)
		*ret_nr_lines = nr_lines;
	return status;
}

static enum btsrec_status show_all(struct timeline_view *view)
{
	uint64_t max_lines = view->opts->max_events, nr_lines = 0;
	enum btsrec_status status = BTSREC_OK;

	if (max_lines)
		status = pass(view, &nr_lines);
	if (status)
		return status;
	view->nr_skip = max_lines && nr_lines > max_lines ? nr_lines - max_lines : 0;
	if (view->opts->format == BTSREC_FORMAT_TEXT && !view->fn)
		text_begin(&view->renderer.out);
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
	view->renderer.names = symbols_present(rec);
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
