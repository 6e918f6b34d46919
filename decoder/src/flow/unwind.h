/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The callers of code that stands still, from the memory of its kernel stack.
 *
 * The code says where a return address is: whatever way leads from an instruction to the return
 * of its function moves the stack pointer by the same number of bytes.  So neither names nor
 * tables are needed, and no word of the stack is tried.  What is found there must be an address
 * after a call.  Code whose way out is not found ends it.
 */
#ifndef BTSREC_UNWIND_H
#define BTSREC_UNWIND_H

#include "code/code.h"

/* A kernel stack of 16 KiB holds fewer. */
#define UNWIND_MAX_FRAMES	256

/** enum unwind_how - how the code at hand was left */
enum unwind_how {
	UNWIND_STOPPED,		/* it stands there */
	UNWIND_CALLED,		/* the instruction before it is a call */
	UNWIND_INTERRUPTED,	/* by an interrupt or an exception */
	UNWIND_USER,		/* user code, which is not followed: the kernel was entered */
	UNWIND_UNKNOWN,		/* what is next is not known */
};

/**
 * struct unwind - a place on the way out
 * @ip, @sp: where it goes on, and the stack pointer there; of UNWIND_USER none.
 * @from: the call; else @ip.
 * @bp: RBP there; 0: not known.  Few functions need it.
 * @regs_kva: of UNWIND_INTERRUPTED and UNWIND_USER: where the struct pt_regs is; 0: not known.
 * @vector: of UNWIND_INTERRUPTED: of the exception; -1: it is none, or not known.
 * @entry: the function has not run but for its first instructions, which hook it.
 */
struct unwind {
	struct code *code;
	enum unwind_how how;
	uint64_t from;
	uint64_t ip;
	uint64_t sp;
	uint64_t bp;
	uint64_t regs_kva;
	int vector;
	bool entry;
};

/** unwind_begin() - at an instruction that has not run */
void unwind_begin(struct unwind *unwind, struct code *code, uint64_t ip, uint64_t sp,
		  uint64_t bp);

/**
 * unwind_freeze() - where the freeze took the registers
 * @freeze: of a CPU.
 *
 * A function that is hooked is there at its first instruction.
 */
void unwind_freeze(struct unwind *unwind, struct code *code, const struct btsrec_freeze *freeze);

/**
 * unwind_switched() - of a thread that does not run
 * @sp: as __switch_to_asm() has saved it.
 *
 * Return: false: there is no such thread.
 */
bool unwind_switched(struct unwind *unwind, struct code *code, uint64_t sp);

/** unwind_next() - go on to the caller, or to what was interrupted; false: there is none */
bool unwind_next(struct unwind *unwind);

/**
 * unwind_call_in() - the call that ends at @va, by the page table @cr3; 0: the kernel's
 * @ret_unknown: the code there cannot be read, or not all of it.
 *
 * Return, @ret_target: as unwind_call().
 */
uint64_t unwind_call_in(struct code *code, uint64_t cr3, uint64_t va, uint64_t *ret_target,
			bool *ret_unknown);

/**
 * unwind_call() - the call that ends at the kernel address @va
 * @ret_target: where it leads; 0: not known.
 *
 * Return: where it is; 0: there is none.
 */
uint64_t unwind_call(struct code *code, uint64_t va, uint64_t *ret_target);

/**
 * unwind_vector() - the exception whose entry @ip is in
 *
 * Return: the vector; -1: it is in none.
 */
int unwind_vector(struct code *code, uint64_t ip);

#endif /* BTSREC_UNWIND_H */
