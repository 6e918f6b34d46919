// SPDX-License-Identifier: GPL-2.0-or-later
/* How many branches each function took, and how often it was entered. */
#include "view_functions.h"

#include <stdio.h>
#include <stdlib.h>

#include "cleanup.h"
#include "selector.h"
#include "trace_frames.h"
#include "view.h"

/* --- Groups ------------------------------------------------------------- */

#define HAS_THREAD 1

static void group_task(uint64_t *key, const struct btsrec_side *side)
{
	_Static_assert(sizeof(side->comm) == 2 * sizeof(*key), "a name is two words");

	memset(key, 0, COUNTS_KEY_WORDS * sizeof(*key));
	if (!side)
		return;
	key[0] = HAS_THREAD;
	key[1] = (uint64_t)side->pid << 32 | side->tgid;
	memcpy(&key[2], side->comm, strnlen(side->comm, sizeof(side->comm)));
}

struct functions_group functions_group(const struct profile_group *group)
{
	struct functions_group ret = {
		.cpu = (unsigned int)group->key[0],
		.has_thread = group->key[0] == HAS_THREAD,
		.pid = (uint32_t)(group->key[1] >> 32),
		.tgid = (uint32_t)group->key[1],
	};

	memcpy(ret.comm, &group->key[2], sizeof(ret.comm));
	return ret;
}

/* --- Names -------------------------------------------------------------- */

/* A name without offset, or where its module is all that is known, that. */
static char *name_text(const struct symbol_name *name)
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
		return name_text(&name);
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

	if (symbol_find_in(rec, side, va, &name, &why) && va > name.offset_bytes) {
		place.start = va - name.offset_bytes;
		place.cr3 = side && !code_is_kernel(va) ? side->cr3 : 0;
	} else {
		place.cr3 = !code_is_kernel(va);
		place.why = why;
	}
	return place;
}

/* --- Counting ----------------------------------------------------------- */

static void count(struct functions *view, const struct btsrec_side *side, uint64_t va,
		  uint64_t nr_branches, uint64_t nr_calls)
{
	struct profile_place place = place_of(view->renderer.rec, side, va);
	uint32_t group = profile_group(&view->profile, view->group);

	if (!group || !profile_add(&view->profile, group, &place, nr_branches, nr_calls))
		view->nomem = true;
}

/* One CPU. */
struct counting {
	struct functions *view;
	struct selector selector;
};

/* A branch is of the level that it leaves; what it enters may not be wanted. */
static void count_entered(struct counting *counting, const struct btsrec_side *side, uint64_t va)
{
	if (filter_level(&counting->selector.filter, va))
		count(counting->view, side, va, 0, 1);
}

static bool count_event(void *arg, const struct trace_event *traced,
			const struct frames_step *step, struct frames *frames)
{
	struct counting *counting = arg;
	struct functions *view = counting->view;
	const struct btsrec_event *event = traced->event;

	if (!selector_wants(&counting->selector, event))
		return true;
	if (view->opts->by == BTSREC_BY_TASK)
		group_task(view->group, traced->side);
	if (event->kind == BTSREC_EVENT_GAP)
		view->nr_gaps += event->gap.kind != BTSREC_GAP_OVERWRITTEN;
	if (event->kind == BTSREC_EVENT_BRANCH)
		count(view, traced->side, event->branch.from, 1, 0);
	for (unsigned int i = 0; i < step->nr_entered; i++)
		count_entered(counting, traced->side, frames_entered(frames, i)->entered);
	return !view->nomem;
}

static enum btsrec_status count_cpu(void *arg, unsigned int cpu)
{
	struct functions *view = arg;
	struct btsrec *rec = view->renderer.rec;
	struct counting counting = { .view = view };
	const struct trace_frames_fns fns = { .event = count_event, .arg = &counting };
	enum btsrec_status status = selector_init(&counting.selector, rec, cpu,
						  &view->opts->filter, 0);

	view->nr_cpus++;
	if (view->opts->by == BTSREC_BY_CPU)
		view->group[0] = cpu;
	if (!status)
		status = trace_frames(rec, cpu, &fns);
	selector_fini(&counting.selector);
	return view->nomem ? msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory") : status;
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
	enum btsrec_status status = view_check(rec, opts->cpus, opts->nr_cpus);

	if (status)
		return status;
	if (!functions_format_of(opts->format))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "there is no such format");
	return selector_check(rec, &opts->filter);
}

enum btsrec_status btsrec_functions(struct btsrec *rec, const struct btsrec_functions *opts,
				    const struct btsrec_sink *sink)
{
	enum btsrec_status status = functions_check(rec, opts);
	_cleanup_free_ struct functions *view = NULL;

	if (status)
		return status;
	view = calloc(1, sizeof(*view));
	if (!view)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	view->renderer.rec = rec;
	view->opts = opts;
	view->format = functions_format_of(opts->format);
	out_init(&view->renderer.out, sink);
	status = view_cpus(rec, opts->cpus, opts->nr_cpus, count_cpu, view);
	if (!status && !profile_end(&view->profile, place_name, view))
		status = msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (!status) {
		show_rows(view);
		status = out_flush(&view->renderer.out);
	}
	profile_fini(&view->profile);
	return session_end(rec, status);
}
