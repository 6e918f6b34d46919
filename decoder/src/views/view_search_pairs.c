// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which calls of one function have no call of another one behind them, thread by thread: locks,
 * references, busy bits.  What the histories do not show is no reason to call a call unpaired.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "recorder/session.h"
#include "tally/pairs.h"
#include "views/view_search.h"

/** enum pair_state - what is known of a call without the other */
enum pair_state {
	PAIR_PAIRED,
	PAIR_RETURNED, /* no other call is after it, and its caller has returned */
	PAIR_HELD,     /* nor has its caller returned: that runs, or waits */
	PAIR_UNPAIRED, /* no other call is after it; of its caller nothing is known */
	PAIR_RUNS,     /* the thread runs in it, or waits */
	PAIR_OLDER,    /* it leaves, and nothing before it enters */
	PAIR_THREAD,   /* unknown: the thread is not known */
	PAIR_GAP,      /* unknown: a part of this history is missing after it */
	PAIR_UNSEEN,   /* unknown: the thread may have run on another CPU, unseen */
	PAIR_ORDER,    /* unknown: a call that leaves may be older or newer */
};

/**
 * struct pairs - the question under way; all arrays are owned
 * @of_thread: numbers of lines, thread by thread, each in the order of time; as many as there are
 *	lines, as have the next four.
 * @enters, @open, @other: for pairs_match(), of the lines in @of_thread.
 * @states, @cpus: of each of them; the CPU of PAIR_UNSEEN.
 * @holes: times without a history of a CPU.
 * @runs: of the thread at hand.
 */
struct pairs {
	struct search *view;
	size_t *of_thread;
	bool *enters;
	size_t *open;
	size_t *other;
	enum pair_state *states;
	unsigned int *cpus;
	struct pairs_time *holes;
	size_t nr_holes;
	size_t nr_holes_room;
	struct pairs_time *runs;
	size_t nr_runs;
	size_t nr_runs_room;
	bool nomem;
};

/* --- What the histories do not show ----------------------------------------- */

static void add_hole(struct pairs *pairs, unsigned int cpu, uint64_t from_tsc, uint64_t to_tsc)
{
	if (from_tsc >= to_tsc)
		return;
	if (!grow_from(&pairs->holes, sizeof(*pairs->holes), pairs->nr_holes, &pairs->nr_holes_room,
		       16))
		pairs->nomem = true;
	else
		pairs->holes[pairs->nr_holes++] = (struct pairs_time){from_tsc, to_tsc, cpu};
}

static void find_holes_of(struct pairs *pairs, unsigned int cpu)
{
	const struct call_list *list = &pairs->view->lists[cpu];
	const struct time_axis *times = &list->times;

	if (!list->end_n || !times->nr) {
		add_hole(pairs, cpu, 0, UINT64_MAX);
		return;
	}
	if (!list->begins)
		add_hole(pairs, cpu, 0, times->all[0].begin_tsc);
	for (size_t i = 0; i < list->nr_gaps; i++) {
		uint64_t from_tsc, to_tsc;

		time_axis_hole(times, list->gaps[i], &from_tsc, &to_tsc);
		add_hole(pairs, cpu, from_tsc, to_tsc);
	}
}

static void find_holes(struct pairs *pairs)
{
	const struct search *view = pairs->view;

	for (unsigned int cpu = 0; cpu < view->nr_lists; cpu++)
		if (view->lists[cpu].end_n || btsrec_cpu(view->renderer.rec, cpu))
			find_holes_of(pairs, cpu);
}

static bool runs_in(const struct call_stay *stay, uint32_t pid)
{
	return stay->known && stay->side.pid == pid;
}

/* When @stay began at the latest: at the annotation in front of it, if it is there. */
static uint64_t begin_of(const struct call_list *list, const struct call_stay *stay)
{
	struct search_time before;

	if (stay->first_n) {
		before = search_when(list, stay->first_n - 1);
		if (before.min_tsc == before.max_tsc)
			return before.max_tsc;
	}
	return search_when(list, stay->first_n).max_tsc;
}

/* When the thread is known to have run, on any CPU. */
static void find_runs(struct pairs *pairs, uint32_t pid)
{
	const struct search *view = pairs->view;

	pairs->nr_runs = 0;
	for (unsigned int cpu = 0; cpu < view->nr_lists && !pairs->nomem; cpu++) {
		const struct call_list *list = &view->lists[cpu];

		for (size_t i = 0; i < list->nr_stays; i++) {
			struct pairs_time run = {.cpu = cpu};

			if (!runs_in(&list->stays[i], pid))
				continue;
			run.from_tsc = begin_of(list, &list->stays[i]);
			run.to_tsc = search_when(list, list->stays[i].last_n).max_tsc;
			if (run.from_tsc >= run.to_tsc)
				continue;
			if (!grow_from(&pairs->runs, sizeof(*pairs->runs), pairs->nr_runs,
				       &pairs->nr_runs_room, 64)) {
				pairs->nomem = true;
				return;
			}
			pairs->runs[pairs->nr_runs++] = run;
		}
	}
	pairs_order_times(pairs->runs, pairs->nr_runs);
}

/* May the thread of @line have run unseen after it, on another CPU? */
static bool is_unseen(const struct pairs *pairs, const struct search_line *line,
		      unsigned int *ret_cpu)
{
	const struct clock *clock = &pairs->view->clock;
	uint64_t end_tsc = clock->has_end ? clock->end_tsc : UINT64_MAX;

	for (size_t i = 0; i < pairs->nr_holes; i++) {
		struct pairs_time time = pairs->holes[i];

		if (time.from_tsc < line->time.min_tsc)
			time.from_tsc = line->time.min_tsc;
		if (time.to_tsc > end_tsc)
			time.to_tsc = end_tsc;
		if (time.from_tsc >= time.to_tsc || time.cpu == line->cpu)
			continue;
		if (pairs_covered(pairs->runs, pairs->nr_runs, &time))
			continue;
		*ret_cpu = time.cpu;
		return true;
	}
	return false;
}

static bool has_gap_behind(const struct call_list *list, uint64_t n)
{
	return list->nr_gaps && list->gaps[list->nr_gaps - 1] > n;
}

/* --- States ------------------------------------------------------------------ */

static enum pair_state state_of_enter(struct pairs *pairs, const struct search_line *line,
				      unsigned int *ret_cpu)
{
	const struct call_list *list = search_list(pairs->view, line);
	const struct btsrec_side *side = search_thread(pairs->view, line);
	const struct listed_call *call = line->call;
	bool any = pairs->view->opts->any_thread;
	struct search_line caller = *line;

	if (!side && !any)
		return PAIR_THREAD;
	if (has_gap_behind(list, call->n))
		return PAIR_GAP;
	if ((any || side->pid) && is_unseen(pairs, line, ret_cpu))
		return PAIR_UNSEEN;
	if (search_is_open(pairs->view, line))
		return PAIR_RUNS;
	if (call->caller == CALL_LIST_NONE)
		return PAIR_UNPAIRED;
	caller.call = &list->calls[call->caller];
	if (caller.call->last_n != UINT64_MAX)
		return PAIR_RETURNED;
	return search_is_open(pairs->view, &caller) ? PAIR_HELD : PAIR_UNPAIRED;
}

/**
 * struct newest - the calls that leave, without another one: when the newest of them was
 * @cpu, @tsc: of the newest.  @other_tsc: of the newest on other CPUs.  0: there is none.
 */
struct newest {
	unsigned int cpu;
	uint64_t tsc;
	uint64_t other_tsc;
};

static struct newest newest_leave(const struct pairs *pairs, size_t first, size_t end)
{
	const struct search_line *lines = pairs->view->lines;
	struct newest newest = { 0 };

	for (size_t i = first; i < end; i++) {
		const struct search_line *line = &lines[pairs->of_thread[i]];

		if (pairs->enters[i] || pairs->other[i] != PAIRS_NONE)
			continue;
		if (line->cpu != newest.cpu && line->time.max_tsc >= newest.tsc) {
			newest.other_tsc = newest.tsc;
			newest.cpu = line->cpu;
		} else if (line->cpu != newest.cpu && line->time.max_tsc > newest.other_tsc) {
			newest.other_tsc = line->time.max_tsc;
		}
		if (line->cpu == newest.cpu && line->time.max_tsc > newest.tsc)
			newest.tsc = line->time.max_tsc;
	}
	return newest;
}

/* May one of them, on another CPU, be newer than @line?  One CPU has an order. */
static bool is_unordered(const struct newest *newest, const struct search_line *line)
{
	uint64_t tsc = newest->cpu == line->cpu ? newest->other_tsc : newest->tsc;

	return tsc > line->time.min_tsc;
}

/* Of the calls from @first to before @end, which are all of one thread. */
static void judge_thread(struct pairs *pairs, size_t first, size_t end)
{
	const struct search_line *lines = pairs->view->lines;
	const struct btsrec_side *side =
		search_thread(pairs->view, &lines[pairs->of_thread[first]]);
	struct newest newest;
	bool has_runs = false;

	pairs_match(pairs->enters + first, end - first, pairs->open, pairs->other + first);
	newest = newest_leave(pairs, first, end);
	for (size_t i = first; i < end && !pairs->nomem; i++) {
		if (pairs->other[i] != PAIRS_NONE)
			continue;
		if (!pairs->enters[i]) {
			pairs->states[i] = PAIR_OLDER;
			continue;
		}
		if (!has_runs && side && !pairs->view->opts->any_thread)
			find_runs(pairs, side->pid);
		has_runs = true;
		pairs->states[i] =
			state_of_enter(pairs, &lines[pairs->of_thread[i]], &pairs->cpus[i]);
		if (is_unordered(&newest, &lines[pairs->of_thread[i]]))
			pairs->states[i] = PAIR_ORDER;
	}
}

/* --- Threads ------------------------------------------------------------------ */

/* Each CPU has an idle thread of its own, and an unknown thread.  All are one if they may be. */
static uint64_t thread_key(const struct search *view, const struct search_line *line)
{
	const struct btsrec_side *side = search_thread(view, line);

	if (view->opts->any_thread)
		return 0;
	if (side && side->pid)
		return side->pid;
	return (uint64_t)(side ? 1 : 2) << 48 | line->cpu;
}

static int compare_by_thread(const void *left, const void *right, void *arg)
{
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	const struct search *view = arg;
	uint64_t key_a = thread_key(view, &view->lines[a]);
	uint64_t key_b = thread_key(view, &view->lines[b]);

	if (key_a != key_b)
		return key_a < key_b ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void judge_all(struct pairs *pairs)
{
	struct search *view = pairs->view;
	size_t nr = view->nr_lines, end;

	for (size_t i = 0; i < nr; i++)
		pairs->of_thread[i] = i;
	qsort_r(pairs->of_thread, nr, sizeof(*pairs->of_thread), compare_by_thread, view);
	for (size_t i = 0; i < nr; i++)
		pairs->enters[i] = view->lines[pairs->of_thread[i]].call->tags & SEARCH_WHAT;
	find_holes(pairs);
	for (size_t i = 0; i < nr && !pairs->nomem; i = end) {
		uint64_t key = thread_key(view, &view->lines[pairs->of_thread[i]]);

		for (end = i + 1; end < nr; end++)
			if (thread_key(view, &view->lines[pairs->of_thread[end]]) != key)
				break;
		judge_thread(pairs, i, end);
	}
}

/* --- Text --------------------------------------------------------------------- */

static const char *state_str(enum pair_state state)
{
	static const char *const names[] = {
		[PAIR_PAIRED] = "paired",
		[PAIR_RETURNED] = "unpaired, caller returned",
		[PAIR_HELD] = "unpaired, caller open",
		[PAIR_UNPAIRED] = "unpaired",
		[PAIR_RUNS] = "open",
		[PAIR_OLDER] = "nothing before it",
		[PAIR_THREAD] = "unknown: thread",
		[PAIR_GAP] = "unknown: gap",
		[PAIR_UNSEEN] = "unknown: unseen",
		[PAIR_ORDER] = "unknown: order",
	};

	return names[state];
}

static void text_pair(struct search *view, const struct search_line *line, enum pair_state state,
		      unsigned int cpu)
{
	struct out *out = &view->renderer.out;

	search_text_head(view, line, false);
	search_text_function(view, line->call->to);
	out_literal(out, " < ");
	search_text_function(view, line->call->from);
	out_literal(out, ": ");
	out_str(out, state_str(state));
	if (state == PAIR_UNSEEN) {
		out_literal(out, " on CPU ");
		out_dec(out, cpu, 0);
	}
	if (search_is_after_fault(view, line))
		out_literal(out, ", after the fault");
	out_char(out, '\n');
}

static void put_pair(struct search *view, const struct search_line *line, enum pair_state state,
		     unsigned int cpu)
{
	struct btsrec_found value = {
		.state = state_str(state),
		.has_unseen = state == PAIR_UNSEEN,
		.unseen_cpu = cpu,
	};

	search_put(view, line, &value);
}

static void text_begin(struct search *view, size_t nr_enters, size_t nr_alone)
{
	struct out *out = &view->renderer.out;

	out_literal(out, "# ");
	out_dec(out, nr_enters, 0);
	out_str(out, nr_enters == 1 ? " call of " : " calls of ");
	out_escaped(out, view->opts->what, strlen(view->opts->what));
	out_literal(out, ", ");
	out_dec(out, view->nr_lines - nr_enters, 0);
	out_literal(out, " of ");
	out_escaped(out, view->opts->second, strlen(view->opts->second));
	out_literal(out, "; without the other: ");
	out_dec(out, nr_alone, 0);
	out_char(out, '\n');
	if (nr_alone)
		search_text_columns(view, "CALL");
}

/* The newest first. */
static void show_pairs(struct pairs *pairs, const size_t *place_of, size_t nr_alone)
{
	struct search *view = pairs->view;
	size_t nr_left = search_nr_shown(view, nr_alone);

	for (size_t i = view->nr_lines; i-- && nr_left && !view->renderer.out.stopped;) {
		size_t place = place_of[i];

		if (pairs->states[place] == PAIR_PAIRED)
			continue;
		nr_left--;
		if (search_is_text(view))
			text_pair(view, &view->lines[i], pairs->states[place], pairs->cpus[place]);
		else
			put_pair(view, &view->lines[i], pairs->states[place], pairs->cpus[place]);
	}
}

static void show_all(struct pairs *pairs)
{
	struct search *view = pairs->view;
	size_t *place_of = pairs->open, nr_enters = 0, nr_alone = 0;
	bool is_text = search_is_text(view);

	for (size_t i = 0; i < view->nr_lines; i++) {
		place_of[pairs->of_thread[i]] = i;
		nr_enters += pairs->enters[i];
		nr_alone += pairs->states[i] != PAIR_PAIRED;
	}
	if (is_text)
		text_begin(view, nr_enters, nr_alone);
	else
		search_put_begin(view, nr_alone);
	show_pairs(pairs, place_of, nr_alone);
	if (is_text)
		search_text_end(view);
}

static void pairs_fini(struct pairs *pairs)
{
	free(pairs->of_thread);
	free(pairs->enters);
	free(pairs->open);
	free(pairs->other);
	free(pairs->states);
	free(pairs->cpus);
	free(pairs->holes);
	free(pairs->runs);
}

enum btsrec_status search_pairs(struct search *view)
{
	size_t nr = view->nr_lines + 1;
	struct pairs pairs = {
		.view = view,
		.of_thread = calloc(nr, sizeof(*pairs.of_thread)),
		.enters = calloc(nr, sizeof(*pairs.enters)),
		.open = calloc(nr, sizeof(*pairs.open)),
		.other = calloc(nr, sizeof(*pairs.other)),
		.states = calloc(nr, sizeof(*pairs.states)),
		.cpus = calloc(nr, sizeof(*pairs.cpus)),
	};

	pairs.nomem = !pairs.of_thread || !pairs.enters || !pairs.open || !pairs.other ||
		      !pairs.states || !pairs.cpus;
	if (!pairs.nomem)
		judge_all(&pairs);
	if (!pairs.nomem)
		show_all(&pairs);
	pairs_fini(&pairs);
	if (pairs.nomem)
		return msg_set(&view->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return BTSREC_OK;
}
