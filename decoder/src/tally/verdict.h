/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why the machine stopped, in one sentence: one rule per kind of fault.  Each rule says what the
 * history and the memory of the dump prove, and no rule fires on what it does not know.  Pure.
 */
#ifndef BTSREC_VERDICT_H
#define BTSREC_VERDICT_H

#include "code/semantics.h"
#include "flow/fault_frame.h"
#include "kernel/walk.h"

/** enum verdict_kind - the rule that fired */
enum verdict_kind {
	VERDICT_NONE,
	VERDICT_NULL,		/* an access to less than a page behind address 0 */
	VERDICT_ADDRESS,	/* an access to another address that has no such page */
	VERDICT_READ_ONLY,	/* a write to where memory is only read */
	VERDICT_NON_CANONICAL,	/* an access to what no address can be */
	VERDICT_USER_MEMORY,	/* an access to what SMAP keeps from the kernel */
	VERDICT_PAGE_TABLE,	/* an access by an entry of a page table that cannot be */
	VERDICT_ACCESS,		/* an access that faulted; its address is not known */
	VERDICT_NO_CODE,	/* a branch to where no code is */
	VERDICT_PROTECTION,	/* #GP, and more is not known */
	VERDICT_BUG,		/* UD2, and an oops */
	VERDICT_WARN,		/* UD2, and a panic or what freeze_on= names */
	VERDICT_STACK_OVERFLOW,	/* the stack pointer is below the lowest page of a stack */
	VERDICT_BAD_STACK,	/* the stack pointer is where no memory is, nor close to any */
	VERDICT_EXCEPTION,	/* another exception */
	VERDICT_PANIC,		/* panic() was called */
	VERDICT_NMI,		/* an NMI handler panicked */
	VERDICT_MACHINE_CHECK,
	VERDICT_STUCK,		/* a function that does not return, and no task switch */
	VERDICT_LOCKUP,		/* a lockup or stall was reported; where is not known */
	VERDICT_HUNG_TASK,
	VERDICT_TRIGGER,	/* no fault: a place or request that freezes */
};

/** enum verdict_access - what was tried */
enum verdict_access {
	VERDICT_UNKNOWN_ACCESS,
	VERDICT_READ,
	VERDICT_WRITE,
	VERDICT_CALL,
	VERDICT_JUMP,
	VERDICT_RETURN,
};

/**
 * struct verdict_stay - a function that was entered long ago and has not returned
 * @ip: where in it the CPU was.
 * @report_ip: what the report of the lockup interrupted.  @report_n: the event of that interrupt.
 * @nr_branches: at least so many of the thread are newer than its entry.
 * @ticks: TSC ticks without a task switch on the CPU; 0: not known.
 * @nr_open: so many of the calls that are open are its own and those outside of it.
 * @at_stop: the NMI that stopped the CPU came upon it, not what reports the lockup.
 * @below_interrupt: by the stack alone: the CPU is in an interrupt that is older than the history.
 */
struct verdict_stay {
	uint64_t ip;
	uint64_t report_ip;
	uint64_t report_n;
	uint64_t nr_branches;
	uint64_t ticks;
	size_t nr_open;
	bool at_stop;
	bool below_interrupt;
};

/**
 * struct verdict_facts - what the rules ask for
 * @reason: of the freeze.
 * @fault: where it lies, or why that is not known.
 * @insn: at the fault; NULL: there is none that is known.
 * @is_trap: it is UD2 or alike.
 * @is_none: the kernel cannot execute anything at the address of the fault.
 * @frame: the registers there; NULL: not known.
 * @access_at: asked with @arg what the kernel may do at an address; NULL: that is not known.
 * @came: the branch that led to the address of the fault; NULL: another instruction was before it.
 *	Of a branch that faulted itself, in a thunk: the one that led into the thunk.
 * @came_by: what it was: VERDICT_CALL, VERDICT_JUMP or VERDICT_RETURN; without @came, and of a
 *	branch that faulted itself, what that is.
 * @has_target, @target: of an indirect branch at the fault: where it would have led.
 * @stay: of a lockup; NULL: nothing like that is known.
 */
struct verdict_facts {
	enum btsrec_reason reason;
	const struct fault *fault;
	const struct sem_insn *insn;
	bool is_trap;
	bool is_none;
	const struct fault_frame *frame;
	enum walk_access (*access_at)(void *arg, uint64_t va);
	void *arg;
	const struct btsrec_record *came;
	enum verdict_access came_by;
	bool has_target;
	uint64_t target;
	const struct verdict_stay *stay;
};

/**
 * struct verdict - the answer
 * @access: of an access, and of VERDICT_NO_CODE; of VERDICT_STUCK VERDICT_READ, if @has_address.
 * @has_address, @address: what it led to; of VERDICT_BAD_STACK the stack pointer; of VERDICT_STUCK
 *	the memory that the loop reads.
 * @ip: the instruction that did it; of VERDICT_NMI the interrupted one; of VERDICT_HUNG_TASK where
 *	the thread waits; of VERDICT_TRIGGER the caller of the function; 0: not known.
 * @handler: of VERDICT_NMI: the call of panic(); 0: not known.
 * @stay: of VERDICT_STUCK.
 */
struct verdict {
	enum verdict_kind kind;
	enum verdict_access access;
	bool has_address;
	uint64_t address;
	uint64_t ip;
	uint64_t handler;
	struct verdict_stay stay;
};

/** verdict_is_lockup() - is a freeze for @reason about code that does not go on? */
bool verdict_is_lockup(enum btsrec_reason reason);

/** verdict_is_indirect() - is @insn a near branch to what a register, memory or the stack has? */
bool verdict_is_indirect(const struct sem_insn *insn);

/** verdict_address() - where the memory operand of @facts->insn was; false: that is not known */
bool verdict_address(const struct verdict_facts *facts, uint64_t *ret);

/** verdict_of() - the verdict on what is known */
struct verdict verdict_of(const struct verdict_facts *facts);

/** verdict_kind_str() - the kind as one lower-case word with hyphens; static. */
const char *verdict_kind_str(enum verdict_kind kind);

/** verdict_access_str() - "read", "write", "call", "jump", "return"; NULL: unknown; static. */
const char *verdict_access_str(enum verdict_access access);

#endif /* BTSREC_VERDICT_H */
