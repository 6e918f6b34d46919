// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which locks are held or waited for at the end, and since when interrupts and preemption are off.
 * Calls of one family of locks are paired without their arguments: where that leaves a choice, it
 * is said.
 *
 *   CPU         N        FROM_FREEZE_MS THREAD           LOCK
 *     1     43601      -10.756..-10.601 99/99 "init"     held: mutex, mutex_lock < probe+0x1f
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/status.h"
#include "recorder/session.h"
#include "symbols/symbol.h"
#include "tally/lock_functions.h"
#include "views/pairing.h"

/** enum lock_state - what a call that takes a lock has come to */
enum lock_state {
	LOCK_HELD,
	LOCK_TAKEN,		/* and whether it is held is not known */
	LOCK_TRIED,		/* and whether that took it is not known */
	LOCK_WAITED_FOR,	/* the call is in its slow path */
	LOCK_ENTERED,		/* the call is open, and its slow path not called */
};

/** enum lock_why - why it is not certain; up to LOCK_PASSED_ON it is likely, else not known */
enum lock_why {
	LOCK_CERTAIN,
	LOCK_NESTED,	/* a lock of this family was released after it, and paired with another */
	LOCK_PASSED_ON,	/* another thread may have released it */
	LOCK_RETURNED,	/* what the function returned says whether it took it */
	LOCK_INLINE,	/* functions that release it are inline in this kernel */
	LOCK_NO_THREAD,
	LOCK_GAP,
	LOCK_UNSEEN,
	LOCK_UNORDERED,
	LOCK_MOVED,	/* the thread ran on another CPU afterwards */
};

/**
 * struct lock_entry - one line
 * @family: that it holds or waits for.
 * @wait: the slow path; NULL: none.
 * @cpu: of LOCK_UNSEEN and LOCK_MOVED.
 * @is_returned: the function that called has returned.
 */
struct lock_entry {
	const struct search_line *line;
	enum lock_family family;
	enum lock_state state;
	enum lock_why why;
	const struct listed_call *wait;
	unsigned int cpu;
	bool is_returned;
};

/**
 * struct locks - the question under way; both arrays are owned
 * @nr_older: so many locks were released that no call here has taken.
 * @nr_inline: so many that were taken are left out, since nobody sees their release: the function
 *	that took them has returned.
 * @is_inline: by family: a function that releases it is inline in this kernel.
 */
struct locks {
	struct search *view;
	struct pair_item *items;
	size_t nr_items;
	struct lock_entry *entries;
	size_t nr;
	size_t nr_older;
	size_t nr_inline;
	bool is_inline[LOCK_NR_FAMILIES];
};

/* Calls that are open are groups of their own, behind those of the families. */
#define OPEN_GROUP(family) (LOCK_NR_FAMILIES + (uint32_t)(family))

static const struct lock_function *function_of(const struct listed_call *call)
{
	return lock_function_at(call->tags);
}

/* --- Calls ------------------------------------------------------------------ */

/* A function that takes a lock may call another one to do it. */
static bool is_inner(const struct search *view, const struct search_line *line)
{
	const struct listed_call *caller;
	const struct lock_function *outer;

	if (line->call->caller == CALL_LIST_NONE)
		return false;
	caller = &search_list(view, line)->calls[line->call->caller];
	outer = function_of(caller);
	return outer && outer->family == function_of(line->call)->family &&
	       outer->act == function_of(line->call)->act;
}

static enum pair_scope scope_of(enum lock_family family)
{
	static const enum pair_scope scopes[] = {
		[LOCK_OF_CPU] = PAIR_OF_CPU,
		[LOCK_OF_THREAD] = PAIR_OF_THREAD,
		[LOCK_OF_ANY] = PAIR_OF_ALL,
	};

	return scopes[lock_scope(family)];
}

static void add_item(struct locks *locks, size_t line, enum lock_family family, bool enters)
{
	const struct listed_call *call = locks->view->lines[line].call;
	bool is_open = enters && call->last_n == UINT64_MAX;

	locks->items[locks->nr_items++] = (struct pair_item){
		.group = is_open ? OPEN_GROUP(family) : family,
		/* Nobody else ends a call. */
		.scope = is_open && lock_scope(family) == LOCK_OF_ANY ? PAIR_OF_THREAD :
									scope_of(family),
		.object = call->has_argument ? call->argument : 0,
		.line = line,
		.enters = enters,
	};
}

static void add_line(struct locks *locks, size_t i)
{
	const struct search_line *line = &locks->view->lines[i];
	const struct lock_function *function = function_of(line->call);

	if (line->call->late || function->act == LOCK_WAITS || is_inner(locks->view, line))
		return;
	add_item(locks, i, function->family, function->act == LOCK_TAKES);
	if (function->act == LOCK_DOWNGRADES)
		add_item(locks, i, LOCK_RWSEM_READ, true);
}

static void find_inline(struct locks *locks)
{
	struct btsrec *rec = locks->view->renderer.rec;
	const struct lock_function *function;
	uint64_t va;

	for (unsigned int i = 1; symbols_bounded(rec) && (function = lock_function_at(i)); i++)
		if (function->may_be_inline && !symbols_by_name(rec, function->name, &va, 1))
			locks->is_inline[function->family] = true;
}

/* --- Waiting ---------------------------------------------------------------- */

/* The slow path that is open in the call of @line; NULL: none is. */
static const struct listed_call *wait_in(const struct search *view, const struct search_line *line)
{
	const struct call_list *list = search_list(view, line);
	const struct btsrec_side *side = search_thread(view, line);

	for (size_t i = (size_t)(line->call - list->calls) + 1; i < list->nr; i++) {
		const struct listed_call *call = &list->calls[i];
		const struct btsrec_side *there = call_list_side(list, call->side);

		if (call->tags && function_of(call)->act == LOCK_WAITS && !call->late &&
		    call->last_n == UINT64_MAX && call->depth > line->call->depth && side &&
		    there && side->pid == there->pid)
			return call;
	}
	return NULL;
}

/* May the thread of @line have run on another CPU after it? */
static bool has_moved(const struct search *view, const struct search_line *line,
		      unsigned int *ret_cpu)
{
	const struct btsrec_side *side = search_thread(view, line);

	for (unsigned int cpu = 0; side && side->pid && cpu < view->nr_lists; cpu++) {
		const struct call_list *list = &view->lists[cpu];

		for (size_t i = list->nr_stays; cpu != line->cpu && i--;) {
			const struct call_stay *stay = &list->stays[i];

			if (!stay->known || stay->side.pid != side->pid ||
			    search_when(list, stay->last_n).max_tsc <= line->time.min_tsc)
				continue;
			*ret_cpu = cpu;
			return true;
		}
	}
	return false;
}

/* --- Judging ---------------------------------------------------------------- */

static enum lock_why why_of(const struct locks *locks, const struct pair_item *item,
			    enum lock_family family)
{
	const struct listed_call *call = locks->view->lines[item->line].call;

	switch (item->state) {
	case PAIR_THREAD: return LOCK_NO_THREAD;
	case PAIR_GAP: return LOCK_GAP;
	case PAIR_UNSEEN: return LOCK_UNSEEN;
	case PAIR_ORDER: return LOCK_UNORDERED;
	default: break;
	}
	if (item->group >= LOCK_NR_FAMILIES)
		return LOCK_CERTAIN;
	if (locks->is_inline[family])
		return LOCK_INLINE;
	if (function_of(call)->success != LOCK_ALWAYS)
		return LOCK_RETURNED;
	if (!item->is_newest)
		return LOCK_NESTED;
	return lock_is_passed_on(family) ? LOCK_PASSED_ON : LOCK_CERTAIN;
}

/* Of a call that has returned. */
static enum lock_state state_of(enum lock_why why)
{
	if (why <= LOCK_PASSED_ON)
		return LOCK_HELD;
	return why == LOCK_RETURNED ? LOCK_TRIED : LOCK_TAKEN;
}

static void judge_open(const struct locks *locks, struct lock_entry *entry)
{
	const struct search_line *line = entry->line;

	entry->wait = wait_in(locks->view, line);
	entry->state = entry->wait ? LOCK_WAITED_FOR : LOCK_ENTERED;
	if (entry->why)
		return;
	if (line->call->lost)
		entry->why = LOCK_GAP;
	else if (!search_is_open(locks->view, line) &&
		 has_moved(locks->view, line, &entry->cpu))
		entry->why = LOCK_MOVED;
}

static void add_entry(struct locks *locks, const struct pair_item *item)
{
	const struct search_line *line = &locks->view->lines[item->line];
	struct lock_entry *entry = &locks->entries[locks->nr];

	if (item->state == PAIR_PAIRED)
		return;
	if (!item->enters) {
		locks->nr_older++;
		return;
	}
	*entry = (struct lock_entry){ .line = line, .family = item->group % LOCK_NR_FAMILIES,
				      .cpu = item->cpu,
				      .is_returned = item->state == PAIR_RETURNED };
	entry->why = why_of(locks, item, entry->family);
	if (entry->why == LOCK_INLINE && entry->is_returned) {
		locks->nr_inline++;
		return;
	}
	entry->state = state_of(entry->why);
	if (item->group >= LOCK_NR_FAMILIES)
		judge_open(locks, entry);
	locks->nr++;
}

/* Is @line a slow path whose entry is gone, and in which the thread was interrupted at the end? */
static bool waits_since_long(struct search *view, const struct search_line *line)
{
	const struct call_list *list = search_list(view, line);
	const struct btsrec_side *side = search_thread(view, line);
	const struct btsrec_side *now = call_list_side(list, (uint32_t)(list->nr_stays - 1));

	return line->call->late && function_of(line->call)->act == LOCK_WAITS && side && now &&
	       side->pid == now->pid && list->interrupted_va &&
	       search_start(view, side, list->interrupted_va) ==
		       search_start(view, side, line->call->to);
}

/* Only the newest such call of a CPU is the one. */
static void add_late(struct locks *locks, bool *has_late)
{
	struct search *view = locks->view;

	for (size_t i = view->nr_lines; i--;) {
		const struct search_line *line = &view->lines[i];

		if (has_late[line->cpu] || !waits_since_long(view, line))
			continue;
		has_late[line->cpu] = true;
		locks->entries[locks->nr++] = (struct lock_entry){
			.line = line, .family = function_of(line->call)->family,
			.state = LOCK_WAITED_FOR, .wait = line->call };
	}
}

/* The newest first. */
static int compare_entries(const void *left, const void *right)
{
	const struct lock_entry *a = left, *b = right;

	return a->line < b->line ? 1 : a->line > b->line ? -1 : 0;
}

static void judge(struct locks *locks, bool *has_late)
{
	for (size_t i = 0; i < locks->nr_items; i++)
		add_entry(locks, &locks->items[i]);
	add_late(locks, has_late);
	if (locks->nr)
		qsort(locks->entries, locks->nr, sizeof(*locks->entries), compare_entries);
}

/* --- Words ------------------------------------------------------------------ */

static const char *state_str(enum lock_state state)
{
	static const char *const names[] = {
		[LOCK_HELD] = "held",	      [LOCK_TAKEN] = "taken",
		[LOCK_TRIED] = "tried",	      [LOCK_WAITED_FOR] = "waits",
		[LOCK_ENTERED] = "entered",
	};

	return names[state];
}

static const char *sure_str(enum lock_why why)
{
	return why == LOCK_CERTAIN ? "certain" : why <= LOCK_PASSED_ON ? "likely" : "unknown";
}

/* NULL: it is certain. */
static const char *why_str(enum lock_why why)
{
	static const char *const names[] = {
		[LOCK_NESTED] = "by nesting",
		[LOCK_PASSED_ON] = "may be passed on",
		[LOCK_RETURNED] = "return value",
		[LOCK_INLINE] = "inline release",
		[LOCK_NO_THREAD] = "thread",
		[LOCK_GAP] = "gap",
		[LOCK_UNSEEN] = "unseen",
		[LOCK_UNORDERED] = "order",
		[LOCK_MOVED] = "ran on",
	};

	return names[why];
}

static bool has_cpu(enum lock_why why)
{
	return why == LOCK_UNSEEN || why == LOCK_MOVED;
}

static const char *by_str(enum onoff_by by)
{
	static const char *const names[] = {
		[ONOFF_CLI] = "cli",
		[ONOFF_SYSCALL] = "syscall",
		[ONOFF_ENTRY] = "entry",
		[ONOFF_COUNT] = "count",
		[ONOFF_OLDER] = "older",
	};

	return names[by];
}

static const char *onoff_str(enum onoff_is is)
{
	return is == ONOFF_OFF ? "off" : is == ONOFF_ON ? "on" : "unknown";
}

/* --- Text ------------------------------------------------------------------- */

static void text_why(struct out *out, const struct lock_entry *entry)
{
	if (!entry->why)
		return;
	out_literal(out, "; ");
	out_str(out, sure_str(entry->why));
	out_literal(out, ": ");
	out_str(out, why_str(entry->why));
	if (!has_cpu(entry->why))
		return;
	out_str(out, entry->why == LOCK_UNSEEN ? " on CPU " : " CPU ");
	out_dec(out, entry->cpu, 0);
}

static void text_entry(struct search *view, const struct lock_entry *entry)
{
	const struct listed_call *call = entry->line->call;
	struct out *out = &view->renderer.out;

	search_text_head(view, entry->line, false);
	out_str(out, state_str(entry->state));
	out_literal(out, ": ");
	out_str(out, lock_family_str(entry->family));
	if (call->has_argument) {
		out_literal(out, " at ");
		search_text_function(view, call->argument);
	}
	out_literal(out, ", ");
	search_text_function(view, call->late ? search_start(view, view->renderer.side, call->to) :
						call->to);
	if (!call->late) {
		out_literal(out, " < ");
		search_text_function(view, call->from);
	}
	if (entry->wait && entry->wait != call) {
		out_literal(out, ", in ");
		search_text_function(view, entry->wait->to);
	}
	if (call->late)
		out_literal(out, ", entry not seen");
	if (entry->is_returned)
		out_literal(out, ", caller returned");
	if (search_is_after_fault(view, entry->line))
		out_literal(out, ", after the fault");
	text_why(out, entry);
	out_char(out, '\n');
}

/* The stay of event @n. */
static uint32_t stay_at(const struct call_list *list, uint64_t n)
{
	uint32_t i = 0;

	while (i + 1 < list->nr_stays && list->stays[i].last_n < n)
		i++;
	return i;
}

/* Of what no call is listed. */
static struct search_line line_at(const struct search *view, unsigned int cpu,
				  struct listed_call *call, uint64_t n)
{
	*call = (struct listed_call){ .n = n, .last_n = UINT64_MAX,
				      .side = stay_at(&view->lists[cpu], n) };
	return (struct search_line){ search_when(&view->lists[cpu], n), cpu, call };
}

/* The function that called the listed call in which event @n ran; 0: none is listed. */
static uint64_t caller_at(const struct call_list *list, uint64_t n)
{
	uint64_t from = 0;

	for (size_t i = 0; i < list->nr; i++)
		if (list->calls[i].tags && !list->calls[i].late && list->calls[i].n < n &&
		    list->calls[i].last_n >= n)
			from = list->calls[i].from;
	return from;
}

static const struct onoff *onoff_of(const struct search *view, enum btsrec_found_kind kind,
				    unsigned int cpu)
{
	const struct trace_onoff *onoff = &view->onoff[cpu];

	return kind == BTSREC_FOUND_INTERRUPTS ? &onoff->interrupts : &onoff->preemption;
}

/* An instruction may be in a function that takes a lock: its caller; 0: not known. */
static uint64_t onoff_from(const struct search *view, unsigned int cpu, const struct onoff *onoff)
{
	return onoff->by == ONOFF_CLI || onoff->by == ONOFF_COUNT ?
		       caller_at(&view->lists[cpu], onoff->n) : 0;
}

static void text_off(struct search *view, enum btsrec_found_kind kind, unsigned int cpu)
{
	const struct onoff *onoff = onoff_of(view, kind, cpu);
	struct out *out = &view->renderer.out;
	struct listed_call call;
	struct search_line line = line_at(view, cpu, &call, onoff->n);
	uint64_t caller = onoff_from(view, cpu, onoff);

	search_text_head(view, &line, false);
	out_str(out, kind == BTSREC_FOUND_INTERRUPTS ? "interrupts off: " : "preemption off: ");
	out_str(out, onoff->by == ONOFF_OLDER ? "at least since then" : by_str(onoff->by));
	if (onoff->ip) {
		out_literal(out, " at ");
		search_text_function(view, onoff->ip);
	}
	if (caller) {
		out_literal(out, " < ");
		search_text_function(view, caller);
	}
	if (!onoff->was_on && onoff->by != ONOFF_OLDER)
		out_literal(out, ", if not before");
	out_char(out, '\n');
}

static size_t nr_cpus(const struct search *view, enum btsrec_found_kind kind, enum onoff_is is)
{
	size_t nr = 0;

	for (unsigned int cpu = 0; cpu < view->nr_lists; cpu++)
		nr += view->lists[cpu].nr_stays && onoff_of(view, kind, cpu)->is == is;
	return nr;
}

static void text_count(struct out *out, const char *what, size_t nr)
{
	out_str(out, what);
	out_dec(out, nr, 0);
}

static void text_onoff(struct search *view, const char *off, enum btsrec_found_kind kind)
{
	struct out *out = &view->renderer.out;

	text_count(out, off, nr_cpus(view, kind, ONOFF_OFF));
	text_count(out, ", on: ", nr_cpus(view, kind, ONOFF_ON));
	text_count(out, ", not known: ", nr_cpus(view, kind, ONOFF_UNKNOWN));
	out_char(out, '\n');
}

static void text_begin(struct search *view, const struct locks *locks)
{
	struct out *out = &view->renderer.out;
	size_t nr[LOCK_ENTERED + 1] = { 0 };

	for (size_t i = 0; i < locks->nr; i++)
		nr[locks->entries[i].state]++;
	text_count(out, "# held: ", nr[LOCK_HELD]);
	text_count(out, ", waited for: ", nr[LOCK_WAITED_FOR] + nr[LOCK_ENTERED]);
	text_count(out, ", not known: ", nr[LOCK_TAKEN] + nr[LOCK_TRIED]);
	text_count(out, "; taken before the histories and released: ", locks->nr_older);
	out_char(out, '\n');
	text_onoff(view, "# CPUs with interrupts off: ", BTSREC_FOUND_INTERRUPTS);
	text_onoff(view, "# CPUs with preemption off: ", BTSREC_FOUND_PREEMPTION);
	if (locks->nr || nr_cpus(view, BTSREC_FOUND_INTERRUPTS, ONOFF_OFF) ||
	    nr_cpus(view, BTSREC_FOUND_PREEMPTION, ONOFF_OFF))
		search_text_columns(view, "LOCK");
}

static void text_end(struct search *view, const struct locks *locks)
{
	struct out *out = &view->renderer.out;

	if (locks->nr_inline) {
		text_count(out, "# releases are inline in this kernel, and not seen; left out, with a "
				"caller that has returned: ", locks->nr_inline);
		out_char(out, '\n');
	}
	search_text_end(view);
}

/* --- Values ------------------------------------------------------------------- */

static void put_entry(struct search *view, const struct lock_entry *entry)
{
	struct btsrec_found value = {
		.state = state_str(entry->state),
		.lock = lock_family_str(entry->family),
		.certainty = sure_str(entry->why),
		.reason = why_str(entry->why),
		.has_unseen = has_cpu(entry->why),
		.unseen_cpu = entry->cpu,
		.has_address = entry->line->call->has_argument,
		.address_va = entry->line->call->argument,
		.has_wait = entry->wait,
		.wait_n = entry->wait ? entry->wait->n : 0,
		.wait_va = entry->wait ? entry->wait->to : 0,
		.caller_returned = entry->is_returned,
	};

	search_put(view, entry->line, &value);
}

static void put_onoff(struct search *view, enum btsrec_found_kind kind, unsigned int cpu)
{
	const struct call_list *list = &view->lists[cpu];
	const struct onoff *onoff = onoff_of(view, kind, cpu);
	bool is_off = onoff->is == ONOFF_OFF;
	struct listed_call call;
	struct search_line line = line_at(view, cpu, &call, is_off ? onoff->n : list->end_n - 1);
	struct btsrec_found value = { .state = onoff_str(onoff->is) };

	if (is_off) {
		value.how = by_str(onoff->by);
		value.was_on = onoff->was_on;
		value.ip_va = onoff->ip;
		value.from_va = onoff_from(view, cpu, onoff);
		value.preempt_count = onoff->count;
	}
	search_put_onoff(view, kind, &line, &value);
}

/* --- The view ----------------------------------------------------------------- */

static void show_onoff(struct search *view, enum btsrec_found_kind kind)
{
	bool is_text = search_is_text(view);

	for (unsigned int cpu = 0; cpu < view->nr_lists && !view->renderer.out.stopped; cpu++) {
		if (!view->lists[cpu].nr_stays)
			continue;
		if (!is_text)
			put_onoff(view, kind, cpu);
		else if (onoff_of(view, kind, cpu)->is == ONOFF_OFF)
			text_off(view, kind, cpu);
	}
}

static void show(struct search *view, const struct locks *locks)
{
	bool is_text = search_is_text(view);
	size_t nr_shown = search_nr_shown(view, locks->nr);

	if (is_text)
		text_begin(view, locks);
	else
		search_put_begin(view, locks->nr);
	for (size_t i = 0; i < nr_shown && !view->renderer.out.stopped; i++) {
		if (is_text)
			text_entry(view, &locks->entries[i]);
		else
			put_entry(view, &locks->entries[i]);
	}
	show_onoff(view, BTSREC_FOUND_INTERRUPTS);
	show_onoff(view, BTSREC_FOUND_PREEMPTION);
	if (is_text)
		text_end(view, locks);
}

enum btsrec_status search_locks(struct search *view)
{
	/* A downgrade is two items. */
	size_t nr = 2 * view->nr_lines;
	_cleanup_free_ struct pair_item *items = calloc(nr + 1, sizeof(*items));
	_cleanup_free_ struct lock_entry *entries = calloc(nr + 1, sizeof(*entries));
	_cleanup_free_ bool *has_late = calloc(view->nr_lists + 1, sizeof(*has_late));
	struct locks locks = { .view = view, .items = items, .entries = entries };

	if (!items || !entries || !has_late)
		return msg_set(&view->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	find_inline(&locks);
	for (size_t i = 0; i < view->nr_lines; i++)
		add_line(&locks, i);
	if (!pairing_judge(view, items, locks.nr_items))
		return msg_set(&view->renderer.rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	judge(&locks, has_late);
	show(view, &locks);
	return BTSREC_OK;
}
