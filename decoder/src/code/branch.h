/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What kind of branch a record is: the instruction at its source, where it can lead,
 * and whether the target is an entry of the kernel.  Pure.
 */
#ifndef BTSREC_BRANCH_H
#define BTSREC_BRANCH_H

#include "code/code.h"

/** enum branch_type - thunks are folded: a call of an indirect thunk is an indirect call */
enum branch_type {
	BRANCH_UNKNOWN,		/* the instruction is not in the dump */
	BRANCH_NONE,		/* nothing there can lead to the target */
	BRANCH_CALL,
	BRANCH_CALL_IND,
	BRANCH_RET,
	BRANCH_JUMP,
	BRANCH_JUMP_IND,
	BRANCH_COND,
	BRANCH_SYSCALL,
	BRANCH_SYSRET,
	BRANCH_IRET,		/* or ERETU or ERETS */
	BRANCH_INT,		/* by an instruction; has a vector */
	BRANCH_IRQ,		/* has a vector */
	BRANCH_NMI,
	BRANCH_EXCEPTION,	/* has a vector */
	BRANCH_ENTRY,		/* interrupt or exception: the IDT is not in the dump, or FRED */
	BRANCH_THUNK,		/* inside a thunk, after the branch that stands for it */
};

/**
 * struct branch - the verdict on one record
 * @vector: of INT, IRQ, NMI and EXCEPTION; else -1.
 * @fault: CODE_OK; or CODE_NO_BRANCH or CODE_OTHER_TARGET with BRANCH_NONE.
 * @to_thunk: it leads into a thunk, so the next branch goes on with it.
 */
struct branch {
	enum branch_type type;
	int vector;
	enum code_fault fault;
	bool to_thunk;
};

/**
 * branch_judge() - what leads from the instruction @last to @to
 * @last: at the record's source.
 */
struct branch branch_judge(const struct code_insn *last, const struct idt *idt, uint64_t to);

/** branch_executes() - whether the instruction at the source completed. */
bool branch_executes(const struct branch *branch);

/** branch_type_str() - the type as one lower-case word; static. */
const char *branch_type_str(enum branch_type type);

#endif /* BTSREC_BRANCH_H */
