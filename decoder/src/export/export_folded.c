// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Branches by the stack that they were taken in, as flame graphs want them: a line
 * "thread;outermost;...;innermost COUNT" for each stack.
 *
 * A stack is a node of a tree: its innermost function below the stack of the caller.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/cleanup.h"
#include "base/counter_map.h"
#include "flow/frames_fast.h"
#include "base/grow.h"
#include "base/options.h"
#include "render/render.h"
#include "flow/event_filter.h"
#include "flow/trace_frames.h"
#include "recorder/cpus.h"

/* Nodes that memory is spent on; those of a ring of 1 MiB are some thousands. */
#define MAX_NODES	(8U << 20)

/* Nodes from the root to a leaf: the thread, the frames, the caller of the first, the leaf. */
#define MAX_PATH	(STACKS_MAX_DEPTH + 3)

/* The last word of a node's key. */
enum node_kind {
	NODE_THREAD,		/* the words between are its name */
	NODE_FUNCTION,		/* its start; of user code its address space */
	NODE_NAMELESS,		/* + enum symbol_why; whether it is user code */
};

/**
 * struct node - a stack
 * @parent: its number; 0: none, it is a thread.
 * @comm: of a thread.
 * @start: of the function, 0: it has no name, see @why; @va: an address in it, as in @cr3.
 * @nr_branches: taken by the function itself.
 */
struct node {
	uint32_t parent;
	enum symbol_why why;
	uint64_t start;
	uint64_t va;
	uint64_t cr3;
	char comm[BTSREC_COMM_BYTES];
	uint64_t nr_branches;
};

/* A power of two. */
#define NR_RECENT BOUND(1U << 14, 1U << 2)

/** struct recent - what was found for @va of the kernel; 0: nothing was; rest as in a node */
struct recent {
	uint64_t va;
	uint64_t start;
	enum symbol_why why;
};

/** struct level - a frame that is open, and its node; @cookie: see struct frame */
struct level {
	uint64_t cookie;
	uint32_t node;
};

/**
 * struct folded - one btsrec_export_folded() under way
 * @keys: of the @nr_nodes nodes; the first is number 1.
 * @recent: addresses that were asked about not long ago.
 * @known: the thread that runs is known.
 * @side: @levels is its stack; @thread: its node, @outside: that of the caller of
 *	the outermost frame, or @thread.
 */
struct folded {
	struct renderer r;
	const struct btsrec_export *opts;
	struct event_filter event_filter;
	struct counter_map keys;
	struct node *nodes;
	size_t nr_nodes;
	size_t nr_nodes_room;
	struct recent recent[NR_RECENT];
	bool known;
	struct btsrec_side side;
	uint32_t thread;
	uint32_t outside;
	struct level *levels;
	size_t nr_levels;
	size_t nr_levels_room;
	uint64_t nr_cookies;
	bool nomem;
	bool too_many;
};

/* --- Nodes -------------------------------------------------------------- */

/* The number of the node @key, which is @node if it is new; 0: no room. */
static uint32_t node_get(struct folded *folded, const uint64_t *key, const struct node *node)
{
	struct count *count = counter_map_get(&folded->keys, key);

	if (count && count->nr[0])
		return (uint32_t)count->nr[0];
	folded->too_many = folded->nr_nodes == MAX_NODES;
	if (!count || folded->too_many ||
	    !grow(&folded->nodes, sizeof(*node), folded->nr_nodes, &folded->nr_nodes_room)) {
		folded->nomem = true;
		return 0;
	}
	folded->nodes[folded->nr_nodes] = *node;
	count->nr[0] = ++folded->nr_nodes;
	return (uint32_t)count->nr[0];
}

static uint32_t thread_node(struct folded *folded, const struct btsrec_side *side)
{
	uint64_t key[COUNTER_MAP_KEY_WORDS] = {0};
	struct node node = { 0 };

	_Static_assert(sizeof(node.comm) == 2 * sizeof(*key), "a name is two words");
	if (side)
		memcpy(node.comm, side->comm, strnlen(side->comm, sizeof(side->comm)));
	memcpy(&key[1], node.comm, sizeof(node.comm));
	key[3] = NODE_THREAD;
	return node_get(folded, key, &node);
}

/* The start of the function that @va is in; 0: it has no name, see *@ret_why. */
static uint64_t start_of(struct folded *folded, uint64_t va, enum symbol_why *ret_why)
{
	struct symbol_name name;

	return symbol_find_in(folded->r.rec, &folded->side, va, &name, ret_why) ?
		       va - name.offset_bytes : 0;
}

/* What is at @va; without its parent. */
static inline struct node describe(struct folded *folded, uint64_t va)
{
	struct recent *recent = &folded->recent[(va * 0x9e3779b97f4a7c15ULL >> 32) % NR_RECENT];
	struct node node = { .va = va };

	if (!code_is_kernel(va)) {
		node.cr3 = folded->side.cr3;
		node.start = start_of(folded, va, &node.why);
		return node;
	}
	if (recent->va != va) {
		recent->start = start_of(folded, va, &recent->why);
		recent->va = va;
	}
	node.start = recent->start;
	node.why = recent->why;
	return node;
}

static bool same_function(const struct node *a, const struct node *b)
{
	if (a->start || b->start)
		return a->start == b->start && a->cr3 == b->cr3;
	return a->why == b->why && code_is_kernel(a->va) == code_is_kernel(b->va);
}

static uint32_t child_node(struct folded *folded, uint32_t parent, struct node *node)
{
	uint64_t key[COUNTER_MAP_KEY_WORDS] = {parent, node->start, node->cr3, NODE_FUNCTION};

	node->parent = parent;
	if (!node->start) {
		key[1] = !code_is_kernel(node->va);
		key[2] = 0;
		key[3] = NODE_NAMELESS + (uint64_t)node->why;
	}
	return node_get(folded, key, node);
}

static uint32_t function_node(struct folded *folded, uint32_t parent, uint64_t va)
{
	struct node node = describe(folded, va);

	return child_node(folded, parent, &node);
}

/* --- Counting ----------------------------------------------------------- */

static bool is_wanted(const struct folded *folded, uint64_t va)
{
	return filter_level(&folded->event_filter.filter, va);
}

static uint32_t innermost(const struct folded *folded)
{
	return folded->nr_levels ? folded->levels[folded->nr_levels - 1].node : folded->outside;
}

/* The function at @va in the innermost open call: most of the time that is what was called. */
static uint32_t leaf(struct folded *folded, uint64_t va)
{
	struct node node = describe(folded, va);
	uint32_t top = innermost(folded);

	if (top && folded->nodes[top - 1].parent && same_function(&folded->nodes[top - 1], &node))
		return top;
	return top ? child_node(folded, top, &node) : 0;
}

static void push(struct folded *folded, const struct frame *frame)
{
	struct level level = { .cookie = frame->cookie };

	if (!grow(&folded->levels, sizeof(level), folded->nr_levels, &folded->nr_levels_room)) {
		folded->nomem = true;
		return;
	}
	level.node = innermost(folded);
	if (is_wanted(folded, frame->entered))
		level.node = function_node(folded, level.node, frame->entered);
	folded->levels[folded->nr_levels++] = level;
}

/* From the outermost frame that is there; its caller is known by the call. */
static void follow(struct folded *folded, const struct stack *stack)
{
	size_t first = stack->attached ? 0 : stack->nr_old, nr = stack->nr - first, i = 0;
	const struct frame *frames = nr ? &stack->frames[first] : NULL;

	if (nr && nr == folded->nr_levels && frames[nr - 1].cookie == folded->levels[nr - 1].cookie)
		return;
	while (i < nr && i < folded->nr_levels && frames[i].cookie == folded->levels[i].cookie)
		i++;
	folded->nr_levels = i;
	if (!i) {
		folded->outside = folded->thread;
		if (nr && is_wanted(folded, frames[0].from))
			folded->outside = function_node(folded, folded->thread, frames[0].from);
	}
	for (; i < nr && !folded->nomem; i++)
		push(folded, &frames[i]);
}

static void change_thread(struct folded *folded, const struct btsrec_side *side)
{
	folded->known = side;
	folded->side = side ? *side : (struct btsrec_side){ 0 };
	folded->thread = thread_node(folded, side);
	folded->outside = folded->thread;
	folded->nr_levels = 0;
}

static void count_branch(struct folded *folded, uint64_t from)
{
	uint32_t node = leaf(folded, from);

	if (node)
		folded->nodes[node - 1].nr_branches++;
}

static bool fold_event(void *arg, const struct trace_event *traced,
		       const struct frames_step *step, struct frames *frames)
{
	struct folded *folded = arg;
	const struct btsrec_event *event = traced->event;
	const struct stack *stack = frames_stack(frames);

	if (!event->n || (!folded->known && traced->side))
		change_thread(folded, traced->side);
	/* A branch was taken in what was open before it. */
	if (event_filter_wants(&folded->event_filter, event) && event->kind == BTSREC_EVENT_BRANCH)
		count_branch(folded, event->branch.from);
	for (unsigned int i = 0; i < step->nr_entered; i++) {
		struct frame *frame = frames_entered(frames, i);

		if (!frame->cookie)
			frame->cookie = ++folded->nr_cookies;
	}
	if (step->switched || (!stack->known && traced->side &&
			       traced->side->pid != folded->side.pid))
		change_thread(folded, traced->side);
	follow(folded, stack);
	return !folded->nomem;
}

/*
 * A trace_frames_fast_fn.  The thread that runs is known, or not, since the event
 * before.  What is chosen by a filter is asked about event by event.
 */
static bool fold_plain_branches(void *arg, struct trace *trace, struct frames *frames)
{
	struct trace_way way = trace_way_begin(trace);
	struct folded *folded = arg;
	const struct code_brief *run;

	while (!folded->event_filter.filter.any && !folded->nomem &&
	       (run = trace_way_run(trace, &way)) != NULL) {
		uint64_t from = way.branch->from;
		struct frame *frame;
		enum frames_move move = frames_fast(frames, way.n, way.branch, run, &frame);

		if (move == FRAMES_NOT_PLAIN)
			break;
		trace_way_pass(trace, &way, run);
		count_branch(folded, from);
		if (!frame)
			continue;
		if (move == FRAMES_ENTERS)
			frame->cookie = ++folded->nr_cookies;
		follow(folded, frames_fast_stack(frames));
	}
	trace_way_end(trace, &way);
	return !folded->nomem;
}

static enum btsrec_status fold_cpu(void *arg, unsigned int cpu)
{
	struct folded *folded = arg;
	struct btsrec *rec = folded->r.rec;
	const struct trace_frames_fns fns = { .event = fold_event, .plain = fold_plain_branches,
					      .arg = folded };
	enum btsrec_status status =
		event_filter_init(&folded->event_filter, rec, cpu, folded->opts->filter, 0);

	if (!status)
		status = trace_frames(rec, cpu, &fns);
	event_filter_fini(&folded->event_filter);
	if (folded->too_many)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM,
			       "CPU %u has too many different stacks: choose fewer CPUs", cpu);
	return folded->nomem ? msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory") : status;
}

/* --- The file ----------------------------------------------------------- */

/* A semicolon ends a name, and a thread may have one in its own. */
static void put_comm(struct out *out, const char *comm)
{
	if (!*comm)
		out_literal(out, "(unknown thread)");
	for (size_t i = 0; i < BTSREC_COMM_BYTES && comm[i]; i++)
		out_escaped(out, comm[i] == ';' ? ":" : &comm[i], 1);
}

/* So may a program's path, and whatever a broken kernel has for a symbol. */
static void put_name(struct out *out, const char *name, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes; i++)
		out_bytes(out, name[i] == ';' ? ":" : &name[i], 1);
}

static void put_function(struct folded *folded, const struct node *node)
{
	const struct btsrec_side side = { .cr3 = node->cr3 };
	struct out *out = &folded->r.out;
	struct symbol_name name;
	enum symbol_why why;

	if (!node->start || !symbol_find_in(folded->r.rec, &side, node->va, &name, &why)) {
		out_str(out, code_is_kernel(node->va) ? "(kernel: " : "(user: ");
		out_str(out, symbol_why_str(node->why));
		out_char(out, ')');
		return;
	}
	put_name(out, name.name, name.name_bytes);
	if (!*name.module)
		return;
	out_str(out, name.name_bytes ? " [" : "[");
	put_name(out, name.module, strlen(name.module));
	out_char(out, ']');
}

static void put_stack(struct folded *folded, uint32_t number)
{
	uint32_t path[MAX_PATH], at = number;
	size_t nr = 0;

	do {
		path[nr++] = at;
		at = folded->nodes[at - 1].parent;
	} while (at && nr < MAX_PATH);
	put_comm(&folded->r.out, folded->nodes[path[--nr] - 1].comm);
	while (nr) {
		out_char(&folded->r.out, ';');
		put_function(folded, &folded->nodes[path[--nr] - 1]);
	}
	out_char(&folded->r.out, ' ');
	out_dec(&folded->r.out, folded->nodes[number - 1].nr_branches, 0);
	out_char(&folded->r.out, '\n');
}

static enum btsrec_status folded_check(struct btsrec *rec, const struct btsrec_export *opts)
{
	enum btsrec_status status = cpus_check(rec, opts->cpus, opts->nr_cpus);

	return status ? status : event_filter_check(rec, opts->filter);
}

static enum btsrec_status export_folded(struct btsrec *rec, const struct btsrec_export *opts,
					const struct btsrec_sink *sink)
{
	enum btsrec_status status = folded_check(rec, opts);
	_cleanup_free_ struct folded *folded = NULL;

	if (status)
		return status;
	folded = calloc(1, sizeof(*folded));
	if (!folded)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	folded->r.rec = rec;
	folded->opts = opts;
	out_init(&folded->r.out, sink);
	status = cpus_for_each(rec, opts->cpus, opts->nr_cpus, fold_cpu, folded);
	for (uint32_t i = 1; !status && i <= folded->nr_nodes && !folded->r.out.stopped; i++)
		if (folded->nodes[i - 1].nr_branches)
			put_stack(folded, i);
	if (!status)
		status = out_flush(&folded->r.out);
	counter_map_fini(&folded->keys);
	free(folded->nodes);
	free(folded->levels);
	return cpus_end(rec, opts->cpus, status);
}

enum btsrec_status btsrec_export_folded(struct btsrec *rec, const struct btsrec_export *given,
					const struct btsrec_sink *sink)
{
	struct btsrec_filter filter;
	struct btsrec_export opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	return status ? status : export_folded(rec, &opts, sink);
}
