// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/value_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "flow/reg_values_impl.h"

/* Places of memory; when half of them are in use, all are forgotten. */
#define NR_PLACES (1U << 15)

/** struct place_word - what the word at @at holds; @generation: another: nothing */
struct place_word {
	struct value_number at;
	struct value_number value;
	uint32_t generation;
};

/**
 * struct value_numbers - @nr of them by version
 * @words: of the pass that makes them.
 * @at: versions before the step; @next: the first that it makes.
 */
struct value_numbers {
	struct reg_values *values;
	struct value_number *list;
	size_t nr;
	struct place_word *words;
	uint32_t generation;
	size_t nr_words;
	uint32_t at[SEM_NR_REGS];
	uint32_t next;
	struct open_interrupt open[NR_OPEN];
	unsigned int nr_open;
};

/* --- Words -------------------------------------------------------------- */

static void forget(struct value_numbers *numbers)
{
	numbers->generation++;
	numbers->nr_words = 0;
}

static bool is_same(struct value_number a, struct value_number b)
{
	return a.root == b.root && a.offset == b.offset;
}

static struct place_word *word_at(const struct value_numbers *numbers, struct value_number at)
{
	size_t i = ((at.root * 31 + at.offset) * 0x9e3779b97f4a7c15ULL >> 20) & (NR_PLACES - 1);

	while (numbers->words[i].generation == numbers->generation &&
	       !is_same(numbers->words[i].at, at))
		i = (i + 1) & (NR_PLACES - 1);
	return &numbers->words[i];
}

static bool word_get(const struct value_numbers *numbers, struct value_number at,
		     struct value_number *ret)
{
	const struct place_word *word = word_at(numbers, at);

	if (word->generation != numbers->generation)
		return false;
	*ret = word->value;
	return true;
}

static void word_set(struct value_numbers *numbers, struct value_number at,
		     struct value_number value)
{
	struct place_word *word;

	if (numbers->nr_words > NR_PLACES / 2)
		forget(numbers);
	word = word_at(numbers, at);
	numbers->nr_words += word->generation != numbers->generation;
	*word = (struct place_word){ at, value, numbers->generation };
}

/* --- Numbers ------------------------------------------------------------ */

/* A value that is known for certain is its own number. */
static struct value_number number_of(const struct value_numbers *numbers, uint32_t version)
{
	struct known known = numbers->values->versions[version].known;

	return known.mask == UINT64_MAX ? (struct value_number){ 0, known.value } :
					  numbers->list[version];
}

static struct value_number plus(struct value_number number, uint64_t by)
{
	return (struct value_number){ number.root, number.offset + by };
}

/* Of the operand, by the versions in @before. */
static bool address_of(const struct value_numbers *numbers, const struct sem_insn *insn,
		       const uint32_t *before, struct value_number *ret)
{
	struct value_number base = { 0, 0 }, index = { 0, 0 };

	if (insn->segment || insn->address_bytes != 8)
		return false;
	if (insn->base != SEM_NO_REG)
		base = number_of(numbers, before[insn->base]);
	if (insn->index != SEM_NO_REG)
		index = number_of(numbers, before[insn->index]);
	if (index.root)
		return false;
	*ret = plus(base, (uint64_t)insn->disp + index.offset * insn->scale);
	return true;
}

/* Which version of a register a step makes; 0: none. */
static uint32_t made(const struct sem_insn *insn, uint32_t first, unsigned int reg)
{
	uint32_t below = insn->writes & ((1U << reg) - 1);

	return insn->writes >> reg & 1 ? first + (uint32_t)__builtin_popcount(below) : 0;
}

static void set(struct value_numbers *numbers, const struct sem_insn *insn, unsigned int reg,
		struct value_number number)
{
	uint32_t version = made(insn, numbers->next, reg);

	if (version)
		numbers->list[version] = number;
}

static bool is_whole(const struct sem_operand *operand)
{
	return operand->kind == SEM_REGISTER && operand->bytes == WORD_BYTES;
}

/* RSP moves by @by. */
static void move_stack(struct value_numbers *numbers, const struct sem_insn *insn, uint64_t by)
{
	set(numbers, insn, SEM_RSP, plus(number_of(numbers, numbers->at[SEM_RSP]), by));
}

/* A register from memory; what is loaded twice is the same. */
static void load(struct value_numbers *numbers, const struct sem_insn *insn, unsigned int reg,
		 struct value_number at)
{
	uint32_t version = made(insn, numbers->next, reg);
	struct value_number value;

	if (!version)
		return;
	if (word_get(numbers, at, &value))
		numbers->list[version] = value;
	else
		word_set(numbers, at, numbers->list[version]);
}

static void move(struct value_numbers *numbers, const struct sem_insn *insn)
{
	const struct sem_operand *to = &insn->operands[0], *from = &insn->operands[1];
	struct value_number at;

	if (is_whole(to) && is_whole(from))
		set(numbers, insn, to->reg, number_of(numbers, numbers->at[from->reg]));
	else if (is_whole(to) && from->kind == SEM_MEMORY &&
		 address_of(numbers, insn, numbers->at, &at))
		load(numbers, insn, to->reg, at);
	else if (to->kind == SEM_MEMORY && is_whole(from) &&
		 address_of(numbers, insn, numbers->at, &at))
		word_set(numbers, at, number_of(numbers, numbers->at[from->reg]));
}

static void add(struct value_numbers *numbers, const struct sem_insn *insn)
{
	const struct sem_operand *to = &insn->operands[0], *by = &insn->operands[1];
	uint64_t offset = insn->op == SEM_ADD ? by->value : -by->value;

	if (is_whole(to) && by->kind == SEM_IMMEDIATE)
		set(numbers, insn, to->reg,
		    plus(number_of(numbers, numbers->at[to->reg]), offset));
}

static void push(struct value_numbers *numbers, const struct sem_insn *insn)
{
	uint32_t pushed = numbers->next + reg_values_nr_made(insn) - 1;

	move_stack(numbers, insn, -(uint64_t)WORD_BYTES);
	if (insn->op == SEM_PUSH && is_whole(&insn->operands[0]))
		numbers->list[pushed] = number_of(numbers, numbers->at[insn->operands[0].reg]);
	word_set(numbers, plus(number_of(numbers, numbers->at[SEM_RSP]), -(uint64_t)WORD_BYTES),
		 numbers->list[pushed]);
}

static void pop(struct value_numbers *numbers, const struct sem_insn *insn)
{
	if (is_whole(&insn->operands[0]) && insn->operands[0].reg != SEM_RSP) {
		load(numbers, insn, insn->operands[0].reg,
		     number_of(numbers, numbers->at[SEM_RSP]));
		move_stack(numbers, insn, WORD_BYTES);
	} else if (!insn->operands[0].kind) {
		move_stack(numbers, insn, WORD_BYTES);
	}
}

static void interrupt(struct value_numbers *numbers, const struct sem_insn *insn)
{
	struct open_interrupt *open = &numbers->open[numbers->nr_open];

	if (numbers->nr_open == NR_OPEN)
		return;
	numbers->nr_open++;
	open->ip = insn->ip;
	memcpy(open->versions, numbers->at, sizeof(open->versions));
}

/* Behind IRET all is as before, if it leads back. */
static void back(struct value_numbers *numbers, size_t step)
{
	struct reg_values *values = numbers->values;
	const struct open_interrupt *open;

	if (!numbers->nr_open)
		return;
	open = &numbers->open[--numbers->nr_open];
	if (step + 1 == values->nr_steps || reg_values_insn_at(values, step + 1)->ip != open->ip)
		numbers->nr_open = 0;
	else
		memcpy(numbers->at, open->versions, sizeof(numbers->at));
}

static void number(struct value_numbers *numbers, const struct sem_insn *insn)
{
	struct value_number at;

	switch (insn->op) {
	case SEM_MOV:
		move(numbers, insn);
		break;
	case SEM_LEA:
		if (is_whole(&insn->operands[0]) && address_of(numbers, insn, numbers->at, &at))
			set(numbers, insn, insn->operands[0].reg, at);
		break;
	case SEM_ADD:
	case SEM_SUB:
		add(numbers, insn);
		break;
	case SEM_PUSH:
	case SEM_CALL:
		push(numbers, insn);
		break;
	case SEM_POP:
		pop(numbers, insn);
		break;
	case SEM_RET:
		if (!insn->operands[0].kind)
			move_stack(numbers, insn, WORD_BYTES);
		break;
	default:
		break;
	}
}

static void pass(struct value_numbers *numbers)
{
	const struct reg_values *values = numbers->values;

	forget(numbers);
	for (size_t step = 0; step < values->nr_steps; step++) {
		const struct sem_insn *insn = reg_values_insn_at(values, step);
		uint32_t writes = insn->writes, next = numbers->next;

		if (values->steps[step] == STEP_CUT) {
			forget(numbers);
			numbers->nr_open = 0;
		} else if (reg_values_is_interrupt(insn)) {
			interrupt(numbers, insn);
		} else {
			number(numbers, insn);
		}
		FOR_EACH_REG(reg, writes)
			numbers->at[reg] = next++;
		numbers->next += reg_values_nr_made(insn);
		if (insn->op == SEM_IRET)
			back(numbers, step);
	}
}

struct value_numbers *value_numbers_new(struct reg_values *values)
{
	struct value_numbers *numbers = calloc(1, sizeof(*numbers));

	if (!numbers)
		return NULL;
	numbers->values = values;
	numbers->nr = values->nr_versions;
	numbers->list = calloc(numbers->nr + 1, sizeof(numbers->list[0]));
	numbers->words = calloc(NR_PLACES, sizeof(numbers->words[0]));
	if (!numbers->list || !numbers->words) {
		value_numbers_free(numbers);
		return NULL;
	}
	/* Root 0 stands for known numbers; version 0 is of no register that is used. */
	for (size_t i = 0; i < numbers->nr; i++)
		numbers->list[i].root = i + 1;
	pass(numbers);
	return numbers;
}

void value_numbers_free(struct value_numbers *numbers)
{
	if (!numbers)
		return;
	free(numbers->list);
	free(numbers->words);
	free(numbers);
}

bool value_numbers_address(const struct value_numbers *numbers,
			   const struct reg_values_step *step, bool is_store,
			   struct value_number *ret)
{
	const struct sem_insn *insn = step->insn;
	bool down = is_store && reg_values_pushes(insn);

	if (!down && (is_store || (insn->op != SEM_POP && insn->op != SEM_RET)))
		return address_of(numbers, insn, step->before, ret);
	*ret = number_of(numbers, step->before[SEM_RSP]);
	ret->offset -= down ? WORD_BYTES : 0;
	return true;
}
