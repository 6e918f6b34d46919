// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A value that a loop has counted to: what it began with says little.  The loop should have ended
 * before, so what says where it ends is followed.
 */
#include "flow/origin_impl.h"

#include "code/code.h"

/* More than the rounds of most loops run. */
#define MAX_ROUND_STEPS 65536

/**
 * struct loop_round - the newest round of the loop that the instruction at @ip is in, backwards
 * @start: where a round begins; 0: not known yet.
 * @next_ip: what ran after the step.
 * @nr_wanted: how often that instruction ran in the rounds that are known; 0: often enough.
 * @counted: registers that grow or shrink by a constant in it, a bit each.
 * @is_back: the next older instruction that sets flags decides whether there is another round, from
 *	@back_to on.
 * @test: that instruction, if @has_test.
 */
struct loop_round {
	struct reg_values *values;
	uint64_t ip;
	uint64_t start;
	uint64_t next_ip;
	unsigned int nr_wanted;
	unsigned int nr_steps;
	uint32_t resume;
	uint32_t counted;
	bool is_back;
	uint64_t back_to;
	bool has_test;
	struct reg_values_step test;
};

/* The register that @insn makes greater or less by a constant; SEM_NO_REG: none. */
static uint8_t counts(const struct sem_insn *insn)
{
	const struct sem_operand *own = &insn->operands[0];

	if (own->kind != SEM_REGISTER)
		return SEM_NO_REG;
	switch (insn->op) {
	case SEM_INC: case SEM_DEC:
		return own->reg;
	case SEM_ADD: case SEM_SUB:
		return insn->operands[1].kind == SEM_IMMEDIATE ? own->reg : SEM_NO_REG;
	case SEM_LEA:
		return insn->base == own->reg && insn->index == SEM_NO_REG ? own->reg : SEM_NO_REG;
	default:
		return SEM_NO_REG;
	}
}

bool origin_is_counted(const struct origin *origin, const struct sem_insn *insn)
{
	const struct origin_hop *last = &origin->hops[origin->nr - 1];

	return origin->nr > 2 && counts(insn) != SEM_NO_REG && last->kind == ORIGIN_COMPUTED &&
	       last->insn == insn && last[-1].kind == ORIGIN_COMPUTED && last[-1].insn == insn;
}

/* The newest hop that counts, which may be in a loop; 0: there is none. */
static size_t find_count(const struct origin *origin)
{
	for (size_t i = 1; i + 1 < origin->nr; i++)
		if (origin->hops[i].kind == ORIGIN_COMPUTED &&
		    counts(origin->hops[i].insn) == origin->hops[i].target.reg)
			return i;
	return 0;
}

/* Has it counted again, in an older round? */
static bool is_again(const struct origin *origin, size_t i)
{
	return i + 2 < origin->nr && origin->hops[i].insn == origin->hops[i + 1].insn;
}

/* Has the loop made the most of the value?  Of an address: has it led away from memory? */
static bool is_made_by_loop(const struct origin_question *question, const struct origin_hop *count,
			    const struct origin_hop *start)
{
	uint64_t by = count->value - start->value;

	if (count->value_class == ORIGIN_UNKNOWN || start->value_class == ORIGIN_UNKNOWN)
		return false;
	if (code_is_kernel(count->value) && code_is_kernel(start->value))
		return question->is_there && question->is_there(question->arg, start->value) &&
		       !question->is_there(question->arg, count->value);
	if (code_is_kernel(by))
		by = -by;
	return by >= start->value;
}

static void note_test(struct loop_round *round, struct reg_values_step *step)
{
	const struct sem_insn *insn = step->insn;

	if (round->is_back && insn->writes >> SEM_FLAGS & 1) {
		reg_values_look(round->values, step);
		round->test = *step;
		round->has_test = true;
		round->start = round->back_to;
	}
	/* A branch back, around the instruction that counts. */
	round->back_to = insn->op == SEM_JCC ? round->next_ip : round->back_to;
	if (insn->op == SEM_JCC)
		round->is_back = round->next_ip <= round->ip && insn->ip >= round->ip;
	else if (insn->writes >> SEM_FLAGS & 1)
		round->is_back = false;
}

static bool look_back(void *arg, struct reg_values_step *step)
{
	struct loop_round *round = arg;
	const struct sem_insn *insn = step->insn;
	bool is_certain;
	uint8_t reg;

	if (step->place >= round->resume)
		return true;
	round->resume = UINT32_MAX;
	if (step->cut || !insn->length_bytes || ++round->nr_steps > MAX_ROUND_STEPS)
		return false;
	if (insn->op == SEM_IRET)
		return reg_values_interrupted(round->values, step->place, &round->resume,
					      &is_certain);
	reg = counts(insn);
	if (reg != SEM_NO_REG)
		round->counted |= 1U << reg;
	if (!round->has_test)
		note_test(round, step);
	round->next_ip = insn->ip;
	round->nr_wanted -= round->nr_wanted && insn->ip == round->ip;
	/* What else is counted in it? */
	return round->nr_wanted || (round->has_test && insn->ip != round->start);
}

/* What the counter is compared with, or the register that is counted down; NULL: not known. */
static const struct sem_operand *find_bound(const struct loop_round *round)
{
	const struct sem_operand *operands = round->test.insn->operands;
	bool is_counted[2];

	if (counts(round->test.insn) != SEM_NO_REG || round->test.insn->op == SEM_TEST)
		return operands[0].kind == SEM_REGISTER ? &operands[0] : NULL;
	if (round->test.insn->op != SEM_CMP)
		return NULL;
	for (unsigned int i = 0; i < 2; i++)
		is_counted[i] = operands[i].kind == SEM_REGISTER &&
				round->counted >> operands[i].reg & 1;
	return is_counted[0] == is_counted[1] ? NULL : &operands[is_counted[0]];
}

/* False: where it is is not known. */
static bool ask_bound(const struct loop_round *round, const struct sem_operand *bound,
		      struct origin_target *ret)
{
	enum origin_class class;
	struct known address;

	*ret = (struct origin_target){ .reg = bound->reg, .nr_bytes = WORD_BYTES };
	if (bound->kind == SEM_REGISTER)
		return true;
	address = origin_address(round->values, &round->test, false, &class);
	*ret = (struct origin_target){ .reg = SEM_NO_REG, .nr_bytes = bound->bytes,
				       .address = address.value, .has_address = true };
	return bound->kind == SEM_MEMORY && class != ORIGIN_UNKNOWN;
}

/* The chain of @origin goes on from its hop @i with @bound. */
static void go_on(struct origin *origin, size_t i, const struct origin *bound)
{
	origin->nr = i + 1;
	for (size_t at = 0; at < bound->nr && origin->nr < ORIGIN_MAX_HOPS; at++) {
		struct origin_hop *hop = &origin->hops[origin->nr++];

		*hop = bound->hops[at];
		hop->class = origin_worse(hop->class, ORIGIN_LIKELY);
	}
}

void origin_find_bound(struct reg_values *values, const struct origin_question *question,
		       struct origin *origin)
{
	struct loop_round round = { .values = values, .resume = UINT32_MAX };
	struct origin_question next = *question;
	size_t i = find_count(origin);
	const struct sem_operand *operand;
	struct origin bound = { .nr = 1 };

	if (!i)
		return;
	round.nr_wanted = 1U + is_again(origin, i);
	if (!is_made_by_loop(question, &origin->hops[i], &origin->hops[i + round.nr_wanted]))
		return;
	round.ip = origin->hops[i].insn->ip;
	round.next_ip = reg_values_ip(values, origin->hops[i - 1].place);
	reg_values_back(values, origin->hops[i - 1].place - 1, look_back, &round);
	operand = round.has_test ? find_bound(&round) : NULL;
	if (!operand)
		return;
	next.place = round.test.place;
	if (operand->kind == SEM_IMMEDIATE) {
		bound.hops[0] = (struct origin_hop){ .place = next.place, .value = operand->value,
			.target = origin->hops[i].target, .value_class = ORIGIN_CERTAIN };
	} else {
		if (!ask_bound(&round, operand, &next.target))
			return;
		origin_find(values, &next, &bound);
		if (bound.nr < 2)
			return;
	}
	bound.hops[0].kind = ORIGIN_BOUNDED;
	bound.hops[0].insn = round.test.insn;
	go_on(origin, i, &bound);
}
