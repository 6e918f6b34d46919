// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/reg_values_impl.h"

#include <string.h>

#include "base/bounds.h"
#include "kernel/idt.h"

/* Each makes more known; what is not by then is left unknown. */
#define MAX_PASSES	32

/* --- One step ----------------------------------------------------------- */

struct known *reg_values_known_of(struct reg_values *values, uint32_t version)
{
	if (values->is_likely && version >= values->likely_version)
		return &values->likely[version - values->likely_version];
	return &values->versions[version].known;
}

static void apply_interrupt(const struct sem_insn *insn, struct sem_state *state)
{
	uint64_t nr_bytes = IRET_FRAME_BYTES +
			    (reg_values_has_error_code(insn->cc) ? WORD_BYTES : 0);
	struct known *before = state->before[SEM_RSP], *behind = state->behind[SEM_RSP], old;
	struct known aligned = { before->value & ~IDT_ALIGN_MASK,
				 before->mask | IDT_ALIGN_MASK };

	if (reg_values_has_own_stack(insn->cc))
		return;
	(void)known_merge(behind, known_add(aligned, known_all(-nr_bytes), false),
			&state->contradiction);
	old = known_add(*behind, known_all(nr_bytes), false);
	old.mask &= ~IDT_ALIGN_MASK;
	old.value &= old.mask;
	(void)known_merge(before, old, &state->contradiction);
}

/* Stands a register in the address of a variable of this CPU, it is not known whose it is. */
bool reg_values_constant(const struct reg_values *values, const struct sem_insn *insn,
			  const struct sem_state *state, struct known *ret)
{
	struct known address = sem_address(insn, state);
	uint64_t value;

	if (!values->constant || !insn->load_bytes || insn->load_bytes > WORD_BYTES ||
	    address.mask != UINT64_MAX)
		return false;
	if (insn->segment && (insn->base != SEM_NO_REG || insn->index != SEM_NO_REG))
		return false;
	if (!values->constant(values->constant_arg, insn->segment, address.value,
			      insn->load_bytes, &value))
		return false;
	*ret = known_all(value);
	return true;
}

static void apply_iret(struct sem_state *state)
{
	if (!state->load)
		return;
	(void)known_merge(state->behind[SEM_RSP], *state->load, &state->contradiction);
	(void)known_merge(state->load, *state->behind[SEM_RSP], &state->contradiction);
}

void reg_values_apply(const struct sem_insn *insn, struct sem_state *state)
{
	if (reg_values_is_interrupt(insn))
		apply_interrupt(insn, state);
	else if (insn->op == SEM_IRET)
		apply_iret(state);
	else
		sem_apply(insn, state);
}

/* --- Passes ------------------------------------------------------------- */

/* Where the processor went on behind @step; 0: not known. */
static uint64_t next_ip(const struct reg_values *values, size_t step)
{
	if (step + 1 == values->nr_steps || values->steps[step + 1] == STEP_CUT)
		return 0;
	return reg_values_insn_at(values, step + 1)->ip;
}

/* With versions from @first on for what it writes, and the ones in @before. */
void reg_values_link(struct reg_values *values, const struct sem_insn *insn,
		      const uint32_t *before, uint32_t first, struct sem_state *ret)
{
	*ret = (struct sem_state){ .next_ip = next_ip(values, values->step) };
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++) {
		ret->before[reg] = reg_values_known_of(values, before[reg]);
		ret->behind[reg] = insn->writes & 1U << reg ? reg_values_known_of(values, first++) :
							      ret->before[reg];
	}
	if (reg_values_pushes(insn))
		ret->store = reg_values_known_of(values, first);
}

void reg_values_step_over(struct reg_values *values, const struct sem_insn *insn)
{
	uint32_t writes = insn->writes;

	FOR_EACH_REG(reg, writes)
		values->at[reg] = values->next++;
	values->next += reg_values_nr_words(insn);
	values->step++;
}

/* What was derived in a part that contradicts itself rests on something wrong: none is kept. */
static void give_up(struct reg_values *values, struct part *part)
{
	size_t last = part + 1 < values->parts + values->nr_parts ? part[1].first_version :
								     values->nr_versions;

	if (!part->dead)
		values->nr_contradictions++;
	part->dead = true;
	for (size_t i = part->first_version; i < last; i++)
		values->versions[i].known = (struct known){ 0, 0 };
}

void reg_values_start(struct reg_values *values, const uint32_t *at, struct sem_state *ret)
{
	*ret = (struct sem_state){ 0 };
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++)
		ret->before[reg] = ret->behind[reg] = reg_values_known_of(values, at[reg]);
}

void reg_values_meet(struct reg_values *values, const struct sem_insn *insn, uint32_t first,
		     struct sem_state *state)
{
	uint32_t writes = insn->writes;

	state->next_ip = next_ip(values, values->step);
	state->load = NULL;
	state->contradiction = false;
	FOR_EACH_REG(reg, writes)
		state->behind[reg] = reg_values_known_of(values, first++);
	state->store = reg_values_pushes(insn) ? reg_values_known_of(values, first) : NULL;
}

void reg_values_meet_back(struct reg_values *values, const struct sem_insn *insn,
			  const uint32_t *before, struct sem_state *state)
{
	uint32_t writes = insn->writes;

	reg_values_meet(values, insn, values->next, state);
	FOR_EACH_REG(reg, writes)
		state->before[reg] = reg_values_known_of(values, before[reg]);
}

static void forward_step(struct reg_values *values, struct sem_state *state)
{
	const struct sem_insn *insn = reg_values_insn_at(values, values->step);
	struct part *part = &values->parts[values->part];
	uint32_t load, writes = insn->writes;
	struct known constant;

	reg_values_meet(values, insn, values->next, state);
	if (insn->op == SEM_CUT) {
		words_forget(&values->words);
	} else {
		load = reg_values_load(values, insn);
		if (load)
			state->load = &values->versions[load].known;
		else if (reg_values_constant(values, insn, state, &constant))
			state->load = &constant;
		reg_values_apply(insn, state);
		reg_values_follow_distances(values, insn, load);
		if (insn->op == SEM_IRET)
			(void)reg_values_interrupt_ends(values, insn, state);
		reg_values_follow_words(values, insn);
		if (reg_values_is_interrupt(insn))
			reg_values_interrupt_begins(values, insn);
	}
	if (state->contradiction)
		give_up(values, part);
	FOR_EACH_REG(reg, writes)
		state->before[reg] = state->behind[reg];
}

/* From the cut that begins the part, and makes all registers anew, to its end. */
static void pass_forward(struct reg_values *values, size_t end, struct sem_state *state)
{
	const struct part *part = &values->parts[values->part];

	values->step = part->first_step;
	values->next = part->first_version;
	values->nr_open = 0;
	words_forget(&values->words);
	while (values->step < end && !part->dead) {
		forward_step(values, state);
		reg_values_step_over(values, reg_values_insn_at(values, values->step));
	}
}

void reg_values_step_back(struct reg_values *values, const struct sem_insn *insn,
			  uint32_t *before)
{
	uint32_t writes = insn->writes, made;

	values->next -= reg_values_nr_made(insn);
	made = values->next;
	FOR_EACH_REG(reg, writes)
		before[reg] = values->versions[made++].prev;
}

static void backward_step(struct reg_values *values, uint32_t *before, struct sem_state *state)
{
	const struct sem_insn *insn = reg_values_insn_at(values, values->step);
	uint32_t writes = insn->writes;

	reg_values_step_back(values, insn, before);
	reg_values_meet_back(values, insn, before, state);
	if (insn->op != SEM_CUT)
		reg_values_apply(insn, state);
	if (state->contradiction)
		give_up(values, &values->parts[values->part]);
	FOR_EACH_REG(reg, writes)
		state->behind[reg] = state->before[reg];
}

/* From the end, where pass_forward() is, to the cut. */
static void pass_backward(struct reg_values *values, struct sem_state *state)
{
	const struct part *part = &values->parts[values->part];
	uint32_t before[SEM_NR_REGS];

	memcpy(before, values->at, sizeof(before));
	while (values->step > part->first_step && !part->dead) {
		values->step--;
		backward_step(values, before, state);
	}
}

static uint64_t nr_known_bits(const struct reg_values *values, size_t first, size_t last)
{
	uint64_t nr = 0;

	for (size_t i = first; i < last; i++)
		nr += (uint64_t)__builtin_popcountll(values->versions[i].known.mask);
	return nr;
}

static void start_part(struct reg_values *values, struct sem_state *state)
{
	const struct part *part = &values->parts[values->part];

	*state = (struct sem_state){ 0 };
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++)
		state->before[reg] = state->behind[reg] =
			&values->versions[part->first_version].known;
}

/* No part knows of another: each begins with a cut. */
static void run_part(struct reg_values *values)
{
	const struct part *part = &values->parts[values->part], *after = part + 1;
	bool is_last = values->part + 1 == values->nr_parts;
	size_t end = is_last ? values->nr_steps : after->first_step;
	size_t last = is_last ? values->nr_versions : after->first_version;
	uint64_t nr_before, nr = UINT64_MAX;
	struct sem_state state;

	start_part(values, &state);
	for (unsigned int pass = 0; pass < MAX_PASSES; pass++) {
		pass_forward(values, end, &state);
		nr_before = nr;
		nr = nr_known_bits(values, part->first_version, last);
		/* Going back says no more of a step than going on does. */
		if (part->dead || nr == nr_before)
			return;
		pass_backward(values, &state);
		nr_before = nr;
		nr = nr_known_bits(values, part->first_version, last);
		if (part->dead || (pass && nr == nr_before))
			return;
	}
}

void reg_values_run(struct reg_values *values)
{
	for (values->part = 0; values->part < values->nr_parts; values->part++)
		run_part(values);
	reg_values_begin(values);
}

/* --- Memory in front of one step ------------------------------------------ */

/* What has been pushed up to there and not been changed. */
static void find_words(struct reg_values *values, uint32_t place)
{
	struct sem_state state;

	if (values->asked == place)
		return;
	values->part = values->nr_parts - 1;
	while (values->part && values->parts[values->part].first_step > place)
		values->part--;
	start_part(values, &state);
	pass_forward(values, place, &state);
	reg_values_begin(values);
	values->asked = place;
}

/* The word at @address, or another one that it is a part of. */
static struct known pushed(const struct reg_values *values, uint64_t address,
			   unsigned int nr_bytes)
{
	for (unsigned int at = 0; at + nr_bytes <= WORD_BYTES; at++) {
		uint32_t word = words_get(&values->words, (struct number){ 0, address - at });
		struct known known = values->versions[word].known;

		if (word)
			return (struct known){ known.value >> 8 * at, known.mask >> 8 * at };
	}
	return known_none();
}

void reg_values_memory(struct reg_values *values, uint32_t place, uint64_t address,
		       unsigned int nr_bytes, struct known *ret_certain, struct known *ret_likely)
{
	uint64_t bits = known_bits(8 * nr_bytes), value;

	find_words(values, place);
	*ret_certain = pushed(values, address, nr_bytes);
	if (values->constant &&
	    values->constant(values->constant_arg, false, address, nr_bytes, &value))
		*ret_certain = known_all(value);
	*ret_likely = likely_memory(values, place, address, nr_bytes);
	*ret_certain = known_only(*ret_certain, bits);
	*ret_likely = known_only(*ret_likely, bits & ~ret_certain->mask);
	ret_likely->mask |= ret_certain->mask;
	ret_likely->value |= ret_certain->value;
}
