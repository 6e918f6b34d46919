// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/trace_frames.h"

#include <string.h>

#include "flow/frames_fast.h"
#include "symbols/kernel_code.h"

/* --- Functions ---------------------------------------------------------- */

bool trace_is_switch(struct btsrec *rec, uint64_t va)
{
	struct symbol_name name;

	return symbol_find_as(rec, va, false, &name) &&
	       kernel_code_by_name(&name) == KERNEL_CODE_SWITCH;
}

/* Parts of one function that lie apart; of several functions it is not known which one. */
static bool are_parts(struct btsrec *rec, uint64_t from_va, uint64_t to_va)
{
	struct symbol_name from, to;

	return symbol_find_as(rec, from_va, true, &from) && symbol_find_as(rec, to_va, true, &to) &&
	       (symbol_is_split(from.name, from.name_bytes) ||
		symbol_is_split(to.name, to.name_bytes));
}

static bool same_name(const struct symbol_name *from, const struct symbol_name *to)
{
	return from->name_bytes == to->name_bytes &&
	       !memcmp(from->name, to->name, from->name_bytes);
}

static enum frames_place place_of_start(enum kernel_code from, enum kernel_code to)
{
	if (to == KERNEL_CODE_HOOK)
		return FRAMES_HOOK;
	if (to == KERNEL_CODE_FORK)
		return FRAMES_FORK;
	if (from == KERNEL_CODE_TRAMPOLINE)
		return to == KERNEL_CODE_DIRECT ? FRAMES_DIRECT : FRAMES_REDIRECT;
	return from == KERNEL_CODE_SWITCH ? FRAMES_SWITCH : FRAMES_START;
}

/* From code that has no name. */
static enum frames_place place_from_made(uint64_t from_va, const struct symbol_name *to)
{
	if (kernel_code_unnamed(from_va) != KERNEL_CODE_TRAMPOLINE || to->offset_bytes ||
	    kernel_code_by_name(to) != KERNEL_CODE_PLAIN)
		return FRAMES_UNKNOWN;
	return FRAMES_MADE;
}

static enum frames_place place_of_names(struct btsrec *rec, uint64_t from_va,
					const struct symbol_name *from, uint64_t to_va,
					const struct symbol_name *to)
{
	bool at_start = symbol_is_front(to->offset_bytes);
	enum kernel_code code = kernel_code_by_name(from);

	if (from_va - from->offset_bytes == to_va - to->offset_bytes) {
		if (code == KERNEL_CODE_SWITCH)
			return FRAMES_SWITCHED;
		return at_start ? FRAMES_SAME_START : FRAMES_SAME;
	}
	if (same_name(from, to) && are_parts(rec, from_va, to_va))
		return FRAMES_SAME;
	return at_start ? place_of_start(code, kernel_code_by_name(to)) : FRAMES_INSIDE;
}

static enum frames_place place(void *arg, uint64_t from_va, uint64_t to_va)
{
	struct symbol_name from, to;

	if (!symbol_find_as(arg, to_va, false, &to) || !to.name_bytes)
		return FRAMES_UNKNOWN;
	if (!symbol_find_as(arg, from_va, false, &from))
		return place_from_made(from_va, &to);
	return from.name_bytes ? place_of_names(arg, from_va, &from, to_va, &to) : FRAMES_UNKNOWN;
}

/* --- Events ------------------------------------------------------------- */

/* What the next event does, if it is a plain branch; else NULL. */
static const struct frames_step *next_plain(struct trace *trace, struct frames *frames,
					    struct trace_event *ret)
{
	struct trace_way way = trace_way_begin(trace);
	const struct code_brief *run = NULL;
	const struct frames_step *step;

	if (proof_is_plain(&trace->proof))
		run = trace_way_run(trace, &way);
	if (!run)
		return NULL;
	step = frames_feed_plain(frames, way.n, way.branch, run);
	if (step)
		trace_next_plain(trace, &way, run, ret);
	return step;
}

/* The next event and what it does; NULL: there is none. */
static const struct frames_step *next_step(struct trace *trace, struct frames *frames,
					   struct trace_event *ret)
{
	const struct frames_step *step = next_plain(trace, frames, ret);

	if (step)
		return step;
	if (!trace_next(trace, ret))
		return NULL;
	return frames_feed(frames, ret->event, ret->side, ret->step);
}

uint64_t trace_frames_pass(struct trace *trace, struct frames *frames, uint64_t end_n,
			   uint64_t cookie)
{
	struct trace_way way = trace_way_begin(trace);
	const uint64_t first_n = way.n;
	const struct code_brief *run;

	while (way.n < end_n && (run = trace_way_run(trace, &way)) != NULL) {
		enum frames_move move;
		struct frame *frame;

		move = frames_fast(frames, way.n, way.branch, run, &frame);
		if (move == FRAMES_NOT_PLAIN)
			break;
		if (move == FRAMES_ENTERS && frame)
			frame->cookie = cookie;
		trace_way_pass(trace, &way, run);
	}
	trace_way_end(trace, &way);
	return way.n - first_n;
}

static enum btsrec_status feed_all(struct trace *trace, struct frames *frames,
				   const struct trace_frames_fns *fns)
{
	const struct frames_step *step;
	struct trace_event event;

	while (!trace->status) {
		if (fns->plain && proof_is_plain(&trace->proof) && frames_are_plain(frames) &&
		    !fns->plain(fns->arg, trace, frames))
			return trace_stopped(trace);
		step = next_step(trace, frames, &event);
		if (!step)
			break;
		if (!fns->event(fns->arg, &event, step, frames))
			return trace_stopped(trace);
	}
	return trace->status;
}

struct frames *trace_frames_new(struct btsrec *rec)
{
	struct frames_source source = { .arg = rec };
	struct code *code = trace_code(rec);

	if (symbols_present(rec))
		source.place = place;
	source.idt_known = code && code_idt(code)->known;
	return code ? frames_new(&source) : NULL;
}

enum btsrec_status trace_frames(struct btsrec *rec, unsigned int cpu,
				const struct trace_frames_fns *fns)
{
	enum btsrec_status status = BTSREC_ERR_NOMEM;
	struct frames *frames;
	struct trace trace;

	if (!btsrec_root(rec))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no recorder located yet");
	frames = trace_frames_new(rec);
	if (frames) {
		status = trace_open(&trace, rec, cpu, 0, true);
		if (!status)
			status = feed_all(&trace, frames, fns);
		if (!status && fns->end)
			fns->end(fns->arg, frames);
		trace_close(&trace);
	}
	if (!frames || frames_nomem(frames))
		status = msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	frames_free(frames);
	return status;
}
