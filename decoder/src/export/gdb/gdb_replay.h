/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A place in a history, in front of an instruction that ran, and what is known there: the
 * registers and the memory as they were, not as the dump has them.
 */
#ifndef BTSREC_GDB_REPLAY_H
#define BTSREC_GDB_REPLAY_H

#include "export/gdb/gdb_blocks.h"
#include "flow/trace_values.h"

/* Between which places gdb goes back and forth at once. */
#define GDB_MAX_BREAKPOINTS 64

/**
 * struct gdb_replay - of one connection
 * @blocks: borrowed.
 * @likely: what is likely counts as known.
 * @block, @va: the place; @block is blocks->nr_run at the end, where nothing has run yet.
 * @place: of reg_values_insn(); TRACE_VALUES_NONE: nothing is known there but @va.
 * @values: once @has_values.
 * @breakpoints: @nr_breakpoints addresses at which going back and forth ends.
 */
struct gdb_replay {
	struct btsrec *rec;
	struct code *code;
	const struct gdb_blocks *blocks;
	unsigned int cpu;
	bool likely;
	size_t block;
	uint64_t va;
	uint32_t place;
	bool has_values;
	struct fault fault;
	struct trace_values values;
	uint64_t breakpoints[GDB_MAX_BREAKPOINTS];
	unsigned int nr_breakpoints;
};

/** gdb_replay_init() - at the end; free with gdb_replay_fini() */
void gdb_replay_init(struct gdb_replay *replay, struct btsrec *rec, struct code *code,
		     const struct gdb_blocks *blocks, const struct btsrec_gdb *wanted);
void gdb_replay_fini(struct gdb_replay *replay);

/** gdb_replay_to_end() - to where the CPU was when its history ended */
void gdb_replay_to_end(struct gdb_replay *replay);

/** gdb_replay_at_end() - the dump has its registers and memory */
static inline bool gdb_replay_at_end(const struct gdb_replay *replay)
{
	return replay->block == replay->blocks->nr_run;
}

/** gdb_replay_cr3() - the address space there; 0: not known */
uint64_t gdb_replay_cr3(const struct gdb_replay *replay);

/** gdb_replay_break() - remember or forget a breakpoint; false: there are too many */
bool gdb_replay_break(struct gdb_replay *replay, uint64_t va, bool set);

/** enum gdb_stop - why going back or forth has ended */
enum gdb_stop {
	GDB_STOP_STEP,
	GDB_STOP_BREAK,
	GDB_STOP_BEGIN,		/* nothing older is known */
	GDB_STOP_END,
};

/**
 * gdb_replay_go() - to the next or to the last instruction, or to a breakpoint
 * @back: to older ones.  @far: as far as there is no breakpoint.
 *
 * What is missing in the history is passed by.
 */
enum gdb_stop gdb_replay_go(struct gdb_replay *replay, bool back, bool far);

/** gdb_replay_register() - what is in general register @reg; false: not known */
bool gdb_replay_register(struct gdb_replay *replay, unsigned int reg, uint64_t *ret);

/**
 * gdb_replay_memory() - what the memory at @va held; not at the end
 *
 * Known is the code, what is never written, words of the stack, and, if asked for, what is likely.
 *
 * Return: how many leading bytes of @buf are known.
 */
size_t gdb_replay_memory(struct gdb_replay *replay, uint64_t va, uint8_t *buf, size_t nr_bytes);

#endif /* BTSREC_GDB_REPLAY_H */
