/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the formats of the call stack share. */
#ifndef BTSREC_VIEW_STACK_H
#define BTSREC_VIEW_STACK_H

#include <btsrec/values.h>

#include "flow/frame_confidence.h"
#include "render/json.h"
#include "flow/stackmem.h"
#include "flow/thread_frames.h"
#include "views/view_args.h"

/** enum stack_memory - is the address of a line in the memory of the stack? */
enum stack_memory {
	STACK_NOT_LOOKED,
	STACK_FOUND,
	STACK_MISSING,
};

/**
 * struct stack_line - a function that has not returned
 * @ip: where it is: what runs now, or where it goes on.
 * @is_return: @ip is after the instruction that left the function: a call, a system call.
 * @frame: how it was entered; NULL: before the history begins, or @by_thunk.
 * @by_thunk: a thunk that is about to lead to the function.
 * @gone: it has left by a jump to the function of the line before, at @ip.
 * @unreliable: how it was entered, and all older lines, may be otherwise.
 */
struct stack_line {
	uint64_t ip;
	bool is_return;
	const struct frame *frame;
	bool by_thunk;
	bool gone;
	bool unreliable;
	enum stack_memory memory;
};

/**
 * struct stack_astray - a return that led to where no call was expecting it
 * @expected: after the call of event @call_n; 0: not known.
 */
struct stack_astray {
	bool any;
	uint32_t pid;
	uint64_t n;
	uint64_t from;
	uint64_t to;
	uint64_t expected;
	uint64_t call_n;
};

/**
 * struct stack_printed - a call stack, ready to be printed
 * @side: of the thread; NULL: not known.
 * @lines: innermost first.
 * @complete: the oldest line is where the thread began.
 * @freeze: the registers to compare with; NULL: none.
 * @ip_line: the line at the address that they have; @nr_lines: none.
 * @memory_ends: more of the stack is not in the dump.
 * @places: NULL, or what numbers of events stand for: the stack is that of a thread, from all CPUs.
 * @args: of frames, see stack_args(); NULL: they are not wanted.
 */
struct stack_printed {
	unsigned int cpu;
	uint64_t n;
	const struct btsrec_side *side;
	struct stack_line *lines;
	size_t nr_lines;
	bool complete;
	struct unreliable unreliable;
	const struct stack_astray *astray;
	const struct btsrec_freeze *freeze;
	size_t ip_line;
	size_t nr_found;
	size_t nr_missing;
	bool memory_ends;
	const struct thread_places *places;
	struct args *args;
};

/* Each frame may be on top of a thunk; and what called the outermost one. */
#define STACK_NR_LINES	(2 * STACKS_MAX_DEPTH + 3)

/**
 * struct stacks_view - one btsrec_stack() under way
 * @fn: NULL: text; else receives the frames as values, with @arg.
 * @last_n: by CPU, number of the newest event; @nr_events: of the CPU to be printed that has most.
 * @at: the next of @opts->at.
 * @ip: where the CPU is; @prev, @next: of the last switch.
 * @astray: of the last return that led astray.
 * @args: of the CPU, owned; NULL: they are not wanted.
 */
struct stacks_view {
	struct renderer renderer;
	const struct btsrec_stack *opts;
	btsrec_frame_fn fn;
	void *arg;
	struct residencies residencies;
	uint64_t *last_n;
	uint64_t nr_events;
	bool nomem;
	struct frame_confidence frame_confidence;
	size_t at;
	uint64_t ip;
	bool has_switch;
	struct btsrec_switch sw;
	struct stack_astray astray;
	struct args *args;
	struct stack_line lines[STACK_NR_LINES];
};

/** stacks_follow() - the next event and what it did to the stacks */
void stacks_follow(struct stacks_view *view, const struct trace_event *traced,
		   const struct frames_step *step, struct frames *frames);

/** stacks_print() - print the stack of the thread that runs; @printed: what is known already */
void stacks_print(struct stacks_view *view, const struct frames *frames,
		  const struct btsrec_event *event, struct stack_printed *printed);

/**
 * stacks_thread() - of a struct stacks_view, the stack of the thread of its options at its end;
 * for cpu_tasks_one()
 */
enum btsrec_status stacks_thread(void *arg);

/** stack_n() - the number that event @n has on its CPU, *@ret_cpu */
uint64_t stack_n(const struct stack_printed *printed, uint64_t n, unsigned int *ret_cpu);

/** stack_line_find() - the name of the function of a line; as render_find() */
bool stack_line_find(struct renderer *r, const struct stack_line *line, struct symbol_name *ret,
		     enum symbol_why *ret_why);

/** stack_source_va() - where the source line of @line is: at its call, if it goes on after one */
uint64_t stack_source_va(const struct stack_line *line);

/** stack_line_how() - how a line was entered, BRANCH_TEXT_BYTES of room: "call", "irq:236" */
void stack_line_how(const struct stack_line *line, char *ret);

/** stack_unreliable_str() - the reason as one lower-case word; static. */
const char *stack_unreliable_str(enum unreliable_why why);

/** stack_args() - what the function of @line was entered with, as args_find() */
const struct args_shown *stack_args(const struct stack_printed *printed,
				    const struct stack_line *line);

/** stack_text(), stack_json() - print it */
void stack_text(struct renderer *r, const struct stack_printed *printed);
void stack_json(struct renderer *r, const struct stack_printed *printed);

/** stack_values() - hand its frames to @fn; it returns false: r->out.stopped is set */
void stack_values(struct renderer *r, const struct stack_printed *printed, btsrec_frame_fn fn,
		  void *arg);

#endif /* BTSREC_VIEW_STACK_H */
