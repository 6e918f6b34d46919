// SPDX-License-Identifier: GPL-2.0-or-later
/* What is known of a step, and the way back from one. */
#include "flow/reg_values_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"

/* So many steps are read in some microseconds. */
#define MARK_STEPS	BOUND(4096, 4)

void reg_values_begin(struct reg_values *values)
{
	values->step = 0;
	values->next = 0;
	values->part = 0;
	memset(values->at, 0, sizeof(values->at));
}

static void make_marks(struct reg_values *values)
{
	size_t nr = values->nr_steps / MARK_STEPS + 1;

	values->marks = malloc(nr * sizeof(values->marks[0]));
	reg_values_begin(values);
	for (size_t i = 0; values->marks && i < nr; i++) {
		while (values->step < i * MARK_STEPS)
			reg_values_step_over(values, reg_values_insn_at(values, values->step));
		memcpy(values->marks[i].at, values->at, sizeof(values->at));
		values->marks[i].next = values->next;
	}
}

/* Without memory for marks, from the beginning. */
void reg_values_seek(struct reg_values *values, uint32_t place)
{
	const struct mark *mark;

	if (values->step <= place && place - values->step < MARK_STEPS)
		return;
	if (!values->marks)
		make_marks(values);
	reg_values_begin(values);
	if (!values->marks)
		return;
	mark = &values->marks[place / MARK_STEPS];
	values->step = place / MARK_STEPS * MARK_STEPS;
	values->next = mark->next;
	memcpy(values->at, mark->at, sizeof(values->at));
}

static void copy_tier(const struct sem_state *state, struct reg_values_tier *ret)
{
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++) {
		ret->before[reg] = *state->before[reg];
		ret->behind[reg] = *state->behind[reg];
	}
}

/* What is certain and what is likely of the step that is under way. */
static void read_step(struct reg_values *values, const struct sem_insn *insn,
		      const uint32_t *before, uint32_t first, struct reg_values_at *ret)
{
	struct sem_state state;

	reg_values_link(values, insn, before, first, &state);
	copy_tier(&state, &ret->certain);
	values->is_likely = values->likely;
	reg_values_link(values, insn, before, first, &state);
	copy_tier(&state, &ret->likely);
	values->is_likely = false;
}

const struct sem_insn *reg_values_next(struct reg_values *values, uint32_t place,
				       struct reg_values_at *ret)
{
	const struct sem_insn *insn;

	while (values->step < place)
		reg_values_step_over(values, reg_values_insn_at(values, values->step));
	insn = reg_values_insn_at(values, place);
	read_step(values, insn, values->at, values->next, ret);
	return insn;
}

void reg_values_look(struct reg_values *values, struct reg_values_step *step)
{
	read_step(values, step->insn, step->before, step->first, &step->at);
}

void reg_values_back(struct reg_values *values, uint32_t place, reg_values_step_fn fn, void *arg)
{
	struct reg_values_step step;
	uint32_t before[SEM_NR_REGS], was_next = values->next;
	size_t was_step = values->step, was_part = values->part;
	bool is_within = values->is_back;

	values->is_back = true;
	memcpy(before, values->current, sizeof(before));
	values->next = (uint32_t)values->nr_versions;
	values->part = values->nr_parts - 1;
	for (values->step = values->nr_steps; values->step-- > 0;) {
		step.insn = reg_values_insn_at(values, values->step);
		reg_values_step_back(values, step.insn, before);
		step.cut = values->steps[values->step] == STEP_CUT ||
			   reg_values_is_pause(step.insn);
		step.why = reg_values_is_pause(step.insn) ? REG_VALUES_PAUSE :
							    values->parts[values->part].why;
		step.place = (uint32_t)values->step;
		if (values->step == values->parts[values->part].first_step && values->part)
			values->part--;
		if (values->step > place)
			continue;
		step.before = before;
		step.first = values->next;
		if (!fn(arg, &step))
			break;
	}
	values->is_back = is_within;
	reg_values_begin(values);
	if (!is_within)
		return;
	values->step = was_step;
	values->next = was_next;
	values->part = was_part;
}

/* RSP or RBP leads to the word, and no operand that is shown; SEM_NO_REG: an operand does. */
static uint8_t hidden_base(const struct sem_insn *insn, bool is_store)
{
	if (!is_store && insn->op == SEM_LEAVE)
		return SEM_RBP;
	if (is_store ? reg_values_pushes(insn) || reg_values_is_interrupt(insn) :
		       insn->op == SEM_POP || insn->op == SEM_RET)
		return SEM_RSP;
	return SEM_NO_REG;
}

struct known reg_values_address(const struct reg_values *values, const struct sem_insn *insn,
				const struct reg_values_tier *tier, bool is_store)
{
	struct sem_state state = { 0 };

	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++) {
		state.before[reg] = (struct known *)&tier->before[reg];
		state.behind[reg] = (struct known *)&tier->behind[reg];
	}
	return reg_values_place(values, insn, &state, is_store);
}

struct known reg_values_place(const struct reg_values *values, const struct sem_insn *insn,
			      const struct sem_state *state, bool is_store)
{
	uint8_t base = hidden_base(insn, is_store);
	struct known address;

	if (base != SEM_NO_REG)
		return is_store ? *state->behind[base] : *state->before[base];
	address = sem_address(insn, state);
	if (!insn->segment)
		return address;
	return values->memory.has_area ?
		       known_add(address, known_all(values->memory.area), false) : known_none();
}

uint64_t reg_values_nr_contradictions(const struct reg_values *values)
{
	return values->nr_contradictions;
}

uint64_t reg_values_ip(const struct reg_values *values, uint32_t place)
{
	return reg_values_insn_at(values, place)->ip;
}

uint32_t reg_values_nr(const struct reg_values *values)
{
	return (uint32_t)values->nr_steps;
}

const struct sem_insn *reg_values_step_insn(const struct reg_values *values, uint32_t place)
{
	return reg_values_insn_at(values, place);
}
