// SPDX-License-Identifier: GPL-2.0-or-later
/* The call stack after chosen events, and how it compares with the dump's memory. */
#include "base/options.h"
#include "views/values.h"
#include "views/view_stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "views/cpu_tasks.h"
#include "render/render_branch.h"
#include "render/render_lines.h"
#include "symbols/symbol.h"
#include "recorder/cpus.h"

/* --- Words -------------------------------------------------------------- */

void stack_line_how(const struct stack_line *line, char *ret)
{
	if (line->frame)
		frame_text(ret, line->frame->kind, line->frame->vector);
	else
		snprintf(ret, BRANCH_TEXT_BYTES, "%s", line->by_thunk ? "thunk" : "-");
}

bool stack_line_find(struct renderer *r, const struct stack_line *line, struct symbol_name *ret,
		     enum symbol_why *ret_why)
{
	return line->is_return ? render_find_return(r, line->ip, ret, ret_why) :
				 render_find(r, line->ip, ret, ret_why);
}

uint64_t stack_source_va(const struct stack_line *line)
{
	return line->is_return ? line->ip - 1 : line->ip;
}

const struct args_shown *stack_args(const struct stack_printed *printed,
				    const struct stack_line *line)
{
	static const struct args_shown older = { .why = "entered before the history begins" };
	const struct frame *frame = line->frame;

	if (!printed->args || line->by_thunk || !code_is_kernel(line->ip))
		return NULL;
	return frame ? args_find(printed->args, frame->kind, frame->n, frame->entered) : &older;
}

const char *stack_unreliable_str(enum unreliable_why why)
{
	static const char *const names[] = {
		[UNRELIABLE_NOT] = "none",
		[UNRELIABLE_GAP] = "gap",
		[UNRELIABLE_ELSEWHERE] = "elsewhere",
		[UNRELIABLE_UNKNOWN] = "unknown",
		[UNRELIABLE_UNFIT] = "unfit",
		[UNRELIABLE_ORDER] = "order",
		[UNRELIABLE_UNSEEN] = "unseen",
	};

	return why < sizeof(names) / sizeof(names[0]) ? names[why] : "unknown";
}

/* --- Lines -------------------------------------------------------------- */

static bool begins_thread(struct btsrec *rec, const struct frame *frame)
{
	return frame->kind == FRAME_TAIL && !frame->return_va && trace_is_fork(rec, frame->entered);
}

/* @line is in @frame; the next one is what @frame interrupted, called from or replaced. */
static struct stack_line *next_line(struct stack_line *line, const struct frame *frame)
{
	struct stack_line *next = line + 1;

	line->frame = frame;
	/* An interrupt or a fault goes on at the instruction itself. */
	*next = (struct stack_line){ .ip = frame->return_va,
				     .is_return = frame->return_va > frame->from };
	if (frame->kind == FRAME_TAIL) {
		next->ip = frame->from;
		next->is_return = false;
		next->gone = true;
	}
	return next;
}

/* May what is older than @inner be otherwise?  @outer: what seems to be next. */
static bool is_unreliable(struct stacks_view *view, const struct stack *stack,
			  const struct frame *outer, const struct frame *inner,
			  struct stack_printed *printed)
{
	struct unreliable unreliable = frame_confidence_of(&view->frame_confidence, stack);

	if (printed->unreliable.why != UNRELIABLE_NOT)
		return true;
	if (outer && outer->n < unreliable.n) {
		printed->unreliable = unreliable;
		return true;
	}
	return frame_confidence_unseen(&view->frame_confidence, stack, outer, inner,
				       &printed->unreliable);
}

/* The thunk that runs is going to lead to a function. */
static struct stack_line *thunk_line(const struct stacks_view *view, struct stack_line *line,
				     const struct frame_thunk *thunk)
{
	line->by_thunk = true;
	line->unreliable = line > view->lines && line[-1].unreliable;
	line[1] = (struct stack_line){ .ip = thunk->return_va, .is_return = thunk->return_va };
	return line + 1;
}

static void make_lines(struct stacks_view *view, const struct frames *frames,
		       struct stack_printed *printed)
{
	const struct stack *stack = frames_stack(frames);
	const struct frame_thunk *thunk = frames_thunk(frames);
	struct stack_line *line = view->lines;
	const struct frame *inner = NULL;

	*line = (struct stack_line){ .ip = view->ip };
	if (thunk)
		line = thunk_line(view, line, thunk);
	for (size_t i = stack->nr; i; i--) {
		const struct frame *frame = &stack->frames[i - 1];

		line->unreliable = is_unreliable(view, stack, frame, inner, printed);
		line = next_line(line, frame);
		if (frames_is_thunk_call(&frame->thunk))
			line = thunk_line(view, line, &frame->thunk);
		inner = frame;
	}
	printed->complete = inner && begins_thread(view->renderer.rec, inner);
	printed->lines = view->lines;
	printed->nr_lines = (size_t)(line - view->lines);
	if (printed->complete || !line->ip)
		return;
	line->unreliable = is_unreliable(view, stack, NULL, inner, printed);
	printed->nr_lines++;
}

/* --- Comparison --------------------------------------------------------- */

static void compare_lines(struct stack_printed *printed, struct stackmem *mem)
{
	for (size_t i = printed->ip_line + 1; i < printed->nr_lines; i++) {
		const struct frame *frame = printed->lines[i - 1].frame;
		struct stack_line *line = &printed->lines[i];
		enum stackmem_found found;

		if (printed->lines[i - 1].unreliable || !frame || frame->kind == FRAME_DIVERT)
			return;
		if (line->gone)
			continue;
		found = stackmem_find(mem, frame);
		printed->memory_ends = found == STACKMEM_NOT_IN_DUMP;
		if (printed->memory_ends)
			return;
		line->memory = found == STACKMEM_FOUND ? STACK_FOUND : STACK_MISSING;
		printed->nr_found += found == STACKMEM_FOUND;
		printed->nr_missing += found == STACKMEM_MISSING;
	}
}

static void compare_freeze(struct stacks_view *view, const struct btsrec_freeze *freeze,
			   struct stack_printed *printed)
{
	struct stackmem mem = {
		.code = trace_code(view->renderer.rec),
		.cr3 = printed->side ? printed->side->cr3 : 0,
		.sp = freeze->sp,
	};

	printed->freeze = freeze;
	while (printed->ip_line < printed->nr_lines &&
	       (printed->lines[printed->ip_line].gone ||
		printed->lines[printed->ip_line].ip != freeze->ip))
		printed->ip_line++;
	if (mem.code)
		compare_lines(printed, &mem);
}

/* --- Events ------------------------------------------------------------- */

/*
 * Between the annotation of a switch and the switch itself another thread runs.  If the history
 * begins there, that thread is not known.
 */
static const struct btsrec_side *side_of(const struct stacks_view *view,
					 const struct trace_event *event,
					 const struct stack *stack)
{
	if (residency_stranger(&view->residencies, event->event->cpu, event->event->n))
		return NULL;
	if (!stack->known || (event->side && event->side->pid == stack->pid))
		return event->side;
	if (view->has_switch && view->sw.prev.pid == stack->pid)
		return &view->sw.prev;
	return NULL;
}

static void note_astray(struct stacks_view *view, const struct trace_event *event,
			const struct frames_step *step, const struct frames *frames)
{
	const struct btsrec_record *branch = &event->event->branch;

	if (!step->mismatch || event->event->kind != BTSREC_EVENT_BRANCH)
		return;
	view->astray = (struct stack_astray){
		.any = true,
		.pid = frames_stack(frames)->pid,
		.n = event->event->n,
		.from = branch->from,
		.to = branch->to,
	};
	if (!step->nr_left)
		return;
	view->astray.expected = frames_left(frames, 0)->return_va;
	view->astray.call_n = frames_left(frames, 0)->n;
}

void stacks_follow(struct stacks_view *view, const struct trace_event *traced,
		   const struct frames_step *step, struct frames *frames)
{
	const struct btsrec_event *event = traced->event;

	frame_confidence_feed(&view->frame_confidence, traced, step, frames);
	note_astray(view, traced, step, frames);
	if (event->kind == BTSREC_EVENT_BRANCH)
		view->ip = event->branch.to;
	else if (event->kind == BTSREC_EVENT_FREEZE && event->freeze.stop_ip)
		view->ip = event->freeze.stop_ip;
	else if (event->kind == BTSREC_EVENT_SWITCH && !event->mm_only)
		view->sw = event->sw;
	view->has_switch |= event->kind == BTSREC_EVENT_SWITCH && !event->mm_only;
}

static bool is_wanted(struct stacks_view *view, const struct btsrec_event *event)
{
	const struct btsrec_stack *opts = view->opts;

	if (!opts->at)
		return event->n == view->last_n[event->cpu];
	while (view->at < opts->nr_at && opts->at[view->at].last < event->n)
		view->at++;
	return view->at < opts->nr_at && opts->at[view->at].first <= event->n;
}

/* Of what is_wanted() was not asked about, no event of @cpu before this one is wanted. */
static uint64_t next_wanted(const struct stacks_view *view, unsigned int cpu)
{
	const struct btsrec_stack *opts = view->opts;

	if (!opts->at)
		return view->last_n[cpu];
	return view->at < opts->nr_at ? opts->at[view->at].first : UINT64_MAX;
}

void stacks_print(struct stacks_view *view, const struct frames *frames,
		  const struct btsrec_event *event, struct stack_printed *printed)
{
	struct renderer *r = &view->renderer;

	if (view->astray.any && view->astray.pid == frames_stack(frames)->pid)
		printed->astray = &view->astray;
	printed->args = view->args;
	make_lines(view, frames, printed);
	if (event->kind == BTSREC_EVENT_FREEZE)
		compare_freeze(view, &event->freeze, printed);
	if (view->fn)
		stack_values(r, printed, view->fn, view->arg);
	else if (view->opts->format == BTSREC_FORMAT_JSONL)
		stack_json(r, printed);
	else
		stack_text(r, printed);
}

static bool stack_event(void *arg, const struct trace_event *event,
			const struct frames_step *step, struct frames *frames)
{
	struct stacks_view *view = arg;
	struct renderer *r = &view->renderer;
	const struct stack *stack = frames_stack(frames);
	struct stack_printed printed = {.cpu = event->event->cpu, .n = event->event->n};

	stacks_follow(view, event, step, frames);
	if (!is_wanted(view, event->event))
		return !view->frame_confidence.nomem;
	printed.side = side_of(view, event, stack);
	stacks_print(view, frames, event->event, &printed);
	return !r->out.stopped && !view->frame_confidence.nomem;
}

/* Plain branches that are not wanted leave nothing but where they lead. */
static bool stack_plain(void *arg, struct trace *trace, struct frames *frames)
{
	struct stacks_view *view = arg;
	uint64_t cookie = frame_confidence_cookie(&view->frame_confidence, frames_stack(frames));

	if (trace_frames_pass(trace, frames, next_wanted(view, trace->history.cpu->cpu), cookie)) {
		frame_confidence_feed_fast(&view->frame_confidence);
		view->ip = trace->proof.prev_to;
	}
	return !view->frame_confidence.nomem;
}

static enum btsrec_status open_args(struct stacks_view *view, unsigned int cpu,
				    struct fault *fault)
{
	struct btsrec *rec = view->renderer.rec;
	enum btsrec_status status = BTSREC_OK;

	if (view->args)
		status = trace_fault(rec, cpu, fault);
	return view->args && !status ? args_open(view->args, rec, cpu, fault) : status;
}

static enum btsrec_status stack_cpu(void *arg, unsigned int cpu)
{
	struct stacks_view *view = arg;
	struct btsrec *rec = view->renderer.rec;
	const struct trace_frames_fns fns = { .event = stack_event, .plain = stack_plain,
					      .arg = view };
	enum btsrec_status status;
	struct fault fault;

	view->at = 0;
	view->ip = 0;
	view->has_switch = false;
	view->astray.any = false;
	frame_confidence_init(&view->frame_confidence, &view->residencies);
	status = open_args(view, cpu, &fault);
	if (!status)
		status = trace_frames(rec, cpu, &fns);
	if (view->frame_confidence.nomem)
		status = msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	frame_confidence_fini(&view->frame_confidence);
	if (view->args)
		args_close(view->args);
	return status;
}

/* --- All CPUs ----------------------------------------------------------- */

static bool sight(void *arg, const struct btsrec_event *event)
{
	struct stacks_view *view = arg;

	view->nomem = !residency_feed(&view->residencies, event);
	if (event->kind == BTSREC_EVENT_BRANCH &&
	    trace_is_switch(view->renderer.rec, event->branch.from))
		view->nomem |= !residency_switched(&view->residencies, event->cpu, event->n);
	return !view->nomem;
}

/* Where no event names the thread yet, a branch may show that another one ran. */
static bool next_sight(const struct stacks_view *view, struct history *history,
		       unsigned int cpu, struct btsrec_event *ret)
{
	if (residency_is_known(&view->residencies, cpu))
		return history_next_other(history, ret);
	return history_next(history, ret);
}

static enum btsrec_status sight_strangers(struct stacks_view *view, unsigned int cpu)
{
	struct btsrec *rec = view->renderer.rec;
	struct btsrec_event event;
	struct history history;
	bool wanted = true;

	history_init(&history, rec, cpu, 0);
	while (wanted && next_sight(view, &history, cpu, &event))
		wanted = sight(view, &event);
	return history_end(&history, rec, cpu, wanted);
}

static enum btsrec_status sight_others(struct stacks_view *view, unsigned int cpu)
{
	struct history_passed passed;
	enum btsrec_status status;

	status = trace_others(view->renderer.rec, cpu, sight, view, &passed);
	if (passed.nr_events) {
		view->last_n[cpu] = passed.nr_events - 1;
		residency_ran(&view->residencies, cpu);
	}
	return status;
}

static enum btsrec_status sight_cpu(void *arg, unsigned int cpu)
{
	struct stacks_view *view = arg;
	struct btsrec *rec = view->renderer.rec;
	enum btsrec_status status;

	/* Only a view with @at can get an event so close to a beginning. */
	if (view->opts->at)
		status = sight_strangers(view, cpu);
	else
		status = sight_others(view, cpu);
	return view->nomem ? msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory") : status;
}

/* Threads may have been on any CPU, whichever are to be shown. */
static enum btsrec_status sight_all(struct stacks_view *view)
{
	struct btsrec *rec = view->renderer.rec;
	enum btsrec_status status;

	view->last_n = calloc(btsrec_nr_cpu_ids(rec) + 1, sizeof(*view->last_n));
	if (!view->last_n || !residency_init(&view->residencies, btsrec_nr_cpu_ids(rec)))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	status = cpus_for_each(rec, NULL, 0, sight_cpu, view);
	for (size_t i = 0; i < rec->diags.nr; i++) {
		const struct diag *diag = &rec->diags.list[i];

		if (diag->status && diag->cpu != DIAG_NO_CPU && !btsrec_cpu(rec, diag->cpu))
			residency_blind(&view->residencies, diag->cpu);
	}
	residency_end(&view->residencies);
	return status;
}

static enum btsrec_status most_events(void *arg, unsigned int cpu)
{
	struct stacks_view *view = arg;
	enum btsrec_status status;
	uint64_t nr_events;

	status = session_nr_events(view->renderer.rec, cpu, &nr_events);
	if (!status && nr_events > view->nr_events)
		view->nr_events = nr_events;
	return status;
}

/* An event that no CPU has is a mistake, not an empty answer. */
static enum btsrec_status check_events(struct stacks_view *view)
{
	const struct btsrec_stack *opts = view->opts;
	struct btsrec *rec = view->renderer.rec;
	enum btsrec_status status;

	if (!opts->at || !opts->nr_at)
		return BTSREC_OK;
	status = cpus_for_each(rec, opts->cpus, opts->nr_cpus, most_events, view);
	if (status || opts->at[opts->nr_at - 1].first < view->nr_events)
		return status;
	return msg_set(&rec->msg, BTSREC_ERR_INVAL, "there is no event %llu: there are %llu, from 0 on",
		       (unsigned long long)opts->at[opts->nr_at - 1].first,
		       (unsigned long long)view->nr_events);
}

static enum btsrec_status stack_check(struct btsrec *rec, const struct btsrec_stack *opts)
{
	uint32_t pid;

	if (!btsrec_root(rec))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no recorder located yet");
	if (opts->format != BTSREC_FORMAT_TEXT && opts->format != BTSREC_FORMAT_JSONL)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "call stacks are shown as text or JSON lines");
	for (size_t i = 0; opts->at && i < opts->nr_at; i++)
		if (opts->at[i].last < opts->at[i].first ||
		    (i && opts->at[i].first <= opts->at[i - 1].last))
			return msg_set(&rec->msg, BTSREC_ERR_INVAL,
				       "the events for call stacks do not ascend");
	if (opts->args && opts->thread)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "arguments are shown of CPUs, not of a thread");
	if (opts->thread && opts->at)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "the stack of a thread is the one at its end: leave out the events");
	if (opts->thread && opts->cpus)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "the stack of a thread is from all "
			       "CPUs: leave out the choice of CPUs");
	if (opts->thread)
		return thread_check(rec, opts->thread, NULL, &pid);
	return cpus_check(rec, opts->cpus, opts->nr_cpus);
}

/* One thread's; @arg: what is known of all CPUs. */
static bool stacks_open(void *arg, void *data, struct btsrec *rec)
{
	const struct stacks_view *all = arg;
	struct stacks_view *view = data;

	view->renderer.rec = rec;
	view->renderer.lines = all->opts->lines;
	view->opts = all->opts;
	view->fn = all->fn;
	view->arg = all->arg;
	view->residencies = all->residencies;
	view->last_n = all->last_n;
	if (all->opts->args)
		view->args = calloc(1, sizeof(*view->args));
	return !all->opts->args || view->args;
}

static enum btsrec_status stacks_close(void *arg, void *data)
{
	struct stacks_view *view = data;

	(void)arg;
	if (!view->fn && view->opts->format == BTSREC_FORMAT_JSONL)
		json_lines_missing(&view->renderer);
	else if (!view->fn)
		text_lines_missing(&view->renderer);
	if (view->args)
		args_fini(view->args);
	free(view->args);
	return BTSREC_OK;
}

static const struct cpu_tasks stacks_work = {
	.view_bytes = sizeof(struct stacks_view),
	.out_at = offsetof(struct stacks_view, renderer.out),
	.open = stacks_open,
	.cpu = stack_cpu,
	.close = stacks_close,
};

static enum btsrec_status stacks_of_cpus(struct stacks_view *all, const struct btsrec_sink *sink)
{
	enum btsrec_status status = sight_all(all);

	if (!status)
		status = check_events(all);
	if (!status)
		status = cpu_tasks_print(all->renderer.rec, all->opts->cpus, all->opts->nr_cpus,
					 all->opts->lines || all->fn, &stacks_work, all, sink);
	residency_fini(&all->residencies);
	free(all->last_n);
	return status;
}

/* As text to @sink, or, if there is @fn, as values to it. */
static enum btsrec_status put_stacks(struct btsrec *rec, const struct btsrec_stack *opts,
				     const struct btsrec_sink *sink, btsrec_frame_fn fn, void *arg)
{
	enum btsrec_status status = stack_check(rec, opts);
	struct stacks_view *all;

	if (status)
		return status;
	all = calloc(1, sizeof(*all));
	if (!all)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	all->renderer.rec = rec;
	all->opts = opts;
	all->fn = fn;
	all->arg = arg;
	status = opts->thread ? cpu_tasks_one(rec, &stacks_work, stacks_thread, all, sink) :
				stacks_of_cpus(all, sink);
	free(all);
	return cpus_end(rec, opts->cpus, status);
}

enum btsrec_status btsrec_stack(struct btsrec *rec, const struct btsrec_stack *given,
				const struct btsrec_sink *sink)
{
	struct btsrec_stack opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	return status ? status : put_stacks(rec, &opts, sink, NULL, NULL);
}

enum btsrec_status btsrec_stack_each(struct btsrec *rec, const struct btsrec_stack *given,
				     btsrec_frame_fn fn, void *arg)
{
	struct btsrec_stack opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = values_check(&rec->msg, opts.format);
	return status ? status : put_stacks(rec, &opts, &values_sink, fn, arg);
}
