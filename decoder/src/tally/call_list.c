// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/call_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "recorder/record.h"

/**
 * struct list_reader - one call_list_read() under way
 * @covered: the innermost call is listed as wanted, before the event at hand; @level, @segment: of
 *	what ran then.
 * @late: the newest call that was listed without its beginning, by @late_level and @late_segment.
 * @lost_n: before this event something is missing.
 * @over_nmi: the newest event was a pause that is no gap.
 */
struct list_reader {
	struct call_list *list;
	const struct call_list_fns *fns;
	bool covered;
	int64_t level;
	uint32_t segment;
	size_t late;
	int64_t late_level;
	uint32_t late_segment;
	uint64_t lost_n;
	bool over_nmi;
};

/* --- Lists -------------------------------------------------------------- */

static bool goes_on(const struct call_list *list)
{
	return !list->nomem && list->complete;
}

/* One more call, whose number is returned; CALL_LIST_NONE: no room. */
static size_t add_call(struct call_list *list, const struct listed_call *call)
{
	if (list->nr == CALL_LIST_MAX)
		list->complete = false;
	else if (!grow(&list->calls, sizeof(*call), list->nr, &list->nr_room))
		list->nomem = true;
	if (!goes_on(list))
		return CALL_LIST_NONE;
	list->calls[list->nr] = *call;
	return list->nr++;
}

static bool add_link(struct call_list *list, const struct frame *frame)
{
	if (list->nr_links == CALL_LIST_MAX)
		list->complete = false;
	else if (!grow(&list->links, sizeof(*list->links), list->nr_links, &list->nr_links_room))
		list->nomem = true;
	if (!goes_on(list))
		return false;
	list->links[list->nr_links++] = (struct call_link){
		.n = frame->n,
		.from = frame->from,
		.to = frame->entered,
		.kind = frame->kind,
		.vector = frame->vector,
	};
	return true;
}

static void add_gap(struct call_list *list, const struct btsrec_event *event)
{
	if (event->gap.kind == BTSREC_GAP_OVERWRITTEN) {
		list->begins = false;
		return;
	}
	if (!grow_from(&list->gaps, sizeof(*list->gaps), list->nr_gaps, &list->nr_gaps_room, 16))
		list->nomem = true;
	else
		list->gaps[list->nr_gaps++] = event->n;
}

/* NMI handlers alone ran: the recorder has said so, and both ends are its own. */
static bool is_over_nmi(const struct btsrec_event *event)
{
	return event->kind == BTSREC_EVENT_GAP && record_is_own_pause(&event->gap) &&
	       event->gap.resume.reason == BTSREC_REASON_NMI;
}

static bool is_side(const struct call_stay *stay, const struct btsrec_side *side)
{
	if (!stay->known || !side)
		return stay->known == (side != NULL);
	return stay->side.pid == side->pid && stay->side.tgid == side->tgid &&
	       stay->side.cr3 == side->cr3 &&
	       !memcmp(stay->side.comm, side->comm, sizeof(side->comm));
}

static void feed_side(struct call_list *list, uint64_t n, const struct btsrec_side *side)
{
	struct call_stay stay = {.first_n = n, .last_n = n, .known = side};

	if (list->nr_stays && is_side(&list->stays[list->nr_stays - 1], side)) {
		list->stays[list->nr_stays - 1].last_n = n;
		return;
	}
	if (!grow(&list->stays, sizeof(stay), list->nr_stays, &list->nr_stays_room)) {
		list->nomem = true;
		return;
	}
	if (side)
		stay.side = *side;
	list->stays[list->nr_stays++] = stay;
}

/* --- Calls -------------------------------------------------------------- */

static bool is_interrupt(enum frame_kind kind)
{
	return kind == FRAME_IRQ || kind == FRAME_NMI || kind == FRAME_EXCEPTION;
}

/*
 * The stay of the thread that @stack is of.  Between the annotation of a switch and the change of
 * stacks the thread that is left still runs.
 */
static uint32_t stay_of(const struct call_list *list, const struct stack *stack)
{
	size_t now = list->nr_stays - 1;
	const struct call_stay *before = now ? &list->stays[now - 1] : NULL;

	if (stack->known && before && before->known && before->side.pid == stack->pid &&
	    !(list->stays[now].known && list->stays[now].side.pid == stack->pid))
		now--;
	return (uint32_t)now;
}

static struct listed_call call_of(const struct list_reader *r, const struct stack *stack,
				  const struct frame *frame)
{
	return (struct listed_call){
		.n = frame->n,
		.last_n = UINT64_MAX,
		.from = frame->from,
		.to = frame->entered,
		.caller = CALL_LIST_NONE,
		.side = stay_of(r->list, stack),
		.kind = frame->kind,
		.vector = (int16_t)frame->vector,
	};
}

static uint64_t entry_of(const struct stack *stack, size_t i)
{
	size_t entry = stack->frames[i].entry;
	const struct frame *frame = entry ? &stack->frames[entry - 1] : NULL;

	return frame && is_interrupt(frame->kind) ? frame->n : 0;
}

/* Frames below this one may be gone. */
static size_t first_sure(const struct stack *stack)
{
	return stack->attached ? 0 : stack->nr_old;
}

/* Of the listed call that is open around frame @i. */
static uint32_t depth_at(const struct list_reader *r, const struct stack *stack, size_t i)
{
	while (i-- > first_sure(stack)) {
		size_t number = stack->frames[i].cookie;

		if (number && r->list->calls[number - 1].tags)
			return r->list->calls[number - 1].depth + 1;
	}
	return 0;
}

/* The number of the call that made that of frame @i, which is listed if it is not yet. */
static size_t caller_at(struct list_reader *r, const struct stack *stack, size_t i)
{
	struct listed_call call;
	struct frame *frame;

	if (i <= first_sure(stack))
		return CALL_LIST_NONE;
	frame = &stack->frames[i - 1];
	if (frame->cookie)
		return frame->cookie - 1;
	call = call_of(r, stack, frame);
	frame->cookie = add_call(r->list, &call) + 1;
	return frame->cookie - 1;
}

/* Does the chain that ends with frame @i begin where it is to?  It is listed then. */
static bool has_chain(struct list_reader *r, const struct stack *stack,
		      const struct btsrec_side *side, size_t i, struct listed_call *call)
{
	size_t first = i + 1;

	while (first-- > first_sure(stack)) {
		if (!r->fns->starts(r->fns->arg, side, stack->frames[first].from))
			continue;
		call->chain = r->list->nr_links;
		call->nr_chain = (uint32_t)(i + 1 - first);
		for (; first <= i; first++)
			if (!add_link(r->list, &stack->frames[first]))
				return false;
		return true;
	}
	return false;
}

/* The instructions right before the call, up to the branch before it. */
static void find_argument(const struct list_reader *r, const struct trace_event *traced,
			  struct listed_call *call)
{
	const struct proof_step *step = traced->step;

	if (!r->fns->argument || !step || !step->nr_ranges || frame_is_entry(call->kind))
		return;
	call->has_argument = r->fns->argument(r->fns->arg, &step->ranges[step->nr_ranges - 1],
					      &call->argument);
}

static void begin_call(struct list_reader *r, const struct trace_event *traced,
		       const struct stack *stack, size_t i)
{
	struct frame *frame = &stack->frames[i];
	struct listed_call call = call_of(r, stack, frame);

	/* What a switch does itself takes as long as the thread is away. */
	if (r->fns->timed && call.side + 1 < r->list->nr_stays)
		return;
	call.tags = r->fns->tags(r->fns->arg, traced->side, frame->entered);
	if (!call.tags)
		return;
	if (r->fns->starts && !has_chain(r, stack, traced->side, i, &call))
		return;
	if (!r->fns->timed) {
		call.depth = depth_at(r, stack, i);
		call.caller = caller_at(r, stack, i);
		call.entry_n = entry_of(stack, i);
		find_argument(r, traced, &call);
	}
	frame->cookie = add_call(r->list, &call) + 1;
}

/* Is there a time stamp in what has begun with event @n? */
static bool is_timed(const struct call_list *list, uint64_t n)
{
	const struct time_axis *times = &list->times;

	return times->nr && times->all[times->nr - 1].n > n;
}

static void end_call(struct list_reader *r, const struct frame *frame, uint64_t n)
{
	struct call_list *list = r->list;
	struct listed_call *call;

	if (!frame->cookie)
		return;
	call = &list->calls[frame->cookie - 1];
	call->last_n = n;
	call->nr_branches = frame->nr_branches;
	call->lost = frame->n < r->lost_n;
	if (!r->fns->timed || is_timed(list, call->n))
		return;
	call->tags = 0;
	while (list->nr && !list->calls[list->nr - 1].tags)
		list->nr--;
}

/* --- Calls whose beginning is not in the history ------------------------- */

/* What ran up to @branch was no call that is listed. */
static void see_late(struct list_reader *r, const struct trace_event *traced)
{
	uint64_t va = traced->event->branch.from;
	struct listed_call call = {
		.n = traced->event->n,
		.last_n = traced->event->n,
		.to = va,
		.caller = CALL_LIST_NONE,
		.side = (uint32_t)(r->list->nr_stays - 1),
		.late = true,
	};

	call.tags = r->fns->tags(r->fns->arg, traced->side, va);
	if (!call.tags)
		return;
	if (r->late != CALL_LIST_NONE && r->late_level == r->level &&
	    r->late_segment == r->segment && r->list->calls[r->late].tags == call.tags) {
		r->list->calls[r->late].last_n = call.n;
		r->list->calls[r->late].nr_branches++;
		return;
	}
	call.nr_branches = 1;
	r->late = add_call(r->list, &call);
	r->late_level = r->level;
	r->late_segment = r->segment;
}

/* --- Events ------------------------------------------------------------- */

static void remember(struct list_reader *r, const struct stack *stack)
{
	size_t number = 0;

	if (stack->nr > first_sure(stack))
		number = stack->frames[stack->nr - 1].cookie;
	r->covered = number && r->list->calls[number - 1].tags;
	r->level = stack->level;
	r->segment = stack->segment;
}

static void read_calls(struct list_reader *r, const struct trace_event *traced,
		       const struct frames_step *step, struct frames *frames)
{
	const struct stack *stack = frames_stack(frames);
	bool wanted = !r->fns->event || r->fns->event(r->fns->arg, traced->event);

	if (step->lost || step->switched) {
		r->covered = false;
		r->level = step->level - step->nr_entered + step->nr_left + step->deeper;
		r->segment = step->segment;
	}
	if (wanted && r->fns->late && !r->covered && traced->event->kind == BTSREC_EVENT_BRANCH)
		see_late(r, traced);
	for (unsigned int i = 0; i < step->nr_left && goes_on(r->list); i++)
		end_call(r, frames_left(frames, i), traced->event->n);
	for (unsigned int i = step->nr_entered; wanted && i && goes_on(r->list); i--)
		if (!stack->frames[stack->nr - i].cookie)
			begin_call(r, traced, stack, stack->nr - i);
	remember(r, stack);
}

static bool read_event(void *arg, const struct trace_event *traced, const struct frames_step *step,
		       struct frames *frames)
{
	struct list_reader *r = arg;
	const struct btsrec_event *event = traced->event;

	r->list->end_n = event->n + 1;
	feed_side(r->list, event->n, traced->side);
	if (!time_axis_feed(&r->list->times, event))
		r->list->nomem = true;
	if (step->lost && !r->over_nmi)
		r->lost_n = event->n;
	r->over_nmi = r->fns->over_nmis && is_over_nmi(event);
	if (event->kind == BTSREC_EVENT_GAP && !r->over_nmi)
		add_gap(r->list, event);
	if (goes_on(r->list))
		read_calls(r, traced, step, frames);
	return goes_on(r->list);
}

static uint64_t interrupted_at(const struct stack *stack)
{
	size_t first = first_sure(stack);

	if (first == stack->nr || !is_interrupt(stack->frames[first].kind))
		return 0;
	return stack->frames[first].from;
}

/* What is open has run so far. */
static void end_history(void *arg, struct frames *frames)
{
	const struct stacks *stacks = frames_stacks(frames);
	struct list_reader *r = arg;

	r->list->interrupted_va = interrupted_at(stacks->current);
	for (size_t i = 0; i < stacks->nr; i++) {
		const struct stack *stack = &stacks->all[i];

		for (size_t j = 0; j < stack->nr; j++) {
			const struct frame *frame = &stack->frames[j];
			struct listed_call *call;

			if (!frame->cookie)
				continue;
			call = &r->list->calls[frame->cookie - 1];
			call->nr_branches = stack->nr_branches - frame->nr_before;
			call->lost = frame->n < r->lost_n;
		}
	}
}

enum btsrec_status call_list_read(struct call_list *list, struct btsrec *rec, unsigned int cpu,
				  const struct call_list_fns *fns)
{
	struct list_reader r = {.list = list, .fns = fns, .late = CALL_LIST_NONE};
	const struct trace_frames_fns frames_fns = {
		.event = read_event, .end = end_history, .arg = &r};
	enum btsrec_status status = trace_fault(rec, cpu, &list->fault);

	list->complete = true;
	list->begins = true;
	if (!status)
		status = trace_frames(rec, cpu, &frames_fns);
	if (list->nomem)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (!list->complete)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM,
			       "CPU %u has too many such calls: choose a part of its history", cpu);
	return status;
}

void call_list_fini(struct call_list *list)
{
	free(list->calls);
	free(list->links);
	free(list->stays);
	free(list->gaps);
	time_axis_fini(&list->times);
	memset(list, 0, sizeof(*list));
}
