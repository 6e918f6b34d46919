// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Is a word of the stack one that only its own function can store to?  If a pointer to it was made,
 * another CPU may have had that.
 */
#include "flow/origin_impl.h"

/**
 * struct privacy - the way back from a load to where its word came below the stack pointer
 * @address: of the word, on a stack of @stack_bytes.
 * @callee: the return address of a function lies there, which ran wholly below the word; 0: none.
 * @resume: what ran from this place on was the handler of an interrupt.
 * @proven: the word was free before.
 */
struct privacy {
	struct reg_values *values;
	uint64_t address;
	uint64_t stack_bytes;
	uint64_t callee;
	uint32_t resume;
	bool proven;
};

static bool is_frame_register(uint8_t reg)
{
	return reg == SEM_RSP || reg == SEM_RBP;
}

/* What only moves the stack, or keeps a register there, hands no pointer to anybody. */
static bool moves_stack(const struct sem_insn *insn)
{
	const struct sem_operand *to = &insn->operands[0];

	switch (insn->op) {
	case SEM_POP: case SEM_CALL: case SEM_RET: case SEM_LEAVE: case SEM_IRET:
	case SEM_CMP: case SEM_TEST: case SEM_JCC:
		return true;
	case SEM_PUSH:
		return to->kind != SEM_REGISTER || to->reg != SEM_RSP;
	default:
		return to->kind == SEM_REGISTER && to->bytes == WORD_BYTES &&
		       is_frame_register(to->reg);
	}
}

/* The register that @insn makes a value of, and that may be a pointer to the stack. */
static uint8_t frame_register(const struct sem_insn *insn)
{
	if (moves_stack(insn))
		return SEM_NO_REG;
	if (insn->op == SEM_LEA && is_frame_register(insn->base))
		return insn->base;
	if (insn->op == SEM_LEA && is_frame_register(insn->index))
		return insn->index;
	for (unsigned int i = 0; i < 3; i++)
		if (insn->operands[i].kind == SEM_REGISTER &&
		    is_frame_register(insn->operands[i].reg))
			return insn->operands[i].reg;
	return SEM_NO_REG;
}

/* A pointer to what is above the word, or to another stack, leads to no part of it. */
static bool leaks(const struct privacy *privacy, struct reg_values_step *step)
{
	uint8_t reg = frame_register(step->insn);
	struct known known, lea;
	enum origin_class class;

	if (reg == SEM_NO_REG || privacy->callee)
		return false;
	reg_values_look(privacy->values, step);
	known = origin_known(&step->at, reg, false, &class);
	if (step->insn->op == SEM_LEA && class == ORIGIN_CERTAIN) {
		lea = origin_known(&step->at, step->insn->operands[0].reg, true, &class);
		known = class == ORIGIN_CERTAIN ? lea : known;
	}
	return known.mask != UINT64_MAX ||
	       privacy->address - known.value < privacy->stack_bytes;
}

/* False: where the stack pointer was is not known. */
static bool follow_stack(struct privacy *privacy, struct reg_values_step *step)
{
	struct known before, behind;

	reg_values_look(privacy->values, step);
	before = step->at.certain.before[SEM_RSP];
	behind = step->at.certain.behind[SEM_RSP];
	if (before.mask != UINT64_MAX || behind.mask != UINT64_MAX)
		return false;
	if (step->insn->op == SEM_RET && !privacy->callee && before.value < privacy->address)
		privacy->callee = before.value;
	else if (step->insn->op == SEM_CALL && behind.value == privacy->callee)
		privacy->callee = 0;
	privacy->proven = !privacy->callee && before.value > privacy->address;
	return true;
}

static bool look_back(void *arg, struct reg_values_step *step)
{
	struct privacy *privacy = arg;
	bool is_certain;

	if (step->place >= privacy->resume)
		return true;
	privacy->resume = UINT32_MAX;
	if (step->cut || !step->insn->length_bytes)
		return false;
	if (step->insn->op == SEM_IRET)
		return reg_values_interrupted(privacy->values, step->place, &privacy->resume,
					      &is_certain);
	if (leaks(privacy, step))
		return false;
	if (step->insn->writes >> SEM_RSP & 1 && !follow_stack(privacy, step))
		return false;
	return !privacy->proven;
}

bool origin_is_private(const struct search *search)
{
	struct privacy privacy = { .values = search->values, .address = search->target.address,
				   .stack_bytes = search->question->stack_bytes,
				   .resume = UINT32_MAX };

	if (search->sought)
		reg_values_back(search->values, search->sought - 1, look_back, &privacy);
	return privacy.proven;
}
