// SPDX-License-Identifier: GPL-2.0-or-later
/* The calls of each CPU as a tree. */
#include "base/options.h"
#include "views/view_calls.h"

#include <stdlib.h>
#include <string.h>

#include "views/cpu_tasks.h"
#include "views/values.h"
#include "tally/cycles.h"
#include "flow/event_filter.h"
#include "symbols/symbol.h"
#include "recorder/cpus.h"

#define NS_PER_MS 1000000

void calls_init(struct calls *view, struct btsrec *rec, enum btsrec_format format)
{
	view->renderer.rec = rec;
	view->format = render_format_of(format);
	view->lines = format == BTSREC_FORMAT_JSONL ? &calls_json : &calls_text;
	view->tsc_khz = btsrec_root(rec)->tsc_khz;
	view->heads.more = "";
}

struct proof_step calls_break(const struct calltree_line *line)
{
	return (struct proof_step){
		.kind = line->broken.verdict,
		.fault = line->broken.fault,
		.fault_va = line->broken.fault_va,
		.start = line->from,
		.end = line->to,
	};
}

bool calls_duration_timed(struct calls *view, const struct calltree_line *line,
			  uint64_t *ret_min, uint64_t *ret_max)
{
	if (!calltree_ticks(&view->tree, line, ret_min, ret_max) || !*ret_min)
		return false;
	if (view->tsc_khz) {
		*ret_min = (uint64_t)((unsigned __int128)*ret_min * NS_PER_MS / view->tsc_khz);
		*ret_max = (uint64_t)((unsigned __int128)*ret_max * NS_PER_MS / view->tsc_khz);
	}
	return true;
}

/* --- Folding ------------------------------------------------------------ */

/* Fewer lines are not worth one that stands for them. */
#define MIN_FOLDED 3

/**
 * struct fold - lines kept back
 * @first: the first of them; @kept: the last ones.  Numbers in the tree.
 */
struct fold {
	struct cycles cycles;
	size_t first;
	size_t kept[CYCLES_MAX_PERIOD];
};

/* Does line_key() give all of it but its number? */
static inline bool can_fold(struct calls *view, const struct calltree_line *line)
{
	uint64_t min, max;

	if (line->kind == CALLTREE_CYCLE)
		return true;
	return line->kind == CALLTREE_CALL && line->last_n != UINT64_MAX && !line->more &&
	       !line->call.handler && !calls_duration(view, line, &min, &max);
}

/* What is printed of such a line. */
static inline struct cycles_key line_key(const struct calltree_line *line, uint64_t indent)
{
	struct cycles_key key = { { indent << 32 | line->form, line->from, line->to,
				    line->call.nr_branches } };

	if (line->kind == CALLTREE_CYCLE)
		key.labels[3] = line->cycle.nr_rounds << 8 | line->cycle.period;
	return key;
}

uint64_t calls_place_followed(const struct calls *view, uint64_t n, unsigned int *ret_cpu)
{
	const struct thread_place *place;
	uint64_t cpu_n;

	place = thread_place_of(&view->places, n, &cpu_n);
	*ret_cpu = place->cpu;
	return cpu_n;
}

static void print_event(struct calls *view, const struct calltree_line *line, uint64_t n)
{
	struct btsrec_event event = view->tree.events[line->event];

	event.n = n;
	view->format->event(&view->renderer, &event);
}

static void print_interval(struct calls *view, size_t i)
{
	const struct interval *list = view->followed->thread.intervals.list;

	view->format->interval(&view->renderer, view_thread_before(view->followed, i), &list[i]);
}

/* Nothing is printed to the left of where the lines that are wanted begin. */
static uint32_t indent_of(const struct calls *view, const struct calltree_line *line)
{
	uint32_t indent = calltree_indent(&view->tree, line);

	return indent > view->least ? indent - view->least : 0;
}

/* Of the lines that the view does not word itself. */
static void print_other(struct calls *view, const struct calltree_line *line, uint64_t n)
{
	const struct fault *fault = &view->fault;

	if (view->followed)
		fault = &view->followed->thread.lanes[view->cpu].fault;
	if (line->kind == CALLTREE_FAULT)
		view->format->fault(&view->renderer, view->cpu, n, fault);
	else if (line->kind == CALLTREE_EVENT)
		print_event(view, line, n);
	else
		print_interval(view, line->interval);
}

static inline void print_line(struct calls *view, const struct calltree_line *line)
{
	uint64_t n = calls_place(view, line->n, &view->cpu);
	struct aspace *spaces = &view->spaces;

	if (view->followed)
		spaces = &view->followed->thread.lanes[view->cpu].trace.spaces;
	view->renderer.side = aspace_at(spaces, n);
	if (line->kind == CALLTREE_CALL)
		view->lines->call(view, line, indent_of(view, line));
	else if (line->kind != CALLTREE_FAULT && line->kind != CALLTREE_EVENT &&
		 line->kind != CALLTREE_INTERVAL)
		view->lines->line(view, line, indent_of(view, line));
	else if (view->lines->other)
		view->lines->other(view, line, n);
	else
		print_other(view, line, n);
}

static void print_cycle(struct calls *view, const struct fold *fold, const struct cycle *cycle)
{
	struct calltree_line first = calltree_line(&view->tree, fold->first);
	uint64_t last = cycle->nr_rounds * cycle->period - 1;
	size_t kept = fold->kept[last % CYCLES_MAX_PERIOD];

	view->lines->fold(view, &first, indent_of(view, &first), cycle->period, cycle->nr_rounds,
			  calltree_line(&view->tree, kept).last_n);
}

static void end_fold(struct calls *view, struct fold *fold)
{
	uint64_t nr_kept = fold->cycles.nr_kept, nr_folded;
	struct cycle cycle;

	if (!cycles_end(&fold->cycles, &cycle))
		return;
	nr_folded = nr_kept - cycle.nr_rest;
	if (nr_folded < MIN_FOLDED)
		nr_folded = 0;
	else
		print_cycle(view, fold, &cycle);
	for (uint64_t i = nr_folded; i < nr_kept; i++) {
		size_t kept = fold->kept[i % CYCLES_MAX_PERIOD];
		struct calltree_line line = calltree_line(&view->tree, kept);

		print_line(view, &line);
	}
}

/* By value, so that the key of a line that is like no other need not be in memory. */
static bool keep_line(struct calls *view, struct fold *fold, size_t i, struct cycles_key key)
{
	bool kept = cycles_add(&fold->cycles, &key);

	if (!kept && fold->cycles.period) {
		end_fold(view, fold);
		kept = cycles_add(&fold->cycles, &key);
	}
	if (!kept)
		return false;
	if (fold->cycles.nr_kept == 1)
		fold->first = i;
	fold->kept[(fold->cycles.nr_kept - 1) % CYCLES_MAX_PERIOD] = i;
	return true;
}

static inline void fold_line(struct calls *view, struct fold *fold, size_t i,
			     const struct calltree_line *line)
{
	if (can_fold(view, line)) {
		struct cycles_key key = line_key(line, calltree_indent(&view->tree, line));

		if (!cycles_pass(&fold->cycles, &key) && keep_line(view, fold, i, key))
			return;
	} else {
		end_fold(view, fold);
	}
	print_line(view, line);
}

static bool has_depth(const struct calltree_line *line)
{
	return line->kind != CALLTREE_EVENT && line->kind != CALLTREE_THREAD &&
	       line->kind != CALLTREE_FAULT && line->kind != CALLTREE_BREAK &&
	       line->kind != CALLTREE_INTERVAL;
}

static inline void print_folded_line(struct calls *view, struct fold *fold, size_t i,
				     const struct calltree_line *line)
{
	if (view->lines->fold && !view->args)
		fold_line(view, fold, i, line);
	else
		print_line(view, line);
}

/* So many lines take longer than a cache miss. */
#define AHEAD 8

/* Where the name that a line needs soon is kept, for the caller to fetch; NULL: not known. */
static inline const struct name_cache_entry *expected_text(const struct calls *view, size_t i,
							   size_t end)
{
	size_t in_chunk = CALLTREE_CHUNK_LINES - i % CALLTREE_CHUNK_LINES;
	const struct calltree_cell *cell = calltree_cell(&view->tree, i);

	if (!view->name_cache || end - i <= AHEAD || in_chunk <= AHEAD || !cell[AHEAD].pattern)
		return NULL;
	return name_cache_place(view->name_cache, calltree_cell_to(&view->tree, &cell[AHEAD]));
}

void calls_lines(struct calls *view, size_t first, size_t end, uint32_t max_depth)
{
	enum calls_wish wish = CALLS_TAKE;
	size_t kept = SIZE_MAX;
	struct fold fold;

	cycles_init(&fold.cycles);
	for (size_t i = first; i < end && !view->renderer.out.stopped; i++) {
		struct calltree_line line = calltree_line(&view->tree, i);

		__builtin_prefetch(expected_text(view, i, end));
		if (view->wanted)
			wish = calls_wish(view, &line);
		if (wish == CALLS_KEEP)
			kept = i;
		if (wish == CALLS_KEEP || wish == CALLS_SKIP ||
		    (max_depth && has_depth(&line) && indent_of(view, &line) >= max_depth))
			continue;
		if (kept != SIZE_MAX && wish == CALLS_TAKE) {
			struct calltree_line before = calltree_line(&view->tree, kept);

			print_folded_line(view, &fold, kept, &before);
			kept = SIZE_MAX;
		}
		view->renderer.rec->matched |= view->wanted && wish == CALLS_TAKE;
		print_folded_line(view, &fold, i, &line);
	}
	end_fold(view, &fold);
}

/* --- CPUs --------------------------------------------------------------- */

enum btsrec_status calls_print_tree(struct calls *view, struct btsrec *rec)
{
	bool nomem = false;

	calls_lines(view, 0, view->tree.nr_lines, view->opts->max_depth);
	if (view->wanted) {
		nomem = view->wanted->nomem;
		counter_map_fini(&view->wanted->scopes);
		*view->wanted = (struct calls_filter){ .event_filter = view->wanted->event_filter };
	}
	if (nomem)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (view->tree.complete)
		return BTSREC_OK;
	return msg_set(&rec->msg, BTSREC_ERR_NOMEM,
		       "CPU %u has too many calls: choose a part of its history", view->cpu);
}

static enum btsrec_status calls_selected(struct calls *view, unsigned int cpu,
					 struct event_filter *event_filter)
{
	const struct btsrec_calls *opts = view->opts;
	struct btsrec *rec = view->renderer.rec;
	enum btsrec_status status;
	struct calls_filter wanted = {.event_filter = event_filter};
	struct filter_window window = { .end_n = UINT64_MAX };

	view->cpu = cpu;
	if (event_filter->filter.any)
		window = event_filter->window;
	if (window.first_n >= window.end_n)
		return BTSREC_OK;
	/* cppcheck-suppress autoVariables ; forgotten at the end of this function */
	view->wanted = event_filter->filter.any ? &wanted : NULL;
	status = trace_fault(rec, cpu, &view->fault);
	if (!status && view->args)
		status = args_open(view->args, rec, cpu, &view->fault);
	if (!status)
		status = calltree_read(&view->tree, rec, cpu, window.first_n, window.end_n - 1,
				       opts->max_events, &view->fault);
	if (!status && symbols_user_present(rec))
		status = trace_spaces(rec, cpu, &view->spaces);
	if (!status)
		status = calls_print_tree(view, rec);
	if (!status && view->format->cpu_end)
		view->format->cpu_end(&view->renderer, cpu);
	view->wanted = NULL;
	if (view->args)
		args_close(view->args);
	aspace_fini(&view->spaces);
	return status;
}

static enum btsrec_status calls_cpu(void *arg, unsigned int cpu)
{
	struct calls *view = arg;
	struct btsrec *rec = view->renderer.rec;
	struct event_filter event_filter = {0};
	struct session_ring ring;
	enum btsrec_status status = session_ring(rec, cpu, &ring);

	if (!status)
		status = event_filter_init(&event_filter, rec, cpu, view->opts->filter, 0);
	if (!status && view->format->cpu)
		view->format->cpu(&view->renderer, btsrec_cpu(rec, cpu), &ring);
	if (!status)
		status = calls_selected(view, cpu, &event_filter);
	event_filter_fini(&event_filter);
	return status;
}

static enum btsrec_status calls_check(struct btsrec *rec, const struct btsrec_calls *opts)
{
	if (opts->args && opts->thread)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "arguments are shown of CPUs, not of a thread");
	if (opts->format != BTSREC_FORMAT_TEXT && opts->format != BTSREC_FORMAT_JSONL)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "calls are shown as text or JSON lines");
	return view_thread_check(rec, opts->cpus, opts->nr_cpus, opts->filter, opts->thread);
}

/** struct calls_how - @opts; @fn, @arg: see struct calls */
struct calls_how {
	const struct btsrec_calls *opts;
	btsrec_call_fn fn;
	void *arg;
};

static bool calls_open(void *arg, void *data, struct btsrec *rec)
{
	const struct calls_how *how = arg;
	const struct btsrec_calls *opts = how->opts;
	struct calls *view = data;

	calls_init(view, rec, opts->format);
	view->opts = opts;
	view->fn = how->fn;
	view->arg = how->arg;
	if (view->fn)
		view->lines = &calls_values;
	view->source = opts->lines;
	view->renderer.lines = opts->lines;
	if (opts->args)
		view->args = calloc(1, sizeof(*view->args));
	if (opts->args && !view->args)
		return false;
	/* Without them names are looked up again. */
	if (opts->format == BTSREC_FORMAT_TEXT)
		view->name_cache = name_cache_new();
	return true;
}

static enum btsrec_status calls_close(void *arg, void *data)
{
	struct calls *view = data;

	(void)arg;
	if (view->format->end)
		view->format->end(&view->renderer);
	calltree_fini(&view->tree);
	free(view->name_cache);
	if (view->args)
		args_fini(view->args);
	free(view->args);
	return BTSREC_OK;
}

static enum btsrec_status put_calls(struct btsrec *rec, struct calls_how how,
				    const struct btsrec_sink *sink)
{
	static const struct cpu_tasks work = {
		.view_bytes = sizeof(struct calls),
		.out_at = offsetof(struct calls, renderer.out),
		.open = calls_open,
		.cpu = calls_cpu,
		.close = calls_close,
	};
	const struct btsrec_calls *opts = how.opts;
	enum btsrec_status status = calls_check(rec, opts);

	if (!status && opts->thread)
		status = cpu_tasks_one(rec, &work, calls_thread, &how, sink);
	else if (!status)
		status = cpu_tasks_print(rec, opts->cpus, opts->nr_cpus, opts->lines || how.fn,
					 &work, &how, sink);
	return cpus_end(rec, opts->cpus, status);
}

enum btsrec_status btsrec_calls(struct btsrec *rec, const struct btsrec_calls *given,
				const struct btsrec_sink *sink)
{
	struct btsrec_filter filter;
	struct btsrec_calls opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	return status ? status : put_calls(rec, (struct calls_how){ .opts = &opts }, sink);
}

enum btsrec_status btsrec_calls_each(struct btsrec *rec, const struct btsrec_calls *given,
				     btsrec_call_fn fn, void *arg)
{
	struct btsrec_filter filter;
	struct btsrec_calls opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	if (!status)
		status = values_check(&rec->msg, opts.format);
	return status ? status :
			put_calls(rec, (struct calls_how){ &opts, fn, arg }, &values_sink);
}
