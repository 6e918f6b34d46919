/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers of the instruction that faulted.  The recorder has kept them.  Of an older one they
 * are where the kernel's entry has saved them: in the memory of the stack of the handler.
 */
#ifndef BTSREC_FAULT_FRAME_H
#define BTSREC_FAULT_FRAME_H

#include "code/semantics.h"
#include "flow/fault.h"
#include "flow/unwind.h"

/**
 * struct fault_frame - registers of the code that was interrupted
 * @regs: general registers, and RFLAGS, by enum sem_reg.
 * @has_error_code, @error_code: what the processor stored, too; the kernel's entry takes it off the
 *	stack, so only the recorder has it.
 */
struct fault_frame {
	uint64_t regs[SEM_NR_REGS];
	bool has_error_code;
	uint64_t error_code;
};

/**
 * fault_frame_is_kept() - is the stack at the freeze of @cpu still that of its thread?
 *
 * The stack of a task that died of an oops is somebody else's; before 1.3 nobody knew of it.
 */
bool fault_frame_is_kept(const struct btsrec_root *root, const struct btsrec_cpu *cpu);

/**
 * fault_frame_find() - look for it from where the freeze found the stack pointer
 * @code: reads the dump.
 * @freeze: of the CPU of @fault, which is a FAULT_EXCEPTION of the kernel.
 *
 * The frame has the address of the fault, and lies where the processor puts one: right below the
 * stack pointer that it has saved.  Only exceptions that have stacks of their own are without
 * the second.
 *
 * Return: false: there is none, or more than one, or that memory is not in the dump.
 */
bool fault_frame_find(struct code *code, const struct btsrec_freeze *freeze,
		      const struct fault *fault, struct fault_frame *ret);

/** fault_frame_of() - the registers in @general */
void fault_frame_of(const struct btsrec_general *general, struct fault_frame *ret);

/**
 * fault_frame_get() - the registers at @fault: those that were kept, else by fault_frame_find()
 * @code: reads the dump.
 * @root, @cpu: the page of the CPU of @fault.
 *
 * Those that were kept are there for what an NMI interrupted, too, and of user code.
 *
 * Return: false: they are not known.
 */
bool fault_frame_get(struct code *code, const struct btsrec_root *root,
		     const struct btsrec_cpu *cpu, const struct fault *fault,
		     struct fault_frame *ret);

/**
 * fault_frame_exception() - the exception that the kernel deals with, from the stack alone
 * @code, @freeze: as above; the freeze is of an oops.
 * @ret: a FAULT_EXCEPTION that the history does not show.
 *
 * A return address into the entry of an exception, and right above it what the processor has
 * stored.  What of it is older than the stack pointer is in use.
 *
 * Return: false: there is none, or more than one, or that memory is not in the dump.
 */
bool fault_frame_exception(struct code *code, const struct btsrec_freeze *freeze,
			   struct fault *ret);

/**
 * fault_frame_interrupted() - the registers of what was interrupted at @ip
 * @code, @freeze: as above; of the CPU that was interrupted.
 * @ret: RSP, and the others if *@ret_whole, else 0.
 *
 * RSP is where the processor has stored it, with @ip: above the stack pointer of the freeze, or on
 * the stack that the interrupt came from.  The entry of NMIs has several copies, which are alike.
 * It has saved the others below one of them.
 *
 * Return: false: it is not there, or two differ.
 */
bool fault_frame_interrupted(struct code *code, const struct btsrec_freeze *freeze, uint64_t ip,
			     struct fault_frame *ret, bool *ret_whole);

/** enum fault_below - see fault_frame_below() */
enum fault_below {
	FAULT_BELOW_NONE,	/* the CPU is on no stack of interrupts */
	FAULT_BELOW_EITHER,	/* the interrupt came upon code of another one, which may last */
	FAULT_BELOW_FOUND,
};

/**
 * fault_frame_below() - what the interrupt came upon in which the freeze found the CPU
 * @code, @freeze: as above.
 * @passes: asked with @arg: does code that another interrupt came upon soon end by itself?
 * @ret: there, if it is found.
 *
 * The CPU may have run on, so that the callers of where it was are no longer there.  But the stack
 * of interrupts leads to the one that was left for it, and there an entry has saved all registers.
 */
enum fault_below fault_frame_below(struct code *code, const struct btsrec_freeze *freeze,
				   bool (*passes)(void *arg, uint64_t ip), void *arg,
				   struct unwind *ret);

#endif /* BTSREC_FAULT_FRAME_H */
