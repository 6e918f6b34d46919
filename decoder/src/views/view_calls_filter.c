// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which lines of a tree of calls a filter wants.  A wanted function is printed with all that it
 * calls.
 */
#include "views/view_calls.h"

/* --- Threads ------------------------------------------------------------ */

static void enter_thread(struct calls_filter *wanted, bool known, uint32_t pid)
{
	const uint64_t key[COUNTER_MAP_KEY_WORDS] = {known, pid};

	wanted->scope = counter_map_get(&wanted->scopes, key);
	wanted->nomem = wanted->nomem || !wanted->scope;
}

static enum calls_wish wish_thread(struct calls_filter *wanted, const struct btsrec_side *side)
{
	wanted->thread = filter_thread(&wanted->event_filter->filter, side);
	enter_thread(wanted, side, side ? side->pid : 0);
	return wanted->thread ? CALLS_KEEP : CALLS_SKIP;
}

/* --- Functions ---------------------------------------------------------- */

/* What is kept of a thread: the events in which a function that is wanted runs; at first none. */
enum { SCOPE_FIRST_N, SCOPE_END_N };

/* A line may be after those of what it called: that of a caller that a gap hid. */
static bool in_scope(struct calls *view, const struct calltree_line *line, uint64_t n)
{
	struct calls_filter *wanted = view->wanted;
	const struct filter *filter = &wanted->event_filter->filter;
	struct count *scope = wanted->scope;

	if (!filter->symbols && !filter->modules && !filter->nr_ranges)
		return true;
	if (scope && line->n >= scope->nr[SCOPE_FIRST_N] && line->n < scope->nr[SCOPE_END_N])
		return true;
	if (!event_filter_place(wanted->event_filter, n, line->to))
		return false;
	if (scope && line->kind == CALLTREE_CALL) {
		scope->nr[SCOPE_FIRST_N] = line->n;
		scope->nr[SCOPE_END_N] = line->last_n + (line->last_n < UINT64_MAX);
	}
	return true;
}

/* The level is that of the function; an entry from user code belongs to either. */
static bool has_level(const struct filter *filter, const struct calltree_line *line)
{
	return filter_level(filter, line->to) ||
	       (line->kind == CALLTREE_CALL && frame_is_entry(line->frame) &&
		!code_is_kernel(line->from));
}

/* The kinds of branches that make such a line, a bit for each. */
static uint32_t types_of(const struct calltree_line *line)
{
	static const uint32_t of_frame[] = {
		[FRAME_CALL] = 1U << BRANCH_CALL,
		[FRAME_CALL_IND] = 1U << BRANCH_CALL_IND,
		[FRAME_TAIL] = 1U << BRANCH_JUMP | 1U << BRANCH_JUMP_IND | 1U << BRANCH_COND,
		[FRAME_SYSCALL] = 1U << BRANCH_SYSCALL,
		[FRAME_INT] = 1U << BRANCH_INT,
		[FRAME_IRQ] = 1U << BRANCH_IRQ,
		[FRAME_NMI] = 1U << BRANCH_NMI,
		[FRAME_EXCEPTION] = 1U << BRANCH_EXCEPTION,
		[FRAME_ENTRY] = 1U << BRANCH_ENTRY,
		[FRAME_DIVERT] = 1U << BRANCH_IRET | 1U << BRANCH_SYSRET,
	};

	if (line->kind == CALLTREE_CALL)
		return of_frame[line->frame];
	if (line->kind == CALLTREE_RETURN || line->kind == CALLTREE_ASTRAY)
		return 1U << BRANCH_RET;
	return line->kind == CALLTREE_RESUME ? 1U << BRANCH_IRET : 0;
}

/* --- Lines -------------------------------------------------------------- */

static bool wants_event(struct calls *view, const struct calltree_line *line, uint64_t n)
{
	struct btsrec_event event = view->tree.events[line->event];

	event.n = n;
	return event_filter_event(view->wanted->event_filter, &event);
}

enum calls_wish calls_wish(struct calls *view, const struct calltree_line *line)
{
	struct calls_filter *wanted = view->wanted;
	uint64_t n = calls_place(view, line->n, &view->cpu);
	const struct filter *filter;

	if (view->followed)
		wanted->event_filter = &view->followed->event_filters[view->cpu];
	filter = &wanted->event_filter->filter;
	if (view->followed && !view_thread_wants(view->followed, view->cpu) &&
	    line->kind != CALLTREE_THREAD)
		return CALLS_SKIP;
	switch (line->kind) {
	case CALLTREE_THREAD:
		return wish_thread(wanted, calltree_side(&view->tree, line));
	case CALLTREE_EVENT:
		return wants_event(view, line, n) ? CALLS_TAKE_ALONE : CALLS_SKIP;
	case CALLTREE_FAULT:
		return wanted->thread ? CALLS_TAKE_ALONE : CALLS_SKIP;
	case CALLTREE_INTERVAL:
	case CALLTREE_BREAK:
		return CALLS_TAKE_ALONE;
	default:
		break;
	}
	if (!wanted->thread || !in_scope(view, line, n) || !has_level(filter, line))
		return CALLS_SKIP;
	return !filter->types || filter->types & types_of(line) ? CALLS_TAKE : CALLS_SKIP;
}
