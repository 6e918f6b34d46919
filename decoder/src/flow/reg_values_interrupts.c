// SPDX-License-Identifier: GPL-2.0-or-later
/* What an interrupt came upon goes on with the registers that it had. */
#include "flow/reg_values_impl.h"

#include <string.h>

/* Of these the hardware is the cause, and no code knows where they come: SDM vol. 3A, 6.2. */
#define FIRST_EXTERNAL_VECTOR	32
#define VECTOR_PAGE_FAULT	14

/* More than the handlers of one interrupt run, with those of what came upon them. */
#define MAX_HANDLER_STEPS	65536

void reg_values_interrupt_begins(struct reg_values *values, const struct sem_insn *insn)
{
	struct open_interrupt *open = &values->open[values->nr_open];

	if (values->nr_open == NR_OPEN) {
		values->nr_open = 0;
		return;
	}
	values->nr_open++;
	open->ip = insn->ip;
	open->vector = insn->cc;
	open->frame = reg_values_made(values, insn, SEM_RSP);
	memcpy(open->versions, values->at, sizeof(open->versions));
}

/*
 * An interrupt from outside could not go on otherwise.  Exceptions are handled in ways that change
 * registers, but then they lead elsewhere (arch/x86/mm/extable.c); so that is likely only.
 */
static bool keeps_registers(uint8_t vector, bool is_likely)
{
	return vector >= FIRST_EXTERNAL_VECTOR || (is_likely && vector == VECTOR_PAGE_FAULT);
}

static bool meet(struct known *a, struct known *b)
{
	bool contradiction = false;

	(void)known_merge(a, *b, &contradiction);
	(void)known_merge(b, *a, &contradiction);
	return contradiction;
}

/* The frame that IRET takes is where the interrupt stored it, if it has no stack of its own. */
static bool meet_frame(struct reg_values *values, const struct open_interrupt *open,
		       struct sem_state *state)
{
	return !reg_values_has_own_stack(open->vector) &&
	       !reg_values_has_error_code(open->vector) &&
	       meet(reg_values_known_of(values, open->frame), state->before[SEM_RSP]);
}

uint32_t reg_values_interrupt_ends(struct reg_values *values, const struct sem_insn *insn,
				   struct sem_state *state)
{
	const struct open_interrupt *open;
	uint32_t refuted = 0;

	if (!values->nr_open)
		return 0;
	open = &values->open[--values->nr_open];
	if (open->ip != state->next_ip) {
		values->nr_open = 0;
		return 0;
	}
	if (!keeps_registers(open->vector, values->is_likely))
		return 0;
	refuted |= (uint32_t)meet_frame(values, open, state) << SEM_RSP;
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++) {
		struct known *before = reg_values_known_of(values, open->versions[reg]);

		refuted |= (uint32_t)meet(before, state->behind[reg]) << reg;
		if (!values->is_likely)
			reg_values_set_distance(values, reg_values_made(values, insn, reg),
						reg_values_distance(values, open->versions[reg]));
	}
	state->contradiction |= refuted;
	return refuted;
}

bool reg_values_interrupted(const struct reg_values *values, uint32_t place, uint32_t *ret_place,
			    bool *ret_certain)
{
	uint32_t end = place > MAX_HANDLER_STEPS ? place - MAX_HANDLER_STEPS : 0;
	uint64_t ips[NR_OPEN];
	unsigned int nr = 0;

	if (reg_values_insn_at(values, place)->op != SEM_IRET)
		return false;
	for (uint32_t at = place; at > end && values->steps[at] != STEP_CUT; at--) {
		const struct sem_insn *insn = reg_values_insn_at(values, at);

		if (insn->op == SEM_IRET) {
			if (nr == NR_OPEN || at + 1 == values->nr_steps)
				return false;
			ips[nr++] = reg_values_insn_at(values, at + 1)->ip;
		} else if (reg_values_is_interrupt(insn)) {
			if (!nr || insn->ip != ips[--nr])
				return false;
			*ret_place = at;
			*ret_certain = keeps_registers(insn->cc, false);
			if (!nr)
				return keeps_registers(insn->cc, true);
		}
	}
	return false;
}
