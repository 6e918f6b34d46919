// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/calltree_impl.h"

#include "flow/clock.h"
#include "flow/frames_fast.h"
#include "base/grow.h"

/* A shorter loop is no news; filling the return stack buffer is 16 rounds. */
#define MIN_ROUNDS 32

/* --- Lines -------------------------------------------------------------- */

static struct calltree_line *add_line_at(struct calltree_reader *r, enum calltree_kind kind,
					 const struct btsrec_event *event, int64_t level,
					 uint32_t segment)
{
	struct calltree_line line = {
		.kind = kind,
		.n = event->n,
		.last_n = UINT64_MAX,
		.level = (int32_t)level,
		.segment = segment,
	};

	if (event->kind == BTSREC_EVENT_BRANCH) {
		line.from = event->branch.from;
		line.to = event->branch.to;
	}
	return calltree_put(r->tree, &line);
}

struct calltree_line *calltree_add_line(struct calltree_reader *r, enum calltree_kind kind,
					const struct btsrec_event *event,
					const struct frames_step *step)
{
	return add_line_at(r, kind, event, step->level, step->segment);
}

static bool can_be_syscall(enum frame_kind kind)
{
	return kind == FRAME_SYSCALL || kind == FRAME_INT || kind == FRAME_ENTRY;
}

/* If @entered is the handler of a system call, that is the innermost of @nr frames. */
static void name_syscall(struct calltree_reader *r, const struct stack *stack, size_t nr,
			 uint64_t entered)
{
	size_t entry = nr ? stack->frames[nr - 1].entry : 0;
	uint64_t cookie;

	if (!code_is_kernel(entered) || !entry ||
	    !can_be_syscall(stack->frames[entry - 1].kind))
		return;
	cookie = stack->frames[entry - 1].cookie;
	if (cookie && !calltree_line(r->tree, cookie - 1).call.handler &&
	    trace_is_syscall(r->rec, entered))
		calltree_name(r->tree, cookie - 1, entered);
}

/* What is known to be open and has no line yet. */
static void add_open(struct calltree_reader *r, struct frames *frames)
{
	const struct stack *stack = frames_stack(frames);
	size_t first = stack->attached ? 0 : stack->nr_old;

	for (size_t i = first; i < stack->nr; i++) {
		if (stack->frames[i].cookie)
			continue;
		calltree_put_call(r->tree, &stack->frames[i]);
		name_syscall(r, stack, i, stack->frames[i].entered);
	}
}

/* The number of @side among those that are printed; SIZE_MAX: not known. */
static size_t add_side(struct calltree_reader *r, const struct btsrec_side *side)
{
	struct calltree *tree = r->tree;

	if (!side)
		return SIZE_MAX;
	if (!grow(&tree->sides, sizeof(*side), tree->nr_sides, &tree->nr_sides_room)) {
		r->tree->nomem = true;
		return SIZE_MAX;
	}
	tree->sides[tree->nr_sides] = *side;
	return tree->nr_sides++;
}

static void add_thread(struct calltree_reader *r, const struct trace_event *traced,
		       const struct frames_step *step, struct frames *frames)
{
	int64_t level = step->nr_entered ? frames_entered(frames, 0)->level - 1 : step->level;
	struct calltree_line *line = add_line_at(r, CALLTREE_THREAD, traced->event, level,
						 step->segment);

	if (line)
		line->side = add_side(r, traced->side);
}

static void add_break(struct calltree_reader *r, const struct trace_event *traced,
		      const struct frames_step *step)
{
	struct calltree_line *line = calltree_add_line(r, CALLTREE_BREAK, traced->event, step);

	if (!line)
		return;
	line->from = traced->step->start;
	line->to = traced->step->end;
	line->broken.verdict = traced->step->kind;
	line->broken.fault = traced->step->fault;
	line->broken.fault_va = traced->step->fault_va;
}

static void add_event(struct calltree_reader *r, const struct btsrec_event *event,
		      const struct frames_step *step)
{
	struct calltree *tree = r->tree;
	struct calltree_line *line;

	if (!grow(&tree->events, sizeof(*event), tree->nr_events, &tree->nr_events_room)) {
		r->tree->nomem = true;
		return;
	}
	line = calltree_add_line(r, CALLTREE_EVENT, event, step);
	if (!line)
		return;
	line->event = tree->nr_events;
	tree->events[tree->nr_events++] = *event;
}

/* --- Calls -------------------------------------------------------------- */

static void join_segments(struct calltree_reader *r, const struct frames_step *step)
{
	struct calltree_segment *segment;

	if (step->segment >= r->tree->nr_segments && !calltree_list_segment(r->tree, step->segment))
		return;
	if (!step->bridged || !calltree_list_segment(r->tree, step->bridged_segment) ||
	    step->segment >= step->bridged_segment)
		return;
	segment = &r->tree->segments[step->bridged_segment];
	segment->joined = true;
	segment->to = step->segment;
	segment->shift = step->shift;
}

static bool is_broken(const struct trace_event *traced)
{
	return traced->step && proof_fails(traced->step);
}

static void end_calls(struct calltree_reader *r, const struct btsrec_event *event,
		      const struct frames_step *step, const struct frames *frames)
{
	for (unsigned int i = 0; i < step->nr_left; i++)
		calltree_end_call(r->tree, frames_left(frames, i), event->n, r->lost_n);
}

static void begin_calls(struct calltree_reader *r, const struct frames_step *step,
			const struct frames *frames)
{
	const struct stack *stack = frames_stack(frames);

	for (unsigned int i = 0; i < step->nr_entered && !r->tree->nomem; i++) {
		struct frame *frame = frames_entered(frames, i);

		if (frame->cookie)
			continue;
		calltree_put_call(r->tree, frame);
		name_syscall(r, stack, stack->nr - step->nr_entered + i, frame->entered);
	}
}

static void read_calls(struct calltree_reader *r, const struct trace_event *traced,
		       const struct frames_step *step, struct frames *frames)
{
	const struct btsrec_event *event = traced->event;

	/* What begins the history, a gap or a break has a line of its own. */
	if (step->lost && step->deeper && !r->was_gap && !is_broken(traced))
		calltree_add_line(r, CALLTREE_LOST, event, step);
	end_calls(r, event, step, frames);
	if (step->deeper)
		calltree_add_line(r, CALLTREE_RETURN, event, step);
	if (step->mismatch)
		calltree_add_line(r, CALLTREE_ASTRAY, event, step);
	if (step->elsewhere && !step->nr_entered)
		calltree_add_line(r, CALLTREE_RESUME, event, step);
	begin_calls(r, step, frames);
	join_segments(r, step);
}

/* --- Loops -------------------------------------------------------------- */

void calltree_end_spin(struct calltree_reader *r, uint64_t n)
{
	struct calltree_line *line;
	struct cycle cycle;

	if (!cycles_end(&r->spin, &cycle) || cycle.nr_rounds + 2 < MIN_ROUNDS ||
	    r->spin_lines != r->tree->nr_lines)
		return;
	line = calltree_put(r->tree, &r->spin_line);
	if (!line)
		return;
	line->last_n = n - 1 - cycle.nr_rest;
	line->cycle.period = cycle.period;
	line->cycle.nr_rounds = cycle.nr_rounds + 2;
}

static void begin_spin(struct calltree_reader *r, uint64_t n, const struct btsrec_record *branch,
		       const struct stack *stack)
{
	r->spin_lines = r->tree->nr_lines;
	r->spin_line = (struct calltree_line){
		.kind = CALLTREE_CYCLE,
		.segment = stack->segment,
		.level = (int32_t)(stack->level + 1),
		.n = n - 2 * r->spin.period,
		.from = branch->from,
		.to = branch->to,
	};
}

/* Of a branch that is like one of the newest. */
static void spin_on(struct calltree_reader *r, uint64_t n, const struct btsrec_record *branch,
		    const struct stack *stack)
{
	struct cycles_key key = { { branch->from, branch->to } };
	bool held = cycles_add(&r->spin, &key);

	if (!held && r->spin.period) {
		calltree_end_spin(r, n);
		held = cycles_add(&r->spin, &key);
	}
	if (held && r->spin.nr_kept == 1)
		begin_spin(r, n, branch, stack);
}

/* @calls: the branch enters or leaves a frame, so it is in no loop without a call. */
static inline void read_spin(struct calltree_reader *r, uint64_t n,
			     const struct btsrec_record *branch, const struct stack *stack,
			     bool calls)
{
	if (calls) {
		if (r->spin.period)
			calltree_end_spin(r, n);
		cycles_part(&r->spin);
	} else if (!cycles_pass(&r->spin, &(struct cycles_key){ { branch->from, branch->to } })) {
		spin_on(r, n, branch, stack);
	}
}

/* --- Events ------------------------------------------------------------- */

static void read_time(struct calltree_reader *r, const struct btsrec_event *event)
{
	struct calltree *tree = r->tree;
	uint64_t tsc;

	if (!clock_event(event, &tsc))
		return;
	if (!grow(&tree->times, sizeof(*tree->times), tree->nr_times, &tree->nr_times_room)) {
		r->tree->nomem = true;
		return;
	}
	tree->times[tree->nr_times++] = (struct calltree_time){ event->n, tsc };
}

static void read_branch(struct calltree_reader *r, const struct trace_event *traced,
			const struct frames_step *step, struct frames *frames)
{
	if (is_broken(traced))
		add_break(r, traced, step);
	if (!r->started || step->switched) {
		add_thread(r, traced, step, frames);
		add_open(r, frames);
	}
	read_calls(r, traced, step, frames);
	r->started = true;
	r->was_gap = false;
}

static void list_open(struct calltree_reader *r, const struct stack *stack)
{
	struct calltree *tree = r->tree;

	for (size_t i = stack->attached ? 0 : stack->nr_old; i < stack->nr; i++) {
		if (!stack->frames[i].cookie)
			continue;
		if (!grow(&tree->open, sizeof(*tree->open), tree->nr_open, &tree->nr_open_room)) {
			r->tree->nomem = true;
			return;
		}
		tree->open[tree->nr_open++] = stack->frames[i].cookie - 1;
	}
}

/* What is open at the end has run so far, and its end is not known. */
static void end_open(struct calltree_reader *r, const struct frames *frames)
{
	const struct stacks *stacks = frames_stacks(frames);

	for (size_t i = 0; i < stacks->nr; i++) {
		const struct stack *stack = &stacks->all[i];

		for (size_t j = 0; j < stack->nr; j++) {
			const struct frame *frame = &stack->frames[j];

			if (frame->cookie)
				calltree_count(r->tree, frame->cookie - 1,
					       stack->nr_branches - frame->nr_before);
		}
	}
}

void calltree_end(struct calltree_reader *r, struct frames *frames)
{
	/* What goes round at the end has no line after it. */
	calltree_end_spin(r, r->next_n);
	end_open(r, frames);
	list_open(r, frames_stack(frames));
}

static void read_wanted(struct calltree_reader *r, const struct trace_event *traced,
			const struct frames_step *step, struct frames *frames)
{
	const struct btsrec_event *event = traced->event;

	if (fault_is_here(r->fault, event)) {
		/* A loop is printed only while there is no line after it. */
		calltree_end_spin(r, event->n);
		calltree_add_line(r, CALLTREE_FAULT, event, step);
	}
	if (event->kind == BTSREC_EVENT_BRANCH) {
		read_spin(r, event->n, &event->branch, frames_stack(frames),
			  step->nr_entered || step->nr_left);
		read_branch(r, traced, step, frames);
		return;
	}
	calltree_end_spin(r, event->n);
	r->was_gap = r->was_gap || event->kind == BTSREC_EVENT_GAP ||
		     event->kind == BTSREC_EVENT_ARM;
	add_event(r, event, step);
}

bool calltree_event(void *arg, const struct trace_event *traced, const struct frames_step *step,
		    struct frames *frames)
{
	struct calltree_reader *r = arg;
	const struct btsrec_event *event = traced->event;

	r->next_n = event->n + 1;
	if (step->lost)
		r->lost_n = event->n;
	if (event->n >= r->first_n)
		read_wanted(r, traced, step, frames);
	if (event->kind != BTSREC_EVENT_BRANCH)
		read_time(r, event);
	if (event->n < r->last_n)
		return !r->tree->nomem && r->tree->complete;
	calltree_end(r, frames);
	return false;
}

/* --- Plain branches ----------------------------------------------------- */

/* What calltree_event() does of such a branch, when lines are being read. */
static inline void read_plain(struct calltree_reader *r, uint64_t n,
			      const struct btsrec_record *branch, enum frames_move move,
			      struct frame *frame, const struct stack *stack)
{
	read_spin(r, n, branch, stack, frame);
	if (!frame)
		return;
	if (move == FRAMES_LEAVES) {
		calltree_end_call(r->tree, frame, n, r->lost_n);
		return;
	}
	calltree_put_call(r->tree, frame);
	/* In what has entered the kernel, which may be a system call. */
	if (frame->entry)
		name_syscall(r, stack, stack->nr - 1, branch->to);
}

/* A trace_frames_fast_fn.  Inlined it all is, because most of a history comes this way. */
static bool read_plain_branches(void *arg, struct trace *trace, struct frames *frames)
{
	struct trace_way way = trace_way_begin(trace);
	struct calltree_reader *r = arg;
	const struct code_brief *run;
	bool goes_on = true;

	while (goes_on && (run = trace_way_run(trace, &way)) != NULL) {
		const struct btsrec_record *branch = way.branch;
		uint64_t n = way.n;
		enum frames_move move;
		struct frame *frame;

		if (n < r->plain_first_n || n >= r->plain_end_n)
			break;
		move = frames_fast(frames, n, branch, run, &frame);
		if (move == FRAMES_NOT_PLAIN)
			break;
		trace_way_pass(trace, &way, run);
		read_plain(r, n, branch, move, frame, frames_fast_stack(frames));
		/* A line was added. */
		if (frame)
			goes_on = !r->tree->nomem && r->tree->complete;
	}
	/* Without any, the way may begin before what has been read since the last one. */
	if (way.n > r->next_n)
		r->next_n = way.n;
	trace_way_end(trace, &way);
	return goes_on;
}

/* The same where nothing is printed before the first wanted line. */
static bool read_plain_window(void *arg, struct trace *trace, struct frames *frames)
{
	const struct calltree_reader *r = arg;

	(void)trace_frames_pass(trace, frames, r->first_n, 0);
	return read_plain_branches(arg, trace, frames);
}

/* From after the first wanted event to before the one of the fault, or the last. */
static void want_plain(struct calltree_reader *r)
{
	r->plain_first_n = r->first_n + 1;
	r->plain_end_n = r->last_n;
	if (r->fault->kind && r->fault->n < r->last_n)
		r->plain_end_n = r->fault->n;
}

/* --- Reading ------------------------------------------------------------ */

/* The window begins no sooner than with the newest @max_events events up to its end. */
static enum btsrec_status find_newest(struct calltree_reader *r, unsigned int cpu,
				      uint64_t max_events)
{
	enum btsrec_status status;
	uint64_t nr_events;

	status = session_nr_events(r->rec, cpu, &nr_events);
	if (status)
		return status;
	if (nr_events <= r->last_n)
		r->last_n = nr_events ? nr_events - 1 : 0;
	if (max_events <= r->last_n && r->first_n < r->last_n + 1 - max_events)
		r->first_n = r->last_n + 1 - max_events;
	return BTSREC_OK;
}

static void end_of_cpu(void *arg, struct frames *frames)
{
	calltree_end(arg, frames);
}

enum btsrec_status calltree_read(struct calltree *tree, struct btsrec *rec, unsigned int cpu,
				 uint64_t first_n, uint64_t last_n, uint64_t max_events,
				 const struct fault *fault)
{
	struct calltree_reader r = { .tree = tree, .rec = rec, .first_n = first_n,
				     .last_n = last_n, .fault = fault, .was_gap = true };
	struct trace_frames_fns fns = { .event = calltree_event, .end = end_of_cpu,
					.plain = read_plain_branches, .arg = &r };
	enum btsrec_status status = BTSREC_OK;

	calltree_clear(tree);
	if (max_events)
		status = find_newest(&r, cpu, max_events);
	if (status)
		return status;
	cycles_init(&r.spin);
	want_plain(&r);
	if (r.first_n)
		fns.plain = read_plain_window;
	status = trace_frames(rec, cpu, &fns);
	if (tree->nomem)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	calltree_settle(tree);
	return status == BTSREC_ERR_STOPPED ? BTSREC_OK : status;
}
