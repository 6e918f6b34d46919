// SPDX-License-Identifier: GPL-2.0-or-later
/* How many branches each function took, and how often it was entered. */
#include "views/values.h"
#include "views/view_functions.h"

#include <stdio.h>
#include <stdlib.h>

#include "views/cpu_tasks.h"
#include "flow/frames_fast.h"
#include "base/options.h"
#include "base/readat.h"
#include "flow/event_filter.h"
#include "flow/trace_frames.h"
#include "recorder/cpus.h"

/* --- Groups ------------------------------------------------------------- */

#define HAS_THREAD 1

static void group_task(uint64_t *key, const struct btsrec_side *side)
{
	_Static_assert(sizeof(side->comm) == 2 * sizeof(*key), "a name is two words");

	memset(key, 0, COUNTER_MAP_KEY_WORDS * sizeof(*key));
	if (!side)
		return;
	key[0] = HAS_THREAD;
	key[1] = (uint64_t)side->pid << 32 | side->tgid;
	memcpy(&key[2], side->comm, strnlen(side->comm, sizeof(side->comm)));
}

void functions_group(const struct profile_group *group, struct functions_group *ret)
{
	*ret = (struct functions_group){
		.cpu = (unsigned int)group->key[0],
		.has_thread = group->key[0] == HAS_THREAD,
		.pid = (uint32_t)(group->key[1] >> 32),
		.tgid = (uint32_t)group->key[1],
	};

	memcpy(ret->comm, &group->key[2], sizeof(ret->comm));
}

/* --- Names -------------------------------------------------------------- */

/* A name without offset, or where its module is all that is known, that. */
static char *name_cache_entry(const struct symbol_name *name)
{
	char *text;
	int nr_bytes;

	if (!name->name_bytes)
		nr_bytes = asprintf(&text, "[%s]", name->module);
	else
		nr_bytes = asprintf(&text, "%.*s%s%s%s", (int)name->name_bytes, name->name,
				    *name->module ? " [" : "", name->module,
				    *name->module ? "]" : "");
	return nr_bytes < 0 ? NULL : text;
}

static char *place_name(void *arg, const struct profile_place *place)
{
	struct functions *view = arg;
	const struct btsrec_side side = { .cr3 = place->cr3 };
	struct symbol_name name;
	enum symbol_why why;
	char *text;

	if (place->start &&
	    symbol_find_in(view->renderer.rec, &side, place->va, &name, &why))
		return name_cache_entry(&name);
	if (asprintf(&text, "(%s: %s)", code_is_kernel(place->va) ? "kernel" : "user",
		     symbol_why_str((enum symbol_why)place->why)) < 0)
		return NULL;
	return text;
}

/* What has no name is counted by why, apart for user code, which has some space. */
static struct profile_place place_of(struct btsrec *rec, const struct btsrec_side *side,
				     uint64_t va)
{
	struct profile_place place = { .va = va };
	struct symbol_name name;
	enum symbol_why why;

	if (symbol_find_in(rec, side, va, &name, &why) && va != name.offset_bytes) {
		place.start = va - name.offset_bytes;
		place.cr3 = side && !code_is_kernel(va) ? side->cr3 : 0;
	} else {
		place.cr3 = !code_is_kernel(va);
		place.why = why;
	}
	return place;
}

/* --- Counting ----------------------------------------------------------- */

static enum btsrec_status functions_nomem(const struct functions *view)
{
	return msg_set(&view->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
}

/* No page table: which process ran is not known. */
#define NOBODYS_SPACE UINT64_MAX

/* Names are asked for when an address is done with, not at each of its branches. */
static bool count_address(void *arg, const struct addr_count *addr_count)
{
	struct functions *view = arg;
	const struct btsrec_side side = {.cr3 = addr_count->space};
	struct profile_place place =
		place_of(view->renderer.rec, addr_count->space == NOBODYS_SPACE ? NULL : &side,
			 addr_count->va);

	return profile_add(&view->profile, addr_count->group, &place,
			   addr_count->nr[ADDR_COUNT_BRANCH], addr_count->nr[ADDR_COUNT_CALL]);
}

/**
 * struct counting - one CPU
 * @group: of @side in the profile; 0: not asked for yet.
 * @interval_end_n: up to here all plain branches are of one thread, and wanted or not, as
 *	@interval_wanted says.
 */
struct counting {
	struct functions *view;
	unsigned int cpu;
	struct event_filter event_filter;
	const struct btsrec_side *side;
	uint32_t group;
	uint64_t interval_end_n;
	bool interval_wanted;
};

/* Events are of @side from here on; false: out of memory. */
static bool set_side(struct counting *counting, const struct btsrec_side *side)
{
	struct functions *view = counting->view;
	uint64_t key[COUNTER_MAP_KEY_WORDS] = {0};

	if (counting->group && (counting->side == side || view->opts->by != BTSREC_BY_TASK))
		return true;
	if (view->opts->by == BTSREC_BY_CPU)
		key[0] = counting->cpu;
	if (view->opts->by == BTSREC_BY_TASK)
		group_task(key, side);
	counting->side = side;
	counting->group = profile_group(&view->profile, key);
	return counting->group;
}

static uint64_t space_of(const struct btsrec_side *side, uint64_t va)
{
	if (code_is_kernel(va))
		return 0;
	return side ? side->cr3 : NOBODYS_SPACE;
}

static void count(struct counting *counting, const struct btsrec_side *side, uint64_t va,
		  enum addr_count_kind kind)
{
	struct functions *view = counting->view;

	if (!set_side(counting, side) ||
	    !addr_counter_add(&view->counter, counting->group, space_of(side, va), va, kind))
		view->nomem = true;
}

/* A branch is of the level that it leaves; what it enters may not be wanted. */
static void count_entered(struct counting *counting, const struct btsrec_side *side, uint64_t va)
{
	if (filter_level(&counting->event_filter.filter, va))
		count(counting, side, va, ADDR_COUNT_CALL);
}

static bool count_event(void *arg, const struct trace_event *traced,
			const struct frames_step *step, struct frames *frames)
{
	struct counting *counting = arg;
	struct functions *view = counting->view;
	const struct btsrec_event *event = traced->event;

	if (!event_filter_wants(&counting->event_filter, event))
		return true;
	if (event->kind == BTSREC_EVENT_GAP)
		view->nr_gaps += event->gap.kind != BTSREC_GAP_OVERWRITTEN;
	if (event->kind == BTSREC_EVENT_BRANCH)
		count(counting, traced->side, event->branch.from, ADDR_COUNT_BRANCH);
	for (unsigned int i = 0; i < step->nr_entered; i++)
		count_entered(counting, traced->side, frames_entered(frames, i)->entered);
	return !view->nomem;
}

/* --- Plain branches ----------------------------------------------------- */

/* The thread that runs at event @n does so until there. */
static uint64_t span_end_n(struct aspace *spaces, uint64_t n)
{
	const struct aspace_span *span = aspace_span(spaces, n);

	if (!span)
		return spaces->nr ? spaces->spans[0].first_n : UINT64_MAX;
	return spaces->at + 1 < spaces->nr ? span[1].first_n : UINT64_MAX;
}

/* A filter that does not look at branches wants all of a thread in a window, or none. */
static uint64_t filter_end_n(struct event_filter *event_filter, uint64_t n)
{
	const struct filter_window *window = &event_filter->window;
	uint64_t end_n;

	if (!event_filter->filter.any)
		return UINT64_MAX;
	end_n = span_end_n(&event_filter->spaces, n);
	if (n < window->first_n)
		return min_u64(end_n, window->first_n);
	return n < window->end_n ? min_u64(end_n, window->end_n) : end_n;
}

/* From the plain branch @n on; false: out of memory. */
static bool begin_interval(struct counting *counting, struct aspace *spaces, uint64_t n,
			   const struct btsrec_record *branch)
{
	const struct btsrec_event event = { .kind = BTSREC_EVENT_BRANCH, .n = n,
					    .branch = *branch };

	counting->interval_wanted = event_filter_wants(&counting->event_filter, &event);
	counting->interval_end_n =
		min_u64(span_end_n(spaces, n), filter_end_n(&counting->event_filter, n));
	return set_side(counting, aspace_at(spaces, n));
}

/*
 * What count_event() does of such a branch; false: out of memory.
 *
 * As in trace_ahead(), and whether a branch that comes soon is a call costs more to find out.
 */
static inline bool count_plain(struct addr_counter *counter, uint32_t group, enum frames_move move,
			       const struct btsrec_record *branch, const struct btsrec_record *end)
{
	if (end - branch > TRACE_AHEAD) {
		__builtin_prefetch(addr_counter_place(counter, group, 0, branch[TRACE_AHEAD].from));
		__builtin_prefetch(addr_counter_place(counter, group, 0, branch[TRACE_AHEAD].to));
	}
	return addr_counter_add(counter, group, 0, branch->from, ADDR_COUNT_BRANCH) &&
	       (move != FRAMES_ENTERS ||
		addr_counter_add(counter, group, 0, branch->to, ADDR_COUNT_CALL));
}

/* A trace_frames_fast_fn.  Inlined it all is, because most of a history comes this way. */
static bool count_plain_branches(void *arg, struct trace *trace, struct frames *frames)
{
	struct trace_way way = trace_way_begin(trace);
	struct counting *counting = arg;
	struct functions *view = counting->view;
	const struct code_brief *run;

	while (!view->nomem && (run = trace_way_run(trace, &way)) != NULL) {
		const struct btsrec_record *branch = way.branch;
		enum frames_move move;
		struct frame *frame;

		if (way.n >= counting->interval_end_n &&
		    !begin_interval(counting, &trace->spaces, way.n, branch)) {
			view->nomem = true;
			break;
		}
		move = frames_fast(frames, way.n, branch, run, &frame);
		if (move == FRAMES_NOT_PLAIN)
			break;
		trace_way_pass(trace, &way, run);
		if (!counting->interval_wanted)
			continue;
		view->nomem = !count_plain(&view->counter, counting->group, move, branch, way.end);
	}
	trace_way_end(trace, &way);
	return !view->nomem;
}

static enum btsrec_status count_cpu(void *arg, unsigned int cpu)
{
	struct functions *view = arg;
	struct btsrec *rec = view->renderer.rec;
	struct counting counting = { .view = view, .cpu = cpu };
	struct trace_frames_fns fns = { .event = count_event, .arg = &counting };
	enum btsrec_status status =
		event_filter_init(&counting.event_filter, rec, cpu, view->opts->filter, 0);

	view->nr_cpus++;
	/* Some branches of one thread may be wanted and others not. */
	if (!counting.event_filter.filter.by_branch)
		fns.plain = count_plain_branches;
	if (!status)
		status = trace_frames(rec, cpu, &fns);
	event_filter_fini(&counting.event_filter);
	return view->nomem ? functions_nomem(view) : status;
}

/* --- The view ----------------------------------------------------------- */

static void show_rows(struct functions *view)
{
	const struct profile *profile = &view->profile;
	const struct profile_group *group = NULL;

	view->format->begin(view);
	for (size_t i = 0; i < profile->nr_rows && !view->renderer.out.stopped; i++) {
		const struct profile_row *row = &profile->rows[i];

		if (row->group != group && view->opts->by != BTSREC_BY_FUNCTION &&
		    view->format->group)
			view->format->group(view, row->group);
		group = row->group;
		view->format->row(view, row);
	}
	if (view->format->end)
		view->format->end(view);
}

static enum btsrec_status functions_check(struct btsrec *rec, const struct btsrec_functions *opts)
{
	enum btsrec_status status = cpus_check(rec, opts->cpus, opts->nr_cpus);

	if (status)
		return status;
	if (!functions_format_of(opts->format))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "there is no such format");
	return event_filter_check(rec, opts->filter);
}

/* What is counted of some CPUs, or shown of all. */
static void functions_init(struct functions *view, struct btsrec *rec,
			   const struct btsrec_functions *opts)
{
	view->renderer.rec = rec;
	view->opts = opts;
	view->format = functions_format_of(opts->format);
}

static bool functions_open(void *arg, void *data, struct btsrec *rec)
{
	const struct functions *all = arg;
	struct functions *view = data;

	functions_init(view, rec, all->opts);
	return addr_counter_init(&view->counter, count_address, view);
}

static enum btsrec_status functions_close(void *arg, void *data)
{
	struct functions *all = arg, *view = data;
	bool added =
		addr_counter_drain(&view->counter) && profile_merge(&all->profile, &view->profile);

	all->nr_cpus += view->nr_cpus;
	all->nr_gaps += view->nr_gaps;
	addr_counter_fini(&view->counter);
	profile_fini(&view->profile);
	return added ? BTSREC_OK : functions_nomem(all);
}

static enum btsrec_status functions_show(struct functions *all, const struct btsrec_sink *sink)
{
	static const struct cpu_tasks work = {
		.view_bytes = sizeof(struct functions),
		.out_at = offsetof(struct functions, renderer.out),
		.open = functions_open,
		.cpu = count_cpu,
		.close = functions_close,
	};
	enum btsrec_status status = cpu_tasks_print(all->renderer.rec, all->opts->cpus,
						    all->opts->nr_cpus, false, &work, all, sink);

	if (!status && !profile_end(&all->profile, place_name, all))
		status = functions_nomem(all);
	if (status)
		return status;
	show_rows(all);
	return out_flush(&all->renderer.out);
}

/* As text to @sink, or, if there is @fn, as values to it. */
static enum btsrec_status put_functions(struct btsrec *rec, const struct btsrec_functions *opts,
					const struct btsrec_sink *sink, btsrec_function_fn fn,
					void *arg)
{
	enum btsrec_status status = functions_check(rec, opts);
	struct functions *all;

	if (status)
		return status;
	all = calloc(1, sizeof(*all));
	if (!all)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	functions_init(all, rec, opts);
	if (fn)
		all->format = &functions_values;
	all->fn = fn;
	all->arg = arg;
	out_init(&all->renderer.out, sink);
	status = functions_show(all, sink);
	profile_fini(&all->profile);
	free(all);
	return cpus_end(rec, opts->cpus, status);
}

enum btsrec_status btsrec_functions(struct btsrec *rec, const struct btsrec_functions *given,
				    const struct btsrec_sink *sink)
{
	struct btsrec_filter filter;
	struct btsrec_functions opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	return status ? status : put_functions(rec, &opts, sink, NULL, NULL);
}

enum btsrec_status btsrec_functions_each(struct btsrec *rec, const struct btsrec_functions *given,
					 btsrec_function_fn fn, void *arg)
{
	struct btsrec_filter filter;
	struct btsrec_functions opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	if (!status)
		status = values_check(&rec->msg, opts.format);
	return status ? status : put_functions(rec, &opts, &values_sink, fn, arg);
}
