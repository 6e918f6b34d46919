// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What lines about calls of all CPUs have in common.  As text:
 *
 *   CPU         N        FROM_FREEZE_MS THREAD           CALL
 *     1     43601      -10.756..-10.601 99/99 "init"     ...
 */
#include <stdio.h>

#include "render/text_columns.h"
#include "symbols/symbol.h"
#include "views/view_search.h"

#define TIME_WIDTH   21
#define THREAD_WIDTH 16
#define NS_PER_US    1000

/* --- Times ---------------------------------------------------------------- */

static bool is_bound(uint64_t tsc)
{
	return tsc && tsc != UINT64_MAX;
}

/* How far @tsc is from the freeze; false: not known from this dump. */
static bool from_freeze(const struct search *view, uint64_t tsc, bool *ret_after, uint64_t *ret_ns)
{
	bool before;

	*ret_after = tsc > view->clock.end_tsc;
	return is_bound(tsc) && clock_from_end(&view->clock, tsc, &before, ret_ns);
}

/* Three digits after the point. */
static void out_ms(struct out *out, uint64_t us)
{
	out_dec(out, us / 1000, 0);
	out_char(out, '.');
	for (uint64_t digit = 100; digit; digit /= 10)
		out_char(out, (char)('0' + us / digit % 10));
}

/* In ms, rounded so that the bound still holds; "?": there is none. */
static void put_bound(const struct search *view, uint64_t tsc, bool is_upper, char *ret,
		      size_t ret_bytes)
{
	uint64_t ns, us;
	bool after;

	if (!from_freeze(view, tsc, &after, &ns)) {
		snprintf(ret, ret_bytes, "?");
		return;
	}
	us = ns / NS_PER_US + (after == is_upper && ns % NS_PER_US);
	snprintf(ret, ret_bytes, "%s%llu.%03llu",
		 after ? "+" :
		 us    ? "-" :
			 "",
		 (unsigned long long)(us / 1000), (unsigned long long)(us % 1000));
}

/* Returns its length. */
static size_t put_time(const struct search *view, const struct search_time *time, char *ret,
		       size_t ret_bytes)
{
	char min[32], max[32];

	put_bound(view, time->min_tsc, false, min, sizeof(min));
	put_bound(view, time->max_tsc, true, max, sizeof(max));
	if (time->min_tsc == time->max_tsc)
		return (size_t)snprintf(ret, ret_bytes, "%s", min);
	return (size_t)snprintf(ret, ret_bytes, "%s..%s", min, max);
}

void search_text_time(struct search *view, const struct search_time *time)
{
	char text[72];

	(void)put_time(view, time, text, sizeof(text));
	out_str(&view->renderer.out, text);
}

/* --- Text ----------------------------------------------------------------- */

static void text_thread(struct search *view, const struct btsrec_side *side)
{
	struct out *out = &view->renderer.out;
	char text[64];
	int nr_bytes;

	if (!side) {
		out_pad(out, "unknown", THREAD_WIDTH);
		return;
	}
	nr_bytes = snprintf(text, sizeof(text), "%u/%u", side->pid, side->tgid) + 3 +
		   (int)strnlen(side->comm, sizeof(side->comm));
	out_thread(out, side->pid, side->tgid, side->comm);
	if (nr_bytes < THREAD_WIDTH)
		out_blanks(out, (size_t)(THREAD_WIDTH - nr_bytes));
}

void search_text_columns(struct search *view, const char *what)
{
	struct out *out = &view->renderer.out;

	out_literal(out, "#CPU         N        FROM_FREEZE_MS THREAD           ");
	out_str(out, what);
	out_char(out, '\n');
}

void search_text_head(struct search *view, const struct search_line *line, bool unordered)
{
	struct out *out = &view->renderer.out;
	char text[72];
	size_t nr_bytes = put_time(view, &line->time, text, sizeof(text)) + unordered;

	out_event(out, line->cpu, line->call->n);
	if (nr_bytes < TIME_WIDTH)
		out_blanks(out, TIME_WIDTH - nr_bytes);
	if (unordered)
		out_char(out, '~');
	out_str(out, text);
	out_char(out, ' ');
	text_thread(view, search_side(view, line));
	out_char(out, ' ');
}

void search_text_span(struct search *view, uint64_t min_ticks, uint64_t max_ticks,
		      unsigned int width)
{
	const struct clock *clock = &view->clock;
	char text[72], max[32] = "?";
	uint64_t min = min_ticks, us;
	int nr_bytes;

	if (!clock->tsc_khz) {
		if (max_ticks != UINT64_MAX)
			snprintf(max, sizeof(max), "%llu", (unsigned long long)max_ticks);
		nr_bytes = snprintf(text, sizeof(text), "%llu..%s ticks", (unsigned long long)min,
				    max);
	} else {
		us = (clock_ns(clock, max_ticks) + NS_PER_US - 1) / NS_PER_US;
		if (max_ticks != UINT64_MAX)
			snprintf(max, sizeof(max), "%llu.%03llu", (unsigned long long)(us / 1000),
				 (unsigned long long)(us % 1000));
		min = clock_ns(clock, min_ticks) / NS_PER_US;
		nr_bytes = snprintf(text, sizeof(text), "%llu.%03llu..%s",
				    (unsigned long long)(min / 1000),
				    (unsigned long long)(min % 1000), max);
	}
	if ((unsigned int)nr_bytes < width)
		out_blanks(&view->renderer.out, width - (unsigned int)nr_bytes);
	out_str(&view->renderer.out, text);
}

void search_text_function(struct search *view, uint64_t va)
{
	struct renderer *r = &view->renderer;
	struct symbol_name name;
	enum symbol_why why;

	if (!render_find(r, va, &name, &why)) {
		out_hex16(&r->out, va);
		return;
	}
	if (name.name_bytes && symbol_is_front(name.offset_bytes))
		name.offset_bytes = 0;
	if (!name.name_bytes || name.offset_bytes) {
		out_name(&r->out, &name);
		return;
	}
	out_bytes(&r->out, name.name, name.name_bytes);
	if (*name.module) {
		out_literal(&r->out, " [");
		out_str(&r->out, name.module);
		out_char(&r->out, ']');
	}
}

void search_text_state(struct search *view, const struct search_line *line)
{
	const struct listed_call *call = line->call;
	struct out *out = &view->renderer.out;

	if (call->late) {
		out_literal(out, ", entry not seen; seen to ");
		out_dec(out, call->last_n, 0);
	} else if (call->last_n == UINT64_MAX) {
		out_str(out, search_is_open(view, line) ? ", open" : ", end not seen");
	}
	if (search_is_after_fault(view, line))
		out_literal(out, ", after the fault");
}

uint64_t search_newest_begin(const struct search *view, unsigned int *ret_cpu)
{
	uint64_t newest = 0;

	for (unsigned int cpu = 0; cpu < view->nr_lists; cpu++) {
		const struct call_list *list = &view->lists[cpu];
		uint64_t tsc = list->times.nr ? list->times.all[0].begin_tsc : UINT64_MAX;

		if (!list->end_n || list->begins || tsc <= newest)
			continue;
		newest = tsc;
		*ret_cpu = cpu;
	}
	return newest;
}

uint64_t search_nr_gaps(const struct search *view)
{
	uint64_t nr = 0;

	for (unsigned int cpu = 0; cpu < view->nr_lists; cpu++)
		nr += view->lists[cpu].nr_gaps;
	return nr;
}

static void text_forgotten(struct search *view)
{
	struct out *out = &view->renderer.out;
	unsigned int cpu = 0;
	uint64_t tsc = search_newest_begin(view, &cpu), ns;
	bool after;

	if (!tsc)
		return;
	out_literal(out, "# older calls are gone; the shortest history, of CPU ");
	out_dec(out, cpu, 0);
	if (!from_freeze(view, tsc, &after, &ns) || after) {
		out_literal(out, ", has no time stamp\n");
		return;
	}
	out_literal(out, ", has at least the last ");
	out_ms(out, ns / NS_PER_US);
	out_literal(out, " ms\n");
}

static void text_unknown(struct search *view, const struct search_target *target)
{
	struct out *out = &view->renderer.out;

	if (!target->unknown)
		return;
	out_literal(out, "# the kernel and its modules have no function ");
	out_escaped(out, target->text, sizeof(target->text));
	out_char(out, '\n');
}

void search_text_end(struct search *view)
{
	struct out *out = &view->renderer.out;

	text_unknown(view, &view->targets[0]);
	text_unknown(view, &view->targets[1]);
	text_forgotten(view);
	if (!search_nr_gaps(view))
		return;
	out_literal(out, "# gaps: ");
	out_dec(out, search_nr_gaps(view), 0);
	out_literal(out, "; what ran there is not known\n");
}
