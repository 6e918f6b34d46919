/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's log: the lockless ring of kernel/printk/printk_ringbuffer.c, which is there since
 * v5.10.  VMCOREINFO says where it is and where the members of its structs are, as
 * log_buf_vmcoreinfo_setup() of kernel/printk/printk.c writes it.  Pure: kernel memory in, records
 * out; anything may be in them.
 */
#ifndef BTSREC_PRINTK_RING_H
#define BTSREC_PRINTK_RING_H

#include "kernel/kread.h"

/* The kernel cuts its records at this: LOG_LINE_MAX, since v6.4 PRINTKRB_RECORD_MAX. */
#define PRINTK_TEXT_BYTES	1024

/* Set in a caller that is no thread: printk_caller_id(); the rest is the CPU. */
#define PRINTK_CALLER_CPU	(1U << 31)

/** enum printk_state - what becomes of a record, by its descriptor */
enum printk_state {
	PRINTK_READY,		/* committed or finalized */
	PRINTK_WRITING,		/* reserved: somebody was writing it, or more of it */
	PRINTK_UNUSED,		/* reusable, or another record's: there is none with this id */
	PRINTK_MISSING,		/* the dump lacks the descriptor */
};

/** enum printk_member - the members that VMCOREINFO names, as in printk_ring.c */
enum printk_member {
	PRB_DESC_RING,
	PRB_TEXT_DATA_RING,
	DESC_RING_COUNT_BITS,
	DESC_RING_DESCS,
	DESC_RING_INFOS,
	DESC_RING_HEAD_ID,
	DESC_RING_TAIL_ID,
	DESC_STATE_VAR,
	DESC_TEXT_BLK_LPOS,
	LPOS_BEGIN,
	LPOS_NEXT,
	INFO_SEQ,
	INFO_TS_NSEC,
	INFO_TEXT_LEN,
	INFO_CALLER_ID,
	DATA_RING_SIZE_BITS,
	DATA_RING_DATA,
	LONG_COUNTER,
	SIZE_DESC,
	SIZE_INFO,
	NR_PRINTK_MEMBERS,
};

/** printk_ring_keys - the lines of VMCOREINFO with them, and that of "prb", the last one */
extern const char *const printk_ring_keys[NR_PRINTK_MEMBERS + 1];

/**
 * struct printk_ring - the ring, and the way through it from the newest record to the oldest
 * @at: offsets of members, and sizes, all less than a page.
 * @id: of the record that comes next; @nr_left: how many there are from it on.
 */
struct printk_ring {
	const struct kread *kread;
	uint32_t at[NR_PRINTK_MEMBERS];
	uint64_t descs_kva;
	uint64_t infos_kva;
	uint64_t text_kva;
	unsigned int count_bits;
	unsigned int size_bits;
	uint64_t id;
	uint64_t nr_left;
};

/**
 * struct printk_record - one record
 * @seq, @ts_nsec, @caller, @text_bytes: of a record that is PRINTK_READY.
 * @begin, @next: logical positions of its text.
 */
struct printk_record {
	enum printk_state state;
	uint64_t id;
	uint64_t begin;
	uint64_t next;
	uint64_t seq;
	uint64_t ts_nsec;
	uint32_t caller;
	uint16_t text_bytes;
};

/**
 * printk_ring_open() - find the ring
 * @vmcoreinfo: text or NULL.
 * @ret: before the newest record; borrows @kernel.
 *
 * Return: NULL; else why there is none, static, and *@ret has no record.
 */
const char *printk_ring_open(const struct kread *kernel, const char *vmcoreinfo,
			     struct printk_ring *ret);

/** printk_ring_next() - the next older record, of any state; false: there are no more */
bool printk_ring_next(struct printk_ring *ring, struct printk_record *ret);

/**
 * printk_ring_text() - the text of @record, which is PRINTK_READY
 * @ret: @ret_bytes of it are valid; there is no NUL, and newlines may be in it.
 *
 * Return: NULL; else why it has none, static.
 */
const char *printk_ring_text(const struct printk_ring *ring, const struct printk_record *record,
			     char ret[PRINTK_TEXT_BYTES], size_t *ret_bytes);

/** printk_state() - what the state of a descriptor says of record @id */
enum printk_state printk_state(uint64_t state_var, uint64_t id);

/**
 * printk_block() - where in a ring of 1 << @size_bits bytes the data from @begin to @next is
 * @ret_at: of the block's id, which the text follows; @ret_bytes: of both; 0: an empty line.
 *
 * Return: false: there is none, it was lost when it was written, or this is no block.
 */
bool printk_block(uint64_t begin, uint64_t next, unsigned int size_bits, uint64_t *ret_at,
		  uint64_t *ret_bytes);

#endif /* BTSREC_PRINTK_RING_H */
