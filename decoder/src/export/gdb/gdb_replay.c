// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/gdb/gdb_replay.h"

#include <string.h>

#include "code/insn.h"
#include "flow/trace_fault.h"

#define WORD_BYTES 8

/* --- The place ---------------------------------------------------------- */

void gdb_replay_init(struct gdb_replay *replay, struct btsrec *rec, struct code *code,
		     const struct gdb_blocks *blocks, const struct btsrec_gdb *wanted)
{
	*replay = (struct gdb_replay){ .rec = rec, .code = code, .blocks = blocks,
				       .cpu = wanted->cpu, .likely = wanted->likely };
	gdb_replay_to_end(replay);
}

void gdb_replay_fini(struct gdb_replay *replay)
{
	trace_values_close(&replay->values);
}

void gdb_replay_to_end(struct gdb_replay *replay)
{
	replay->block = replay->blocks->nr_run;
	replay->va = replay->blocks->next_va;
	replay->place = TRACE_VALUES_NONE;
}

static const struct gdb_block *block_of(const struct gdb_replay *replay)
{
	return &replay->blocks->list[replay->block];
}

uint64_t gdb_replay_cr3(const struct gdb_replay *replay)
{
	return gdb_replay_at_end(replay) ? replay->blocks->side.cr3 : block_of(replay)->cr3;
}

/* Without memory, or where history cannot be read, only addresses are known. */
static void open_values(struct gdb_replay *replay)
{
	enum btsrec_status status;

	if (replay->has_values)
		return;
	replay->has_values = true;
	status = trace_fault(replay->rec, replay->cpu, &replay->fault);
	if (!status)
		status = trace_values_open(replay->rec, replay->cpu, &replay->fault,
					   &replay->values);
	if (status)
		trace_values_close(&replay->values);
}

/* Of the ranges of that event the one that is at @replay. */
static void find_place(struct gdb_replay *replay)
{
	const struct trace_values *values = &replay->values;
	const struct trace_values_range *range;
	uint64_t n = block_of(replay)->n;

	open_values(replay);
	replay->place = TRACE_VALUES_NONE;
	if (!code_is_kernel(replay->va))
		return;
	for (range = trace_values_event(values, n); range && range->n == n; range--) {
		for (uint32_t i = 0; i < range->nr; i++)
			if (reg_values_ip(values->values, range->place + i) == replay->va)
				replay->place = range->place + i;
		if (replay->place != TRACE_VALUES_NONE || range == values->ranges)
			break;
	}
}

/* To the block after or before this one; false: there is none. */
static bool next_block(struct gdb_replay *replay, bool back)
{
	size_t block = replay->block;

	do {
		if (back ? !block : block + 1 >= replay->blocks->nr_run)
			return false;
		block += back ? -1 : 1;
	} while (replay->blocks->list[block].gap);
	replay->block = block;
	return true;
}

static enum gdb_stop go_back(struct gdb_replay *replay)
{
	if (!gdb_replay_at_end(replay) && replay->va != block_of(replay)->begin) {
		replay->va = code_last(replay->code, gdb_replay_cr3(replay),
				       block_of(replay)->begin, replay->va);
		return GDB_STOP_STEP;
	}
	if (!next_block(replay, true))
		return GDB_STOP_BEGIN;
	replay->va = block_of(replay)->end;
	return GDB_STOP_STEP;
}

static enum gdb_stop go_on(struct gdb_replay *replay)
{
	struct code_insn insn;

	if (gdb_replay_at_end(replay))
		return GDB_STOP_END;
	if (replay->va != block_of(replay)->end &&
	    !code_insn(replay->code, gdb_replay_cr3(replay), replay->va, false, &insn) &&
	    insn.length_bytes <= block_of(replay)->end - replay->va) {
		replay->va += insn.length_bytes;
		return GDB_STOP_STEP;
	}
	if (!next_block(replay, false)) {
		gdb_replay_to_end(replay);
		return GDB_STOP_END;
	}
	replay->va = block_of(replay)->begin;
	return GDB_STOP_STEP;
}

/* --- Breakpoints -------------------------------------------------------- */

static unsigned int find_breakpoint(const struct gdb_replay *replay, uint64_t va)
{
	unsigned int i = 0;

	while (i < replay->nr_breakpoints && replay->breakpoints[i] != va)
		i++;
	return i;
}

bool gdb_replay_break(struct gdb_replay *replay, uint64_t va, bool set)
{
	unsigned int i = find_breakpoint(replay, va);

	if (!set && i < replay->nr_breakpoints)
		replay->breakpoints[i] = replay->breakpoints[--replay->nr_breakpoints];
	if (!set || i < replay->nr_breakpoints)
		return true;
	if (i == GDB_MAX_BREAKPOINTS)
		return false;
	replay->breakpoints[replay->nr_breakpoints++] = va;
	return true;
}

enum gdb_stop gdb_replay_go(struct gdb_replay *replay, bool back, bool far)
{
	enum gdb_stop stop;

	do {
		stop = back ? go_back(replay) : go_on(replay);
		if (stop == GDB_STOP_STEP &&
		    find_breakpoint(replay, replay->va) < replay->nr_breakpoints)
			stop = GDB_STOP_BREAK;
	} while (stop == GDB_STOP_STEP && far);
	if (!gdb_replay_at_end(replay))
		find_place(replay);
	return stop;
}

/* --- Values ------------------------------------------------------------- */

bool gdb_replay_register(struct gdb_replay *replay, unsigned int reg, uint64_t *ret)
{
	const struct reg_values_tier *tier;
	struct reg_values_at at;

	if (replay->place == TRACE_VALUES_NONE)
		return false;
	reg_values_begin(replay->values.values);
	reg_values_seek(replay->values.values, replay->place);
	(void)reg_values_next(replay->values.values, replay->place, &at);
	tier = replay->likely ? &at.likely : &at.certain;
	*ret = tier->before[reg].value;
	return tier->before[reg].mask == UINT64_MAX;
}

/* Of the block that runs: what was decoded is what ran. */
static bool is_in_block(const struct gdb_replay *replay, uint64_t va)
{
	const struct gdb_block *block = block_of(replay);

	return va >= block->begin && va - block->begin < block->end - block->begin +
							 CODE_INSN_MAX_BYTES;
}

/* Code that nothing can write at its address. */
static bool is_text(const struct gdb_replay *replay, uint64_t va)
{
	return code_is_kernel(va) && !code_is_none(replay->code, va) &&
	       code_access(replay->code, va) == WALK_ACCESS_READ;
}

/* Up to 8 bytes, no more than are left of the word. */
static bool read_word(struct gdb_replay *replay, uint64_t va, uint8_t *buf, unsigned int nr_bytes)
{
	struct known certain, likely, known;
	size_t got_bytes;

	if (is_in_block(replay, va) || is_text(replay, va))
		return code_bytes(replay->code, gdb_replay_cr3(replay), va, buf, nr_bytes,
				  &got_bytes) == CODE_OK;
	if (replay->place == TRACE_VALUES_NONE)
		return false;
	reg_values_memory(replay->values.values, replay->place, va, nr_bytes, &certain, &likely);
	known = replay->likely ? likely : certain;
	memcpy(buf, &known.value, nr_bytes);
	return known_is_all(known, nr_bytes * 8);
}

size_t gdb_replay_memory(struct gdb_replay *replay, uint64_t va, uint8_t *buf, size_t nr_bytes)
{
	size_t got_bytes = 0;

	while (got_bytes < nr_bytes) {
		uint64_t at = va + got_bytes;
		unsigned int nr = WORD_BYTES - at % WORD_BYTES;

		if (nr > nr_bytes - got_bytes)
			nr = (unsigned int)(nr_bytes - got_bytes);
		if (!read_word(replay, at, buf + got_bytes, nr)) {
			nr = 1;
			if (!read_word(replay, at, buf + got_bytes, nr))
				break;
		}
		got_bytes += nr;
	}
	return got_bytes;
}
