// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/pairing.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "recorder/session.h"

/**
 * struct pairing - one pairing_judge() under way; all arrays are owned
 * @items: @nr of them, borrowed.
 * @enters, @objects, @open, @other: for pairs_match(), of the items.
 * @holes: times without a history of a CPU.
 * @runs: of the thread at hand, if @has_runs.
 */
struct pairing {
	const struct search *view;
	struct pair_item *items;
	size_t nr;
	bool *enters;
	uint64_t *objects;
	size_t *open;
	size_t *other;
	struct pairs_time *holes;
	size_t nr_holes;
	size_t nr_holes_room;
	struct pairs_time *runs;
	size_t nr_runs;
	size_t nr_runs_room;
	bool has_runs;
	bool nomem;
};

/* --- What the histories do not show ----------------------------------------- */

static void add_hole(struct pairing *pairs, unsigned int cpu, uint64_t from_tsc, uint64_t to_tsc)
{
	if (from_tsc >= to_tsc)
		return;
	if (!grow_from(&pairs->holes, sizeof(*pairs->holes), pairs->nr_holes, &pairs->nr_holes_room,
		       16))
		pairs->nomem = true;
	else
		pairs->holes[pairs->nr_holes++] = (struct pairs_time){from_tsc, to_tsc, cpu};
}

static void find_holes_of(struct pairing *pairs, unsigned int cpu)
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

static void find_holes(struct pairing *pairs)
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
static void find_runs(struct pairing *pairs, uint32_t pid)
{
	const struct search *view = pairs->view;

	pairs->has_runs = true;
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
static bool is_unseen(const struct pairing *pairs, const struct search_line *line,
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

static const struct search_line *line_of(const struct pairing *pairs, size_t i)
{
	return &pairs->view->lines[pairs->items[i].line];
}

static enum pair_state state_of_enter(struct pairing *pairs, struct pair_item *item)
{
	const struct search_line *line = &pairs->view->lines[item->line];
	const struct call_list *list = search_list(pairs->view, line);
	const struct btsrec_side *side = search_thread(pairs->view, line);
	const struct listed_call *call = line->call;
	struct search_line caller = *line;

	if (!side && item->scope == PAIR_OF_THREAD)
		return PAIR_THREAD;
	if (has_gap_behind(list, call->n))
		return PAIR_GAP;
	if (item->scope == PAIR_OF_THREAD && !pairs->has_runs)
		find_runs(pairs, side->pid);
	/* The idle threads stay on their CPUs. */
	if ((item->scope == PAIR_OF_ALL || (item->scope == PAIR_OF_THREAD && side->pid)) &&
	    is_unseen(pairs, line, &item->cpu))
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

static struct newest newest_leave(const struct pairing *pairs, size_t first, size_t end)
{
	struct newest newest = { 0 };

	for (size_t i = first; i < end; i++) {
		const struct search_line *line = line_of(pairs, i);

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

/* May the call of item @i have been left by @other, which is after it? */
static bool may_leave(const struct pairing *pairs, size_t i, size_t other)
{
	const struct search_line *line = line_of(pairs, i), *leave = line_of(pairs, other);
	uint64_t object = pairs->objects[i], left = pairs->objects[other];

	if (pairs->items[other].enters || (object && left && object != left))
		return false;
	return leave->cpu != line->cpu || leave->call->entry_n <= line->call->n;
}

static bool is_newest(const struct pairing *pairs, size_t i, size_t end)
{
	for (size_t other = i + 1; other < end; other++)
		if (may_leave(pairs, i, other))
			return false;
	return true;
}

static void judge_item(struct pairing *pairs, size_t i, const struct newest *newest)
{
	struct pair_item *item = &pairs->items[i];

	if (pairs->other[i] != PAIRS_NONE)
		return;
	if (!item->enters) {
		item->state = PAIR_OLDER;
		return;
	}
	item->state = state_of_enter(pairs, item);
	if (is_unordered(newest, line_of(pairs, i)))
		item->state = PAIR_ORDER;
}

/* Of the items from @first to before @end, which belong together. */
static void judge_group(struct pairing *pairs, size_t first, size_t end)
{
	struct newest newest;

	pairs_match(pairs->enters + first, pairs->objects + first, end - first, pairs->open,
		    pairs->other + first);
	newest = newest_leave(pairs, first, end);
	pairs->nr_runs = 0;
	pairs->has_runs = false;
	for (size_t i = first; i < end && !pairs->nomem; i++)
		judge_item(pairs, i, &newest);
	for (size_t i = first; i < end; i++)
		if (pairs->enters[i] && pairs->other[i] == PAIRS_NONE)
			pairs->items[i].is_newest = is_newest(pairs, i, end);
}

/* --- Groups ------------------------------------------------------------------- */

/* Each CPU has an idle thread of its own, and an unknown thread. */
static uint64_t group_key(const struct search *view, const struct pair_item *item)
{
	const struct search_line *line = &view->lines[item->line];
	const struct btsrec_side *side = search_thread(view, line);

	if (item->scope == PAIR_OF_ALL)
		return 0;
	if (item->scope == PAIR_OF_CPU)
		return line->cpu;
	if (side && side->pid)
		return side->pid;
	return (uint64_t)(side ? 1 : 2) << 48 | line->cpu;
}

static int compare_groups(const struct search *view, const struct pair_item *a,
			  const struct pair_item *b)
{
	int order = search_compare(a->group, b->group);

	return order ? order : search_compare(group_key(view, a), group_key(view, b));
}

static int compare_items(const void *left, const void *right, void *arg)
{
	const struct pair_item *a = left, *b = right;
	int order = compare_groups(arg, a, b);

	return order ? order : search_compare(a->line, b->line);
}

static void judge_all(struct pairing *pairs)
{
	size_t end;

	for (size_t i = 0; i < pairs->nr; i++) {
		pairs->enters[i] = pairs->items[i].enters;
		pairs->objects[i] = pairs->items[i].object;
	}
	find_holes(pairs);
	for (size_t i = 0; i < pairs->nr && !pairs->nomem; i = end) {
		for (end = i + 1; end < pairs->nr; end++)
			if (compare_groups(pairs->view, &pairs->items[i], &pairs->items[end]))
				break;
		judge_group(pairs, i, end);
	}
}

bool pairing_judge(const struct search *view, struct pair_item *items, size_t nr)
{
	struct pairing pairs = {
		.view = view,
		.items = items,
		.nr = nr,
		.enters = calloc(nr + 1, sizeof(*pairs.enters)),
		.objects = calloc(nr + 1, sizeof(*pairs.objects)),
		.open = calloc(nr + 1, sizeof(*pairs.open)),
		.other = calloc(nr + 1, sizeof(*pairs.other)),
	};

	pairs.nomem = !pairs.enters || !pairs.objects || !pairs.open || !pairs.other;
	if (nr)
		qsort_r(items, nr, sizeof(*items), compare_items, (void *)view);
	if (!pairs.nomem)
		judge_all(&pairs);
	free(pairs.enters);
	free(pairs.objects);
	free(pairs.open);
	free(pairs.other);
	free(pairs.holes);
	free(pairs.runs);
	return !pairs.nomem;
}

const char *pair_state_str(enum pair_state state)
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
