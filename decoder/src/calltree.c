// SPDX-License-Identifier: GPL-2.0-or-later
#include "calltree_impl.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "frames_plain.h"
#include "grow.h"
#include "large.h"
#include "symbol.h"

/* A shorter loop is no news; filling the return stack buffer is 16 rounds. */
#define MIN_ROUNDS 32

#define CHUNK_BYTES	(((size_t)CALLTREE_CHUNK_LINES * sizeof(struct calltree_line) + \
			  LARGE_PAGE_BYTES - 1) / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES)

/* --- Lines -------------------------------------------------------------- */

/* Segments up to @segment are listed; false: out of memory. */
static bool list_segment(struct calltree_reader *r, uint32_t segment)
{
	struct calltree *tree = r->tree;

	while (tree->nr_segments <= segment) {
		if (!grow(&tree->segments, sizeof(*tree->segments), tree->nr_segments,
			  &tree->nr_segments_room)) {
			r->nomem = true;
			return false;
		}
		tree->segments[tree->nr_segments++] = (struct calltree_segment){
			.lowest = INT64_MAX,
		};
	}
	return true;
}

/* Room for more lines at the end of a chunk; false: out of memory, or there are too many. */
static bool make_room(struct calltree_reader *r)
{
	struct calltree *tree = r->tree;
	size_t number = tree->nr_lines / CALLTREE_CHUNK_LINES;

	if (tree->nr_lines == CALLTREE_MAX_LINES) {
		tree->complete = false;
		return false;
	}
	if (tree->chunks[number])
		return true;
	/* Most trees are small. */
	tree->chunks[number] = large_alloc(CHUNK_BYTES, number ? 0 : LARGE_PAGE_BYTES);
	if (!tree->chunks[number])
		r->nomem = true;
	return tree->chunks[number];
}

/* So many lines take longer than to fetch one that was never used. */
#define LINES_AHEAD 8

/* One more line, not yet filled, at this level; NULL: no room. */
static inline struct calltree_line *next_line(struct calltree_reader *r, int64_t level,
					      uint32_t segment)
{
	struct calltree *tree = r->tree;
	struct calltree_line *line;

	if (tree->nr_lines % CALLTREE_CHUNK_LINES == 0 && !make_room(r))
		return NULL;
	if (segment >= tree->nr_segments && !list_segment(r, segment))
		return NULL;
	if (level < tree->segments[segment].lowest)
		tree->segments[segment].lowest = level;
	line = calltree_line(tree, tree->nr_lines++);
	__builtin_prefetch(line + LINES_AHEAD, 1);
	return line;
}

static struct calltree_line *add_line_at(struct calltree_reader *r, enum calltree_kind kind,
					 const struct btsrec_event *event, int64_t level,
					 uint32_t segment)
{
	struct calltree_line *line = next_line(r, level, segment);

	if (!line)
		return NULL;
	*line = (struct calltree_line){
		.kind = kind,
		.n = event->n,
		.last_n = UINT64_MAX,
		.level = (int32_t)level,
		.segment = segment,
	};
	if (event->kind == BTSREC_EVENT_BRANCH) {
		line->from = event->branch.from;
		line->to = event->branch.to;
	}
	return line;
}

struct calltree_line *calltree_add_line(struct calltree_reader *r, enum calltree_kind kind,
					const struct btsrec_event *event,
					const struct frames_step *step)
{
	return add_line_at(r, kind, event, step->level, step->segment);
}

static inline void add_call(struct calltree_reader *r, struct frame *frame)
{
	struct calltree_line *line = next_line(r, frame->level, frame->segment);
	size_t nr_times = r->tree->nr_times;

	if (!line)
		return;
	while (nr_times && r->tree->times[nr_times - 1].n > frame->n)
		nr_times--;
	frame->cookie = r->tree->nr_lines;
	*line = (struct calltree_line){
		.n = frame->n,
		.last_n = UINT64_MAX,
		.from = frame->from,
		.to = frame->entered,
		.level = (int32_t)frame->level,
		.segment = frame->segment,
		.kind = CALLTREE_CALL,
		.frame = frame->kind,
		.vector = (int16_t)frame->vector,
		.nr_times_begin = (uint32_t)nr_times,
	};
}

static bool is_handler(struct btsrec *rec, uint64_t va)
{
	struct symbol_name name;
	size_t nr_bytes;

	return symbol_find(rec, va, &name) && !name.offset_bytes &&
	       trace_syscall(&name, &nr_bytes);
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
	struct calltree_line *line;

	if (!code_is_kernel(entered) || !entry ||
	    !can_be_syscall(stack->frames[entry - 1].kind) || !stack->frames[entry - 1].cookie)
		return;
	line = calltree_line(r->tree, stack->frames[entry - 1].cookie - 1);
	/* The kernel's functions are where an address of 32 bits, sign-extended, leads. */
	if (!line->call.handler && (uint64_t)(int32_t)entered == entered &&
	    is_handler(r->rec, entered))
		line->call.handler = (int32_t)entered;
}

/* What is known to be open and has no line yet. */
static void add_open(struct calltree_reader *r, struct frames *frames)
{
	const struct stack *stack = frames_stack(frames);
	size_t first = stack->attached ? 0 : stack->nr_old;

	for (size_t i = first; i < stack->nr; i++) {
		if (stack->frames[i].cookie)
			continue;
		add_call(r, &stack->frames[i]);
		name_syscall(r, stack, i, stack->frames[i].entered);
	}
}

/* The number of @side among those that are told; SIZE_MAX: not known. */
static size_t add_side(struct calltree_reader *r, const struct btsrec_side *side)
{
	struct calltree *tree = r->tree;

	if (!side)
		return SIZE_MAX;
	if (!grow(&tree->sides, sizeof(*side), tree->nr_sides, &tree->nr_sides_room)) {
		r->nomem = true;
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
		r->nomem = true;
		return;
	}
	line = calltree_add_line(r, CALLTREE_EVENT, event, step);
	if (!line)
		return;
	line->event = tree->nr_events;
	tree->events[tree->nr_events++] = *event;
}

/* --- Calls -------------------------------------------------------------- */

static void end_call(struct calltree_reader *r, const struct frame *frame, uint64_t n)
{
	struct calltree_line *line;

	if (!frame->cookie)
		return;
	line = calltree_line(r->tree, frame->cookie - 1);
	line->last_n = n;
	line->call.nr_branches = frame->nr_branches;
	line->call.nr_times_end = (uint32_t)r->tree->nr_times;
	if (frame->n < r->lost_n)
		line->more = true;
}

static void join_segments(struct calltree_reader *r, const struct frames_step *step)
{
	struct calltree_segment *segment;

	if (step->segment >= r->tree->nr_segments && !list_segment(r, step->segment))
		return;
	if (!step->bridged || !list_segment(r, step->bridged_segment) ||
	    step->segment >= step->bridged_segment)
		return;
	segment = &r->tree->segments[step->bridged_segment];
	segment->joined = true;
	segment->to = step->segment;
	segment->shift = step->shift;
}

static bool is_broken(const struct trace_event *traced)
{
	return traced->step && traced->step->kind == PROOF_BROKEN;
}

static void end_calls(struct calltree_reader *r, const struct btsrec_event *event,
		      const struct frames_step *step, const struct frames *frames)
{
	for (unsigned int i = 0; i < step->nr_left; i++)
		end_call(r, frames_left(frames, i), event->n);
}

static void begin_calls(struct calltree_reader *r, const struct frames_step *step,
			const struct frames *frames)
{
	const struct stack *stack = frames_stack(frames);

	for (unsigned int i = 0; i < step->nr_entered && !r->nomem; i++) {
		struct frame *frame = frames_entered(frames, i);

		if (frame->cookie)
			continue;
		add_call(r, frame);
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
	line = next_line(r, r->spin_line.level, r->spin_line.segment);
	if (!line)
		return;
	*line = r->spin_line;
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
	bool held = cycles_hold(&r->spin, &key);

	if (!held && r->spin.period) {
		calltree_end_spin(r, n);
		held = cycles_hold(&r->spin, &key);
	}
	if (held && r->spin.nr_held == 1)
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
		r->nomem = true;
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
			r->nomem = true;
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
			struct calltree_line *line;

			if (!frame->cookie)
				continue;
			line = calltree_line(r->tree, frame->cookie - 1);
			line->call.nr_branches = stack->nr_branches - frame->nr_before;
		}
	}
}

void calltree_end(struct calltree_reader *r, struct frames *frames)
{
	end_open(r, frames);
	list_open(r, frames_stack(frames));
}

static void read_wanted(struct calltree_reader *r, const struct trace_event *traced,
			const struct frames_step *step, struct frames *frames)
{
	const struct btsrec_event *event = traced->event;

	if (fault_is_here(r->fault, event))
		calltree_add_line(r, CALLTREE_FAULT, event, step);
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

	if (step->lost)
		r->lost_n = event->n;
	if (event->n >= r->first_n)
		read_wanted(r, traced, step, frames);
	if (event->kind != BTSREC_EVENT_BRANCH)
		read_time(r, event);
	if (event->n < r->last_n)
		return !r->nomem && r->tree->complete;
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
		end_call(r, frame, n);
		return;
	}
	add_call(r, frame);
	/* In what has entered the kernel, which may be a system call. */
	if (frame->entry)
		name_syscall(r, stack, stack->nr - 1, branch->to);
}

/* A trace_frames_plain_fn.  Inlined it all is, because most of a history comes this way. */
static bool read_plain_branches(void *arg, struct trace *trace, struct frames *frames)
{
	struct trace_way way = trace_way_begin(trace);
	struct calltree_reader *r = arg;
	const struct code_run *run;
	bool goes_on = true;

	while (goes_on && (run = trace_way_run(trace, &way)) != NULL) {
		const struct btsrec_record *branch = way.branch;
		uint64_t n = way.n;
		enum frames_move move;
		struct frame *frame;

		if (n < r->plain_first_n || n >= r->plain_end_n)
			break;
		move = frames_plain(frames, n, branch, run, &frame);
		if (move == FRAMES_NOT_PLAIN)
			break;
		trace_way_pass(trace, &way, run);
		read_plain(r, n, branch, move, frame, frames_plain_stack(frames));
		/* A line was added. */
		if (frame)
			goes_on = !r->nomem && r->tree->complete;
	}
	trace_way_end(trace, &way);
	return goes_on;
}

/* From behind the first wanted event to before the one that tells of the fault or is the last. */
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
	const struct trace_frames_fns fns = { .event = calltree_event, .end = end_of_cpu,
					      .plain = read_plain_branches, .arg = &r };
	enum btsrec_status status = BTSREC_OK;

	memset(tree, 0, sizeof(*tree));
	tree->complete = true;
	if (max_events)
		status = find_newest(&r, cpu, max_events);
	if (status)
		return status;
	cycles_init(&r.spin);
	want_plain(&r);
	status = trace_frames(rec, cpu, &fns);
	if (r.nomem)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	calltree_settle(tree);
	return status == BTSREC_ERR_STOPPED ? BTSREC_OK : status;
}

void calltree_fini(struct calltree *tree)
{
	for (size_t i = 0; i < sizeof(tree->chunks) / sizeof(tree->chunks[0]); i++)
		free(tree->chunks[i]);
	free(tree->events);
	free(tree->sides);
	free(tree->times);
	free(tree->segments);
	free(tree->open);
	memset(tree, 0, sizeof(*tree));
}
