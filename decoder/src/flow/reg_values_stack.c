// SPDX-License-Identifier: GPL-2.0-or-later
/* How far versions are from each other, and with that the words of the stack. */
#include "flow/reg_values_impl.h"

/* --- Distances ---------------------------------------------------------- */

/* What is as far from one root as each other can be compared, whatever the root holds. */
struct number reg_values_distance(const struct reg_values *values, uint32_t version)
{
	const struct version *of = &values->versions[version];

	if (of->known.mask == UINT64_MAX)
		return (struct number){ 0, of->known.value };
	return of->root ? (struct number){ of->root, of->offset } : (struct number){ version, 0 };
}

static struct known root_known(const struct reg_values *values, struct number number)
{
	return number.root ? values->versions[number.root].known : known_none();
}

/* Of the operand in memory; false: of two registers that are not known, or not of 64 bits. */
static bool operand_distance(const struct reg_values *values, const struct sem_insn *insn,
			     struct number *ret)
{
	struct number base = { 0, 0 }, index = { 0, 0 };

	if (insn->segment || insn->address_bytes != WORD_BYTES)
		return false;
	if (insn->base != SEM_NO_REG)
		base = reg_values_distance(values, values->at[insn->base]);
	if (insn->index != SEM_NO_REG)
		index = reg_values_distance(values, values->at[insn->index]);
	if (index.root)
		return false;
	ret->root = base.root;
	ret->offset = base.offset + (uint64_t)insn->disp + index.offset * insn->scale;
	return true;
}

/* The version of @reg that the step makes, or has. */
uint32_t reg_values_made(const struct reg_values *values, const struct sem_insn *insn,
			 unsigned int reg)
{
	uint32_t below = insn->writes & ((1U << reg) - 1);

	return insn->writes >> reg & 1 ? values->next + (uint32_t)__builtin_popcount(below) :
					 values->at[reg];
}

void reg_values_set_distance(struct reg_values *values, uint32_t version, struct number number)
{
	/* It would be its own root. */
	if (number.root == version)
		return;
	values->versions[version].root = number.root;
	values->versions[version].offset = number.offset;
}

static bool is_whole(const struct sem_operand *operand)
{
	return operand->kind == SEM_REGISTER && operand->bytes == WORD_BYTES;
}

/* The step makes @reg of @from and @by. */
static void move_distance(struct reg_values *values, const struct sem_insn *insn,
			  unsigned int reg, unsigned int from, uint64_t by)
{
	struct number number = reg_values_distance(values, values->at[from]);

	number.offset += by;
	if (insn->writes >> reg & 1)
		reg_values_set_distance(values, reg_values_made(values, insn, reg), number);
}

/* RSP of instructions of the stack. */
static void follow_rsp(struct reg_values *values, const struct sem_insn *insn)
{
	const struct sem_operand *operand = &insn->operands[0];

	if (reg_values_pushes(insn))
		move_distance(values, insn, SEM_RSP, SEM_RSP, -(uint64_t)WORD_BYTES);
	else if ((insn->op == SEM_POP && !operand->kind) ||
		 (insn->op == SEM_POP && is_whole(operand) && operand->reg != SEM_RSP) ||
		 (insn->op == SEM_RET && !operand->kind))
		move_distance(values, insn, SEM_RSP, SEM_RSP, WORD_BYTES);
	else if (insn->op == SEM_LEAVE)
		move_distance(values, insn, SEM_RSP, SEM_RBP, WORD_BYTES);
}

static void follow_operand(struct reg_values *values, const struct sem_insn *insn)
{
	const struct sem_operand *to = &insn->operands[0], *from = &insn->operands[1];
	struct number number;

	if (insn->op == SEM_MOV && is_whole(from))
		move_distance(values, insn, to->reg, from->reg, 0);
	else if (insn->op == SEM_LEA && operand_distance(values, insn, &number))
		reg_values_set_distance(values, reg_values_made(values, insn, to->reg), number);
	else if ((insn->op == SEM_ADD || insn->op == SEM_SUB) && from->kind == SEM_IMMEDIATE)
		move_distance(values, insn, to->reg, to->reg,
			      insn->op == SEM_ADD ? from->value : -from->value);
}

/* What the step makes is as far from another version as it says; @load: of reg_values_load(). */
void reg_values_follow_distances(struct reg_values *values, const struct sem_insn *insn,
				 uint32_t load)
{
	const struct sem_operand *to = &insn->operands[0];
	unsigned int reg = insn->op == SEM_LEAVE ? SEM_RBP : insn->op == SEM_IRET ? SEM_RSP :
			   is_whole(to) ? to->reg : SEM_NO_REG;

	follow_rsp(values, insn);
	if (reg == SEM_NO_REG || !(insn->writes >> reg & 1))
		return;
	if (load && (insn->op == SEM_POP || insn->op == SEM_MOV || reg != to->reg))
		reg_values_set_distance(values, reg_values_made(values, insn, reg),
					reg_values_distance(values, load));
	else if (is_whole(to))
		follow_operand(values, insn);
}

/* --- Words of the stack ------------------------------------------------- */

/* The most that RSP becomes less by: of kstack offsets a random number, of alignments few bytes. */
#define MAX_MOVE_BYTES	(1U << 16)

static void move_stack(struct reg_values *values, const struct sem_insn *insn)
{
	const struct sem_operand *to = &insn->operands[0], *by = &insn->operands[1];
	struct number than = reg_values_distance(values, values->at[SEM_RSP]);
	uint64_t max = UINT64_MAX;
	struct known known;

	if (!is_whole(to) || to->reg != SEM_RSP)
		return;
	if (insn->op == SEM_SUB && is_whole(by)) {
		known = values->versions[values->at[by->reg]].known;
		max = known.value | ~known.mask;
	} else if (insn->op == SEM_AND && by->kind == SEM_IMMEDIATE) {
		max = ~by->value;
	}
	if (max < MAX_MOVE_BYTES)
		words_below(&values->words, reg_values_made(values, insn, SEM_RSP), than,
			    than.offset);
}

static void words_operand(struct reg_values *values, const struct sem_insn *insn)
{
	bool of_register = insn->op == SEM_MOV && insn->store_bytes == WORD_BYTES &&
			   insn->operands[1].kind == SEM_REGISTER;
	struct number at;
	uint32_t word;

	/* A variable of this CPU, at its place in the area of that: on no stack. */
	if (insn->segment && insn->base == SEM_NO_REG && insn->index == SEM_NO_REG &&
	    insn->store_bytes <= WORD_BYTES)
		return;
	/* POP finds its operand by RSP as it is after the load: SDM vol. 2, POP. */
	if (insn->op == SEM_POP || insn->store_bytes > 512 ||
	    !operand_distance(values, insn, &at)) {
		words_forget(&values->words);
		return;
	}
	word = words_get(&values->words, at);
	words_store(&values->words, at, root_known(values, at), insn->store_bytes);
	/*
	 * A retpoline replaces the address that its call has pushed.  The stack for interrupts
	 * begins with where the other one ends.
	 */
	if ((word && of_register && !insn->disp && insn->base == SEM_RSP &&
	     insn->index == SEM_NO_REG) ||
	    (of_register && insn->operands[1].reg == SEM_RSP))
		words_set(&values->words, at, root_known(values, at),
			  values->at[insn->operands[1].reg]);
}

/* @insn: the interrupt, which has stored a frame below where the stack was. */
static void words_interrupt(struct reg_values *values, const struct sem_insn *insn)
{
	unsigned int error = reg_values_has_error_code(insn->cc) ? WORD_BYTES : 0;
	uint32_t version = reg_values_made(values, insn, SEM_RSP);
	struct number at = reg_values_distance(values, version);
	struct number than = reg_values_distance(values, values->at[SEM_RSP]);
	uint32_t words = values->next + (uint32_t)__builtin_popcount(insn->writes);
	uint64_t rsp = than.offset;

	if (reg_values_has_own_stack(insn->cc))
		return;
	than.offset -= IRET_FRAME_BYTES + error;
	if (at.root == version)
		words_below(&values->words, version, than, rsp);
	words_store(&values->words, at, root_known(values, at), IRET_FRAME_BYTES + error);
	if (error)
		words_set(&values->words, at, root_known(values, at), words + INTERRUPT_ERROR);
	at.offset += error;
	words_set(&values->words, at, root_known(values, at), words + INTERRUPT_RIP);
	at.offset += IRET_RSP * WORD_BYTES;
	words_set(&values->words, at, root_known(values, at), values->at[SEM_RSP]);
}

/* @insn pushes version @pushed. */
static void words_push(struct reg_values *values, const struct sem_insn *insn, uint32_t pushed)
{
	struct number at = reg_values_distance(values, reg_values_made(values, insn, SEM_RSP));

	words_store(&values->words, at, root_known(values, at), WORD_BYTES);
	words_set(&values->words, at, root_known(values, at), pushed);
	if (insn->op == SEM_PUSH && is_whole(&insn->operands[0]))
		reg_values_set_distance(values, pushed,
					reg_values_distance(values,
							    values->at[insn->operands[0].reg]));
}

/* The version of the word that it loads; 0: not known. */
uint32_t reg_values_load(const struct reg_values *values, const struct sem_insn *insn)
{
	struct number at = reg_values_distance(values, values->at[SEM_RSP]);

	switch (insn->op) {
	case SEM_POP:
	case SEM_RET:
		return words_get(&values->words, at);
	case SEM_LEAVE:
		return words_get(&values->words, reg_values_distance(values, values->at[SEM_RBP]));
	case SEM_IRET:
		at.offset += IRET_RSP * WORD_BYTES;
		return words_get(&values->words, at);
	default:
		return insn->load_bytes == WORD_BYTES && operand_distance(values, insn, &at) ?
			       words_get(&values->words, at) : 0;
	}
}

/* Stacks are aligned to their size, THREAD_SIZE or more. */
#define STACK_BYTES	(1U << 14)
/*
 * At its top: struct pt_regs, TOP_OF_KERNEL_STACK_PADDING, what FRED stores besides, and what a new
 * thread begins with, struct inactive_task_frame.
 */
#define TOP_BYTES	272

static void words_pause(struct reg_values *values, const struct sem_insn *insn)
{
	struct number rsp = reg_values_distance(values, values->at[SEM_RSP]);

	words_end_at(&values->words, rsp);
	if (insn->cc == OTHERS && rsp.root)
		words_forget(&values->words);
	else if (insn->cc == OTHERS)
		words_above(&values->words, (rsp.offset | (STACK_BYTES - 1)) + 1 - TOP_BYTES);
}

void reg_values_follow_words(struct reg_values *values, const struct sem_insn *insn)
{
	if (reg_values_is_interrupt(insn))
		words_interrupt(values, insn);
	else if (reg_values_is_pause(insn) || (insn->op == SEM_MOV && insn->cc == OTHERS))
		words_pause(values, insn);
	else if (reg_values_pushes(insn))
		words_push(values, insn, values->next + reg_values_nr_made(insn) - 1);
	else if (insn->store_bytes)
		words_operand(values, insn);
	else
		move_stack(values, insn);
}
