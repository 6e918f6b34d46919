// SPDX-License-Identifier: GPL-2.0-or-later
/* The tree as values. */
#include "views/values.h"
#include "views/view_calls.h"

static enum btsrec_call_kind kind_of(enum calltree_kind kind)
{
	switch (kind) {
	case CALLTREE_CALL:	return BTSREC_CALL_ENTER;
	case CALLTREE_RETURN:	return BTSREC_CALL_RETURN;
	case CALLTREE_ASTRAY:	return BTSREC_CALL_ASTRAY;
	case CALLTREE_RESUME:	return BTSREC_CALL_RESUME;
	case CALLTREE_THREAD:	return BTSREC_CALL_THREAD;
	case CALLTREE_INTERVAL:	return BTSREC_CALL_INTERVAL;
	case CALLTREE_LOST:	return BTSREC_CALL_LOST;
	case CALLTREE_CYCLE:	return BTSREC_CALL_CYCLE;
	case CALLTREE_BREAK:	return BTSREC_CALL_BREAK;
	case CALLTREE_FAULT:	return BTSREC_CALL_FAULT;
	case CALLTREE_EVENT:	return BTSREC_CALL_EVENT;
	}
	return BTSREC_CALL_EVENT;
}

static void begin(struct calls *view, const struct calltree_line *line, struct btsrec_call *ret)
{
	*ret = (struct btsrec_call){
		.size = sizeof(*ret),
		.kind = kind_of(line->kind),
		.vector = -1,
	};
	ret->n = calls_place(view, line->n, &ret->cpu);
}

static void put(struct calls *view, const struct btsrec_call *call)
{
	if (!view->fn(view->arg, call))
		view->renderer.out.stopped = true;
}

/** struct names - what the names of a value borrow from */
struct names {
	struct symbol_name from;
	struct symbol_name to;
};

static void put_ends(struct calls *view, const struct calltree_line *line, struct names *names,
		     struct btsrec_call *ret)
{
	ret->from_va = line->from;
	ret->to_va = line->to;
	values_name(&view->renderer, line->from, &names->from, &ret->from);
	values_name(&view->renderer, line->to, &names->to, &ret->to);
}

static void put_last(struct calls *view, const struct calltree_line *line,
		     struct btsrec_call *ret)
{
	ret->ended = line->last_n != UINT64_MAX;
	if (ret->ended)
		ret->last_n = calls_place(view, line->last_n, &ret->last_cpu);
}

static void put_args(struct calls *view, const struct calltree_line *line,
		     struct btsrec_call *ret)
{
	struct args_given given = args_values(view->args, args_find(view->args, line->frame,
								    line->n, line->to));

	ret->args = given.list;
	ret->nr_args = given.nr;
	ret->more_args = given.more;
	ret->no_args = given.why;
}

static void put_call(struct calls *view, const struct calltree_line *line, uint32_t indent)
{
	struct btsrec_call value;
	struct names names;

	begin(view, line, &value);
	put_ends(view, line, &names, &value);
	put_last(view, line, &value);
	value.level = indent;
	value.how = frame_kind_str(line->frame);
	value.vector = line->vector;
	value.nr_branches = line->call.nr_branches;
	value.complete = value.ended && !line->more;
	value.has_ns = view->tsc_khz &&
		       calls_duration(view, line, &value.min_ns, &value.max_ns);
	put_args(view, line, &value);
	put(view, &value);
}

/* A break has no depth and no names, and a thread begins at one address. */
static void put_line(struct calls *view, const struct calltree_line *line, uint32_t indent)
{
	struct btsrec_call value;
	struct names names;

	begin(view, line, &value);
	if (line->kind == CALLTREE_BREAK) {
		value.from_va = line->from;
		value.to_va = line->to;
		put(view, &value);
		return;
	}
	value.level = indent;
	if (line->kind == CALLTREE_THREAD) {
		value.from_va = line->from;
		values_name(&view->renderer, line->from, &names.from, &value.from);
		value.has_task = values_task(calltree_side(&view->tree, line), &value.task);
	} else {
		put_ends(view, line, &names, &value);
	}
	if (line->kind == CALLTREE_CYCLE) {
		put_last(view, line, &value);
		value.nr_branches = line->cycle.period;
		value.nr_rounds = line->cycle.nr_rounds;
	}
	put(view, &value);
}

static void put_other(struct calls *view, const struct calltree_line *line, uint64_t n)
{
	struct btsrec_event event;
	struct btsrec_call value;

	begin(view, line, &value);
	if (line->kind == CALLTREE_EVENT) {
		event = view->tree.events[line->event];
		event.n = n;
		value.event = &event;
	}
	put(view, &value);
}

const struct calls_format calls_values = {
	.call = put_call,
	.line = put_line,
	.other = put_other,
};
