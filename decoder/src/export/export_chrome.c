// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The histories as Chrome's Trace Event Format, which Perfetto and speedscope open:
 *
 * - a process "CPUs" with a track for each CPU: which thread ran, gaps, marks, the end;
 * - for each thread, on each CPU, a track with its calls while it ran there.
 *
 * Only annotations carry time, so the category of every slice says where its ends come
 * from: "annotation", "interpolated", "extrapolated" (see time_axis.h).  What more is known
 * of a call is in the arguments of its end: speedscope takes those of the begin for a
 * part of the name.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/counter_map.h"
#include "flow/frames_fast.h"
#include "base/grow.h"
#include "base/options.h"
#include "flow/time_axis.h"
#include "render/json.h"
#include "flow/event_filter.h"
#include "flow/trace_frames.h"
#include "recorder/cpus.h"
#include "recorder/record.h"

/* Above all process numbers (PID_MAX_LIMIT in include/linux/threads.h is 1 << 22). */
#define CPUS_PID	(1U << 22)
#define IDLE_PID	(CPUS_PID + 1)
#define UNKNOWN_PID	(CPUS_PID + 2)
/* A thread has a track for each CPU: the number of the CPU is above these bits. */
#define TRACK_CPU_SHIFT	23

#define PS_PER_US	1000000

/** struct track - pid and tid of the format; @known: of a thread */
struct track {
	bool known;
	uint64_t pid;
	uint64_t tid;
};

/** struct slice - a call that is drawn; @cookie: see struct frame; @n: since this event */
struct slice {
	uint64_t cookie;
	uint64_t n;
	uint64_t va;
};

/**
 * struct chrome - one btsrec_export_chrome() under way
 * @time_axis: of @cpu; @lead_n: on any CPU, so many events are before the first of it.
 * @tracks: those that have got their names.
 * @calls: the track of @slices, the @nr_slices calls that are drawn, outermost first.
 * @runs: the track of @cpu has an open slice, for @running.
 * @nr_cookies: frames that were seen.
 */
struct chrome {
	struct renderer r;
	const struct btsrec_export *opts;
	struct filter filter;
	struct time_axis_scale axis;
	struct time_axis time_axis;
	uint64_t lead_n;
	struct counter_map tracks;
	unsigned int cpu;
	struct track calls;
	struct btsrec_side side;
	struct slice *slices;
	size_t nr_slices;
	size_t nr_slices_room;
	bool runs;
	struct btsrec_side running;
	uint64_t nr_cookies;
	uint64_t nr_items;
	bool nomem;
};

/* --- Items -------------------------------------------------------------- */

static void begin_item(struct chrome *chrome, const char *phase, const struct track *track)
{
	struct out *out = &chrome->r.out;

	out_str(out, chrome->nr_items++ ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	out_str(out, phase);
	out_char(out, '"');
	json_number(out, "pid", track->pid);
	json_number(out, "tid", track->tid);
}

static void put_us(struct out *out, const char *key, uint64_t ps)
{
	json_key(out, key);
	out_dec(out, ps / PS_PER_US, 0);
	out_char(out, '.');
	for (uint32_t rest = (uint32_t)(ps % PS_PER_US), unit = PS_PER_US / 100; unit; unit /= 100)
		out_bytes(out, &out_digit_pairs[rest / unit % 100 * 2], 2);
}

static void put_time(struct chrome *chrome, uint64_t n, unsigned int part, unsigned int nr_parts)
{
	put_us(&chrome->r.out, "ts",
	       time_axis_ps(&chrome->time_axis, &chrome->axis, n, part, nr_parts));
}

/* Of the function that @va is in. */
static void put_function(struct chrome *chrome, uint64_t va)
{
	struct out *out = &chrome->r.out;
	struct symbol_name name;
	enum symbol_why why;

	if (symbol_find_in(chrome->r.rec, &chrome->side, va, &name, &why)) {
		json_function(out, "name", &name);
		return;
	}
	json_address(out, "name", va);
}

static void put_thread_name(struct out *out, const struct btsrec_side *side)
{
	json_key(out, "name");
	out_char(out, '"');
	out_dec(out, side->pid, 0);
	out_char(out, ' ');
	out_json_text(out, side->comm, sizeof(side->comm));
	out_char(out, '"');
}

/* --- Tracks ------------------------------------------------------------- */

static struct track cpu_track(const struct chrome *chrome)
{
	return (struct track){
		.known = true,
		.pid = CPUS_PID,
		.tid = (uint64_t)chrome->cpu << TRACK_CPU_SHIFT | CPUS_PID,
	};
}

static void name_item(struct chrome *chrome, const struct track *track, const char *what)
{
	begin_item(chrome, "M", track);
	json_word(&chrome->r.out, "name", what);
	out_literal(&chrome->r.out, ",\"args\":{\"name\":\"");
}

static void name_cpu(struct chrome *chrome)
{
	const struct track track = cpu_track(chrome);
	struct out *out = &chrome->r.out;

	name_item(chrome, &track, "process_name");
	out_literal(out, "CPUs\"}}");
	name_item(chrome, &track, "thread_name");
	out_literal(out, "CPU ");
	out_dec(out, chrome->cpu, 0);
	out_literal(out, "\"}}");
}

static void name_thread(struct chrome *chrome, const struct track *track,
			const struct btsrec_side *side)
{
	struct out *out = &chrome->r.out;

	name_item(chrome, track, "process_name");
	if (side)
		out_json_text(out, side->comm, sizeof(side->comm));
	else
		out_literal(out, "unknown");
	out_literal(out, "\"}}");
	name_item(chrome, track, "thread_name");
	if (side) {
		out_json_text(out, side->comm, sizeof(side->comm));
		out_char(out, ' ');
		out_dec(out, side->pid, 0);
		out_char(out, ' ');
	}
	out_literal(out, "on CPU ");
	out_dec(out, chrome->cpu, 0);
	out_literal(out, "\"}}");
}

/* Of @side on this CPU; NULL: of an unknown thread. */
static struct track thread_track(const struct chrome *chrome, const struct btsrec_side *side)
{
	struct track track = { .known = true, .pid = UNKNOWN_PID, .tid = UNKNOWN_PID };

	if (side) {
		track.pid = side->tgid ? side->tgid : IDLE_PID;
		track.tid = side->pid ? side->pid : IDLE_PID;
	}
	track.tid |= (uint64_t)chrome->cpu << TRACK_CPU_SHIFT;
	return track;
}

/* A track has a name as soon as something is on it. */
static void name_once(struct chrome *chrome)
{
	const struct track *track = &chrome->calls;
	struct count *count;

	count = counter_map_get(&chrome->tracks,
				(uint64_t[COUNTER_MAP_KEY_WORDS]){track->pid, track->tid});
	if (!count)
		chrome->nomem = true;
	else if (!count->nr[0]++)
		name_thread(chrome, track, track->pid == UNKNOWN_PID ? NULL : &chrome->side);
}

/* --- Slices ------------------------------------------------------------- */

static const char *category(const struct chrome *chrome, uint64_t first_n, uint64_t last_n)
{
	return time_axis_has(&chrome->time_axis, first_n) &&
			       time_axis_has(&chrome->time_axis, last_n) ?
		       "interpolated" :
		       "extrapolated";
}

static void put_bounds(struct chrome *chrome, uint64_t first_n, uint64_t last_n)
{
	const struct clock clock = { .tsc_khz = chrome->axis.tsc_khz };
	struct out *out = &chrome->r.out;
	uint64_t min, max;

	if (!time_axis_bounds(&chrome->time_axis, first_n, last_n, &min, &max))
		return;
	json_number(out, clock.tsc_khz ? "min_ns" : "min_ticks",
		    clock.tsc_khz ? clock_ns(&clock, min) : min);
	json_number(out, clock.tsc_khz ? "max_ns" : "max_ticks",
		    clock.tsc_khz ? clock_ns(&clock, max) : max);
}

static void begin_slice(struct chrome *chrome, const struct frame *frame, uint64_t n,
			unsigned int part, unsigned int nr_parts)
{
	struct slice *slice;

	if (!grow(&chrome->slices, sizeof(*slice), chrome->nr_slices, &chrome->nr_slices_room)) {
		chrome->nomem = true;
		return;
	}
	slice = &chrome->slices[chrome->nr_slices++];
	*slice = (struct slice){ frame->cookie, n, frame->entered };
	name_once(chrome);
	begin_item(chrome, "B", &chrome->calls);
	put_function(chrome, slice->va);
	json_word(&chrome->r.out, "cat", category(chrome, n, n));
	put_time(chrome, n, part, nr_parts);
	out_char(&chrome->r.out, '}');
}

static void end_slice(struct chrome *chrome, uint64_t n, unsigned int part, unsigned int nr_parts)
{
	const struct slice *slice = &chrome->slices[--chrome->nr_slices];
	struct out *out = &chrome->r.out;

	begin_item(chrome, "E", &chrome->calls);
	put_function(chrome, slice->va);
	json_word(out, "cat", category(chrome, slice->n, n));
	put_time(chrome, n, part, nr_parts);
	out_literal(out, ",\"args\":{\"time\":\"");
	out_str(out, category(chrome, slice->n, n));
	out_char(out, '"');
	json_number(out, "n", slice->n);
	json_number(out, "last_n", n);
	put_bounds(chrome, slice->n, n);
	out_literal(out, "}}");
}

/* --- What is drawn of a stack ------------------------------------------- */

/* The frames that are there and wanted. */
struct drawn {
	const struct stack *stack;
	size_t first;
};

static bool is_drawn(const struct chrome *chrome, const struct frame *frame)
{
	return filter_level(&chrome->filter, frame->entered);
}

/* How many of the slices are still frames of @drawn; *@ret_next: the first frame after. */
static size_t common(const struct chrome *chrome, const struct drawn *drawn, size_t *ret_next)
{
	size_t nr = 0, i;

	for (i = drawn->first; i < drawn->stack->nr && nr < chrome->nr_slices; i++) {
		if (!is_drawn(chrome, &drawn->stack->frames[i]))
			continue;
		if (drawn->stack->frames[i].cookie != chrome->slices[nr].cookie)
			break;
		nr++;
	}
	*ret_next = i;
	return nr;
}

static unsigned int nr_new(const struct chrome *chrome, const struct drawn *drawn, size_t next)
{
	unsigned int nr = 0;

	for (size_t i = next; i < drawn->stack->nr; i++)
		nr += is_drawn(chrome, &drawn->stack->frames[i]);
	return nr;
}

static void end_slices(struct chrome *chrome, uint64_t n)
{
	while (chrome->nr_slices)
		end_slice(chrome, n, 0, 1);
}

/* All that event @n did: an end or a begin each has a part of the time up to the next one. */
static void draw(struct chrome *chrome, const struct stack *stack, uint64_t n)
{
	const struct drawn drawn = { stack, stack->attached ? 0 : stack->nr_old };
	size_t next, nr_same = common(chrome, &drawn, &next);
	unsigned int nr_begun = nr_new(chrome, &drawn, next), part = 0;
	unsigned int nr_parts = (unsigned int)(chrome->nr_slices - nr_same) + nr_begun;

	while (chrome->nr_slices > nr_same)
		end_slice(chrome, n, part++, nr_parts);
	for (size_t i = next; i < stack->nr && !chrome->nomem; i++)
		if (is_drawn(chrome, &stack->frames[i]))
			begin_slice(chrome, &stack->frames[i], n, part++, nr_parts);
}

static bool same_thread(const struct btsrec_side *a, const struct btsrec_side *b)
{
	return a->pid == b->pid && a->tgid == b->tgid;
}

/* On to the track of the thread that has this stack now. */
static void change_track(struct chrome *chrome, const struct btsrec_side *side, uint64_t n)
{
	end_slices(chrome, n);
	chrome->side = side ? *side : (struct btsrec_side){ 0 };
	chrome->calls.known = filter_thread(&chrome->filter, side);
	if (chrome->calls.known)
		chrome->calls = thread_track(chrome, side);
}

static void draw_calls(struct chrome *chrome, const struct trace_event *traced,
		       const struct frames_step *step, struct frames *frames)
{
	const struct stack *stack = frames_stack(frames);

	for (unsigned int i = 0; i < step->nr_entered; i++) {
		struct frame *frame = frames_entered(frames, i);

		if (!frame->cookie)
			frame->cookie = ++chrome->nr_cookies;
	}
	if (step->switched || !traced->event->n ||
	    (traced->side && !stack->known && !same_thread(traced->side, &chrome->side)))
		change_track(chrome, traced->side, traced->event->n);
	if (chrome->calls.known)
		draw(chrome, stack, traced->event->n);
}

/* Where the time of one event is from. */
static const char *category_of(const struct chrome *chrome, const struct btsrec_event *event)
{
	uint64_t tsc;

	return clock_event(event, &tsc) ? "annotation" : category(chrome, event->n, event->n);
}

/* --- The track of a CPU ------------------------------------------------- */

static void end_run(struct chrome *chrome, uint64_t n)
{
	const struct track track = cpu_track(chrome);

	if (!chrome->runs)
		return;
	chrome->runs = false;
	begin_item(chrome, "E", &track);
	put_thread_name(&chrome->r.out, &chrome->running);
	put_time(chrome, n, 0, 1);
	out_char(&chrome->r.out, '}');
}

static void begin_run(struct chrome *chrome, const struct btsrec_side *side,
		      const struct btsrec_event *event)
{
	const struct track track = cpu_track(chrome);

	chrome->runs = true;
	chrome->running = *side;
	begin_item(chrome, "B", &track);
	put_thread_name(&chrome->r.out, side);
	json_word(&chrome->r.out, "cat", category_of(chrome, event));
	put_us(&chrome->r.out, "ts", time_axis_end_ps(&chrome->time_axis, &chrome->axis, event->n));
	out_char(&chrome->r.out, '}');
}

static void draw_run(struct chrome *chrome, const struct trace_event *traced)
{
	const struct btsrec_side *side = traced->side;
	uint64_t n = traced->event->n;

	if (chrome->runs && side && same_thread(side, &chrome->running) &&
	    !memcmp(side->comm, chrome->running.comm, sizeof(side->comm)))
		return;
	end_run(chrome, n);
	if (side && filter_thread(&chrome->filter, side))
		begin_run(chrome, side, traced->event);
}

static void begin_other(struct chrome *chrome, const struct btsrec_event *event,
			const char *phase, uint64_t ps)
{
	const struct track track = cpu_track(chrome);
	struct out *out = &chrome->r.out;

	begin_item(chrome, phase, &track);
	out_literal(out, ",\"name\":\"");
	out_str(out, record_event_str(event->kind));
	if (event->kind == BTSREC_EVENT_GAP) {
		out_literal(out, ": ");
		out_str(out, btsrec_gap_str(event->gap.kind));
	}
	out_char(out, '"');
	json_word(out, "cat", category_of(chrome, event));
	put_us(out, "ts", ps);
}

/* A point in time; and where recording stopped and went on at known times, the time between. */
static void draw_other(struct chrome *chrome, const struct btsrec_event *event)
{
	uint64_t begin_ps = time_axis_ps(&chrome->time_axis, &chrome->axis, event->n, 0, 1);
	uint64_t end_ps = time_axis_end_ps(&chrome->time_axis, &chrome->axis, event->n);
	struct out *out = &chrome->r.out;

	begin_other(chrome, event, "i", begin_ps);
	out_literal(out, ",\"s\":\"t\",\"args\":{\"event\":");
	render_jsonl.event(&chrome->r, event);
	out_literal(out, "}}");
	if (end_ps <= begin_ps)
		return;
	begin_other(chrome, event, "X", begin_ps);
	put_us(out, "dur", end_ps - begin_ps);
	out_char(out, '}');
}

/* --- CPUs --------------------------------------------------------------- */

static bool draw_event(void *arg, const struct trace_event *traced,
		       const struct frames_step *step, struct frames *frames)
{
	struct chrome *chrome = arg;
	const struct btsrec_event *event = traced->event;

	draw_run(chrome, traced);
	if (event->kind != BTSREC_EVENT_BRANCH && event->kind != BTSREC_EVENT_SWITCH)
		draw_other(chrome, event);
	draw_calls(chrome, traced, step, frames);
	chrome->lead_n = event->n;
	return !chrome->nomem && !chrome->r.out.stopped;
}

/*
 * A trace_frames_fast_fn.  The thread is the one of the event before, and so is what is drawn,
 * unless a frame was entered or left.
 */
static bool draw_plain_branches(void *arg, struct trace *trace, struct frames *frames)
{
	struct trace_way way = trace_way_begin(trace);
	struct chrome *chrome = arg;
	const struct code_brief *run;

	while (!chrome->nomem && (run = trace_way_run(trace, &way)) != NULL) {
		struct frame *frame;
		enum frames_move move = frames_fast(frames, way.n, way.branch, run, &frame);

		if (move == FRAMES_NOT_PLAIN)
			break;
		chrome->lead_n = way.n;
		trace_way_pass(trace, &way, run);
		if (frame && move == FRAMES_ENTERS)
			frame->cookie = ++chrome->nr_cookies;
		if (frame && chrome->calls.known)
			draw(chrome, frames_fast_stack(frames), chrome->lead_n);
	}
	trace_way_end(trace, &way);
	return !chrome->nomem && !chrome->r.out.stopped;
}

static bool feed_event(void *arg, const struct btsrec_event *event)
{
	struct chrome *chrome = arg;

	chrome->nomem |= !time_axis_feed(&chrome->time_axis, event);
	return !chrome->nomem;
}

static enum btsrec_status read_time_axis(struct chrome *chrome, unsigned int cpu)
{
	enum btsrec_status status;

	time_axis_fini(&chrome->time_axis);
	status = btsrec_other_events(chrome->r.rec, cpu, feed_event, chrome, NULL);
	return chrome->nomem ? BTSREC_ERR_NOMEM : status;
}

/* Where the axis begins: no event of any CPU is before. */
static enum btsrec_status measure_cpu(void *arg, unsigned int cpu)
{
	struct chrome *chrome = arg;
	enum btsrec_status status = read_time_axis(chrome, cpu);
	const struct time_point *first = chrome->time_axis.all;

	if (status || !chrome->time_axis.nr)
		return status;
	if (!chrome->axis.tsc || first->begin_tsc < chrome->axis.tsc)
		chrome->axis.tsc = first->begin_tsc;
	if (chrome->lead_n < first->n)
		chrome->lead_n = first->n;
	return BTSREC_OK;
}

static enum btsrec_status draw_cpu(void *arg, unsigned int cpu)
{
	struct chrome *chrome = arg;
	const struct trace_frames_fns fns = { .event = draw_event, .plain = draw_plain_branches,
					      .arg = chrome };
	enum btsrec_status status = read_time_axis(chrome, cpu);

	if (status)
		return status;
	chrome->cpu = cpu;
	chrome->calls.known = false;
	chrome->lead_n = 0;
	name_cpu(chrome);
	status = trace_frames(chrome->r.rec, cpu, &fns);
	end_slices(chrome, chrome->lead_n);
	end_run(chrome, chrome->lead_n);
	return chrome->nomem ? BTSREC_ERR_NOMEM : status;
}

/* --- The file ----------------------------------------------------------- */

static enum btsrec_status put_file(struct chrome *chrome)
{
	const struct btsrec_root *root = btsrec_root(chrome->r.rec);
	const struct btsrec_export *opts = chrome->opts;
	struct out *out = &chrome->r.out;
	enum btsrec_status status;

	chrome->axis.tsc_khz = root->tsc_khz;
	status = cpus_for_each(chrome->r.rec, opts->cpus, opts->nr_cpus, measure_cpu, chrome);
	chrome->axis.ps = chrome->lead_n * TIME_AXIS_STEP_PS;
	out_literal(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"version\":\"btsrec ");
	out_str(out, btsrec_version());
	out_char(out, '"');
	json_text(out, "kernel", root->release, sizeof(root->release));
	json_word(out, "time", "annotations have times; calls between them are placed evenly, "
		  "by their numbers (category interpolated); before the first and after the "
		  "last one 1 ns apart (extrapolated)");
	json_number(out, "tsc", chrome->axis.tsc);
	json_number(out, "tsc_khz", chrome->axis.tsc_khz);
	put_us(out, "tsc_ts", chrome->axis.ps);
	out_literal(out, "},\"traceEvents\":[");
	if (!status)
		status = cpus_for_each(chrome->r.rec, opts->cpus, opts->nr_cpus, draw_cpu, chrome);
	out_literal(out, "\n]}\n");
	return status;
}

static enum btsrec_status chrome_check(struct chrome *chrome)
{
	const struct btsrec_filter *filter = chrome->opts->filter;
	struct btsrec *rec = chrome->r.rec;
	enum btsrec_status status = cpus_check(rec, chrome->opts->cpus, chrome->opts->nr_cpus);

	if (!status && (filter_asks_branches(filter) || filter->from || filter->to))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "a trace for viewers can be of some CPUs, threads or a level only");
	return status ? status : event_filter_filter(rec, filter, &chrome->filter);
}

static enum btsrec_status export_chrome(struct btsrec *rec, const struct btsrec_export *opts,
					const struct btsrec_sink *sink)
{
	_cleanup_free_ struct chrome *chrome = calloc(1, sizeof(*chrome));
	enum btsrec_status status, flushed;

	if (!chrome)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	chrome->r.rec = rec;
	chrome->opts = opts;
	status = chrome_check(chrome);
	if (status)
		return status;
	out_init(&chrome->r.out, sink);
	status = put_file(chrome);
	flushed = out_flush(&chrome->r.out);
	time_axis_fini(&chrome->time_axis);
	counter_map_fini(&chrome->tracks);
	free(chrome->slices);
	if (chrome->nomem)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return cpus_end(rec, opts->cpus, status ? status : flushed);
}

enum btsrec_status btsrec_export_chrome(struct btsrec *rec, const struct btsrec_export *given,
					const struct btsrec_sink *sink)
{
	struct btsrec_filter filter;
	struct btsrec_export opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	return status ? status : export_chrome(rec, &opts, sink);
}
