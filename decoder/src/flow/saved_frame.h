/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is on the stack of interrupted code: what the processor stores (SDM vol. 3A, "64-Bit Mode
 * Stack Frame"), and below it what the kernel's entry pushes (struct pt_regs of
 * arch/x86/include/asm/ptrace.h; for a system call it has all of it).
 */
#ifndef BTSREC_SAVED_FRAME_H
#define BTSREC_SAVED_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#define WORD_BYTES	8

/* Words of struct pt_regs; the processor stores from REGS_RIP on, maybe an error code before it. */
enum {
	REGS_R15, REGS_R14, REGS_R13, REGS_R12, REGS_RBP, REGS_RBX,
	REGS_R11, REGS_R10, REGS_R9, REGS_R8,
	REGS_RAX, REGS_RCX, REGS_RDX, REGS_RSI, REGS_RDI,
	REGS_ERROR, REGS_RIP, REGS_CS, REGS_RFLAGS, REGS_RSP, REGS_SS,
	REGS_WORDS,
};

/* The same of what the processor stores. */
enum {
	IRET_RIP, IRET_CS, IRET_RFLAGS, IRET_RSP, IRET_SS,
	IRET_WORDS,
};

#define IRET_FRAME_BYTES	(IRET_WORDS * WORD_BYTES)

/* From struct pt_regs to its RIP. */
#define REGS_RIP_BYTES	(REGS_RIP * WORD_BYTES)

/* arch/x86/include/asm/segment.h; in 64-bit mode SS may as well be null. */
#define KERNEL_CS	0x10
#define KERNEL_SS	0x18
#define RPL_MASK	3

/* FRED has more in these words (SDM vol. 3A, "FRED Event Delivery"): of CS no more than 3 bits. */
#define SEGMENT_MASK	0xffffULL
#define CS_MAX		0x7ffffULL

/* SDM vol. 1, "EFLAGS Register": bit 1 is always 1, those from 22 on are reserved. */
#define RFLAGS_ALWAYS	2
#define RFLAGS_IF	(1ULL << 9)
#define RFLAGS_BITS	22

/** iret_is_user() - does CS lead to user mode? */
static inline bool iret_is_user(uint64_t cs)
{
	return (cs & RPL_MASK) == RPL_MASK;
}

#endif /* BTSREC_SAVED_FRAME_H */
