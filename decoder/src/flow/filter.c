// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/filter.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/symbol.h"

/* --- Time --------------------------------------------------------------- */

struct filter_window filter_window(const struct filter *filter)
{
	struct filter_window window = { .end_n = UINT64_MAX };

	if (filter->from.kind == FILTER_N)
		window.first_n = filter->from.value;
	if (filter->to.kind == FILTER_N && filter->to.value < UINT64_MAX)
		window.end_n = filter->to.value + 1;
	return window;
}

void filter_window_feed(const struct filter *filter, const struct btsrec_event *event,
			struct filter_window *window)
{
	uint64_t tsc, begin_tsc;

	if (!clock_event(event, &tsc))
		return;
	begin_tsc = clock_event_begin(event, tsc);
	if (filter->from.kind == FILTER_TSC && begin_tsc < filter->from.value)
		window->first_n = tsc < filter->from.value ? event->n + 1 : event->n;
	if (filter->to.kind == FILTER_TSC && window->end_n == UINT64_MAX &&
	    tsc > filter->to.value)
		window->end_n = begin_tsc > filter->to.value ? event->n : event->n + 1;
}

/* --- Threads ------------------------------------------------------------ */

static bool has_id(const struct filter_ids *ids, uint32_t id)
{
	return !ids->nr || bsearch(&id, ids->id, ids->nr, sizeof(id), filter_compare_ids);
}

static bool has_comm(const struct filter *filter, const char *comm)
{
	char text[BTSREC_COMM_BYTES + 1] = { 0 };

	if (!filter->comm)
		return true;
	memcpy(text, comm, BTSREC_COMM_BYTES);
	return !fnmatch(filter->comm, text, 0);
}

static bool wants_thread(const struct filter *filter, uint32_t pid, uint32_t tgid,
			 const char *comm)
{
	return has_id(&filter->pids, pid) && has_id(&filter->tgids, tgid) &&
	       has_comm(filter, comm);
}

bool filter_thread(const struct filter *filter, const struct btsrec_side *side)
{
	if (side)
		return wants_thread(filter, side->pid, side->tgid, side->comm);
	return !filter->pids.nr && !filter->tgids.nr && !filter->comm;
}

static bool wants_sides(const struct filter *filter, const struct btsrec_event *event,
			const struct btsrec_side *side)
{
	switch (event->kind) {
	case BTSREC_EVENT_SWITCH:
	case BTSREC_EVENT_EXEC:
		return filter_thread(filter, &event->sw.prev) ||
		       filter_thread(filter, &event->sw.next);
	case BTSREC_EVENT_ARM:
		return filter_thread(filter, &event->resume.now);
	case BTSREC_EVENT_FREEZE:
		return wants_thread(filter, event->freeze.pid, event->freeze.tgid,
				    event->freeze.comm);
	default:
		return filter_thread(filter, side);
	}
}

/* --- Which branch ------------------------------------------------------- */

static bool in_ranges(const struct filter *filter, uint64_t va)
{
	for (size_t i = 0; i < filter->nr_ranges; i++)
		if (va >= filter->ranges[i].first && va <= filter->ranges[i].last)
			return true;
	return false;
}

bool filter_names(const char *patterns, const char *name)
{
	char pattern[FILTER_MAX_PATTERN_BYTES + 1];

	while (*patterns) {
		size_t nr_bytes = strcspn(patterns, ",");

		memcpy(pattern, patterns, nr_bytes);
		pattern[nr_bytes] = '\0';
		if (!fnmatch(pattern, name, 0))
			return true;
		patterns += nr_bytes + (patterns[nr_bytes] == ',');
	}
	return false;
}

static bool wants_name_as(const struct filter *filter, const struct btsrec_side *side, uint64_t va,
			  bool raw, const struct filter_lookup *lookup)
{
	char text[sizeof(((struct symbol_name *)0)->buf.name)];
	struct symbol_name name;

	/* An address may be known by its module or file alone, which is no function. */
	if (!lookup->name(lookup->arg, side, va, raw, &name) || !name.name_bytes ||
	    name.name_bytes >= sizeof(text))
		return false;
	memcpy(text, name.name, name.name_bytes);
	text[name.name_bytes] = '\0';
	return filter_names(filter->symbols, text);
}

/* By its function, or as the log of the kernel has it. */
static bool wants_name(const struct filter *filter, const struct btsrec_side *side, uint64_t va,
		       const struct filter_lookup *lookup)
{
	return wants_name_as(filter, side, va, false, lookup) ||
	       wants_name_as(filter, side, va, true, lookup);
}

static bool wants_module(const struct filter *filter, const struct btsrec_side *side, uint64_t va,
			 const struct filter_lookup *lookup)
{
	struct symbol_name name;

	return lookup->name(lookup->arg, side, va, false, &name) && name.module &&
	       filter_names(filter->modules, name.module);
}

static bool wants_branch(const struct filter *filter, const struct btsrec_event *event,
			 const struct btsrec_side *side, const struct filter_lookup *lookup)
{
	const struct btsrec_record *branch = &event->branch;

	if (event->kind != BTSREC_EVENT_BRANCH)
		return false;
	if (filter->nr_ranges && !in_ranges(filter, branch->from) &&
	    !in_ranges(filter, branch->to))
		return false;
	if (filter->types && !(filter->types >> lookup->type(lookup->arg, event).type & 1))
		return false;
	if (filter->modules && !wants_module(filter, side, branch->from, lookup) &&
	    !wants_module(filter, side, branch->to, lookup))
		return false;
	return !filter->symbols || wants_name(filter, side, branch->from, lookup) ||
	       wants_name(filter, side, branch->to, lookup);
}

bool filter_place(const struct filter *filter, const struct btsrec_side *side, uint64_t va,
		  const struct filter_lookup *lookup)
{
	return (!filter->nr_ranges || in_ranges(filter, va)) &&
	       (!filter->modules || wants_module(filter, side, va, lookup)) &&
	       (!filter->symbols || wants_name(filter, side, va, lookup));
}

bool filter_level(const struct filter *filter, uint64_t va)
{
	return filter->user == filter->kernel || code_is_kernel(va) == filter->kernel;
}

bool filter_wants(const struct filter *filter, const struct btsrec_event *event,
		  const struct btsrec_side *side, const struct filter_lookup *lookup)
{
	if (event->kind == BTSREC_EVENT_GAP)
		return true;
	if (!wants_sides(filter, event, side))
		return false;
	if (event->kind == BTSREC_EVENT_BRANCH && !filter_level(filter, event->branch.from))
		return false;
	return !filter->by_branch || wants_branch(filter, event, side, lookup);
}
