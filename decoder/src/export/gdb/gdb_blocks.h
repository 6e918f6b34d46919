/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A history as gdb's "record btrace" wants it: blocks of instructions that ran one
 * after the other, in one address space, with a mark where something is missing.
 */
#ifndef BTSREC_GDB_BLOCKS_H
#define BTSREC_GDB_BLOCKS_H

#include "code/code.h"
#include "recorder/session.h"

/**
 * struct gdb_block - from the instruction at @begin to the one at @end, both executed
 * @cr3: address space; 0: kernel code.
 * @n: the event that ends it.
 * @gap: nothing is known here; the rest is unset.
 */
struct gdb_block {
	uint64_t begin;
	uint64_t end;
	uint64_t cr3;
	uint64_t n;
	bool gap;
};

/**
 * struct gdb_blocks - oldest first; owned
 * @nr_run: so many of them ran; the one after these is the instruction at @next_va.
 * @side: of the newest block; a kernel thread has the CR3 of the process before it.
 * @next_va: the instruction that would have been next.
 * @at_freeze: it ran when the CPU was stopped.
 */
struct gdb_blocks {
	struct gdb_block *list;
	size_t nr;
	size_t nr_run;
	size_t nr_room;
	struct btsrec_side side;
	uint64_t next_va;
	bool at_freeze;
};

/**
 * gdb_blocks_make() - the blocks of one CPU
 * @wanted: the CPU, and the thread if not all.
 * @ret: free with gdb_blocks_fini() in every case.
 *
 * Return: BTSREC_OK; BTSREC_ERR_NODATA: no instruction of it is known; as
 * btsrec_events().
 */
enum btsrec_status gdb_blocks_make(struct btsrec *rec, const struct btsrec_gdb *wanted,
				   struct gdb_blocks *ret);

/** gdb_blocks_fini() - free the list. */
void gdb_blocks_fini(struct gdb_blocks *blocks);

/**
 * gdb_blocks_xml() - the document of gdb's qXfer:btrace:read
 *
 * Newest block first.  User code of another address space than that of the newest
 * block is a gap, because gdb would read other code there.  A gap is a block that ends
 * before it begins, which gdb says is a decode error and bridges.
 *
 * Return: the text, to free(); NULL: out of memory.
 */
char *gdb_blocks_xml(const struct gdb_blocks *blocks);

#endif /* BTSREC_GDB_BLOCKS_H */
