/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of one CPU or thread as lines of a tree, with what is known when each has ended. */
#ifndef BTSREC_CALLTREE_H
#define BTSREC_CALLTREE_H

#include "base/bounds.h"
#include "base/counter_map.h"
#include "flow/filter.h"
#include "flow/thread_frames.h"
#include "flow/trace_fault.h"

/* What a view may hold in memory; a ring of 1 MiB has at most 43,690 records. */
#define CALLTREE_MAX_LINES	BOUND(8U << 20, 1U << 12)
/* So many of them may be whole, see struct calltree_cell: 450 MiB with the cells. */
#define CALLTREE_MAX_WHOLE	(CALLTREE_MAX_LINES / 2)
/* A power of two; 5 large pages. */
#define CALLTREE_CHUNK_LINES	BOUND(1U << 19, 1U << 8)

/** enum calltree_kind - what a line is */
enum calltree_kind {
	CALLTREE_CALL,	   /* a frame was entered */
	CALLTREE_RETURN,   /* to a function that was entered before what is known */
	CALLTREE_ASTRAY,   /* a return to where none was expected */
	CALLTREE_RESUME,   /* IRET in the kernel to another place than was interrupted */
	CALLTREE_THREAD,   /* from here on the stack of this thread */
	CALLTREE_INTERVAL, /* the thread that is followed continues here */
	CALLTREE_LOST,	   /* calls that were open in this thread may have ended elsewhere */
	CALLTREE_CYCLE,	   /* branches that go round without a call */
	CALLTREE_BREAK,	   /* the history contradicts the code */
	CALLTREE_FAULT,	   /* what follows dealt with the fault */
	CALLTREE_EVENT,	   /* no branch */
};

/**
 * struct calltree_line - a line
 * @n: event that made it; @last_n: event that ended the call, UINT64_MAX: none.
 * @from, @to: of that branch.
 * @segment, @level: see struct stack; of @to.  2^31 levels take 48 GiB of rings.
 * @frame, @vector: of a call: see struct frame.  @form: all of what kind of line it is.
 * @nr_branches: between @n and @last_n, or up to now; @more: and maybe others that
 *	are lost.
 * @handler: of a system call: the function that its number stands for; 0: none seen.
 */
struct calltree_line {
	uint64_t n;
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
	union {
		struct {
			uint64_t nr_branches;
			uint64_t handler;
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
		size_t interval;	/* of the thread */
	};
};

/**
 * struct calltree_cell - how a tree keeps a line, as it has millions of them
 * @from, @to: the lowest bits of the addresses.
 * @at: of a line that is kept whole: its place among those.
 * @ended: the end of the call is known; @nr_others: so many of the events between @n and there
 *	are no branches of its thread.
 * @pattern: the number, from 1, of what it has in common with many others, see
 *	CALLTREE_KEY_USED; 0: it is whole.
 *
 * A CALLTREE_CALL without a handler, with room here for all its numbers; else as in struct
 * calltree_line.
 */
struct calltree_cell {
	uint32_t from;
	uint32_t to;
	union {
		uint32_t n;
		uint32_t at;
	};
	uint32_t nr_branches : 24;
	uint32_t nr_others : 6;
	uint32_t ended : 1;
	uint32_t more : 1;
	uint16_t pattern;
	int16_t level;
};

_Static_assert(sizeof(struct calltree_cell) == 20, "memory is what a tree costs most");

#define CALLTREE_MAX_CELL_BRANCHES	((1U << 24) - 1)
#define CALLTREE_MAX_CELL_OTHERS	((1U << 6) - 1)

/* So many patterns are at hand; a power of two. */
#define CALLTREE_NR_KNOWN	64

/**
 * struct calltree - lines of one CPU or thread, oldest first; all arrays are owned
 * @chunks: of CALLTREE_CHUNK_LINES each, as many as @nr_lines need; see calltree_line().
 * @whole: lines that a cell has no room for.
 * @patterns: the keys of all patterns, by their numbers from 1 on.  @pattern_numbers: by key;
 *	@known: the same for some of them, see calltree_known().
 * @sides: threads that ran, where they are printed.
 * @times: of all events that carry one, also of those without a line, oldest first;
 *	@near: where the last question about them led.
 * @segments: how to make levels comparable: in segment @to they are more by @shift.
 *	@lowest: of the lines of this segment; @base: what calltree_indent() takes off.
 * @open: the calls that are open at the end, outermost first: numbers of lines.
 * @complete: nothing is missing at the end for lack of room for lines; @nomem: nor is the
 *	tree of any use, for lack of memory.
 */
struct calltree {
	struct calltree_cell *chunks[CALLTREE_MAX_LINES / CALLTREE_CHUNK_LINES];
	size_t nr_lines;
	struct calltree_line *whole;
	size_t nr_whole;
	size_t nr_whole_room;
	uint64_t *patterns;
	size_t nr_patterns;
	size_t nr_patterns_room;
	struct counter_map pattern_numbers;
	struct calltree_known {
		uint64_t key;
		uint16_t pattern;
	} known[CALLTREE_NR_KNOWN];
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
	size_t near;
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
	bool nomem;
};

/**
 * calltree_read() - the lines of events @first_n to @last_n of @cpu
 * @tree: zero-filled, or cleared, or with lines, which are forgotten.
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
 * @first_interval, @first_cpu_n: none older than this event of that interval.
 */
struct calltree_part {
	const struct filter_window *windows;
	size_t first_interval;
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

/** calltree_clear() - no lines, but room for them: memory that the system need not provide again */
void calltree_clear(struct calltree *tree);

/** calltree_fini() - free all; an empty tree is left. */
void calltree_fini(struct calltree *tree);

struct symbol_name;

/** calltree_cell() - of line @i, below @nr_lines; it stays where it is */
static inline struct calltree_cell *calltree_cell(const struct calltree *tree, size_t i)
{
	return &tree->chunks[i / CALLTREE_CHUNK_LINES][i % CALLTREE_CHUNK_LINES];
}

/*
 * The key of a pattern: bits 32 to 47 of where the call comes from and of where it leads to, with
 * all higher bits like the highest; its segment; the kind of its frame and the vector.
 */
#define CALLTREE_KEY_TO_SHIFT		16
#define CALLTREE_KEY_SEGMENT_SHIFT	32
#define CALLTREE_KEY_FRAME_SHIFT	48
#define CALLTREE_KEY_VECTOR_SHIFT	52
#define CALLTREE_KEY_USED		(1ULL << 63)

/* An address; 48 of its bits are the lowest of @high and @low. */
static inline uint64_t calltree_va(uint64_t high, uint32_t low)
{
	const uint64_t highest = 1ULL << 47;

	return (((high & 0xffff) << 32 | low) ^ highest) - highest;
}

/* Of @cell, which is not whole. */
static inline uint64_t calltree_key(const struct calltree *tree, const struct calltree_cell *cell)
{
	return tree->patterns[cell->pattern - 1];
}

/** calltree_cell_to() - where the line that @cell stands for leads to, if it is not whole */
static inline uint64_t calltree_cell_to(const struct calltree *tree,
					const struct calltree_cell *cell)
{
	return calltree_va(calltree_key(tree, cell) >> CALLTREE_KEY_TO_SHIFT, cell->to);
}

/*
 * What struct calltree_line has there of a CALLTREE_CALL, as one number: what is stored in parts
 * is slow to load as a whole.  Vectors are -1 to 255, and have 9 bits in a key.
 */
static inline uint32_t calltree_form(uint64_t key, bool more)
{
	uint32_t vector = key >> CALLTREE_KEY_VECTOR_SHIFT & 0x1ff;

	return CALLTREE_CALL | (uint32_t)(key >> CALLTREE_KEY_FRAME_SHIFT & 0xf) << 8 |
	       (uint32_t)more << 15 | (vector == 0x1ff ? UINT16_MAX : vector) << 16;
}

/** calltree_unpack() - the line that @cell stands for, if it is not whole */
static inline struct calltree_line calltree_unpack(const struct calltree *tree,
						   const struct calltree_cell *cell)
{
	uint64_t key = calltree_key(tree, cell);
	uint64_t nr_events = cell->nr_branches + cell->nr_others;

	return (struct calltree_line){
		.n = cell->n,
		.last_n = cell->ended ? cell->n + nr_events : UINT64_MAX,
		.from = calltree_va(key, cell->from),
		.to = calltree_va(key >> CALLTREE_KEY_TO_SHIFT, cell->to),
		.level = cell->level,
		.segment = (uint16_t)(key >> CALLTREE_KEY_SEGMENT_SHIFT),
		.form = calltree_form(key, cell->more),
		.call.nr_branches = cell->nr_branches,
	};
}

/** calltree_line() - line @i, below @nr_lines */
static inline struct calltree_line calltree_line(const struct calltree *tree, size_t i)
{
	const struct calltree_cell *cell = calltree_cell(tree, i);

	return cell->pattern ? calltree_unpack(tree, cell) : tree->whole[cell->at];
}

/** calltree_indent() - how deep @line is below the outermost line of its thread */
static inline uint32_t calltree_indent(const struct calltree *tree,
				       const struct calltree_line *line)
{
	return (uint32_t)(line->level - tree->segments[line->segment].base);
}

/** calltree_side() - which thread ran, of a CALLTREE_THREAD; NULL: not known */
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
bool calltree_ticks(struct calltree *tree, const struct calltree_line *line,
		    uint64_t *ret_min, uint64_t *ret_max);

#endif /* BTSREC_CALLTREE_H */
