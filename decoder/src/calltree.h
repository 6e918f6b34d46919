/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of one CPU, or of one thread, as lines of a tree, each with what is known when it has ended. */
#ifndef BTSREC_CALLTREE_H
#define BTSREC_CALLTREE_H

#include "bounds.h"
#include "filter.h"
#include "thread_frames.h"
#include "trace_fault.h"

/* What a view may hold in memory; a ring of 1 MiB has at most 43,690 records. */
#define CALLTREE_MAX_LINES	BOUND(8U << 20, 1U << 12)
/* A power of two; 8 large pages. */
#define CALLTREE_CHUNK_LINES	BOUND(1U << 18, 1U << 8)

/** enum calltree_kind - what a line is */
enum calltree_kind {
	CALLTREE_CALL,		/* a frame was entered */
	CALLTREE_RETURN,	/* to a function that was entered before what is known */
	CALLTREE_ASTRAY,	/* a return to where none was expected */
	CALLTREE_RESUME,	/* IRET in the kernel to another place than was interrupted */
	CALLTREE_THREAD,	/* from here on the stack of this thread */
	CALLTREE_STRETCH,	/* the thread that is followed continues here */
	CALLTREE_LOST,		/* calls that were open in this thread may have ended elsewhere */
	CALLTREE_CYCLE,		/* branches that go round without a call */
	CALLTREE_BREAK,		/* the history contradicts the code */
	CALLTREE_FAULT,		/* what follows dealt with the fault */
	CALLTREE_EVENT,		/* no branch */
};

/**
 * struct calltree_line - a line; a tree has millions of them
 * @n: event that made it; @last_n: event that ended the call, UINT64_MAX: none.
 * @from, @to: of that branch.
 * @segment, @level: see struct stack; of @to.  2^31 levels take 48 GiB of rings.
 * @frame, @vector: of a call: see struct frame.  @form: all of what kind of line it is.
 * @nr_branches: between @n and @last_n, or up to now; @more: and maybe others that
 *	are lost.
 * @nr_times_begin, @nr_times_end: how many of the tree's times are before @n and
 *	before @last_n.  As many as a number has room for would take 100 GiB.
 * @handler: see calltree_handler().
 */
struct calltree_line {
	_Alignas(64) uint64_t n;
	uint64_t last_n;
	uint64_t from;
	uint64_t to;
	int32_t level;
	uint32_t segment;
	union {
		struct {
			enum calltree_kind kind : 8;
			enum frame_kind frame : 7;
			bool more : 1;
			int16_t vector;
		};
		uint32_t form;
	};
	uint32_t nr_times_begin;
	union {
		struct {
			uint64_t nr_branches;
			uint32_t nr_times_end;
			int32_t handler;
		} call;
		struct {
			unsigned int period;
			uint64_t nr_rounds;
		} cycle;
		struct {
			enum proof_kind verdict;
			enum code_fault fault;
			uint64_t fault_va;
		} broken;
		size_t event;		/* in @events of the tree */
		size_t side;		/* in @sides of the tree; SIZE_MAX: not known */
		size_t stretch;		/* of the thread */
	};
};

_Static_assert(sizeof(struct calltree_line) == 64, "a line is one of the cache");

/**
 * struct calltree - lines of one CPU or thread, oldest first; all arrays are owned
 * @chunks: of CALLTREE_CHUNK_LINES each, as many as @nr_lines need; see calltree_line().
 * @sides: who ran, where that is told.
 * @times: of all events that carry one, also of those without a line.
 * @segments: how to make levels comparable: in segment @to they are more by @shift.
 *	@lowest: of the lines of this segment; @base: what calltree_indent() takes off.
 * @open: the calls that are open at the end, outermost first: numbers of lines.
 * @complete: nothing is missing at the end for lack of CALLTREE_MAX_LINES.
 */
struct calltree {
	struct calltree_line *chunks[CALLTREE_MAX_LINES / CALLTREE_CHUNK_LINES];
	size_t nr_lines;
	struct btsrec_event *events;
	size_t nr_events;
	size_t nr_events_room;
	struct btsrec_side *sides;
	size_t nr_sides;
	size_t nr_sides_room;
	struct calltree_time {
		uint64_t n;
		uint64_t tsc;
	} *times;
	size_t nr_times;
	size_t nr_times_room;
	struct calltree_segment {
		bool joined;
		uint32_t to;		/* smaller than its own number */
		int64_t shift;
		int64_t lowest;
		int64_t base;
	} *segments;
	size_t nr_segments;
	size_t nr_segments_room;
	size_t *open;
	size_t nr_open;
	size_t nr_open_room;
	bool complete;
};

/**
 * calltree_read() - the lines of events @first_n to @last_n of @cpu
 * @last_n: UINT64_MAX: to the end.
 * @max_events: only if among the newest so many up to @last_n; 0: all.
 * @fault: of @cpu.
 *
 * Calls that were open at the first of them, or when their thread comes to run, have
 * lines as well.
 *
 * Return: as btsrec_events(); calltree_fini() is allowed after all of them.
 */
enum btsrec_status calltree_read(struct calltree *tree, struct btsrec *rec, unsigned int cpu,
				 uint64_t first_n, uint64_t last_n, uint64_t max_events,
				 const struct fault *fault);

/**
 * struct calltree_part - which events of a thread are wanted
 * @windows: by CPU; borrowed.
 * @first_stretch, @first_cpu_n: none older than this event of that stretch.
 */
struct calltree_part {
	const struct filter_window *windows;
	size_t first_stretch;
	uint64_t first_cpu_n;
};

/**
 * calltree_read_thread() - the lines of a thread over all CPUs
 * @places: what the numbers of events in @tree stand for; see thread_frames().
 *
 * Return: as calltree_read().
 */
enum btsrec_status calltree_read_thread(struct calltree *tree, struct thread *thread,
					struct thread_places *places,
					const struct calltree_part *part);

/** calltree_fini() - free all; an empty tree is left. */
void calltree_fini(struct calltree *tree);

struct symbol_name;

/** calltree_line() - line @i, below @nr_lines; it stays where it is */
static inline struct calltree_line *calltree_line(const struct calltree *tree, size_t i)
{
	return &tree->chunks[i / CALLTREE_CHUNK_LINES][i % CALLTREE_CHUNK_LINES];
}

/** calltree_indent() - how deep @line is below the outermost line of its thread */
static inline uint32_t calltree_indent(const struct calltree *tree,
				       const struct calltree_line *line)
{
	return (uint32_t)(line->level - tree->segments[line->segment].base);
}

/** calltree_handler() - of a system call: the function that its number stands for; 0: none seen */
static inline uint64_t calltree_handler(const struct calltree_line *line)
{
	return (uint64_t)(int64_t)line->call.handler;
}

/** calltree_side() - who ran, of a CALLTREE_THREAD; NULL: not known */
static inline const struct btsrec_side *calltree_side(const struct calltree *tree,
						      const struct calltree_line *line)
{
	return line->side == SIZE_MAX ? NULL : &tree->sides[line->side];
}

/**
 * calltree_ticks() - between which bounds the duration of the call @line is
 *
 * In TSC ticks, from the annotations around and within; includes the time in which
 * other threads ran.  Return: false if there is no upper bound.
 */
bool calltree_ticks(const struct calltree *tree, const struct calltree_line *line,
		    uint64_t *ret_min, uint64_t *ret_max);

#endif /* BTSREC_CALLTREE_H */
