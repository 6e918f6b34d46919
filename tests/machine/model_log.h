/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ground truth that the BTS model leaves for each virtual CPU: a file
 * "cpuN.log" of one header page and a ring of log records.  Log record n of
 * the run is at slot n % capacity; the newest min(total, capacity) are there.
 */
#ifndef BTSREC_TESTS_MODEL_LOG_H
#define BTSREC_TESTS_MODEL_LOG_H

#include <stdint.h>

#define MODEL_LOG_MAGIC		0x474f4c4c444f4d42ULL	/* "BMODLLOG" */
#define MODEL_LOG_VERSION	1
#define MODEL_LOG_HEADER_BYTES	4096

struct model_log_header {
	uint64_t magic;
	uint32_t version;
	uint32_t cpu;
	uint64_t capacity;	/* log records in the ring that follows */
	uint64_t total;		/* log records written since the start */
};

enum model_log_kind {
	MODEL_LOG_BRANCH = 0,		/* a taken branch */
	MODEL_LOG_INTERRUPT = 1,	/* interrupt, exception or fault entry */
};

struct model_log_record {
	uint64_t from;		/* the three words stored into the guest's ring */
	uint64_t to;
	uint64_t flags;
	uint32_t slot;		/* (address stored to - base) / 24 */
	uint32_t kind;		/* enum model_log_kind */
};

/*
 * With the plugin's option insnlog=N also "cpuN.insns", of the same shape: the newest N
 * instructions that were begun while BTS was on.  One that was interrupted or faulted
 * is there again when it is begun anew, and so is each iteration of a repeated one.
 */
#define MODEL_INSNS_MAGIC	0x534e53494c444d42ULL	/* "BMDLISNS" */
#define MODEL_INSNS_VERSION	1

struct model_insns_header {
	uint64_t magic;
	uint32_t version;
	uint32_t cpu;
	uint64_t capacity;
	uint64_t total;		/* instructions logged since the start */
};

struct model_insn {
	uint64_t ip;
	uint64_t nr_records;	/* total of cpuN.log when it was begun */
};

/*
 * With the plugin's option reglog=N also "cpuN.regs": of the newest N instructions, as above,
 * the general registers before them, by their numbers in an encoding.
 */
#define MODEL_REGS_MAGIC	0x534745524c444d42ULL	/* "BMDLREGS" */
#define MODEL_REGS_VERSION	1
#define MODEL_NR_REGS		16
#define MODEL_REG_SP		4

struct model_regs_header {
	uint64_t magic;
	uint32_t version;
	uint32_t cpu;
	uint64_t capacity;
	uint64_t total;		/* instructions logged since the start */
};

struct model_regs {
	uint64_t ip;
	uint64_t nr_records;	/* total of cpuN.log when it was begun */
	uint64_t reg[MODEL_NR_REGS];
};

/*
 * With the plugin's option entrylog=N also "cpuN.entries", of the same shape and with struct
 * model_regs: of the newest N interrupts and exceptions that were recorded, the registers of the
 * interrupted code.  nr_records counts the record of it, too.
 */
#define MODEL_ENTRIES_MAGIC	0x544e45444c444d42ULL	/* "BMDLDENT" */
#define MODEL_ENTRIES_VERSION	1

/*
 * With the plugin's option stacks=N also "cpuN.stacks": the true call stack behind every
 * so many records, the newest N of them.  All of the thread's stack since recording began,
 * newest frame first: kernel and user, whatever CPU a frame was entered on.
 */
#define MODEL_STACKS_MAGIC	0x4b5453444c444d42ULL	/* "BMDLDSTK" */
#define MODEL_STACKS_VERSION	1
#define MODEL_STACK_FRAMES	64
#define MODEL_NOT_RECORDED	UINT64_MAX

struct model_stacks_header {
	uint64_t magic;
	uint32_t version;
	uint32_t cpu;
	uint64_t capacity;
	uint64_t total;		/* stacks logged since the start */
};

enum model_frame_kind {
	MODEL_FRAME_CALL = 0,
	MODEL_FRAME_USER_ENTRY = 1,	/* the kernel was entered from user mode */
	MODEL_FRAME_KERNEL_ENTRY = 2,	/* it was interrupted, or faulted */
};

struct model_frame {
	uint64_t ret;		/* where execution goes on when the frame is left */
	uint64_t record;	/* number in cpuN.log of what entered it */
	uint32_t cpu;		/* N of that */
	uint32_t kind;		/* enum model_frame_kind */
};

struct model_stack {
	uint64_t record;	/* number in cpuN.log of the newest record at this moment */
	uint32_t nr_frames;
	uint32_t nr_more;	/* older frames that are not here */
	struct model_frame frames[MODEL_STACK_FRAMES];
};

#endif
