// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/trace_frames.h"

#include <string.h>

#include "flow/frames_fast.h"
#include "symbols/symbol.h"

/* --- Functions ---------------------------------------------------------- */

static bool name_is(const struct symbol_name *name, const char *text)
{
	return name->name_bytes == strlen(text) && !memcmp(name->name, text, name->name_bytes);
}

/*
 * What the kernel puts in place of a return address: the function graph tracer's
 * return_to_handler; rethooks since v5.18 and kretprobes before.
 */
static bool is_hook(const struct symbol_name *name)
{
	return name_is(name, "return_to_handler") || name_is(name, "arch_rethook_trampoline") ||
	       name_is(name, "__kretprobe_trampoline") || name_is(name, "kretprobe_trampoline");
}

/* The first return of a new thread leads here; _asm since v6.5. */
static bool is_fork(const struct symbol_name *name)
{
	return name_is(name, "ret_from_fork_asm") || name_is(name, "ret_from_fork");
}

/* arch/x86/entry/entry_64.S: all its branches follow the change of RSP. */
static bool is_switch(const struct symbol_name *name)
{
	return name_is(name, "__switch_to_asm");
}

bool trace_is_switch(struct btsrec *rec, uint64_t va)
{
	struct symbol_name name;

	return symbol_find_as(rec, va, false, &name) && is_switch(&name);
}

/* Parts of one function that lie apart, of which it is not known to which of several. */
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

static enum frames_place place_of_start(const struct symbol_name *from,
					const struct symbol_name *to)
{
	if (is_hook(to))
		return FRAMES_HOOK;
	if (is_fork(to))
		return FRAMES_FORK;
	return is_switch(from) ? FRAMES_SWITCH : FRAMES_START;
}

static enum frames_place place(void *arg, uint64_t from_va, uint64_t to_va)
{
	struct symbol_name from, to;

	if (!symbol_find_as(arg, from_va, false, &from) ||
	    !symbol_find_as(arg, to_va, false, &to) ||
	    !from.name_bytes || !to.name_bytes)
		return FRAMES_UNKNOWN;
	if (from_va - from.offset_bytes == to_va - to.offset_bytes && is_switch(&from))
		return FRAMES_SWITCHED;
	if (from_va - from.offset_bytes == to_va - to.offset_bytes)
		return symbol_is_front(to.offset_bytes) ? FRAMES_SAME_START : FRAMES_SAME;
	if (same_name(&from, &to) && are_parts(arg, from_va, to_va))
		return FRAMES_SAME;
	return symbol_is_front(to.offset_bytes) ? place_of_start(&from, &to) : FRAMES_INSIDE;
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
