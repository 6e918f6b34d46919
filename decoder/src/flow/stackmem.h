/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Return addresses in the stack memory of the dump: from a stack pointer up, word by
 * word, through stacks of interrupts and on to the user's.
 *
 * A word that is found may be left over from an earlier call.  A word that is not found
 * is not there.
 */
#ifndef BTSREC_STACKMEM_H
#define BTSREC_STACKMEM_H

#include "flow/stacks.h"

/* THREAD_SIZE and IRQ_STACK_SIZE (arch/x86/include/asm/page_64_types.h). */
#define STACKMEM_KERNEL_BYTES	16384
/* How far apart two return addresses of user code are looked for. */
#define STACKMEM_USER_BYTES	65536

/**
 * struct stackmem - the place up to which a stack has been looked at
 * @code: reads the dump; @cr3: of user addresses.
 */
struct stackmem {
	struct code *code;
	uint64_t cr3;
	uint64_t sp;
};

/**
 * stackmem_read() - copy what is there of the stack from @sp up, at most @max_bytes
 *
 * The page above a stack of the kernel is never mapped.
 *
 * Return: how many bytes of @buf are valid; 0: nothing is there.
 */
size_t stackmem_read(const struct stackmem *mem, uint64_t sp, void *buf, size_t max_bytes);

/** enum stackmem_found - what became of one return address */
enum stackmem_found {
	STACKMEM_FOUND,
	STACKMEM_MISSING,
	STACKMEM_NOT_IN_DUMP,	/* the stack's memory */
};

/**
 * stackmem_find() - look for what @frame, the next outer one, has put on the stack
 *
 * What is found moves @mem: above a call, or to where the interrupted code's stack was.
 */
enum stackmem_found stackmem_find(struct stackmem *mem, const struct frame *frame);

#endif /* BTSREC_STACKMEM_H */
