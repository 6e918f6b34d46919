// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/sched_intervals.h"

#include <stdlib.h>
#include <string.h>

#include "flow/clock.h"
#include "base/grow.h"
#include "recorder/record.h"

void intervals_init(struct intervals *intervals, uint32_t pid)
{
	memset(intervals, 0, sizeof(*intervals));
	intervals->pid = pid;
}

void intervals_fini(struct intervals *intervals)
{
	free(intervals->list);
	free(intervals->holes);
	memset(intervals, 0, sizeof(*intervals));
}

/* --- Intervals ---------------------------------------------------------- */

static void add_interval(struct intervals *s, const struct btsrec_event *event, bool begins)
{
	if (!grow(&s->list, sizeof(*s->list), s->nr, &s->nr_room)) {
		s->nomem = true;
		return;
	}
	s->list[s->nr++] = (struct interval){
		.cpu = event->cpu,
		.first_n = event->n,
		.last_n = event->n,
		.begins = begins,
	};
	s->open = true;
}

static void touch(struct interval *interval, uint64_t tsc)
{
	if (!interval->timed)
		interval->first_tsc = tsc;
	if (!interval->timed || tsc > interval->last_tsc)
		interval->last_tsc = tsc;
	interval->timed = true;
}

/* Up to and with @event; @tsc if @timed. */
static void extend(struct intervals *s, const struct btsrec_event *event, bool timed, uint64_t tsc)
{
	struct interval *interval = &s->list[s->nr - 1];

	interval->last_n = event->n;
	if (timed)
		touch(interval, tsc);
}

static void close_interval(struct intervals *s, bool ends)
{
	struct interval *interval = &s->list[s->nr - 1];

	interval->ends = ends;
	s->open = false;
	/* Begun after the last event of a history. */
	if (interval->last_n < interval->first_n)
		s->nr--;
}

/* The thread that runs after @event; NULL: as before, or not known. */
static const struct btsrec_side *next_side(const struct btsrec_event *event)
{
	switch (event->kind) {
	case BTSREC_EVENT_SWITCH:
	case BTSREC_EVENT_EXEC:
		return &event->sw.next;
	case BTSREC_EVENT_ARM:
		return &event->resume.now;
	case BTSREC_EVENT_GAP:
		return event->gap.has_resume ? &event->gap.resume.now : NULL;
	default:
		return NULL;
	}
}

/* A pause of the recorder's own ends at the next switch at the latest: it hides none. */
static bool hides_switches(const struct btsrec_event *event)
{
	if (event->kind == BTSREC_EVENT_ARM)
		return true;
	return event->kind == BTSREC_EVENT_GAP && event->gap.kind != BTSREC_GAP_OVERWRITTEN &&
	       !record_is_own_pause(&event->gap);
}

static void begin_next(struct intervals *s, const struct btsrec_event *event, uint64_t tsc)
{
	const struct btsrec_side *next = next_side(event);
	bool printed = s->nr && s->list[s->nr - 1].cpu == event->cpu &&
		       s->list[s->nr - 1].last_n == event->n;

	if (!next || next->pid != s->pid)
		return;
	add_interval(s, event, event->kind == BTSREC_EVENT_SWITCH);
	if (!s->open)
		return;
	s->list[s->nr - 1].first_n += printed;
	touch(&s->list[s->nr - 1], tsc);
}

static void feed_thread(struct intervals *s, const struct btsrec_event *event, bool mine)
{
	const struct btsrec_side *next = next_side(event);
	uint64_t tsc = 0;
	bool timed = clock_event(event, &tsc), stays = !next || next->pid == s->pid;

	if (mine && !s->open && event->kind != BTSREC_EVENT_ARM)
		add_interval(s, event, false);
	if (s->open && event->kind == BTSREC_EVENT_ARM) {
		close_interval(s, false);
	} else if (s->open && hides_switches(event)) {
		extend(s, event, timed, clock_event_begin(event, tsc));
		close_interval(s, false);
	} else if (s->open) {
		extend(s, event, timed, tsc);
		if (!stays || event->kind == BTSREC_EVENT_FREEZE)
			close_interval(s, true);
	}
	if (!s->open)
		begin_next(s, event, tsc);
}

/* --- Holes -------------------------------------------------------------- */

static void add_hole(struct intervals *s, uint64_t from_tsc, uint64_t to_tsc, unsigned int cpu)
{
	if (!grow(&s->holes, sizeof(*s->holes), s->nr_holes, &s->nr_holes_room)) {
		s->nomem = true;
		return;
	}
	s->holes[s->nr_holes++] = (struct intervals_hole){from_tsc, to_tsc, cpu};
}

static void feed_holes(struct intervals *s, const struct btsrec_event *event)
{
	uint64_t tsc = 0, stop_tsc;
	bool timed = clock_event(event, &tsc);

	if (hides_switches(event) && !s->hole_open) {
		s->hole_open = true;
		stop_tsc = timed ? clock_event_begin(event, tsc) : 0;
		if (timed && stop_tsc < tsc && stop_tsc > s->cpu_tsc)
			s->cpu_tsc = stop_tsc;
	}
	if (!timed)
		return;
	if (s->hole_open)
		add_hole(s, s->cpu_tsc, tsc, event->cpu);
	s->hole_open = false;
	if (tsc > s->cpu_tsc)
		s->cpu_tsc = tsc;
}

/* --- Events ------------------------------------------------------------- */

void intervals_feed(struct intervals *s, const struct btsrec_event *event,
		    const struct btsrec_side *side)
{
	if (!s->fed) {
		s->fed = true;
		s->cpu = event->cpu;
		s->cpu_tsc = 0;
		s->hole_open = true;
	}
	feed_thread(s, event, side && side->pid == s->pid);
	feed_holes(s, event);
}

void intervals_cpu_end(struct intervals *s)
{
	if (s->open)
		close_interval(s, false);
	if (s->fed)
		add_hole(s, s->cpu_tsc, UINT64_MAX, s->cpu);
	s->fed = false;
}

void intervals_blind(struct intervals *s, unsigned int cpu)
{
	add_hole(s, 0, UINT64_MAX, cpu);
}

/* --- Order -------------------------------------------------------------- */

/*
 * On one CPU the order is that of the ring, whatever the time stamps say: later intervals count as
 * no earlier than those before them.
 */
struct placed {
	uint64_t key_tsc;
	size_t number;
	struct interval interval;
};

static int compare_placed(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	if (a->key_tsc != b->key_tsc)
		return a->key_tsc < b->key_tsc ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void place(struct intervals *s, struct placed *placed)
{
	for (size_t i = 0; i < s->nr; i++) {
		const struct interval *interval = &s->list[i];
		bool first = !i || s->list[i - 1].cpu != interval->cpu;
		uint64_t before = first ? 0 : placed[i - 1].key_tsc;

		placed[i] = (struct placed){before, i, *interval};
		if (interval->timed && interval->first_tsc > before)
			placed[i].key_tsc = interval->first_tsc;
	}
	qsort(placed, s->nr, sizeof(*placed), compare_placed);
	for (size_t i = 0; i < s->nr; i++)
		s->list[i] = placed[i].interval;
}

static int compare_holes(const void *left, const void *right)
{
	const struct intervals_hole *a = left, *b = right;

	return a->from_tsc < b->from_tsc ? -1 : a->from_tsc > b->from_tsc;
}

/* By where they begin; each then ends where the last of those before it does. */
static void sort_holes(struct intervals *s)
{
	if (s->nr_holes)
		qsort(s->holes, s->nr_holes, sizeof(*s->holes), compare_holes);
	for (size_t i = 1; i < s->nr_holes; i++) {
		if (s->holes[i - 1].to_tsc <= s->holes[i].to_tsc)
			continue;
		s->holes[i].to_tsc = s->holes[i - 1].to_tsc;
		s->holes[i].cpu = s->holes[i - 1].cpu;
	}
}

/* The hole that reaches farthest of those that begin before @tsc; NULL: none does. */
static const struct intervals_hole *hole_before(const struct intervals *s, uint64_t tsc)
{
	size_t low = 0, high = s->nr_holes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->holes[middle].from_tsc < tsc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &s->holes[low - 1] : NULL;
}

static enum interval_order order_of(const struct interval *before, const struct interval *interval)
{
	if (before->cpu == interval->cpu)
		return INTERVAL_PROVEN;
	if (!before->timed || !interval->timed)
		return INTERVAL_UNTIMED;
	return before->first_tsc < interval->first_tsc && before->last_tsc <= interval->first_tsc ?
		       INTERVAL_PROVEN :
		       INTERVAL_CONTRADICTED;
}

static void follow(const struct intervals *s, const struct interval *before,
		   struct interval *interval)
{
	const struct intervals_hole *hole;

	interval->order = order_of(before, interval);
	hole = interval->timed ? hole_before(s, interval->first_tsc) : NULL;
	if (!before->timed || !hole || hole->to_tsc <= before->last_tsc)
		return;
	interval->maybe = true;
	interval->maybe_cpu = hole->cpu;
}

void intervals_end(struct intervals *s)
{
	struct placed *placed = calloc(s->nr ? s->nr : 1, sizeof(*placed));

	if (!placed) {
		s->nomem = true;
		return;
	}
	place(s, placed);
	free(placed);
	sort_holes(s);
	for (size_t i = 1; i < s->nr; i++)
		follow(s, &s->list[i - 1], &s->list[i]);
}
