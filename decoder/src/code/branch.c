// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/branch.h"

#define VECTOR_NMI		2
#define FIRST_EXTERNAL_VECTOR	32

static struct branch is_type(enum branch_type type)
{
	return (struct branch){ .type = type, .vector = -1 };
}

static struct branch is_none(enum code_fault fault)
{
	return (struct branch){ .type = BRANCH_NONE, .vector = -1, .fault = fault };
}

/* By its own vector only: also where there is such an instruction, an interrupt may hit it. */
static bool is_by_insn(const struct code_insn *last, const struct idt *idt, int vector)
{
	if (last->class == CODE_UNREADABLE)
		return vector == IDT_INT80 && idt->has_int80;
	return last->class == CODE_INT && last->vector == vector;
}

static struct branch judge_entry(const struct code_insn *last, const struct idt *idt, int vector)
{
	struct branch branch = { .type = BRANCH_IRQ, .vector = vector };

	if (is_by_insn(last, idt, vector))
		branch.type = BRANCH_INT;
	else if (vector == VECTOR_NMI)
		branch.type = BRANCH_NMI;
	else if (vector < FIRST_EXTERNAL_VECTOR)
		branch.type = BRANCH_EXCEPTION;
	return branch;
}

static struct branch judge_direct(const struct code_insn *last, uint64_t to)
{
	if (last->target != to)
		return is_none(CODE_OTHER_TARGET);
	if (last->there == CODE_THUNK_RETURN)
		return is_type(BRANCH_RET);
	if (last->class == CODE_CALL)
		return is_type(last->there ? BRANCH_CALL_IND : BRANCH_CALL);
	if (last->there)
		return is_type(BRANCH_JUMP_IND);
	return is_type(last->class == CODE_COND ? BRANCH_COND : BRANCH_JUMP);
}

/*
 * What the event is, is not in the address.  Where there is such an instruction an interrupt may
 * hit it, which the record does not show; that is taken for the instruction.
 */
static struct branch judge_fred(const struct code_insn *last)
{
	if (last->class == CODE_SYSCALL)
		return is_type(BRANCH_SYSCALL);
	if (last->class == CODE_INT)
		return (struct branch){ .type = BRANCH_INT, .vector = last->vector };
	return is_type(BRANCH_ENTRY);
}

/* No entry of the kernel: the instruction itself must lead there. */
static struct branch judge_insn(const struct code_insn *last, const struct idt *idt, uint64_t to)
{
	switch (last->class) {
	case CODE_COND:
	case CODE_JUMP:
	case CODE_CALL:
		return judge_direct(last, to);
	case CODE_JUMP_IND:
		return is_type(BRANCH_JUMP_IND);
	case CODE_CALL_IND:
		return is_type(BRANCH_CALL_IND);
	case CODE_RET:
		return is_type(BRANCH_RET);
	case CODE_IRET:
	case CODE_ERET:
		return is_type(BRANCH_IRET);
	case CODE_SYSCALL:
		return code_is_kernel(to) ? is_type(BRANCH_SYSCALL) : is_none(CODE_OTHER_TARGET);
	case CODE_SYSRET:
		return code_is_kernel(to) ? is_none(CODE_OTHER_TARGET) : is_type(BRANCH_SYSRET);
	case CODE_UNREADABLE:
		return is_type(BRANCH_UNKNOWN);
	case CODE_PLAIN:
	case CODE_WRMSR:
	case CODE_VMENTRY:
	case CODE_INT:
	case CODE_TRAP:
		break;
	}
	if (!idt->known && code_is_kernel(to))
		return is_type(BRANCH_ENTRY);
	return is_none(CODE_NO_BRANCH);
}

struct branch branch_judge(const struct code_insn *last, const struct idt *idt, uint64_t to)
{
	bool leads_there = last->has_target && last->target == to;
	int vector = leads_there ? -1 : idt_vector(idt, to);
	struct branch branch;

	if (vector >= 0)
		return judge_entry(last, idt, vector);
	if (!leads_there && idt_is_fred(idt, to))
		return judge_fred(last);
	branch = judge_insn(last, idt, to);
	branch.to_thunk = last->there && branch.type != BRANCH_NONE;
	if (last->here && branch.type != BRANCH_NONE)
		branch.type = BRANCH_THUNK;
	return branch;
}

bool branch_executes(const struct branch *branch)
{
	switch (branch->type) {
	case BRANCH_UNKNOWN:
	case BRANCH_NONE:
	case BRANCH_IRQ:
	case BRANCH_NMI:
	case BRANCH_EXCEPTION:
	case BRANCH_ENTRY:
		return false;
	default:
		return true;
	}
}

const char *branch_type_str(enum branch_type type)
{
	static const char *const names[] = {
		[BRANCH_UNKNOWN] = "unknown",
		[BRANCH_NONE] = "none",
		[BRANCH_CALL] = "call",
		[BRANCH_CALL_IND] = "icall",
		[BRANCH_RET] = "ret",
		[BRANCH_JUMP] = "jmp",
		[BRANCH_JUMP_IND] = "ijmp",
		[BRANCH_COND] = "cond",
		[BRANCH_SYSCALL] = "syscall",
		[BRANCH_SYSRET] = "sysret",
		[BRANCH_IRET] = "iret",
		[BRANCH_INT] = "int",
		[BRANCH_IRQ] = "irq",
		[BRANCH_NMI] = "nmi",
		[BRANCH_EXCEPTION] = "exception",
		[BRANCH_ENTRY] = "entry",
		[BRANCH_THUNK] = "thunk",
	};

	return type < sizeof(names) / sizeof(names[0]) ? names[type] : "unknown";
}
